/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/remains_read.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is said of it fits a line, and moves no cursor. */
static void check_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE struct remains *r = mem_alloc(sizeof *r);
    struct last_boot last, back;
    const char *bytes = (const char *)data;
    r->panicked = remains_panic(bytes, size, r->panic);
    if (*r->panic && !r->panicked)
        abort();
    remains_wtmp(bytes, size, 1800000000, &r->wtmp);
    remains_journal(bytes, size, &r->journal);
    r->cause = size ? remains_restart_cause(data[0]) : ENDED_UNKNOWN;
    remains_judge(r, &last);
    check_line(r->panic);
    check_line(last.text);
    CLEANUP_JSON json_t *value = last_boot_write(&last);
    CLEANUP_JSON json_t *inventory = json_pack("{s:O}", "LastBoot", value);
    last_boot_read(inventory, &back);
    if (!back.known || back.ended != last.ended || strcmp(back.text, last.text) != 0)
        abort();
    return 0;
}
