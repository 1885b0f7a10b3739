/* SPDX-License-Identifier: Apache-2.0
 *
 * The table is asked for anew after events, at most twice a second however many there are, and
 * every few seconds without any, because lengths of time grow by themselves. On a terminal it is
 * redrawn in place; elsewhere each line that is new or different from the time before is printed.
 */
#include "cli/choice.h"
#include "cli/print.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { REDRAW_MS = 5000, GATHER_MS = 500 };

struct screen {
    struct query query;
    struct view view;
    bool terminal;
    char **lines; /* of the time before, in order */
    size_t n_lines;
};

static size_t terminal_height(void)
{
    return print_height() > 2 ? print_height() : 24;
}

/* The first lines that fit, each ended by a command that clears what was there before. */
static void draw(struct text *out, const struct text *table)
{
    size_t left = terminal_height() - 1;
    text_add(out, "\033[H");
    for (const char *s = table->s ? table->s : ""; *s && left > 0; left--) {
        size_t len = strcspn(s, "\n");
        text_add_bytes(out, s, len);
        text_add(out, "\033[K\n");
        s += len + (s[len] == '\n');
    }
    text_add(out, "\033[J");
}

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
    qsort(next.lines, next.n_lines, sizeof *next.lines, compare_strings);
    forget_lines(s);
    s->lines = next.lines;
    s->n_lines = next.n_lines;
}

static int refresh(struct call *c, struct screen *s, struct err *e)
{
    CLEANUP_TEXT struct text table = {0};
    struct fettle_answer *answer = NULL;
    struct rows rows = {0};
    int r = choice_fetch(c, &s->query, &answer, e);
    if (r == 0) {
        rows_add(&rows, &s->query, fettle_answer_value(answer));
        rows_order(&rows, &s->query);
        choice_write(c, &s->view, &s->query, &rows, &table);
        if (s->terminal)
            draw(&c->out, &table);
        else
            print_changed(s, &table, &c->out);
        r = call_flush(c, STDOUT_FILENO, e);
    }
    rows_fini(&rows);
    fettle_answer_free(answer);
    return r;
}

/* What a restart of the controller mends. */
static bool is_passing(int r)
{
    return r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EAGAIN;
}

static int follow(struct call *c, struct screen *s, struct fettle_events *events, struct err *e)
{
    for (;;) {
        int r = refresh(c, s, e);
        if (is_passing(r) && s->terminal) {
            text_add(&c->out, "\033[H\033[7m");
            print_safe(&c->out, e->msg);
            text_add(&c->out, "\033[0m\033[K\n");
            r = call_flush(c, STDOUT_FILENO, e);
        }
        if (r != 0 && !is_passing(r))
            return r;
        struct fettle_event event;
        struct fettle_error why;
        int wait_ms = REDRAW_MS;
        struct mono gathered = mono_add(mono_now(), span_ms(REDRAW_MS));
        while ((r = fettle_events_next(events, wait_ms, &event, &why)) == 0) {
            if (wait_ms == REDRAW_MS)
                gathered = mono_add(mono_now(), span_ms(GATHER_MS));
            int64_t left_ms = span_to_ms(mono_sub(gathered, mono_now()));
            wait_ms = left_ms > 0 ? (int)left_ms : 0;
            if (left_ms <= 0)
                break;
        }
        if (r < 0 && r != -ETIMEDOUT)
            return call_told(r, &why, e);
    }
}

int node_watch(struct call *c, struct err *e)
{
    struct screen s = {.terminal = isatty(STDOUT_FILENO)};
    struct fettle_events *events = NULL;
    struct fettle_error why;
    int r = choice_query(c, RECORD_NODE, &s.query, &s.view, e);
    if (r == 0)
        r = query_args(&s.query, c->args, c->n_args, e);
    if (r == 0 && s.view.form != FORM_TABLE)
        r = err_set(e, -EINVAL, "\"fettle watch\" shows a table, and no other form");
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (f)
        r = call_told(fettle_events_open(f, NULL, &events, &why), &why, e);
    else
        r = e->code;
    if (r == 0)
        r = follow(c, &s, events, e);
    fettle_events_close(events);
    forget_lines(&s);
    query_fini(&s.query);
    return r;
}
