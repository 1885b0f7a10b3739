/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of scontrol is the only form that every version from 22.05 on writes; its JSON came later and
 * changes its shape with each release. The text has no quoting. A line is "Key=Value Key=Value", and the
 * values of Reason, Comment, Extra and OS may have blanks and further "Key=" in them. The keys that are read
 * here come before those that people can write (State before Reason, Reason before Comment and Extra). A line
 * in which such a key occurs twice is not understood. Lines after a Comment or Extra that do not begin
 * another node belong to it.
 */
#include "driver/slurm_read.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const bases[] = {
#define BASE(symbol, word) word,
#define FLAG(word, mean)
#define MARK(character, mean)
#include "driver/slurm_state.tbl"
#undef BASE
#undef FLAG
#undef MARK
};

static const struct {
    const char *word;
    unsigned mean;
} flags[] = {
#define BASE(symbol, word)
#define FLAG(word, mean) {word, mean},
#define MARK(character, mean)
#include "driver/slurm_state.tbl"
#undef BASE
#undef FLAG
#undef MARK
};

static const struct {
    char character;
    unsigned mean;
} marks[] = {
#define BASE(symbol, word)
#define FLAG(word, mean)
#define MARK(character, mean) {character, mean},
#include "driver/slurm_state.tbl"
#undef BASE
#undef FLAG
#undef MARK
};

/* --- the state ------------------------------------------------------------------------------- */

static bool is_word(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(s, word, len) == 0;
}

static bool read_base(const char *s, size_t len, struct slurm_state *out)
{
    for (unsigned i = 0; i < SLURM_BASES; i++) {
        out->base = (enum slurm_base)i;
        if (is_word(s, len, bases[i]))
            return true;
    }
    return false;
}

static bool read_flag(const char *s, size_t len, struct slurm_state *out)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!is_word(s, len, flags[i].word))
            continue;
        out->flags |= flags[i].mean;
        return true;
    }
    return false;
}

/* The length of the word without the marks after it, which are read too. */
static size_t read_marks(const char *s, size_t len, struct slurm_state *out)
{
    for (; len > 0; len--) {
        size_t i = 0, n = sizeof marks / sizeof *marks;
        while (i < n && marks[i].character != s[len - 1])
            i++;
        if (i == n)
            break;
        out->flags |= marks[i].mean;
    }
    return len;
}

struct slurm_state slurm_read_state(const char *text)
{
    struct slurm_state out = {.known = true};
    bool is_first = true;
    for (const char *s = text;; is_first = false) {
        size_t whole = strcspn(s, "+"), len = read_marks(s, whole, &out);
        out.known &= is_first ? read_base(s, len, &out) : read_flag(s, len, &out);
        if (!s[whole])
            break;
        s += whole + 1;
    }
    return out.known ? out : (struct slurm_state){0};
}

/* --- lines ----------------------------------------------------------------------------------- */

int slurm_check_answer(const char *text, size_t len, struct err *e)
{
    assert(text && !text[len]);
    if (len == 0)
        return err_set(e, -EPROTO, "scontrol said nothing");
    if (text[len - 1] != '\n')
        return err_set(e, -EPROTO, "scontrol's answer is cut off");
    if (memchr(text, '\0', len))
        return err_set(e, -EPROTO, "scontrol's answer has zero bytes in it");
    return 0;
}

/* The next line that is not blank, ended by a zero byte; NULL at the end. */
static char *next_line(char **rest)
{
    while (**rest) {
        char *line = *rest, *end = strchr(line, '\n');
        *rest = end ? end + 1 : line + strlen(line);
        if (end)
            *end = '\0';
        if (line[strspn(line, " \t\r")])
            return line;
    }
    return NULL;
}

/* Whether it ends with text that people write, which may continue in further lines: those of a reason are
 * joined, those of the others are not. */
static bool goes_on(const char *line)
{
    return strstr(line, " Comment=") || strstr(line, " Extra=");
}

/* To the next line that begins with the key. */
static void skip_to(char **rest, const char *key)
{
    while (**rest && strncmp(*rest, key, strlen(key)) != 0) {
        *rest += strcspn(*rest, "\n");
        *rest += **rest == '\n';
    }
}

/* Ends the value at the blank after it. */
static char *cut_value(char *value)
{
    value[strcspn(value, " ")] = '\0';
    return value;
}

/* "2026-11-21T22:31:19", in this machine's time zone, as scontrol writes it; ns 0 for anything else. */
static struct wall read_time(const char *text)
{
    struct tm t = {.tm_isdst = -1};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
    time_t s = end ? mktime(&t) : -1;
    return (struct wall){s > 0 ? span_s(s).ns : 0};
}

/* The start of " [who@2026-11-21T22:31:19]", which Slurm appends to a reason; NULL for none. */
static char *find_stamp(char *s, char **who, char **when)
{
    for (char *at = strstr(s, " ["); at; at = strstr(at + 1, " [")) {
        char *at_sign = at + 2 + strcspn(at + 2, " []@");
        if (*at_sign != '@')
            continue;
        size_t stamp = strspn(at_sign + 1, "0123456789-:T");
        if (stamp == 0 || at_sign[1 + stamp] != ']')
            continue;
        *who = at + 2;
        *when = at_sign + 1;
        *at_sign = '\0';
        return at;
    }
    return NULL;
}

static void read_reason(char *reason, struct slurm_line *out)
{
    char *who = NULL, *when = NULL, *end = find_stamp(reason, &who, &when);
    out->by = end ? who : "";
    out->set_at = end ? read_time(when) : (struct wall){0};
    if (!end)
        end = strstr(reason, " Comment=");
    if (!end)
        end = reason + strlen(reason);
    while (end > reason && end[-1] == ' ')
        end--;
    *end = '\0';
    out->reason = reason;
}

/* The start of the text that people write. */
static char *free_text(char *s)
{
    static const char *const keys[] = {" Reason=", " Comment=", " Extra="};
    char *first = s + strlen(s);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *at = strstr(s, keys[i]);
        if (at && at < first)
            first = at;
    }
    return first;
}

/* The value of a key before the text that people write; "" when it is absent or occurs twice. */
static char *find_value(char *line, const char *key)
{
    char *end = free_text(line), *at = strstr(line, key);
    if (!at || at >= end)
        return end + strlen(end);
    char *again = strstr(at + 1, key);
    return again && again < end ? end + strlen(end) : at + strlen(key);
}

static char *none_for_null(char *value)
{
    return strcmp(value, "(null)") == 0 ? value + strlen(value) : value;
}

static const char name_key[] = "NodeName=", state_key[] = " State=", reason_key[] = " Reason=";

static int read_node(char *line, struct slurm_line *out, struct err *e)
{
    if (strncmp(line, name_key, sizeof name_key - 1) != 0)
        return err_set(e, -EPROTO, "scontrol's answer has a line that is no node's: %.60s", line);
    char *name = line + sizeof name_key - 1, *state = strstr(line, state_key);
    if (!state || !*name || *name == ' ')
        return err_set(e, -EPROTO, "scontrol's answer has a node without name or state: %.60s", line);
    char *reason = strstr(state, reason_key), *again = strstr(state + 1, state_key);
    bool is_twice = again && again < free_text(state);
    char *available = find_value(line, " AvailableFeatures="), *active = find_value(line, " ActiveFeatures="),
         *weight = find_value(line, " Weight=");
    out->reason = out->by = "";
    out->set_at = (struct wall){0};
    out->available = none_for_null(cut_value(available));
    out->active = none_for_null(cut_value(active));
    out->weight = cut_value(weight);
    if (reason)
        read_reason(reason + sizeof reason_key - 1, out);
    out->name = cut_value(name);
    out->state_text = cut_value(state + sizeof state_key - 1);
    out->state = is_twice ? (struct slurm_state){0} : slurm_read_state(out->state_text);
    return 0;
}

int slurm_next_node(char **rest, struct slurm_line *out, struct err *e)
{
    assert(rest && out);
    char *line = next_line(rest);
    bool has_more = line && goes_on(line);
    int r = line ? read_node(line, out, e) : 0;
    if (has_more)
        skip_to(rest, name_key);
    return line && r == 0 ? 1 : r;
}

static int by_name(const void *a, const void *b)
{
    const struct slurm_line *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* In the order of names, as usual: then no name occurs twice. */
static bool is_ascending(const struct slurm_lines *l)
{
    for (size_t i = 1; i < l->n; i++)
        if (strcmp(l->lines[i - 1].name, l->lines[i].name) >= 0)
            return false;
    return true;
}

/* A node that occurs twice becomes unknown: nobody can say which line is right. */
static void find_twins(struct slurm_lines *l)
{
    if (is_ascending(l))
        return;
    struct slurm_line **sorted = mem_alloc((l->n ? l->n : 1) * sizeof *sorted);
    for (size_t i = 0; i < l->n; i++)
        sorted[i] = &l->lines[i];
    qsort(sorted, l->n, sizeof *sorted, by_name);
    for (size_t i = 1; i < l->n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            sorted[i - 1]->state = sorted[i]->state = (struct slurm_state){0};
    free(sorted);
}

static void *slurm_read_room(void *list, size_t n, size_t size)
{
    bool is_full = (n & (n - 1)) == 0; /* the array doubles */
    return is_full ? mem_grow(list, (n ? 2 * n : 1) * size) : list;
}

void slurm_lines_fini(struct slurm_lines *l)
{
    free(l->lines);
    *l = (struct slurm_lines){0};
}

int slurm_read_nodes(char *text, size_t len, struct slurm_lines *out, struct err *e)
{
    assert(text && !text[len]);
    *out = (struct slurm_lines){0};
    int r = slurm_check_answer(text, len, e);
    for (int more = r == 0; more > 0;) {
        out->lines = slurm_read_room(out->lines, out->n, sizeof *out->lines);
        more = slurm_next_node(&text, &out->lines[out->n], e);
        out->n += more > 0;
        r = more < 0 ? more : 0;
    }
    if (r == 0 && out->n == 0)
        r = err_set(e, -EPROTO, "scontrol knows no node");
    if (r == 0)
        find_twins(out);
    else
        slurm_lines_fini(out);
    return r;
}

bool slurm_says_not_found(const char *text, const char *name)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "Node %s not found\n", name);
    for (const char *at = text; (at = strstr(at, line.s)); at++)
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

/* --- reservations, slurmctld's start --------------------------------------------------------- */

/* The value of a key in the line; "" when it is absent. Earlier parts of the line may be cut already. */
static const char *take_value(char *line, const char *end, const char *key)
{
    size_t len = strlen(key);
    for (char *at = line; at < end; at++)
        if ((at == line || at[-1] == ' ' || at[-1] == '\0') && strncmp(at, key, len) == 0)
            return cut_value(at + len);
    return "";
}

void slurm_reservations_fini(struct slurm_reservations *r)
{
    free(r->list);
    *r = (struct slurm_reservations){0};
}

int slurm_read_reservations(char *text, size_t len, struct slurm_reservations *out, struct err *e)
{
    assert(text && !text[len]);
    static const char none[] = "No reservations in the system", key[] = "ReservationName=";
    *out = (struct slurm_reservations){0};
    int r = slurm_check_answer(text, len, e);
    for (char *line, *rest = text; r == 0 && (line = next_line(&rest));) {
        if (strncmp(line, none, sizeof none - 1) == 0)
            continue;
        if (strncmp(line, key, sizeof key - 1) != 0) {
            r = err_set(e, -EPROTO, "scontrol's answer has a line that is no reservation's: %.60s", line);
            break;
        }
        if (goes_on(line))
            skip_to(&rest, key);
        char *end = line + strlen(line);
        out->list = slurm_read_room(out->list, out->n, sizeof *out->list);
        out->list[out->n++] = (struct slurm_reservation){
            .name = take_value(line, end, key),
            .nodes = take_value(line, end, "Nodes="),
            .flags = take_value(line, end, "Flags="),
            .users = take_value(line, end, "Users="),
            .state = take_value(line, end, "State="),
        };
    }
    if (r < 0)
        slurm_reservations_fini(out);
    return r;
}

int slurm_read_boot(const char *text, size_t len, char out[static SLURM_BOOT_BYTES], struct err *e)
{
    int r = slurm_check_answer(text, len, e);
    if (r < 0)
        return r;
    const char *at = strstr(text, "BOOT_TIME");
    at = at ? at + strlen("BOOT_TIME") : "";
    at += strspn(at, " =");
    size_t n = strcspn(at, " \n");
    if (n == 0 || n >= SLURM_BOOT_BYTES)
        return err_set(e, -EPROTO, "scontrol does not say since when slurmctld runs");
    memcpy(out, at, n);
    out[n] = '\0';
    return 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

void slurm_jobs_fini(struct slurm_jobs *j)
{
    for (size_t i = 0; i < j->n; i++)
        hostlist_fini(&j->list[i].nodes);
    free(j->list);
    *j = (struct slurm_jobs){0};
}

/* Three words, separated by one blank. */
static bool read_job(const char *line, size_t len, struct slurm_job *out)
{
    size_t words[3] = {0}, n = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] == ' ' && ++n < 3)
            continue;
        if (n >= 3 || line[i] <= ' ' || line[i] > '~')
            return false;
        words[n]++;
    }
    if (n != 2 || !words[0] || !words[1] || !words[2] || words[0] >= sizeof out->id ||
        strspn(line, "0123456789") != words[0])
        return false;
    CLEANUP_FREE char *nodes = mem_dup_len(line + len - words[2], words[2]);
    *out = (struct slurm_job){.id = ""};
    snprintf(out->id, sizeof out->id, "%.*s", (int)words[0], line);
    snprintf(out->user, sizeof out->user, "%.*s", (int)words[1], line + words[0] + 1);
    return hostlist_parse(nodes, &out->nodes, NULL) == 0;
}

int slurm_read_jobs(const char *text, struct slurm_jobs *out, struct err *e)
{
    size_t len;
    *out = (struct slurm_jobs){0};
    for (const char *at = text; *at; at += len + 1) {
        len = strcspn(at, "\n");
        out->list = mem_grow(out->list, (out->n + 1) * sizeof *out->list);
        if (at[len] && read_job(at, len, &out->list[out->n])) {
            out->n++;
            continue;
        }
        slurm_jobs_fini(out);
        return err_set(e, -EPROTO, "squeue printed \"%.*s\"", (int)(len < 80 ? len : 80), at);
    }
    return 0;
}
