/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/page.h"
#include "cli/print.h"

#include <signal.h>
#include <unistd.h>

/* Prints one line, whatever the sentence holds. Nothing can be done when that fails too. */
static int mistake_print(const struct err *e)
{
    CLEANUP_TEXT struct text line = {0};
    text_add(&line, "fettle: ");
    print_safe(&line, e->msg);
    text_add_char(&line, '\n');
    ssize_t n = write(STDERR_FILENO, line.s, line.len);
    (void)n;
    return err_exit(e->code);
}

int main(int argc, char **argv)
{
    struct call c = {0};
    struct err e = {0};
    signal(SIGPIPE, SIG_IGN); /* a controller that went away is an error like any other */
    int r = call_parse(&c, argv + 1, argc > 0 ? (size_t)argc - 1 : 0, &e);
    if (r == 0)
        r = c.command->run(&c, &e);
    int status = r < 0 ? mistake_print(&e) : r;
    if (!call_has(&c, OPTION_QUIET) && page_show(&c.out))
        text_clear(&c.out);
    r = call_flush(&c, STDOUT_FILENO, &e);
    if (r != 0)
        status = r < 0 ? mistake_print(&e) : r;
    call_fini(&c);
    return status;
}
