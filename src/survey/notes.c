/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/notes.h"

#include "conform/pattern.h"
#include "probe/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void notes_fini(struct notes *n)
{
    for (size_t i = 0; i < n->n; i++) {
        free(n->list[i].name);
        free(n->list[i].value);
    }
    free(n->list);
    *n = (struct notes){0};
}

void notes_cleanup(struct notes *n)
{
    notes_fini(n);
}

/* --- taking notes ------------------------------------------------------------------------------ */

static bool notes_plain(char c)
{
    return c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '%';
}

static char *name_of(const char *format, va_list args)
{
    char *raw;
    if (vasprintf(&raw, format, args) < 0)
        abort();
    struct text name = {0};
    for (const char *p = raw; *p; p++) {
        if (notes_plain(*p))
            text_add_char(&name, *p);
        else
            text_printf(&name, "%%%02X", (unsigned char)*p);
    }
    free(raw);
    return text_take(&name);
}

static void notes_push(struct notes *n, char *name, enum component_state state, const char *value)
{
    if (n->n == n->cap) {
        n->cap = n->cap ? 2 * n->cap : 32;
        n->list = mem_grow(n->list, n->cap * sizeof *n->list);
    }
    n->list[n->n++] = (struct note){.name = name, .value = mem_dup(value), .state = state};
}

void notes_take(struct notes *n, const char *name, enum component_state state, const char *value)
{
    notes_push(n, mem_dup(name), state, value);
}

static void notes_add(struct notes *n, enum component_state state, const char *value, const char *format,
                      va_list args)
{
    notes_push(n, name_of(format, args), state, value);
}

void notes_value(struct notes *n, const char *value, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    notes_add(n, COMPONENT_VALUE, value, name, args);
    va_end(args);
}

void notes_number(struct notes *n, size_t value, const char *name, ...)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    va_list args;
    va_start(args, name);
    notes_add(n, COMPONENT_VALUE, text, name, args);
    va_end(args);
}

void notes_absent(struct notes *n, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    notes_add(n, COMPONENT_ABSENT, "", name, args);
    va_end(args);
}

void notes_unknown(struct notes *n, const char *why, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    notes_add(n, COMPONENT_UNKNOWN, why, name, args);
    va_end(args);
}

void notes_error(struct notes *n, int code, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    notes_add(n, COMPONENT_UNKNOWN, strerror(-code), name, args);
    va_end(args);
}

void notes_lost(struct notes *n, int code, const char *path, const char *prefix)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "%s: %s", path, strerror(-code));
    notes_unknown(n, why.s, "%s.*", prefix);
}

static void add_result(struct notes *n, int r, const char *value, const char *name, va_list args)
{
    if (r == -EFBIG)
        notes_add(n, COMPONENT_UNKNOWN, "the file is too long for a value", name, args);
    else if (r < 0 && r != -ENOENT && r != -ENOTDIR)
        notes_add(n, COMPONENT_UNKNOWN, strerror(-r), name, args);
    else if (r < 0 || !*value)
        notes_add(n, COMPONENT_ABSENT, "", name, args);
    else
        notes_add(n, COMPONENT_VALUE, value, name, args);
}

void notes_text(struct notes *n, int at, const char *path, const char *name, ...)
{
    CLEANUP_TEXT struct text text = {0};
    int r = notes_read(at, path, SYS_FILE_BYTES_MAX, &text);
    notes_squeeze(&text);
    va_list args;
    va_start(args, name);
    add_result(n, r, text.s, name, args);
    va_end(args);
}

void notes_link(struct notes *n, int at, const char *path, const char *name, ...)
{
    char text[SYS_TEXT_BYTES_MAX];
    int r = sys_link(at, path, text);
    va_list args;
    va_start(args, name);
    add_result(n, r, text, name, args);
    va_end(args);
}

const struct note *notes_find(const struct notes *n, const char *name)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->list[i].name, name) == 0)
            return &n->list[i];
    return NULL;
}

void notes_expect(struct notes *n, const struct notes *got, const char *from, const char *why,
                  const char *name, ...)
{
    const struct note *found = notes_find(got, from);
    va_list args;
    va_start(args, name);
    notes_add(n, found ? found->state : COMPONENT_UNKNOWN, found ? found->value : why, name, args);
    va_end(args);
}

/* --- making components of them ------------------------------------------------------------------ */

static bool notes_ignored(const struct hostlist *ignore, const char *name)
{
    for (size_t i = 0; i < ignore->n; i++)
        if (pattern_matches(ignore->names[i], name))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct note *x = a, *y = b;
    int r = strcmp(x->name, y->name);
    if (r == 0)
        r = (int)y->state - (int)x->state; /* unknown first: it decides */
    return r ? r : strcmp(x->value, y->value);
}

static bool same_name(const struct note *a, const struct note *b)
{
    return strcmp(a->name, b->name) == 0;
}

static void notes_drop(struct note *n)
{
    free(n->name);
    free(n->value);
}

/* Sorts, and leaves each note once. */
static void notes_sort(struct notes *n)
{
    if (n->n < 2)
        return;
    qsort(n->list, n->n, sizeof *n->list, by_name);
    size_t kept = 1;
    for (size_t i = 1; i < n->n; i++) {
        const struct note *last = &n->list[kept - 1];
        if (by_name(last, &n->list[i]) == 0)
            notes_drop(&n->list[i]);
        else
            n->list[kept++] = n->list[i];
    }
    n->n = kept;
}

/* Of two notes with one name, in the order of by_name, adds the second to the first. */
static void notes_join(struct note *first, const struct note *second)
{
    if (first->state == COMPONENT_UNKNOWN || second->state != COMPONENT_VALUE)
        return;
    struct text both = {0};
    if (first->state == COMPONENT_VALUE)
        text_printf(&both, "%s, ", first->value);
    text_add(&both, second->value);
    first->state = COMPONENT_VALUE;
    free(first->value);
    first->value = text_take(&both);
}

/* Leaves each name once. */
static void notes_unite(struct notes *n)
{
    size_t kept = 0;
    notes_sort(n);
    for (size_t i = 0; i < n->n; i++) {
        if (kept > 0 && same_name(&n->list[kept - 1], &n->list[i])) {
            notes_join(&n->list[kept - 1], &n->list[i]);
            notes_drop(&n->list[i]);
        } else {
            n->list[kept++] = n->list[i];
        }
    }
    n->n = kept;
}

static bool is_utf8(const char *s)
{
    for (size_t step; *s; s += step)
        if ((step = text_utf8(s)) == 0)
            return false;
    return true;
}

/* A value that cannot stand in a list is unknown. */
static void fit_value(struct note *n)
{
    size_t len = strlen(n->value);
    char why[96];
    if (len > COMPONENT_VALUE_BYTES_MAX)
        snprintf(why, sizeof why, "the value has %zu bytes; %d are allowed", len, COMPONENT_VALUE_BYTES_MAX);
    else if (!is_utf8(n->value))
        snprintf(why, sizeof why, "the value is not UTF-8");
    else
        return;
    free(n->value);
    n->value = mem_dup(why);
    n->state = COMPONENT_UNKNOWN;
}

/* Room that is kept for each part's last word, "PREFIX.*" unknown. */
enum { RESERVED = 64, RESERVED_BYTES = 16 << 10 };

/* The notes of a part that may stand in a list: their names are not ignored and not too long. */
struct measure {
    size_t n, bytes, too_long;
};

static bool notes_counts(const struct note *n, const struct hostlist *ignore, struct measure *m)
{
    if (notes_ignored(ignore, n->name))
        return false;
    if (strlen(n->name) > COMPONENT_NAME_BYTES_MAX) {
        m->too_long++;
        return false;
    }
    return true;
}

static bool notes_fits(const struct measure *m, const struct components *out)
{
    return out->n + m->n <= COMPONENTS_MAX - RESERVED &&
           out->bytes + m->bytes <= COMPONENTS_BYTES_MAX - RESERVED_BYTES;
}

/* The failure of the part as a whole; "" when there was none. */
static void notes_complain(const struct measure *m, const struct components *out, char why[static 192])
{
    *why = '\0';
    if (m->too_long)
        snprintf(why, 192, "%zu names have more than %d bytes", m->too_long, COMPONENT_NAME_BYTES_MAX);
    if (!notes_fits(m, out))
        snprintf(why, 192,
                 "%zu components with %zu bytes find no room; a list has %d components and %d bytes, of "
                 "which %zu and %zu are taken",
                 m->n, m->bytes, COMPONENTS_MAX, COMPONENTS_BYTES_MAX, out->n, out->bytes);
}

static void notes_put(struct components *out, const char *name, enum component_state state, const char *value)
{
    int r = components_add(out, name, state, value, NULL);
    assert(r == 0); /* everything was measured */
}

/* Leaves what may stand in a list, each note with a value that does. */
static struct measure notes_sift(struct notes *n, const struct hostlist *ignore)
{
    struct measure m = {0};
    size_t kept = 0;
    notes_unite(n);
    for (size_t i = 0; i < n->n; i++) {
        struct note note = n->list[i];
        if (!notes_counts(&note, ignore, &m)) {
            notes_drop(&note);
            continue;
        }
        fit_value(&note);
        m.n++;
        m.bytes += strlen(note.name) + strlen(note.value);
        n->list[kept++] = note;
    }
    n->n = kept;
    return m;
}

void notes_settle(struct notes *n, const char *prefix, const struct hostlist *ignore, struct components *out)
{
    struct measure m = notes_sift(n, ignore);
    char whole[64], why[192];
    snprintf(whole, sizeof whole, "%s.*", prefix);
    notes_complain(&m, out, why);
    bool all = notes_fits(&m, out);
    for (size_t i = 0; all && i < n->n; i++)
        notes_put(out, n->list[i].name, n->list[i].state, n->list[i].value);
    if (*why && !notes_ignored(ignore, whole) && !(all && notes_find(n, whole)))
        notes_put(out, whole, COMPONENT_UNKNOWN, why);
}

/* --- files -------------------------------------------------------------------------------------- */

int notes_read(int at, const char *path, size_t limit_bytes, struct text *out)
{
    enum { CHUNK_BYTES = 4096 };
    CLEANUP_FD int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (;;) {
        ssize_t got = read(fd, text_room(out, CHUNK_BYTES + 1), CHUNK_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno != EAGAIN)
            return -errno;
        if (got <= 0)
            break;
        out->len += (size_t)got;
        if (out->len > limit_bytes)
            return -EFBIG;
    }
    out->s[out->len] = '\0';
    return 0;
}

void notes_squeeze(struct text *t)
{
    size_t to = 0;
    bool gap = false;
    for (size_t i = 0; i < t->len; i++) {
        unsigned char c = (unsigned char)t->s[i];
        if (c <= ' ' || c == 0x7f) {
            gap = to > 0;
            continue;
        }
        if (gap)
            t->s[to++] = ' ';
        gap = false;
        t->s[to++] = (char)c;
    }
    t->len = to;
    if (t->s)
        t->s[to] = '\0';
}
