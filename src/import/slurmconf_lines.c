/* SPDX-License-Identifier: Apache-2.0 */
#include "import/slurmconf_lines.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_space(char c)
{
    return isspace((unsigned char)c);
}

static const char *skip_space(const char *s)
{
    while (is_space(*s))
        s++;
    return s;
}

/* --- key and value --------------------------------------------------------------------------- */

/* The length of a value that begins at s: to the next white space, or to a closing quote with white space
 * behind it. */
static size_t value_length(const char *s, bool *quoted)
{
    size_t len = *s == '"' ? strcspn(s + 1, "\"") + 2 : 0;
    *quoted = len > 0 && s[len - 1] == '"' && (s[len] == '\0' || is_space(s[len]));
    if (*quoted)
        return len;
    for (len = 0; s[len] && !is_space(s[len]);)
        len++;
    return len;
}

/* One KEY=VALUE at s. False when there is none. */
static bool take_pair(const char *s, char **key, char **value, const char **rest)
{
    size_t len = 0;
    bool quoted;
    s = skip_space(s);
    while (isalnum((unsigned char)s[len]) || s[len] == '_' || s[len] == '.')
        len++;
    const char *at = skip_space(s + len);
    at += *at && strchr("-*+/", *at) ? 1 : 0; /* operators; no key of nodes has a use for them */
    if (len == 0 || *at != '=')
        return false;
    at = skip_space(at + 1);
    size_t n = value_length(at, &quoted);
    if (n == 0)
        return false;
    *key = mem_dup_len(s, len);
    *value = quoted ? mem_dup_len(at + 1, n - 2) : mem_dup_len(at, n);
    *rest = at + n;
    return true;
}

static int no_pair(const struct slurmconf_line *line, const char *at, struct err *e)
{
    char words[80];
    text_line(words, sizeof words, skip_space(at));
    return err_set(e, -EINVAL, "%s:%d: there is no KEY=VALUE at \"%s\"", line->file, line->number, words);
}

int slurmconf_first(const struct slurmconf_line *line, char **key, char **value, const char **rest,
                    struct err *e)
{
    const char *behind;
    if (!take_pair(line->text, key, value, rest ? rest : &behind))
        return no_pair(line, line->text, e);
    return 0;
}

int slurmconf_pairs_read(const struct slurmconf_line *line, struct slurmconf_pairs *out, struct err *e)
{
    for (const char *at = line->text; *skip_space(at);) {
        if (out->n == SLURM_PAIRS_MAX)
            return err_set(e, -EINVAL, "%s:%d: more than %d keys", line->file, line->number, SLURM_PAIRS_MAX);
        struct slurmconf_pair *p = &out->list[out->n];
        if (!take_pair(at, &p->key, &p->value, &at))
            return no_pair(line, at, e);
        out->n++;
    }
    return 0;
}

void slurmconf_pairs_fini(struct slurmconf_pairs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->list[i].key);
        free(p->list[i].value);
    }
    p->n = 0;
}

const char *slurmconf_pair(const struct slurmconf_pairs *p, const char *key)
{
    for (size_t i = p->n; i > 0; i--)
        if (strcasecmp(p->list[i - 1].key, key) == 0)
            return p->list[i - 1].value;
    return NULL;
}

/* --- lines ----------------------------------------------------------------------------------- */

struct reader {
    import_read_fn *read;
    void *arg;
    struct slurmconf_lines *out;
    char *dir;     /* of the first file, with its slash */
    char *cluster; /* ClusterName in lower case, NULL before it */
    const char *file;
    int number, depth;
    struct err *e;
};

static int slurmconf_lines_complain(const struct reader *r, const char *what, const char *word)
{
    char shown[80];
    text_line(shown, sizeof shown, word);
    return err_set(r->e, -EINVAL, "%s:%d: %s \"%s\"", r->file, r->number, what, shown);
}

/* Ends the line before its comment. Returns its length. */
static size_t strip_comment(const char *line, size_t len)
{
    size_t slashes = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '#' && slashes % 2 == 0)
            return i;
        slashes = line[i] == '\\' ? slashes + 1 : 0;
    }
    return len;
}

/* A line with an odd number of backslashes at its end goes on. Returns its length without the last of them.
 */
static bool strip_continuation(const char *line, size_t *len)
{
    size_t end = *len, slashes = 0;
    while (end > 0 && is_space(line[end - 1]))
        end--;
    while (slashes < end && line[end - 1 - slashes] == '\\')
        slashes++;
    if (slashes % 2 == 0)
        return false;
    *len = end - 1;
    return true;
}

static void strip_escapes(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        if (*from == '\\' && *++from == '\0')
            break;
        *to++ = *from;
    }
    *to = '\0';
}

static int read_file(struct reader *r, const char *path);

/* %c becomes the name of the cluster. NULL when there is none yet. */
static char *include_name(const struct reader *r, const char *name)
{
    struct text t = {0};
    text_add(&t, *name == '/' ? "" : r->dir);
    for (; *name; name++) {
        if (name[0] != '%' || name[1] != 'c') {
            text_add_char(&t, *name);
            continue;
        }
        if (!r->cluster) {
            text_fini(&t);
            return NULL;
        }
        text_add(&t, r->cluster);
        name++;
    }
    return text_take(&t);
}

static int lines_include(struct reader *r, const char *at)
{
    at = skip_space(at);
    size_t len = 0;
    while (at[len] && !is_space(at[len]))
        len++;
    CLEANUP_FREE char *name = mem_dup_len(at, len);
    if (len == 0)
        return slurmconf_lines_complain(r, "Include without a file", "");
    if (*skip_space(at + len))
        return slurmconf_lines_complain(
            r, "there is something behind the file of Include:", skip_space(at + len));
    CLEANUP_FREE char *path = include_name(r, name);
    if (!path)
        return slurmconf_lines_complain(r, "no ClusterName stands before the %c of", name);
    if (r->depth == SLURM_DEPTH_MAX)
        return slurmconf_lines_complain(r, "too many files include each other at", path);
    const char *file = r->file;
    int number = r->number;
    int rc = read_file(r, path);
    r->file = file;
    r->number = number;
    return rc;
}

static void note_cluster(struct reader *r, const struct slurmconf_line *line)
{
    CLEANUP_FREE char *key = NULL;
    char *value = NULL;
    if (slurmconf_first(line, &key, &value, NULL, NULL) < 0)
        return;
    if (strcasecmp(key, "ClusterName") == 0) {
        free(r->cluster);
        r->cluster = STEAL(value);
        for (char *s = r->cluster; *s; s++)
            *s = (char)tolower((unsigned char)*s);
    }
    free(value);
}

static int take_line(struct reader *r, const char *text)
{
    if (strncasecmp(text, "include", 7) == 0 && is_space(text[7]))
        return lines_include(r, text + 8);
    if (*skip_space(text) == '\0')
        return 0;
    struct slurmconf_lines *l = r->out;
    if (l->n == SLURM_LINES_MAX)
        return slurmconf_lines_complain(r, "too many lines, from here on:", text);
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->list = mem_grow(l->list, l->cap * sizeof *l->list);
    }
    l->list[l->n] = (struct slurmconf_line){r->file, r->number, mem_dup(skip_space(text))};
    note_cluster(r, &l->list[l->n++]);
    return 0;
}

static int take_lines(struct reader *r, const struct text *bytes)
{
    CLEANUP_TEXT struct text line = {0};
    int parts = 0;
    r->number = 1;
    for (size_t at = 0; at < bytes->len;) {
        char *from = bytes->s + at, *end = memchr(from, '\n', bytes->len - at);
        size_t len = end ? (size_t)(end - from) : bytes->len - at;
        at += len + 1;
        parts++;
        len = strip_comment(from, len);
        bool more = strip_continuation(from, &len);
        text_add_bytes(&line, from, len);
        if (more && at < bytes->len)
            continue;
        text_add(&line, "");
        strip_escapes(line.s);
        int rc = take_line(r, line.s);
        if (rc < 0)
            return rc;
        text_clear(&line);
        r->number += parts;
        parts = 0;
    }
    return 0;
}

static int read_file(struct reader *r, const char *path)
{
    CLEANUP_TEXT struct text bytes = {0};
    struct slurmconf_lines *l = r->out;
    if (l->n_files == SLURM_FILES_MAX)
        return err_set(r->e, -EINVAL, "%s: more than %d files", path, SLURM_FILES_MAX);
    int rc = r->read(r->arg, path, &bytes, r->e);
    if (rc < 0)
        return r->file ? err_wrap(r->e, rc, "%s:%d: Include", r->file, r->number) : rc;
    if (bytes.len && memchr(bytes.s, '\0', bytes.len))
        return err_set(r->e, -EINVAL, "%s: there is a NUL byte", path);
    l->files = mem_grow(l->files, (l->n_files + 1) * sizeof *l->files);
    l->files[l->n_files] = mem_dup(path);
    r->file = l->files[l->n_files++];
    r->depth++;
    assert(r->depth <= SLURM_DEPTH_MAX && "lines_include has refused a deeper one");
    rc = take_lines(r, &bytes);
    r->depth--;
    return rc;
}

int slurmconf_lines_read(const char *path, import_read_fn *read, void *arg, struct slurmconf_lines *out,
                         struct err *e)
{
    struct reader r = {.read = read, .arg = arg, .out = out, .e = e};
    const char *slash = strrchr(path, '/');
    r.dir = slash ? mem_dup_len(path, (size_t)(slash + 1 - path)) : mem_dup("");
    int rc = read_file(&r, path);
    free(r.dir);
    free(r.cluster);
    return rc;
}

void slurmconf_lines_fini(struct slurmconf_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].text);
    for (size_t i = 0; i < l->n_files; i++)
        free(l->files[i]);
    free(l->list);
    free(l->files);
    *l = (struct slurmconf_lines){0};
}
