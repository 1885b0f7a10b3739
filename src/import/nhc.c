/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads nhc.conf: lines "TARGET || CHECK", where CHECK is any command of bash. Calls of NHC's own checks with
 * plain words are converted. A line with more shell than that becomes a comment, because only bash knows its
 * meaning.
 *
 * A record that Fettle's own reader refuses becomes a comment too, so that the output can always be read.
 */
#include "health/check.h"
#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64 };

/* One line, and the result for it. */
struct nhc {
    const char *path;
    int number;
    char *target, *check; /* without the white space around them */
    size_t n;
    char *word[WORDS_MAX];      /* of the check, without quotes; word[0] is its name */
    bool plain[WORDS_MAX];      /* the word has no shell syntax */
    const char *raw[WORDS_MAX]; /* where the word begins in `check` */
    struct text nodes;          /* " Nodes=..." */
    bool is_open;               /* the target could not be converted: the records become comments */
    struct text *out;
    struct text names; /* the names of the records so far, each between blanks */
    bool has_set;      /* Include= was written */
};

struct nhc_row;
/* Writes the records. NULL, or why there are none. */
typedef const char *write_fn(struct nhc *l, const struct nhc_row *row);

/* --- words ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("/._:@%+=,-", c));
}

static void free_words(struct nhc *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->word[i]);
    l->n = 0;
}

/* Takes one word at s and removes its quotes. NULL when a quote is not closed. */
static const char *take_word(struct nhc *l, const char *s)
{
    struct text t = {0};
    bool plain = true;
    text_add(&t, "");
    l->raw[l->n] = s;
    for (char quote = '\0'; *s && (quote || !is_blank(*s)); s++) {
        if (*s == quote) {
            quote = '\0';
        } else if (!quote && (*s == '"' || *s == '\'')) {
            quote = *s;
        } else {
            plain &= is_plain(*s);
            text_add_char(&t, *s);
        }
        if (quote && s[1] == '\0') {
            text_fini(&t);
            return NULL;
        }
    }
    l->plain[l->n] = plain;
    l->word[l->n++] = text_take(&t);
    return s;
}

static bool take_words(struct nhc *l)
{
    const char *s = l->check;
    while (is_blank(*s))
        s++;
    while (s && *s && l->n < WORDS_MAX) {
        s = take_word(l, s);
        while (s && is_blank(*s))
            s++;
    }
    return s && *s == '\0';
}

/* --- options --------------------------------------------------------------------------------- */

/* Options as getopts has them: letters, with a colon after those that take a value. */
struct options {
    const char *letters;
    size_t at; /* the first word after them */
    bool nonfatal;
    const char *value[128]; /* "" for a letter alone; the last value given */
    const char *other;      /* a value that is not plain, or a letter that NHC does not have */
};

static void keep_option(struct options *o, char letter, const char *value, bool plain)
{
    o->value[(unsigned char)letter & 127] = value;
    o->nonfatal |= letter == '0';
    if (!plain)
        o->other = "an argument is a pattern, or more shell than can be read";
}

static void take_options(const struct nhc *l, const char *letters, struct options *o)
{
    *o = (struct options){.letters = letters, .at = 1};
    for (; o->at < l->n && l->word[o->at][0] == '-' && l->word[o->at][1]; o->at++) {
        for (const char *s = l->word[o->at] + 1; *s; s++) {
            const char *known = strchr(letters, *s);
            if (!known || *s == ':') {
                o->other = "it has an option that NHC does not have";
                return;
            }
            if (known[1] != ':') {
                keep_option(o, *s, "", true);
                continue;
            }
            bool apart = s[1] == '\0' && o->at + 1 < l->n;
            o->at += apart;
            keep_option(o, *s, apart ? l->word[o->at] : s + 1, l->plain[o->at]);
            break;
        }
    }
}

static const char *nhc_option(const struct options *o, char letter)
{
    return o->value[(unsigned char)letter & 127];
}

/* NULL when all words from `at` on are plain. */
static const char *check_plain(const struct nhc *l, size_t at)
{
    for (size_t i = at; i < l->n; i++)
        if (!l->plain[i])
            return "an argument is a pattern, or more shell than can be read";
    return NULL;
}

/* --- records --------------------------------------------------------------------------------- */

static void add_value(struct text *t, const char *key, const char *value)
{
    text_printf(t, " %s=", key);
    if (*value && !strpbrk(value, " \t\"\\")) {
        text_add(t, value);
        return;
    }
    text_add_char(t, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text_add_char(t, '\\');
        text_add_char(t, *value);
    }
    text_add_char(t, '"');
}

/* Adds NHC's name without "check_" and its subject; with a number when that name exists already. */
static void add_name(struct nhc *l, const char *about, struct text *t)
{
    enum { LONGEST = CHECK_NAME_BYTES_MAX - 8 };
    CLEANUP_TEXT struct text name = {0}, seek = {0};
    text_add(&name, "nhc-");
    for (const char *s = l->word[0] + strlen("check_"); *s && name.len < LONGEST; s++)
        text_add_char(&name, *s == '_' ? '-' : *s);
    bool gap = true;
    for (const char *s = about; *s && name.len < LONGEST; s++) {
        char c = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
        bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (good && gap)
            text_add_char(&name, '-');
        if (good)
            text_add_char(&name, c);
        gap = !good;
    }
    size_t len = name.len;
    for (unsigned n = 1; n == 1 || strstr(l->names.s, seek.s); n++) {
        name.len = len;
        name.s[len] = '\0';
        if (n > 1)
            text_printf(&name, ".%u", n);
        text_clear(&seek);
        text_printf(&seek, " %s ", name.s);
    }
    text_add(&l->names, seek.s + 1);
    text_add(t, name.s);
}

/* Adds "Check=NAME Probe=PROBE" and the text of `rest`; as a comment when its nodes could not be
 * converted. */
static const char *add_record(struct nhc *l, const struct nhc_row *row, const char *about, const char *rest);

static void add_note(struct nhc *l, const char *why)
{
    char line[240];
    text_line(line, sizeof line, l->check);
    text_printf(l->out, "# %s:%d: ", l->path, l->number);
    char target[80];
    text_line(target, sizeof target, l->target);
    text_printf(l->out, "%s || %s: %s\n", target, line, why);
}

struct nhc_row {
    const char *name;
    write_fn *write;
    const char *ours, *what;
};

static const char *add_record(struct nhc *l, const struct nhc_row *row, const char *about, const char *rest)
{
    CLEANUP_TEXT struct text record = {0};
    struct checks parsed;
    struct err e = {0};
    text_add(&record, "Check=");
    add_name(l, about, &record);
    text_printf(&record, " Probe=%s%s%s\n", row->ours, rest, l->nodes.len ? l->nodes.s : "");
    if (checks_parse("", record.s, record.len, &parsed, &e) < 0) {
        add_note(l, e.msg + strspn(e.msg, ":1 "));
        return NULL;
    }
    checks_fini(&parsed);
    text_printf(l->out, "%s%s", l->is_open ? "#" : "", record.s);
    return NULL;
}

/* NHC's sizes are in units of 1,024 bytes, with more letters. False for anything else. */
static bool add_size(struct text *t, const char *key, const char *size)
{
    size_t len = strspn(size, "0123456789");
    char letter = size[len];
    const char *behind = size + len + (letter && strchr("kKmMgGtTpP", letter) ? 1 : 0);
    if (len == 0 || len > 15 || (*behind && strcmp(behind, "b") != 0 && strcmp(behind, "B") != 0))
        return false;
    char unit = behind == size + len || letter == 'k' || letter == 'K' ? 'k' : (char)(letter & ~32);
    text_printf(t, " %s=%.*s%ciB", key, (int)len, size, unit);
    return true;
}

/* "5%": the whole number before the sign. */
static bool take_percent(const char *s, unsigned *out)
{
    size_t len = strlen(s);
    CLEANUP_FREE char *digits = mem_dup_len(s, len && s[len - 1] == '%' ? len - 1 : len);
    uint64_t n;
    if (len == 0 || s[len - 1] != '%' || text_parse_u64(digits, 0, 100, &n, NULL) < 0)
        return false;
    *out = (unsigned)n;
    return true;
}

#define NEEDS_WORDS "an argument is missing, or is none that can be read"

static const char *write_PLAIN(struct nhc *l, const struct nhc_row *row)
{
    return add_record(l, row, "", "");
}

static const char *write_SET(struct nhc *l, const struct nhc_row *row)
{
    if (!l->has_set)
        text_printf(l->out, "Include=%s\n", row->ours);
    l->has_set = true;
    return NULL;
}

static const char *write_MOUNT(struct nhc *l, const struct nhc_row *row)
{
    struct options o;
    take_options(l, "0rE:F:O:e:f:o:s:t:", &o);
    const char *why = o.other ? o.other : check_plain(l, o.at);
    const char *path = nhc_option(&o, 'f') ? nhc_option(&o, 'f') : nhc_option(&o, 'F');
    if (!path && o.at < l->n)
        path = l->word[o.at++];
    if (why || !path || *path != '/' || o.at < l->n)
        return why ? why : "it names no mount point, or several: a line for each can be read";
    CLEANUP_TEXT struct text rest = {0}, options = {0};
    add_value(&rest, "Path", path);
    if (nhc_option(&o, 't'))
        add_value(&rest, "Type", nhc_option(&o, 't'));
    if (nhc_option(&o, 's'))
        add_value(&rest, "Source", nhc_option(&o, 's'));
    text_add(&options, row->what);
    if (nhc_option(&o, 'o'))
        text_printf(&options, "%s%s", options.len ? "," : "", nhc_option(&o, 'o'));
    if (options.len)
        add_value(&rest, "Options", options.s);
    text_add(&rest, o.nonfatal ? " Severity=warn" : "");
    return add_record(l, row, path, rest.s);
}

/* Takes FILE SYSTEM and SIZE of the checks of space. */
static const char *take_space(struct nhc *l, struct text *rest)
{
    const char *why = check_plain(l, 1);
    if (why || l->n != 3 || l->word[1][0] != '/')
        return why ? why : NEEDS_WORDS;
    add_value(rest, "Path", l->word[1]);
    return NULL;
}

static const char *write_FREE(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    const char *why = take_space(l, &rest);
    unsigned percent;
    if (why)
        return why;
    if (take_percent(l->word[2], &percent))
        text_printf(&rest, " Free=%u%%", percent);
    else if (!add_size(&rest, "Free", l->word[2]))
        return NEEDS_WORDS;
    return add_record(l, row, l->word[1], rest.s);
}

/* A limit on what is used becomes a limit on what is free. */
static const char *write_left(struct nhc *l, const struct nhc_row *row, const char *key, bool used)
{
    CLEANUP_TEXT struct text rest = {0};
    const char *why = take_space(l, &rest);
    unsigned percent;
    if (why)
        return why;
    if (!take_percent(l->word[2], &percent))
        return "Fettle asks for a share in percent that is free";
    text_printf(&rest, " %s=%u%%", key, used ? 100 - percent : percent);
    return add_record(l, row, l->word[1], rest.s);
}

static const char *write_USED(struct nhc *l, const struct nhc_row *row)
{
    return write_left(l, row, "Free", true);
}

static const char *write_INODES_FREE(struct nhc *l, const struct nhc_row *row)
{
    return write_left(l, row, "Inodes", false);
}

static const char *write_INODES_USED(struct nhc *l, const struct nhc_row *row)
{
    return write_left(l, row, "Inodes", true);
}

static const char *write_CPUS(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    uint64_t n;
    if (check_plain(l, 1) || l->n != 4 || text_parse_u64(l->word[3], 1, 65536, &n, NULL) < 0)
        return "Fettle counts processors (NHC's threads), and no others are given";
    add_value(&rest, "CPUs", l->word[3]);
    return add_record(l, row, "", rest.s);
}

static const char *write_MEMORY(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    unsigned fudge = 0;
    if (check_plain(l, 1) || l->n < 2 || !add_size(&rest, "Size", l->word[1]))
        return NEEDS_WORDS;
    if (l->n > 3 && !take_percent(l->word[3], &fudge))
        return "the allowance is no share in percent";
    text_printf(&rest, " Fudge=%u%%", fudge);
    return add_record(l, row, "", rest.s);
}

static const char *write_MEMORY_FREE(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    if (check_plain(l, 1) || l->n != 2 || !add_size(&rest, "Least", l->word[1]))
        return NEEDS_WORDS;
    return add_record(l, row, "", rest.s);
}

static const char *write_INFINIBAND(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    const char *why = check_plain(l, 1);
    if (why)
        return why;
    if (l->n > 1 && *l->word[1])
        add_value(&rest, "Rate", l->word[1]);
    if (l->n > 2) {
        CLEANUP_FREE char *device = mem_dup_len(l->word[2], strcspn(l->word[2], ":"));
        add_value(&rest, "Device", device);
    }
    text_add(&rest, " Ports=1");
    return add_record(l, row, l->n > 2 ? l->word[2] : "", rest.s);
}

static const char *write_ETHERNET(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text rest = {0};
    if (check_plain(l, 1) || l->n != 2)
        return NEEDS_WORDS;
    add_value(&rest, "Interface", l->word[1]);
    return add_record(l, row, l->word[1], rest.s);
}

static const char *add_service(struct nhc *l, const struct nhc_row *row, const char *daemon, bool nonfatal)
{
    CLEANUP_TEXT struct text rest = {0};
    const char *slash = strrchr(daemon, '/');
    add_value(&rest, "Command", slash ? slash + 1 : daemon);
    text_add(&rest, nonfatal ? " Severity=warn" : "");
    return add_record(l, row, slash ? slash + 1 : daemon, rest.s);
}

static const char *write_DAEMON(struct nhc *l, const struct nhc_row *row)
{
    const char *why = check_plain(l, 1);
    if (why || l->n < 2)
        return why ? why : NEEDS_WORDS;
    return add_service(l, row, l->word[1], false);
}

static const char *write_SERVICE(struct nhc *l, const struct nhc_row *row)
{
    struct options o;
    take_options(l, "0E:SVcd:e:fkm:rsu:v", &o);
    const char *why = o.other ? o.other : check_plain(l, o.at);
    if (why)
        return why;
    if (nhc_option(&o, 'k') || nhc_option(&o, 's') || nhc_option(&o, 'E'))
        return "no probe forbids processes by their names";
    if (nhc_option(&o, 'm') || o.at + 1 != l->n)
        return "Fettle knows a process by the name of its program";
    return add_service(l, row, nhc_option(&o, 'd') ? nhc_option(&o, 'd') : l->word[o.at], o.nonfatal);
}

/* The shell would have to judge the exit status; a plugin's status 2 is NHC's failure. */
static const char *write_STATUS(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text run = {0}, rest = {0};
    struct options o;
    take_options(l, "C:r:t:", &o);
    if (o.other || nhc_option(&o, 'C') || o.at >= l->n)
        return o.other ? o.other : NEEDS_WORDS;
    const char *status = nhc_option(&o, 'r') ? nhc_option(&o, 'r') : "0", *command = l->raw[o.at];
    uint64_t n;
    if (text_parse_u64(status, 0, 255, &n, NULL) < 0)
        return NEEDS_WORDS;
    if (strpbrk(command, "#()"))
        return "it is more shell than can be read";
    text_printf(&run,
                "( %s ) >/dev/null 2>&1; [ $? -eq %s ] || { echo 'its exit status is not %s'; exit 2; }",
                command, status, status);
    add_value(&rest, "Run", run.s);
    if (nhc_option(&o, 't'))
        text_printf(&rest, " Deadline=%ss", nhc_option(&o, 't'));
    return add_record(l, row, l->word[o.at], rest.s);
}

static const char *write_FILES(struct nhc *l, const struct nhc_row *row)
{
    CLEANUP_TEXT struct text run = {0}, tests = {0}, rest = {0};
    const char *why = check_plain(l, 1);
    size_t at = 1;
    for (; at < l->n && l->word[at][0] == '-' && strlen(l->word[at]) == 2; at++) {
        if (!strchr("abcdefghkprsuwxOGLS", l->word[at][1]))
            return "it has a test that sh does not have";
        text_printf(&tests, "%stest %s \"$f\"", tests.len ? " && " : "",
                    l->word[at][1] == 'a' ? "-e" : l->word[at]);
    }
    if (why || at == 1 || at == l->n)
        return why ? why : NEEDS_WORDS;
    text_add(&run, "for f in");
    for (size_t i = at; i < l->n; i++)
        text_printf(&run, " %s", l->word[i]);
    text_printf(&run, "; do %s || { echo \"$f is not as it should be\"; exit 2; }; done", tests.s);
    add_value(&rest, "Run", run.s);
    return add_record(l, row, l->word[at], rest.s);
}

/* --- lines ----------------------------------------------------------------------------------- */

#define write_NONE NULL

static const struct nhc_row rows[] = {
#define NHC(name, how, ours, what) {name, write_##how, ours, what},
#include "import/nhc_check.tbl"
#undef NHC
};

static const struct nhc_row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* All nodes, a list in braces, or one name. Anything else is a pattern. */
static void take_target(struct nhc *l)
{
    size_t len = strlen(l->target);
    bool braces = len > 2 && l->target[0] == '{' && l->target[len - 1] == '}';
    CLEANUP_FREE char *list = braces ? mem_dup_len(l->target + 1, len - 2) : mem_dup(l->target);
    CLEANUP_HOSTLIST struct hostlist names = {0};
    l->is_open = false;
    text_clear(&l->nodes);
    if (strcmp(l->target, "*") == 0)
        return;
    bool is_list = braces ? hostlist_parse(list, &names, NULL) == 0 : hostlist_name_ok(list);
    for (size_t i = 0; i < names.n; i++)
        is_list &= hostlist_name_ok(names.names[i]);
    l->is_open = !is_list || len > 1000;
    if (!l->is_open)
        add_value(&l->nodes, "Nodes", list);
}

static void take_check(struct nhc *l)
{
    bool is_read = take_words(l);
    const struct nhc_row *row = is_read && l->n ? find_row(l->word[0]) : NULL;
    const char *why = row ? row->what : "it is shell; a plugin says it: Probe=plugin Run=";
    bool sets = l->n && (strcmp(l->word[0], "export") == 0 || strchr(l->word[0], '='));
    if (!row && sets)
        why = "it is a setting of NHC itself";
    if (row && row->write) {
        if (l->is_open && row->write != write_SET)
            add_note(l, "its nodes are a pattern: give it Nodes=LIST, or Classes= of classes.conf");
        why = row->write(l, row);
    }
    if (why)
        add_note(l, why);
    free_words(l);
}

static char *nhc_trim(char *s)
{
    while (is_blank(*s))
        s++;
    size_t len = strlen(s);
    while (len > 0 && is_blank(s[len - 1]))
        s[--len] = '\0';
    return s;
}

static void take_line(struct nhc *l, char *line)
{
    char *bars = strstr(line, "||");
    line = nhc_trim(line);
    if (*line == '#' || *line == '\0')
        return;
    l->target = line;
    l->check = bars ? nhc_trim(bars + 2) : line;
    if (bars)
        *bars = '\0';
    l->target = nhc_trim(l->target);
    if (*l->check == '\0' || *l->target == '\0')
        return;
    if (!bars) {
        l->target = (char[]){"?"};
        add_note(l, "there is no || behind its nodes");
        return;
    }
    take_target(l);
    take_check(l);
}

int import_nhc(const char *path, const char *bytes, size_t len, struct text *checks, struct err *e)
{
    char shown[200];
    struct nhc l = {.path = shown, .out = checks};
    struct checks all;
    text_line(shown, sizeof shown, path);
    if (len && memchr(bytes, '\0', len))
        return err_set(e, -EINVAL, "%s: there is a NUL byte", path);
    CLEANUP_FREE char *copy = mem_dup_len(bytes, len);
    text_add(&l.names, " ");
    text_add(
        checks,
        "# The checks of an nhc.conf for Fettle: checks.conf(5). What has no counterpart stands in "
        "comments.\n"
        "# NHC takes a node out of service for each of them. Here each has the severity of its probe; with\n"
        "# Severity=fatal behind it, one is as grave as it was.\n\n"
        "# What is checked without any file.\nInclude=default\n\n");
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        l.number++;
        take_line(&l, line);
    }
    text_fini(&l.nodes);
    text_fini(&l.names);
    int rc = checks_parse("checks.conf", checks->s, checks->len, &all, e);
    checks_fini(&all);
    return rc < 0 ? err_wrap(e, rc, "the converted %s", shown) : 0;
}
