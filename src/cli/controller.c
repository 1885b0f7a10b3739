/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about the cluster as a whole: partitions, status, events, journal, reload, tokens,
 * certificates.
 */
#include "cli/choice.h"
#include "cli/print.h"
#include "cli/report.h"

#include "base/clock.h"
#include "base/hostlist.h"
#include "link/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- partitions ---- */

/* "IDLE 60, DOWN 4" */
static void write_counts(struct text *out, const struct fettle_value *counts)
{
    for (const struct fettle_value *i = fettle_value_first(counts), *first = i; i; i = fettle_value_next(i)) {
        const char *n = fettle_value_text(i);
        text_printf(out, "%s%s %s", i == first ? "" : ", ", fettle_value_key(i), n ? n : "?");
    }
}

static void add_partition(struct table *t, const struct fettle_value *p)
{
    static const char *const keys[] = {"Partition", "Name", "Default", "Nodes", "Count", "Schedulable"};
    CLEANUP_TEXT struct text states = {0};
    report_cells(t, p, keys, sizeof keys / sizeof keys[0]);
    write_counts(&states, fettle_value_find(p, "States"));
    table_add(t, states.s ? states.s : "");
}

int partition_list(struct call *c, struct err *e)
{
    static const struct column columns[] = {{.heading = "PARTITION", .right = true},
                                            {.heading = "NAME"},
                                            {.heading = "DEFAULT"},
                                            {.heading = "NODES"},
                                            {.heading = "COUNT", .right = true},
                                            {.heading = "SCHEDULABLE", .right = true},
                                            {.heading = "STATES"}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    struct fettle_answer *answer = NULL;
    struct view view;
    int r = choice_view(c, &view, e);
    if (r == 0)
        r = call_answer(c, fettle_partition_list, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *list = fettle_value_find(fettle_answer_value(answer), "partitions");
    for (const struct fettle_value *i = fettle_value_first(list); i; i = fettle_value_next(i))
        add_partition(&t, i);
    if (view.form == FORM_JSON)
        report_json(c, list);
    else if (view.form == FORM_CSV)
        table_write_csv(&t, view.header, &c->out);
    else
        table_write(&t, view.header, view.colour, &c->out);
    table_fini(&t);
    fettle_answer_free(answer);
    return 0;
}

/* ---- status ---- */

static void write_line(struct text *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    text_printf(out, "%-12s ", name);
    print_safe(out, value);
    text_add_char(out, '\n');
}

static const char *member_text(const struct fettle_value *o, const char *key)
{
    const char *text = fettle_get_text(o, key);
    return text ? text : "";
}

/* "ok since 2026-11-22T16:00:00Z, last success 2026-..." or "TROUBLE since ...: why; 3 changes wait" */
static void write_counterpart(struct text *out, const struct fettle_value *i)
{
    CLEANUP_TEXT struct text t = {0};
    const char *state = member_text(i, "state"), *last = member_text(i, "last_success"),
               *why = member_text(i, "text");
    int64_t waiting = 0;
    text_printf(&t, "%s since %s, last success %s", strcmp(state, "trouble") == 0 ? "TROUBLE" : state,
                member_text(i, "since"), *last ? last : "never");
    text_printf(&t, "%s%s", *why ? ": " : "", why);
    if (fettle_get_number(i, "waiting", &waiting) == 0 && waiting > 0)
        text_printf(&t, "; waiting: %lld %s", (long long)waiting, member_text(i, "waits"));
    write_line(out, member_text(i, "name"), t.s);
}

static void write_alarm(struct text *out, const struct fettle_value *i)
{
    CLEANUP_TEXT struct text t = {0};
    const char *subject = member_text(i, "subject"), *nodes = member_text(i, "nodes");
    text_printf(&t, "%s%s%s since %s", member_text(i, "alarm"), *subject ? " " : "", subject,
                member_text(i, "since"));
    text_printf(&t, "%s%s: %s", *nodes ? ", " : "", nodes, member_text(i, "text"));
    write_line(out, "ALARM", t.s);
}

static void write_status(struct text *out, const struct fettle_value *s)
{
    CLEANUP_TEXT struct text counts = {0};
    const struct fettle_value *store = fettle_value_find(s, "store");
    const struct fettle_value *alarms = fettle_value_find(s, "alarms");
    char span[32];
    int64_t seconds;
    write_line(out, "Cluster", fettle_get_text(s, "cluster"));
    write_line(out, "Controller", fettle_get_text(s, "controller"));
    write_line(out, "Role", fettle_get_text(s, "role"));
    write_line(out, "Version", fettle_get_text(s, "version"));
    if (fettle_get_number(s, "uptime_s", &seconds) == 0 && seconds >= 0 && seconds < INT64_C(9000000000))
        write_line(out, "Up for", span_human(span_s(seconds), span));
    write_line(out, "Revision", fettle_get_text(s, "revision"));
    write_line(out, "Store", fettle_get_text(store, "state"));
    write_line(out, "", fettle_get_text(store, "message"));
    write_counts(&counts, fettle_value_find(s, "nodes"));
    write_line(out, "Nodes", counts.s);
    write_line(out, "Schedulable", fettle_get_text(s, "schedulable"));
    write_line(out, "Agents", fettle_get_text(s, "agents"));
    const struct fettle_value *conform = fettle_value_find(s, "conform");
    write_line(out, "Cohorts", fettle_get_text(conform, "cohorts"));
    write_line(out, "Drifted", fettle_get_text(conform, "drifted"));
    const struct fettle_value *parts = fettle_value_find(s, "counterparts");
    for (const struct fettle_value *i = fettle_value_first(parts); i; i = fettle_value_next(i))
        write_counterpart(out, i);
    for (const struct fettle_value *i = fettle_value_first(alarms); i; i = fettle_value_next(i))
        write_alarm(out, i);
    const struct fettle_value *warnings = fettle_value_find(s, "warnings");
    for (const struct fettle_value *i = fettle_value_first(warnings); i; i = fettle_value_next(i))
        write_line(out, "WARNING", fettle_value_text(i));
}

int status_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_answer(c, fettle_status, &answer, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_status(&c->out, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

/* ---- events and the journal ---- */

static void write_event(struct call *c, const struct fettle_value *v)
{
    static const char *const keys[] = {"at", "what", "actor", "nodes", "text"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
        return;
    }
    for (size_t i = 0; i < KEYS; i++) {
        const char *s = fettle_get_text(v, keys[i]);
        bool empty = !s || !*s;
        if (empty && i == KEYS - 1)
            break;
        text_add(&c->out, i > 0 ? "  " : "");
        print_safe(&c->out, empty ? "-" : s);
    }
    text_add_char(&c->out, '\n');
}

static void write_gap(struct call *c)
{
    text_add(&c->out, call_has(c, OPTION_JSON) ? "{\"what\":\"resync\"}\n"
                                               : "-  resync  -  -  events may have been missed here\n");
}

int event_follow(struct call *c, struct err *e)
{
    struct fettle_events *events = NULL;
    struct fettle_event event;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = call_told(fettle_events_open(f, NULL, &events, &why), &why, e);
    while (r == 0) {
        r = call_told(fettle_events_next(events, -1, &event, &why), &why, e);
        if (r < 0)
            break;
        if (strcmp(event.name, "resync") == 0)
            write_gap(c);
        else
            write_event(c, event.data);
        r = call_flush(c, STDOUT_FILENO, e);
    }
    fettle_events_close(events);
    return r;
}

enum { JOURNAL_PAGE = 1000 };

/* One page. *n is how many entries it had, *after the revision of its last. */
static int journal_page(struct call *c, struct fettle *f, uint64_t *after, unsigned limit, size_t *n,
                        struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = call_told(fettle_journal(f, *after, limit, &answer, &why), &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *entries = fettle_value_find(fettle_answer_value(answer), "entries");
    uint64_t before = *after;
    *n = fettle_value_count(entries);
    unsigned left = limit; /* an answer holds whole revisions, and so may be longer */
    for (const struct fettle_value *i = fettle_value_first(entries); i && left > 0;
         i = fettle_value_next(i), left--) {
        int64_t revision;
        if (fettle_get_number(i, "revision", &revision) == 0 && revision > 0 && (uint64_t)revision > *after)
            *after = (uint64_t)revision;
        write_event(c, i);
    }
    if (*n > 0 && *after == before)
        r = err_set(e, -EPROTO, "the journal does not go on after revision %llu", (unsigned long long)before);
    fettle_answer_free(answer);
    return r;
}

int journal_list(struct call *c, struct err *e)
{
    uint64_t after = 0, left = UINT64_MAX;
    int r = 0;
    if (call_has(c, OPTION_AFTER))
        r = text_parse_u64(c->value[OPTION_AFTER], 0, INT64_MAX, &after, e);
    if (r < 0)
        return err_wrap(e, r, "--after");
    if (r == 0 && call_has(c, OPTION_LIMIT))
        r = text_parse_u64(c->value[OPTION_LIMIT], 1, INT64_MAX, &left, e);
    if (r < 0)
        return err_wrap(e, r, "--limit");
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    for (size_t n = 1; r == 0 && n > 0 && left > 0; left -= n < left ? n : left) {
        unsigned page = left < JOURNAL_PAGE ? (unsigned)left : JOURNAL_PAGE;
        r = journal_page(c, f, &after, page, &n, e);
        if (r == 0)
            r = call_flush(c, STDOUT_FILENO, e);
    }
    return r;
}

/* ---- reload and tokens ---- */

int config_reload(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_answer(c, fettle_reload, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *changes = fettle_value_find(fettle_answer_value(answer), "changes");
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else if (fettle_value_count(changes) == 0)
        text_add(&c->out, "nothing has changed\n");
    for (const struct fettle_value *i = fettle_value_first(changes); i && !call_has(c, OPTION_JSON);
         i = fettle_value_next(i)) {
        print_safe(&c->out, fettle_value_text(i) ? fettle_value_text(i) : "?");
        text_add_char(&c->out, '\n');
    }
    fettle_answer_free(answer);
    return 0;
}

static void write_token(struct text *out, const struct fettle_value *v)
{
    write_line(out, "Token", fettle_get_text(v, "token"));
    write_line(out, "Expires", fettle_get_text(v, "expires"));
    write_line(out, "To join", fettle_get_text(v, "command"));
}

int token_create(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = call_has(c, OPTION_NODES) ? choice_nodes(&c->value[OPTION_NODES], 1, &nodes, e) : 0;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_token_create(f, nodes, c->value[OPTION_VALID], &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_token(&c->out, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

/* ---- certificates ---- */

static int create_file(const char *path, const char *bytes, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, errno == EEXIST || errno == EACCES ? -errno : -EIO, "%s: %s", path,
                       strerror(errno));
    int r = 0;
    for (size_t at = 0, len = strlen(bytes); at < len && r == 0;) {
        ssize_t n = write(fd, bytes + at, len - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            r = err_set(e, errno == ENOSPC ? -ENOSPC : -EIO, "%s: %s", path, strerror(errno));
    }
    if (close(fd) < 0 && r == 0)
        r = err_set(e, -EIO, "%s: %s", path, strerror(errno));
    if (r < 0)
        unlink(path);
    return r;
}

/* True when the file holds these bytes and no others: a second certificate of one authority. */
static bool holds_already(const char *path, const char *bytes)
{
    char have[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, have, sizeof have);
    if (fd >= 0)
        close(fd);
    return n >= 0 && (size_t)n == strlen(bytes) && memcmp(have, bytes, (size_t)n) == 0;
}

static int keep_certificate(const char *pem_path, const struct fettle_value *answer, struct err *e)
{
    const char *cert = fettle_get_text(answer, "certificate"), *ca = fettle_get_text(answer, "authority");
    if (!cert || !ca)
        return err_set(e, -EPROTO, "the answer holds no certificate");
    bool have_ca = holds_already("ca.pem", ca);
    int r = have_ca ? 0 : create_file("ca.pem", ca, e);
    if (r == 0) {
        r = create_file(pem_path, cert, e);
        if (r < 0 && !have_ca)
            unlink("ca.pem");
    }
    return r;
}

static int request_certificate(struct call *c, struct fettle *f, const char *key_path, const char *pem_path,
                               struct err *e)
{
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *request = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = tls_new_request(&key, &request, e);
    if (r < 0)
        return r;
    r = create_file(key_path, key, e);
    explicit_bzero(key, strlen(key));
    if (r < 0)
        return r;
    r = call_told(fettle_certificate_create(f, c->args[0], c->value[OPTION_ROLE], request,
                                            c->value[OPTION_VALID], &answer, &why),
                  &why, e);
    if (r == 0)
        r = keep_certificate(pem_path, fettle_answer_value(answer), e);
    if (r < 0)
        unlink(key_path);
    fettle_answer_free(answer);
    return r;
}

int cert_create(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text key_path = {0}, pem_path = {0};
    const char *role = c->value[OPTION_ROLE], *name = c->args[0];
    if (!hostlist_name_ok(name) || strcmp(name, "ca") == 0)
        return err_set(e, -EINVAL, "\"%s\" cannot be the name of a certificate", name);
    if (!role || (strcmp(role, "reader") != 0 && strcmp(role, "admin") != 0))
        return err_set(e, -EINVAL, "which role? --role reader, or --role admin");
    text_printf(&key_path, "%s.key", name);
    text_printf(&pem_path, "%s.pem", name);
    if (access(pem_path.s, F_OK) == 0)
        return err_set(e, -EEXIST, "%s is there already", pem_path.s);
    struct fettle *f = call_controller(c, e);
    int r = f ? request_certificate(c, f, key_path.s, pem_path.s, e) : e->code;
    if (r == 0)
        text_printf(&c->out, "%s, %s and ca.pem: %s as %s\n", key_path.s, pem_path.s, name, role);
    return r;
}
