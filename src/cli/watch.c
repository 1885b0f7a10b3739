/* SPDX-License-Identifier: Apache-2.0
 *
 * The table is asked for anew after events, at most twice a second however many there are, and
 * every few seconds without any, because lengths of time grow by themselves. On a terminal it is
 * redrawn in place, below a line with the time, and keys scroll it; elsewhere each line that is new
 * or different from the time before is printed.
 *
 * Where there are keys, two processes share the work: a child asks and draws, and its parent reads the keys.
 * So `q` and ^C end the command at once, whatever the child waits for.
 */
#include "cli/choice.h"
#include "cli/print.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_MS = 5000, GATHER_MS = 500, KEY_MS = 100 };

struct screen {
    struct query query;
    struct view view;
    bool terminal;
    int keys;          /* the terminal to read keys from; -1 for none */
    struct text table; /* the latest table */
    char asked[32];    /* when it was asked for, in local time */
    size_t top;        /* how many of its lines are above the screen */
    char **lines;      /* the lines of the table before, in order */
    size_t n_lines;
};

static size_t terminal_height(void)
{
    return print_height() > 3 ? print_height() : 24;
}

static size_t count_lines(const struct text *t)
{
    size_t n = 0;
    for (const char *s = t->s; s && (s = strchr(s, '\n')); s++)
        n++;
    return n;
}

static const char *skip_lines(const char *s, size_t n)
{
    for (; n > 0 && *s; n--)
        s += strcspn(s, "\n") + 1;
    return s;
}

static void draw_line(struct text *out, const char *s)
{
    text_add_bytes(out, s, strcspn(s, "\n"));
    text_add(out, "\033[K\n");
}

/* The time, the heading, and the visible lines from the top on; each ended by a command that clears the old
 * line. */
static void watch_draw(struct screen *s, struct text *out)
{
    const char *line = s->table.s ? s->table.s : "";
    size_t heading = s->view.look.header, lines = count_lines(&s->table) - heading;
    size_t room = terminal_height() - 2 - heading, most = lines > room ? lines - room : 0;
    s->top = s->top < most ? s->top : most;
    text_printf(out, "\033[H\033[7m%s\033[0m  %zu of %zu", s->asked, lines < room ? lines : room, lines);
    text_printf(out, s->keys >= 0 && most ? ", from %zu; arrows scroll, q ends\033[K\n" : "\033[K\n",
                s->top + 1);
    if (heading)
        draw_line(out, line);
    line = skip_lines(line, heading + s->top);
    for (; *line && room > 0; room--) {
        draw_line(out, line);
        line = skip_lines(line, 1);
    }
    text_add(out, "\033[J");
}

/* ---- keys ---- */

static bool watch_ends(const char *typed, size_t n)
{
    return memchr(typed, 'q', n) || memchr(typed, '\003', n);
}

/* Passes keys on until the child has gone, or a key ends it. Returns the exit status. */
static int keys_hand_on(pid_t child, int to)
{
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = to}};
    bool stopped = false;
    char typed[64];
    int status = 0;
    while (!stopped && !polled[1].revents) {
        ssize_t n =
            poll(polled, 2, -1) > 0 && polled[0].revents ? read(STDIN_FILENO, typed, sizeof typed) : 1;
        stopped = n <= 0 || (polled[0].revents && watch_ends(typed, (size_t)n));
        if (!stopped && polled[0].revents && write(to, typed, (size_t)n) < 0 && errno != EAGAIN)
            break;
    }
    if (stopped)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return stopped ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Keys come one by one and are not echoed; the terminal is restored when the command ends. Returns 0 in the
 * child; in the parent, whose work is done, 1 and the exit status. */
static int keys_begin(struct screen *s, int *status, struct err *e)
{
    struct termios before, t;
    int to[2];
    s->keys = -1;
    if (!s->terminal || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
        return 0;
    if (pipe2(to, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(e, -EIO, "no pipe for keys: %s", strerror(errno));
    t = before;
    t.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG);
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &t);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        close(to[1]);
        s->keys = to[0];
        return 0;
    }
    close(to[0]);
    if (child > 0)
        *status = keys_hand_on(child, to[1]);
    else
        err_set(e, -EIO, "no process for keys: %s", strerror(errno));
    close(to[1]);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return child > 0 ? 1 : -EIO;
}

/* True when a key has moved the view. */
static bool keys_take(struct screen *s)
{
    static const struct {
        const char *key;
        int lines, pages;
    } keys[] = {{"\033[A", -1, 0}, {"k", -1, 0},      {"\033[B", 1, 0}, {"j", 1, 0},       {"\033[5~", 0, -1},
                {"b", 0, -1},      {"\033[6~", 0, 1}, {" ", 0, 1},      {"g", 0, -100000}, {"G", 0, 100000}};
    char typed[16] = "";
    ssize_t n = s->keys >= 0 ? read(s->keys, typed, sizeof typed - 1) : 0;
    for (size_t i = 0; n > 0 && i < sizeof keys / sizeof keys[0]; i++) {
        if (strncmp(typed, keys[i].key, strlen(keys[i].key)) != 0)
            continue;
        long top = (long)s->top + keys[i].lines + keys[i].pages * ((long)terminal_height() - 3);
        s->top = top > 0 ? (size_t)top : 0;
        return true;
    }
    return false;
}

/* ---- lines ---- */

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_line(const struct screen *s, const char *line)
{
    return s->n_lines > 0 && bsearch(&line, s->lines, s->n_lines, sizeof *s->lines, compare_strings);
}

static void forget_lines(struct screen *s)
{
    for (size_t i = 0; i < s->n_lines; i++)
        free(s->lines[i]);
    free(s->lines);
    s->lines = NULL;
    s->n_lines = 0;
}

static void print_changed(struct screen *s, const struct text *table, struct text *out)
{
    struct screen next = {0};
    for (const char *at = table->s ? table->s : ""; *at;) {
        size_t len = strcspn(at, "\n");
        next.lines = mem_grow(next.lines, (next.n_lines + 1) * sizeof *next.lines);
        char *line = next.lines[next.n_lines++] = mem_dup_len(at, len);
        if (!has_line(s, line)) {
            text_add(out, line);
            text_add_char(out, '\n');
        }
        at += len + (at[len] == '\n');
    }
    if (next.n_lines)
        qsort(next.lines, next.n_lines, sizeof *next.lines, compare_strings);
    forget_lines(s);
    s->lines = next.lines;
    s->n_lines = next.n_lines;
}

static int watch_show(struct call *c, struct screen *s, struct err *e)
{
    if (s->terminal)
        watch_draw(s, &c->out);
    else
        print_changed(s, &s->table, &c->out);
    return call_flush(c, STDOUT_FILENO, e);
}

static void note_time(struct screen *s)
{
    time_t now = (time_t)(wall_now().ns / 1000000000);
    struct tm tm;
    if (!localtime_r(&now, &tm) || strftime(s->asked, sizeof s->asked, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        s->asked[0] = '\0';
}

static int watch_refresh(struct call *c, struct screen *s, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct rows rows = {0};
    int r = choice_fetch(c, &s->query, &answer, e);
    if (r == 0) {
        rows_add(&rows, &s->query, fettle_answer_value(answer));
        rows_order(&rows, &s->query);
        text_clear(&s->table);
        s->view.look.width = print_width(); /* it may have changed */
        choice_write(c, &s->view, &s->query, &rows, &s->table);
        note_time(s);
        r = watch_show(c, s, e);
    }
    rows_fini(&rows);
    fettle_answer_free(answer);
    return r;
}

/* True when a restart of the controller may help. */
static bool is_passing(int r)
{
    return r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EAGAIN;
}

/* Waits until events came and were gathered, or until it is time. */
static int watch_await(struct call *c, struct screen *s, struct fettle_events *events, struct err *e)
{
    struct fettle_event event;
    struct fettle_error why;
    struct mono until = mono_add(mono_now(), span_ms(REDRAW_MS));
    bool gathers = false;
    for (int64_t left_ms = REDRAW_MS; left_ms > 0; left_ms = span_to_ms(mono_sub(until, mono_now()))) {
        int wait_ms = s->keys >= 0 && left_ms > KEY_MS ? KEY_MS : (int)left_ms;
        int r = fettle_events_next(events, wait_ms, &event, &why);
        if (r < 0 && r != -ETIMEDOUT)
            return call_told(r, &why, e);
        if (r == 0 && !gathers) {
            until = mono_add(mono_now(), span_ms(GATHER_MS));
            gathers = true;
        }
        r = keys_take(s) ? watch_show(c, s, e) : 0;
        if (r != 0)
            return r;
    }
    return 0;
}

static int watch_follow(struct call *c, struct screen *s, struct fettle_events *events, struct err *e)
{
    for (;;) {
        int r = watch_refresh(c, s, e);
        if (is_passing(r) && s->terminal) {
            text_add(&c->out, "\033[H\033[7m");
            print_safe(&c->out, e->msg);
            text_add(&c->out, "\033[0m\033[K\n");
            r = call_flush(c, STDOUT_FILENO, e);
        }
        if (r != 0 && !is_passing(r))
            return r;
        r = watch_await(c, s, events, e);
        if (r != 0)
            return r;
    }
}

static int watch_nodes(struct call *c, struct screen *s, struct err *e)
{
    struct fettle_events *events = NULL;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    int r = f ? call_told(fettle_events_open(f, NULL, &events, &why), &why, e) : e->code;
    if (r == 0)
        r = watch_follow(c, s, events, e);
    fettle_events_close(events);
    return r;
}

int node_watch(struct call *c, struct err *e)
{
    struct screen s = {.terminal = isatty(STDOUT_FILENO), .keys = -1};
    int status = 0;
    int r = choice_query(c, RECORD_NODE, &s.query, &s.view, e);
    if (r == 0)
        r = query_args(&s.query, c->args, c->n_args, e);
    if (r == 0 && s.view.form != FORM_TABLE)
        r = err_set(e, -EINVAL, "\"fettle watch\" shows a table, and no other form");
    if (r == 0)
        r = keys_begin(&s, &status, e);
    if (r == 0)
        r = watch_nodes(c, &s, e);
    else if (r > 0)
        r = status;
    if (s.keys > 0)
        close(s.keys);
    forget_lines(&s);
    text_fini(&s.table);
    query_fini(&s.query);
    return r;
}
