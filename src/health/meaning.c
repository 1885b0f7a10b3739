/* SPDX-License-Identifier: Apache-2.0 */
#include "health/meaning.h"

#include "base/conf.h"
#include "base/text.h"
#include "health/meaning_rule.h"
#include "health/pattern.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The tables and the file become two lists of rules. A numbered line of the NVIDIA driver is read by its form
 * and looked up by the number. Any other line is compared with the patterns that begin with its first byte,
 * and with those that begin with a wildcard, in the order of the list. A line without a meaning, as nearly
 * all are, costs a few comparisons of one byte.
 */

/* --- the tables ---------------------------------------------------------------------------------- */

/* The values of the column "result". */
enum row_result {
#define RESULT(symbol, name, what) ROW_##symbol,
#include "health/result.tbl"
#undef RESULT
    ROW_DEFAULT
};

static const struct number_row {
    bool nvswitch;
    unsigned first, last;
    const char *says;
    enum act act;
    enum row_result result;
    enum act mild_act;
    enum blame blame;
    const char *what, *source;
} number_rows[] = {
#define XID(first, last, act, result, blame, what, source)
#define XID_SAYS(number, pattern, act, result, blame, what, source) \
    {false, number, number, pattern, ACT_##act, ROW_##result, ACT_##act, BLAME_##blame, what, source},
#include "health/xid.tbl"
#undef XID
#undef XID_SAYS
#define XID(first, last, act, result, blame, what, source) \
    {false, first, last, NULL, ACT_##act, ROW_##result, ACT_##act, BLAME_##blame, what, source},
#define XID_SAYS(number, pattern, act, result, blame, what, source)
#include "health/xid.tbl"
#undef XID
#undef XID_SAYS
#define SXID(first, last, fatal, nonfatal, what, source) \
    {true, first, last, NULL, ACT_##fatal, ROW_DEFAULT, ACT_##nonfatal, BLAME_NODE, what, source},
#include "health/sxid.tbl"
#undef SXID
};
enum { NUMBER_ROWS = sizeof number_rows / sizeof *number_rows };

static const struct line_row {
    const char *code, *kind, *pattern;
    unsigned xid;
    enum act act;
    enum row_result result;
    enum blame blame;
    const char *what, *source;
} line_rows[] = {
#define KERNEL(code, kind, pattern, act, result, blame, what, source) \
    {code, kind, pattern, 0, ACT_##act, ROW_##result, BLAME_##blame, what, source},
#define KERNEL_XID(number, pattern, source) \
    {"xid." #number, "gpu", pattern, number, ACT_IGNORE, ROW_DEFAULT, BLAME_NODE, "", source},
#define CLOSES(code, kind, pattern, source) \
    {code, kind, pattern, 0, ACT_IGNORE, ROW_OK, BLAME_NODE, "it is over", source},
#include "health/kernel.tbl"
};
enum { LINE_ROWS = sizeof line_rows / sizeof *line_rows };

/* What the rows OFTEN, LASTS and TAINT add to a code. */
static const struct more_row {
    const char *code;
    unsigned often;
    int within_s;
    enum result often_result;
    int warn_for_s, keep_s;
    uint64_t taint;
} more_rows[] = {
#define OFTEN(code, times, within_s, result, source) {code, times, within_s, RESULT_##result, 0, 0, 0},
#define LASTS(code, warn_for_s, keep_s, source) {code, 0, 0, RESULT_OK, warn_for_s, keep_s, 0},
#define TAINT(code, bits, source) {code, 0, 0, RESULT_OK, 0, 0, bits},
#include "health/kernel.tbl"
};

static enum result row_result(enum row_result r, enum act a)
{
    return r == ROW_DEFAULT ? act_result(a) : (enum result)r;
}

static void set_code(struct meaning *m, const char *code)
{
    snprintf(m->code, sizeof m->code, "%s", code);
}

static void add_more(struct meaning *m)
{
    for (size_t i = 0; i < sizeof more_rows / sizeof *more_rows; i++) {
        const struct more_row *row = &more_rows[i];
        if (strcmp(row->code, m->code) != 0 || m->result == RESULT_OK)
            continue;
        if (row->often && row->often_result > m->result) {
            m->often = row->often;
            m->often_within = span_s(row->within_s);
            m->often_result = row->often_result;
        }
        if (row->keep_s) {
            m->warn_for = span_s(row->warn_for_s);
            m->keep = span_s(row->keep_s);
        }
        m->taint |= row->taint;
    }
}

static void add_numbers(struct meanings *all)
{
    all->numbers = mem_alloc(NUMBER_ROWS * sizeof *all->numbers);
    for (size_t i = 0; i < NUMBER_ROWS; i++) {
        const struct number_row *row = &number_rows[i];
        struct number_rule *rule = &all->numbers[all->n_numbers++];
        *rule = (struct number_rule){
            .nvswitch = row->nvswitch,
            .first = row->first,
            .last = row->last,
            .sub = SUB_ANY,
            .says = row->says,
            .m = {.act = row->act,
                  .result = row_result(row->result, row->act),
                  .blame = row->blame,
                  .what = row->what,
                  .source = row->source},
            .mild_act = row->mild_act,
            .mild_result = row_result(row->result, row->mild_act),
        };
        snprintf(rule->m.code, sizeof rule->m.code, "%s.%u", row->nvswitch ? "sxid" : "xid", row->first);
        if (row->first == row->last)
            add_more(&rule->m);
    }
}

static void add_lines(struct meanings *all)
{
    all->lines = mem_alloc(LINE_ROWS * sizeof *all->lines);
    for (size_t i = 0; i < LINE_ROWS; i++) {
        const struct line_row *row = &line_rows[i];
        struct line_rule *rule = &all->lines[all->n_lines++];
        assert(pattern_check(row->pattern, NULL) == 0);
        *rule = (struct line_rule){.pattern = row->pattern,
                                   .kind = row->kind,
                                   .xid = row->xid,
                                   .m = {.act = row->act,
                                         .result = row_result(row->result, row->act),
                                         .blame = row->blame,
                                         .what = row->what,
                                         .source = row->source}};
        set_code(&rule->m, row->code);
    }
}

/* Chains the rules by their first byte, each chain in the order of the list. */
static void chain_lines(struct meanings *all)
{
    memset(all->head, 0xff, sizeof all->head);
    all->head_any = RULE_NONE;
    for (size_t i = all->n_lines; i-- > 0;) {
        struct line_rule *rule = &all->lines[i];
        char first = pattern_first(rule->pattern);
        uint16_t *head = first ? &all->head[(unsigned char)first] : &all->head_any;
        rule->next = *head;
        *head = (uint16_t)i;
        add_more(&rule->m);
    }
}

static struct meanings *meaning_finish(struct conf *file, int r, struct err *e)
{
    struct meanings *all = NULL;
    if (r == 0) {
        all = mem_alloc(sizeof *all);
        add_numbers(all);
        add_lines(all);
        r = meanings_take(all, file, e);
    }
    conf_fini(file);
    if (r < 0) {
        meanings_destroy(all);
        return NULL;
    }
    chain_lines(all);
    return all;
}

struct meanings *meanings_read(const char *path, struct err *e)
{
    struct conf file = {0};
    return meaning_finish(&file, path ? conf_read(path, CONF_RECORDS, &file, e) : 0, e);
}

struct meanings *meanings_parse(const char *path, const char *bytes, size_t len, struct err *e)
{
    struct conf file = {0};
    return meaning_finish(&file, conf_parse(path, bytes, len, CONF_RECORDS, &file, e), e);
}

void meanings_destroy(struct meanings *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_kept; i++)
        free(m->kept[i]);
    free(m->kept);
    free(m->lines);
    free(m->numbers);
    free(m);
}

/* --- numbers of the NVIDIA driver ------------------------------------------------------------------ */

/* A numbered line: "NVRM: Xid (PCI:0000:9b:00): 79, rest". */
struct numbered {
    bool nvswitch, fatal;
    unsigned number;
    int sub;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    const char *rest;
};

static size_t hex_run(const char *s)
{
    return strspn(s, "0123456789abcdefABCDEF");
}

/* The length of a PCI address at s: "0000:9b:00", "PCI:0000:9b:00.0", "00000000:9B:00"; 0 when there is none.
 * out always has the form "0000:9b:00": the function is left out. */
static size_t take_address(const char *s, char out[static 16])
{
    const char *at = strncmp(s, "PCI:", 4) == 0 ? s + 4 : s;
    size_t domain = hex_run(at);
    if ((domain != 4 && domain != 8) || at[domain] != ':')
        return 0;
    const char *bus = at + domain + 1;
    if (hex_run(bus) != 2 || bus[2] != ':' || hex_run(bus + 3) != 2)
        return 0;
    const char *four = domain == 8 && strncmp(at, "0000", 4) == 0 ? at + 4 : at;
    snprintf(out, 16, "%.*s:%.5s", (int)(at + domain - four), four, bus);
    for (char *c = out; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c | 0x20 : *c);
    at = bus + 5;
    if (at[0] == '.' && hex_run(at + 1) == 1)
        at += 2;
    return (size_t)(at - s);
}

/* Reads a number that ends with a comma; *rest is the text after it. */
static bool take_number(const char *s, unsigned max, unsigned *out, const char **rest)
{
    unsigned n = 0;
    const char *at = s;
    for (; *at >= '0' && *at <= '9' && n <= max; at++)
        n = n * 10 + (unsigned)(*at - '0');
    if (at == s || n > max || (*at && *at != ','))
        return false;
    *out = n;
    *rest = *at == ',' ? at + 1 + strspn(at + 1, " ") : at;
    return true;
}

/* An NVLink 5 error has six words in hex. Bits 20 to 25 of the first name the unit and its error. */
static int take_sub(const char *rest)
{
    enum { SHIFT = 20 };
    const char *link = strstr(rest, " Link ");
    const char *word = link ? strstr(link, "0x") : NULL;
    if (!word || (word[-1] != '(' && word[-1] != '['))
        return SUB_ANY;
    return (int)(strtoul(word, NULL, 16) >> SHIFT & SUB_MAX);
}

static bool read_xid(const char *line, struct numbered *out)
{
    enum { NVLINK5_FIRST = 144, NVLINK5_LAST = 150 };
    static const char start[] = "NVRM: Xid (";
    char address[16];
    if (strncmp(line, start, sizeof start - 1) != 0)
        return false;
    line += sizeof start - 1;
    size_t len = take_address(line, address);
    if (!len || strncmp(line + len, "): ", 3) != 0 ||
        !take_number(line + len + 3, XID_MAX, &out->number, &out->rest))
        return false;
    snprintf(out->device, sizeof out->device, "gpu %s", address);
    bool nvlink = out->number >= NVLINK5_FIRST && out->number <= NVLINK5_LAST;
    out->sub = nvlink ? take_sub(out->rest) : SUB_ANY;
    out->fatal = true; /* rules for Xids do not look at it */
    return true;
}

/* The further lines of an SXid ("Severity 0 ...", "Data {...}") are not another one. */
static bool read_sxid(const char *line, struct numbered *out)
{
    static const char start[] = "nvidia-nvswitch";
    char address[16];
    if (strncmp(line, start, sizeof start - 1) != 0)
        return false;
    line += sizeof start - 1;
    line += strspn(line, "0123456789");
    if (strncmp(line, ": SXid (", 8) != 0)
        return false;
    line += 8;
    size_t len = take_address(line, address);
    if (!len || strncmp(line + len, "): ", 3) != 0 ||
        !take_number(line + len + 3, SXID_MAX, &out->number, &out->rest))
        return false;
    out->fatal = strncmp(out->rest, "Fatal", 5) == 0;
    if (!out->fatal && strncmp(out->rest, "Non-fatal", 9) != 0)
        return false;
    snprintf(out->device, sizeof out->device, "nvswitch %s", address);
    out->nvswitch = true;
    out->sub = SUB_ANY;
    return true;
}

static void number_code(const struct numbered *n, char out[static FINDING_CODE_BYTES_MAX + 1])
{
    if (n->sub == SUB_ANY)
        snprintf(out, FINDING_CODE_BYTES_MAX + 1, "%s.%u", n->nvswitch ? "sxid" : "xid", n->number);
    else
        snprintf(out, FINDING_CODE_BYTES_MAX + 1, "xid.%u.%d", n->number, n->sub);
}

/* Finds the rule for the number, or NULL. Without a text (rest NULL) rules that need a text are skipped. */
static const struct number_rule *number_find(const struct meanings *all, const struct numbered *n)
{
    for (size_t i = 0; i < all->n_numbers; i++) {
        const struct number_rule *rule = &all->numbers[i];
        const char *dev;
        size_t dev_len;
        if (rule->nvswitch != n->nvswitch || n->number < rule->first || n->number > rule->last)
            continue;
        if (rule->sub != SUB_ANY && rule->sub != n->sub)
            continue;
        if (!rule->says || (n->rest && pattern_match(rule->says, n->rest, &dev, &dev_len)))
            return rule;
    }
    return NULL;
}

/* False when there is no rule: an unknown Xid is then only watched, and the switch's own word decides about
 * an SXid. */
static bool number_means(const struct meanings *all, const struct numbered *n, struct meaning *m)
{
    static const struct meaning unknown = {
        .act = ACT_WATCH, .result = RESULT_WARN, .what = "an error that is in no table", .source = "Fettle"};
    const struct number_rule *rule = number_find(all, n);
    *m = rule ? rule->m : unknown;
    if (rule && !n->fatal) {
        m->act = rule->mild_act;
        m->result = rule->mild_result;
    } else if (!rule && n->nvswitch && n->fatal) {
        m->act = ACT_RESET;
        m->result = act_result(ACT_RESET);
    }
    number_code(n, m->code);
    return rule != NULL;
}

/* --- lines ----------------------------------------------------------------------------------------- */

static void make_finding(const struct meaning *m, const char *device, const char *line, struct finding *f)
{
    char text[2048];
    snprintf(text, sizeof text, "%s: %s", m->what, line);
    *f = (struct finding){.result = m->result};
    memcpy(f->code, m->code, sizeof f->code);
    text_line(f->device, sizeof f->device, device);
    text_line(f->text, sizeof f->text, text);
}

static void device_of(const struct line_rule *rule, const char *dev, size_t len, char *out, size_t size)
{
    char address[16];
    bool gpu = strcmp(rule->kind, "gpu") == 0 && len && take_address(dev, address);
    const char *blank = *rule->kind && len ? " " : "";
    if (gpu)
        snprintf(out, size, "gpu %s", address);
    else
        snprintf(out, size, "%s%s%.*s", rule->kind, blank, (int)len, dev);
}

static void line_means(const struct meanings *all, const struct line_rule *rule, struct meaning *m)
{
    *m = rule->m;
    if (rule->xid)
        number_means(all, &(struct numbered){.number = rule->xid, .sub = SUB_ANY, .fatal = true}, m);
}

/* The earlier rule of two chains. */
static const struct line_rule *line_next(const struct meanings *all, uint16_t *some, uint16_t *any)
{
    uint16_t *first = *some < *any ? some : any;
    if (*first == RULE_NONE)
        return NULL;
    const struct line_rule *rule = &all->lines[*first];
    *first = rule->next;
    return rule;
}

/* The end of the process number in a line that begins with a process's name, as "NAME[123]", "NAME (123)" or
 * "NAME/123"; 0 when there is none. A name may itself look like that, so the last match counts. */
static size_t process_mark(const char *line)
{
    enum { COMM_BYTES_MAX = 15 };
    static const char closes[] = {'[', ']', '(', ')', '/', '\0'};
    size_t mark = 0;
    for (size_t i = 0; i <= COMM_BYTES_MAX + 1 && line[i]; i++) {
        const char *close = memchr(closes, line[i], sizeof closes - 1);
        size_t digits = close && (close - closes) % 2 == 0 ? strspn(line + i + 1, "0123456789") : 0;
        if (digits && (!close[1] || line[i + 1 + digits] == close[1]))
            mark = i + 1 + digits;
    }
    return mark;
}

/* True when the rule may not blame the node because of this line. */
static bool is_users(const struct line_rule *rule, bool by_process, size_t mark)
{
    if (rule->m.blame != BLAME_NODE || rule->m.result == RESULT_OK)
        return false;
    return by_process || (mark && pattern_head(rule->pattern) < mark);
}

bool meaning_of(const struct meanings *all, const char *line, bool by_process, struct finding *f,
                struct meaning *m)
{
    assert(all && line && f && m);
    struct numbered n = {0};
    const size_t mark = process_mark(line);
    if (read_xid(line, &n) || read_sxid(line, &n)) {
        number_means(all, &n, m);
        make_finding(m, n.device, line, f);
        return true;
    }
    uint16_t some = all->head[(unsigned char)*line], any = all->head_any;
    for (const struct line_rule *rule; (rule = line_next(all, &some, &any));) {
        const char *dev;
        size_t len;
        if (is_users(rule, by_process, mark) || !pattern_match(rule->pattern, line, &dev, &len))
            continue;
        char device[256];
        device_of(rule, dev, len, device, sizeof device);
        line_means(all, rule, m);
        make_finding(m, device, line, f);
        return true;
    }
    return false;
}

/* The number at the beginning, when `behind` or the end of the text follows it. */
static unsigned read_pid(const char *s, char behind)
{
    size_t len = strspn(s, "0123456789");
    if (len == 0 || len > 9 || (s[len] && s[len] != behind))
        return 0;
    return (unsigned)strtoul(s, NULL, 10);
}

unsigned meaning_waits(const char *line)
{
    static const char task[] = "INFO: task ", blocked[] = " blocked for more than ";
    if (strncmp(line, task, sizeof task - 1) != 0)
        return 0;
    const char *end = NULL, *at = line;
    while ((at = strstr(at, blocked))) /* the last match, because the words may be part of the name */
        end = at++;
    for (at = end; at && at > line && at[-1] >= '0' && at[-1] <= '9';)
        at--;
    return at && at > line && at[-1] == ':' ? read_pid(at, ' ') : 0;
}

unsigned meaning_pid(const char *line)
{
    static const char oom[] = "oom-kill:", pid[] = "pid=", task[] = ",pid=";
    struct numbered n = {0};
    if (read_xid(line, &n)) {
        const char *rest = n.rest + strspn(n.rest, " ");
        return strncmp(rest, pid, sizeof pid - 1) == 0 ? read_pid(rest + sizeof pid - 1, ',') : 0;
    }
    const char *last = NULL;
    if (strncmp(line, oom, sizeof oom - 1) == 0)
        for (const char *at = line; (at = strstr(at, task)); at++)
            last = at;
    return last ? read_pid(last + sizeof task - 1, ',') : meaning_waits(line);
}

/* --- by code ----------------------------------------------------------------------------------------- */

/* "xid.79", "xid.149.4", "sxid.12028". */
static bool code_numbered(const char *code, struct numbered *n)
{
    *n = (struct numbered){.sub = SUB_ANY, .fatal = true, .nvswitch = strncmp(code, "sxid.", 5) == 0};
    if (!n->nvswitch && strncmp(code, "xid.", 4) != 0)
        return false;
    char digits[FINDING_CODE_BYTES_MAX + 1];
    snprintf(digits, sizeof digits, "%s", strchr(code, '.') + 1);
    char *dot = strchr(digits, '.');
    if (dot)
        *dot++ = '\0';
    uint64_t number, sub = 0;
    if (text_parse_u64(digits, 0, n->nvswitch ? SXID_MAX : XID_MAX, &number, NULL) < 0)
        return false;
    if (dot && (n->nvswitch || text_parse_u64(dot, 0, SUB_MAX, &sub, NULL) < 0))
        return false;
    n->number = (unsigned)number;
    n->sub = dot ? (int)sub : SUB_ANY;
    return true;
}

bool meaning_find(const struct meanings *all, const char *code, struct meaning *m)
{
    struct numbered n;
    if (code_numbered(code, &n) && number_means(all, &n, m))
        return true;
    for (size_t i = 0; i < all->n_lines; i++) {
        const struct line_rule *rule = &all->lines[i];
        if (!rule->xid && rule->m.result != RESULT_OK && strcmp(rule->m.code, code) == 0) {
            *m = rule->m;
            return true;
        }
    }
    return false;
}

static void each_number(const struct number_rule *rule, meaning_fn *fn, void *arg)
{
    struct meaning m = rule->m;
    const char *kind = rule->nvswitch ? "sxid" : "xid";
    if (rule->sub != SUB_ANY)
        snprintf(m.code, sizeof m.code, "%s.%u.%d", kind, rule->first, rule->sub);
    else if (rule->first != rule->last)
        snprintf(m.code, sizeof m.code, "%s.%u-%u", kind, rule->first, rule->last);
    else
        snprintf(m.code, sizeof m.code, "%s.%u", kind, rule->first);
    fn(arg, &m);
}

void meanings_each(const struct meanings *all, meaning_fn *fn, void *arg)
{
    for (size_t i = 0; i < all->n_own_lines; i++)
        fn(arg, &all->lines[i].m);
    for (size_t i = 0; i < all->n_numbers; i++)
        each_number(&all->numbers[i], fn, arg);
    for (size_t i = all->n_own_lines; i < all->n_lines; i++)
        if (!all->lines[i].xid)
            fn(arg, &all->lines[i].m);
}
