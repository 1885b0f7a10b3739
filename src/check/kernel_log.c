/* SPDX-License-Identifier: Apache-2.0 */
#include "check/kernel_log.h"

#include "base/text.h"
#include "check/part.h"
#include "probe/probe.h"
#include "probe/sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Findings are kept in the order in which they were found, one for each code and device. Their facts are
 *
 *   finding SAID SINCE COUNT ACT RESULT WARN KEEP SEQUENCE WORSE OFTEN GPUS WORK USER CODE|DEVICE|TEXT
 *
 * with SAID and SINCE in nanoseconds of the monotonic clock, by the kernel's own time of the line, WARN and
 * KEEP in seconds, 0 for none, and the SEQUENCE number of the last line. WORSE is what it was when it was
 * said often, the last time at OFTEN (0: never). GPUS are those that the WORK of the last line used, which is
 * USER's; "-" for none. Files of before have no SEQUENCE, or nothing between it and CODE. A code has no
 * blanks; DEVICE and TEXT may have blanks; a bar in a device is written as a slash. In what is saved a line
 * "cursor NEXT BOOT" comes first. When a finding is over is for the judge to say.
 */

enum { KEEP_S = 600, KEEP_S_MAX = 86400, EVENT_MS = 1000, OTHERS_S = 86400 };

static const char CODE_GAP[] = "kernel.gap";

struct kept {
    struct finding finding;
    enum act act;
    struct mono since, said;    /* when it was reported first and last */
    uint64_t seq;               /* of the last line */
    struct mono counted;        /* the last event's first line */
    unsigned count;             /* the number of events */
    enum result worse;          /* its result when it is reported often */
    struct mono often;          /* the last time that it was; ns 0: never */
    unsigned gpus;              /* of the work that its finding names */
    struct span warn_for, keep; /* from the meaning; 0: none */
    unsigned n_times;           /* seen by this process */
    struct mono
        times[OFTEN_MAX]; /* the last events, a ring: for meanings that are worse when they are frequent */
};

struct kernel_log {
    const struct meanings *meanings;
    const char *root; /* NULL: processes are not looked for */
    size_t n;
    struct kept list[KERNEL_LOG_FINDINGS_MAX];
};

struct kernel_log *kernel_log_create(const struct meanings *meanings)
{
    struct kernel_log *k = mem_alloc(sizeof *k);
    k->meanings = meanings;
    return k;
}

void kernel_log_destroy(struct kernel_log *k)
{
    free(k);
}

void kernel_log_mean(struct kernel_log *k, const struct meanings *meanings)
{
    k->meanings = meanings;
}

void kernel_log_root(struct kernel_log *k, const char *root)
{
    k->root = root;
}

/* --- what is kept ------------------------------------------------------------------------------------ */

static struct kept *kernel_log_find(struct kernel_log *k, const struct finding *f)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->list[i].finding.code, f->code) == 0 &&
            strcmp(k->list[i].finding.device, f->device) == 0)
            return &k->list[i];
    return NULL;
}

static void kernel_log_drop(struct kernel_log *k, struct kept *one)
{
    size_t at = (size_t)(one - k->list);
    k->n--;
    memmove(one, one + 1, (k->n - at) * sizeof *one);
}

/* Which of two has to go first. */
static bool kernel_log_weaker(const struct kept *a, const struct kept *b)
{
    if (a->finding.result != b->finding.result)
        return a->finding.result < b->finding.result;
    return a->said.ns < b->said.ns;
}

/* Room for one more; NULL when all that are there are worse than it. */
static struct kept *kernel_log_add(struct kernel_log *k, const struct finding *f, struct mono at)
{
    struct kept one = {.finding = *f, .since = at, .said = at};
    if (k->n == KERNEL_LOG_FINDINGS_MAX) {
        struct kept *least = &k->list[0];
        for (size_t i = 1; i < k->n; i++)
            if (kernel_log_weaker(&k->list[i], least))
                least = &k->list[i];
        if (!kernel_log_weaker(least, &one))
            return NULL;
        kernel_log_drop(k, least);
    }
    k->list[k->n] = one;
    return &k->list[k->n++];
}

/* Whether the last `often` times lie within the meaning's window. */
static bool is_often(const struct kept *one, const struct meaning *m)
{
    if (!m->often || m->often > OFTEN_MAX || one->n_times < m->often)
        return false;
    struct mono first = one->times[(one->n_times - m->often) % OFTEN_MAX];
    return mono_sub(one->said, first).ns <= m->often_within.ns;
}

/* The finding begins anew: the first minute of this outage is not the first minute of last week's. */
static bool is_over(const struct kept *one, struct mono now)
{
    return one->keep.ns && mono_sub(now, one->said).ns > one->keep.ns;
}

/* A line that does not belong to the event before. */
static void count_event(struct kept *one, struct mono at, const struct meaning *m)
{
    if (one->count > 0 && mono_sub(at, one->counted).ns < span_ms(EVENT_MS).ns)
        return;
    one->counted = at;
    one->count++;
    one->times[one->n_times++ % OFTEN_MAX] = at;
    if (!is_often(one, m))
        return;
    one->worse = m->often_result;
    one->often = at;
}

/* Whose work it was, where the line names a process that is still there. */
static void name_work(const struct kernel_log *k, struct kept *one, unsigned pid)
{
    struct whose whose;
    if (!pid || !k->root || !probe_whose(k->root, pid, &whose))
        return;
    snprintf(one->finding.work, sizeof one->finding.work, "%s", whose.work);
    snprintf(one->finding.user, sizeof one->finding.user, "%s", whose.user);
    one->gpus = whose.gpus;
}

static bool keep_finding(struct kernel_log *k, struct mono at, uint64_t seq, const struct finding *f,
                         const struct meaning *m, unsigned pid)
{
    struct kept *one = kernel_log_find(k, f);
    if (one && is_over(one, at)) {
        kernel_log_drop(k, one);
        one = NULL;
    }
    enum result worst = one && act_end(one->act) != ACT_ENDS_TIME ? one->finding.result : RESULT_OK;
    enum act act = worst > f->result ? one->act : m->act;
    one = one ? one : kernel_log_add(k, f, at);
    if (!one)
        return false;
    struct finding before = one->finding;
    unsigned events = one->count;
    one->finding = *f;
    memcpy(one->finding.work, before.work, sizeof before.work);
    memcpy(one->finding.user, before.user, sizeof before.user);
    one->act = act;
    one->warn_for = m->warn_for;
    one->keep = m->keep;
    one->said = at;
    one->seq = seq;
    if (worst > f->result)
        one->finding.result = worst;
    count_event(one, at, m);
    if (one->count > events)
        name_work(k, one, pid);
    return true;
}

bool kernel_log_lose(struct kernel_log *k, struct mono now, uint64_t lost)
{
    struct finding f = {.result = RESULT_WARN};
    struct meaning m = {.act = ACT_WATCH, .result = RESULT_WARN};
    snprintf(f.code, sizeof f.code, "%s", CODE_GAP);
    snprintf(f.text, sizeof f.text,
             "%" PRIu64 " lines of the kernel's log were overwritten before they were read", lost);
    return lost > 0 && keep_finding(k, now, 0, &f, &m, 0);
}

static struct mono time_of(const struct kmsg *r, struct mono now)
{
    uint64_t limit = (uint64_t)(now.ns > 0 ? now.ns : 0) / 1000;
    return r->at_us < limit ? (struct mono){(int64_t)r->at_us * 1000} : now;
}

bool kernel_log_take(struct kernel_log *k, struct mono now, const struct kmsg *r)
{
    struct finding f;
    struct meaning m;
    unsigned waits = k->root ? meaning_waits(r->text) : 0;
    bool by_process = waits && !probe_kernels(k->root, waits);
    if (!r->from_kernel || !meaning_of(k->meanings, r->text, by_process, &f, &m))
        return false;
    if (m.result != RESULT_OK)
        return keep_finding(k, time_of(r, now), r->seq, &f, &m, meaning_pid(r->text));
    struct kept *closed = kernel_log_find(k, &f);
    if (closed)
        kernel_log_drop(k, closed);
    return closed;
}

static bool is_named(const char *words, const struct finding *f)
{
    CLEANUP_TEXT struct text word = {0};
    finding_word(f, &word);
    return text_has_word(words, ' ', f->code) || text_has_word(words, ' ', word.s);
}

bool kernel_log_forget(struct kernel_log *k, const char *words, uint64_t until)
{
    size_t before = k->n;
    for (size_t i = k->n; i-- > 0;)
        if (k->list[i].seq < until && is_named(words, &k->list[i].finding))
            kernel_log_drop(k, &k->list[i]);
    return k->n < before;
}

/* --- facts ------------------------------------------------------------------------------------------ */

enum { WORD_SAID, WORD_SINCE, WORD_COUNT, WORD_ACT, WORD_RESULT, WORD_WARN, WORD_KEEP, FACT_WORDS };
/* Words that files of before do not have. */
enum { MORE_SEQUENCE, MORE_WORSE, MORE_OFTEN, MORE_GPUS, MORE_WORK, MORE_USER, MORE_WORDS };

/* One word, "-" for none. */
static void add_word(struct text *t, const char *s)
{
    text_add(t, *s ? "" : "-");
    for (; *s; s++)
        text_add_char(t, *s == ' ' || *s == '|' ? '_' : *s);
    text_add_char(t, ' ');
}

static void write_kept(const struct kept *one, bool proven, struct text *out)
{
    enum result r = proven || one->finding.result < RESULT_WARN ? one->finding.result : RESULT_WARN;
    char device[sizeof one->finding.device];
    memcpy(device, one->finding.device, sizeof device);
    for (char *c = device; *c; c++)
        *c = (char)(*c == '|' ? '/' : *c);
    CLEANUP_TEXT struct text whose = {0};
    add_word(&whose, one->finding.work);
    add_word(&whose, one->finding.user);
    fact_add(out, "finding",
             "%" PRId64 " %" PRId64 " %u %s %s %" PRId64 " %" PRId64 " %" PRIu64 " %s %" PRId64
             " %u %s%s|%s|%s%s",
             one->said.ns, one->since.ns, one->count, act_name(one->act), result_name(r),
             one->warn_for.ns / span_s(1).ns, one->keep.ns / span_s(1).ns, one->seq, result_name(one->worse),
             one->often.ns, one->gpus, whose.s, one->finding.code, device, one->finding.text,
             proven ? "" : "; a warning until /proc/sys/kernel/tainted shows it");
}

static bool take_field(char **rest, char *out, size_t size)
{
    const char *field = strsep(rest, "|");
    return field && (size_t)snprintf(out, size, "%s", field) < size;
}

static bool read_number(const char *word, uint64_t max, uint64_t *out)
{
    return text_parse_u64(word, 0, max, out, NULL) == 0;
}

static bool take_word(const char *word, char *out, size_t size)
{
    return (size_t)snprintf(out, size, "%s", strcmp(word, "-") == 0 ? "" : word) < size;
}

/* The text before the code, which has no blank: nothing, or a number in files of earlier versions. */
static bool take_more(char **rest, struct kept *out)
{
    char *words[MORE_WORDS];
    size_t n = 0, len;
    uint64_t often, gpus;
    while (n < MORE_WORDS && (len = strcspn(*rest, " |"), (*rest)[len] == ' '))
        words[n++] = strsep(rest, " ");
    if (n > MORE_SEQUENCE && !read_number(words[MORE_SEQUENCE], UINT64_MAX, &out->seq))
        return false;
    if (n <= MORE_WORSE)
        return true;
    if (n < MORE_WORDS || !result_parse(words[MORE_WORSE], &out->worse) ||
        !read_number(words[MORE_OFTEN], INT64_MAX, &often) ||
        !read_number(words[MORE_GPUS], UINT32_MAX, &gpus))
        return false;
    out->often = (struct mono){(int64_t)often};
    out->gpus = (unsigned)gpus;
    return take_word(words[MORE_WORK], out->finding.work, sizeof out->finding.work) &&
           take_word(words[MORE_USER], out->finding.user, sizeof out->finding.user);
}

/* False for a value that write_kept did not write. */
static bool read_kept(char *value, struct kept *out)
{
    char *words[FACT_WORDS], *rest = value;
    uint64_t said, since, count, warn, keep;
    *out = (struct kept){0};
    for (size_t i = 0; i < FACT_WORDS; i++) {
        words[i] = strsep(&rest, " ");
        if (!rest)
            return false;
    }
    if (!read_number(words[WORD_SAID], INT64_MAX, &said) ||
        !read_number(words[WORD_SINCE], INT64_MAX, &since) ||
        !read_number(words[WORD_COUNT], UINT32_MAX, &count) ||
        !read_number(words[WORD_WARN], UINT32_MAX, &warn) ||
        !read_number(words[WORD_KEEP], UINT32_MAX, &keep) || !act_parse(words[WORD_ACT], &out->act) ||
        !result_parse(words[WORD_RESULT], &out->finding.result))
        return false;
    out->said = (struct mono){(int64_t)said};
    out->since = (struct mono){(int64_t)since};
    out->counted = out->said;
    out->count = (unsigned)count;
    out->warn_for = span_s((int64_t)warn);
    out->keep = span_s((int64_t)keep);
    struct finding *f = &out->finding;
    if (!take_more(&rest, out) || !take_field(&rest, f->code, sizeof f->code) ||
        !take_field(&rest, f->device, sizeof f->device) || !rest)
        return false;
    return (size_t)snprintf(f->text, sizeof f->text, "%s", rest) < sizeof f->text;
}

/* Whether the finding still counts, for a check that keeps findings this long. */
static bool still_so(const struct kept *one, struct mono now, struct span keep)
{
    struct span limit = one->keep.ns ? one->keep : keep;
    return act_end(one->act) != ACT_ENDS_TIME || mono_sub(now, one->said).ns <= limit.ns;
}

/* 0 when it cannot be read: then it proves nothing. */
static uint64_t read_taint(const char *root)
{
    uint64_t bits = 0;
    CLEANUP_FD int at = root ? sys_open_root(root, NULL) : -1;
    return at >= 0 && sys_u64(at, "proc/sys/kernel/tainted", &bits) == 0 ? bits : 0;
}

static bool is_proven(const struct kernel_log *k, const struct kept *one, uint64_t taint)
{
    struct meaning m;
    return !meaning_find(k->meanings, one->finding.code, &m) || !m.taint || m.taint & taint;
}

void kernel_log_facts(const struct kernel_log *k, struct mono now, struct text *out)
{
    uint64_t taint = read_taint(k->root);
    for (size_t i = 0; i < k->n; i++)
        if (still_so(&k->list[i], now, span_s(KEEP_S_MAX)))
            write_kept(&k->list[i], is_proven(k, &k->list[i], taint), out);
}

void kernel_log_save(const struct kernel_log *k, struct mono now, const struct kmsg_cursor *cursor,
                     struct text *out)
{
    fact_add(out, "cursor", "%" PRIu64 " %s", cursor->next, cursor->boot);
    for (size_t i = 0; i < k->n; i++)
        if (still_so(&k->list[i], now, span_s(KEEP_S_MAX)))
            write_kept(&k->list[i], true, out);
}

static bool read_cursor(const struct fact_line *line, struct kmsg_cursor *out)
{
    char next[32];
    const char *blank = strchr(line->value, ' ');
    size_t len = blank ? (size_t)(blank - line->value) : sizeof next;
    if (strcmp(line->key, "cursor") != 0 || len >= sizeof next)
        return false;
    snprintf(next, sizeof next, "%.*s", (int)len, line->value);
    return read_number(next, UINT64_MAX, &out->next) &&
           (size_t)snprintf(out->boot, sizeof out->boot, "%s", blank + 1) < sizeof out->boot;
}

static bool kept_load(struct kernel_log *k, const char *text, const char *boot, struct kmsg_cursor *cursor)
{
    struct fact_line line;
    const char *at = text;
    if (!fact_next(&at, &line) || !read_cursor(&line, cursor) || !*boot || strcmp(cursor->boot, boot) != 0)
        return false;
    while (fact_next(&at, &line)) {
        if (k->n == KERNEL_LOG_FINDINGS_MAX || strcmp(line.key, "finding") != 0 ||
            !read_kept(line.value, &k->list[k->n]) || kernel_log_find(k, &k->list[k->n].finding))
            return false;
        k->n++;
    }
    return true;
}

void kernel_log_load(struct kernel_log *k, const char *text, const char *boot, struct kmsg_cursor *cursor)
{
    k->n = 0;
    *cursor = (struct kmsg_cursor){0};
    if (kept_load(k, text, boot, cursor))
        return;
    k->n = 0;
    *cursor = (struct kmsg_cursor){0};
}

/* --- a look by hand --------------------------------------------------------------------------------- */

static int read_all(struct kernel_log *k, struct kmsg_follow *f, struct mono now, struct err *e)
{
    struct kmsg record;
    uint64_t before, lost;
    int r;
    do {
        before = kmsg_cursor(f)->next;
        while ((r = kmsg_next(f, &record, &lost, e)) > 0) {
            kernel_log_lose(k, now, lost);
            kernel_log_take(k, now, &record);
        }
        kernel_log_lose(k, now, lost);
    } while (r == 0 && kmsg_cursor(f)->next != before);
    return r;
}

void kernel_log_gather(const struct look *l, struct text *out)
{
    struct err e = {0};
    struct kmsg_follow *f = kmsg_open(l->root, NULL, &e);
    struct meanings *m = f ? meanings_read(check_arg(l->check, "Meanings"), &e) : NULL;
    struct kernel_log *k = m ? kernel_log_create(m) : NULL;
    if (k)
        kernel_log_root(k, l->root);
    if (k && read_all(k, f, l->now, &e) == 0)
        kernel_log_facts(k, l->now, out);
    else
        fact_add(out, e.code == -ENOENT && !f ? "unsupported" : "unknown", "%s", e.msg);
    kernel_log_destroy(k);
    meanings_destroy(m);
    kmsg_close(f);
}

/* --- judging ------------------------------------------------------------------------------------------ */

/* Other GPUs under the same work, unless one of them had the finding as well within a day. */
static unsigned others_well(const struct kept *one, const char *facts, struct mono now)
{
    struct fact_line line;
    struct kept other;
    unsigned others = one->gpus > 1 ? one->gpus - 1 : 0;
    while (others && fact_next(&facts, &line))
        if (strcmp(line.key, "finding") == 0 && read_kept(line.value, &other) &&
            strcmp(other.finding.code, one->finding.code) == 0 &&
            strcmp(other.finding.device, one->finding.device) != 0 &&
            mono_sub(now, other.said).ns < span_s(OTHERS_S).ns)
            others = 0;
    return others;
}

static enum result result_of(const struct kept *one, struct mono now, struct span keep)
{
    enum result r = one->finding.result;
    if (one->often.ns && one->worse > r && mono_sub(now, one->often).ns <= keep.ns)
        r = one->worse;
    bool young = mono_sub(now, one->since).ns < one->warn_for.ns;
    return young && r > RESULT_WARN ? RESULT_WARN : r;
}

static void judge_one(const struct kept *one, const char *facts, struct mono now, struct span keep,
                      struct verdict *v)
{
    const struct finding *f = &one->finding;
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    if (one->count > 1)
        text_printf(&t, "%u times: ", one->count);
    if (*f->user)
        text_printf(&t, "under %s%s%s: ", f->work, *f->work ? " of " : "", f->user);
    struct finding *x = verdict_add(v, result_of(one, now, keep), f->device, f->code, "%s%s", t.s, f->text);
    if (!x)
        return;
    x->count = one->count;
    x->others = others_well(one, facts, now);
    memcpy(x->work, f->work, sizeof x->work);
    memcpy(x->user, f->user, sizeof x->user);
}

void judge_KERNEL_LOG(struct look *l, const char *facts, struct verdict *v)
{
    struct span keep;
    struct fact_line line;
    struct kept one;
    if (!want_span(l, "Keep", span_s(KEEP_S), &keep, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);)
        if (strcmp(line.key, "finding") == 0 && read_kept(line.value, &one) && still_so(&one, l->now, keep))
            judge_one(&one, facts, l->now, keep, v);
}
