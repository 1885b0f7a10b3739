/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include "base/conf.h"

#include <errno.h>
#include <string.h>

/* --- os-release ------------------------------------------------------------------------------------ */

/* Quotes and backslashes as a shell reads them in an assignment. Text behind the word is dropped. */
static void image_unquote(const char *p, struct text *out)
{
    char quote = '\0';
    for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
        if (quote == *p) {
            quote = '\0';
        } else if (!quote && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else {
            if (*p == '\\' && quote != '\'' && p[1])
                p++;
            text_add_char(out, *p);
        }
    }
    text_add(out, "");
}

bool os_release_value(const char *line, const char *name, struct text *out)
{
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0 || line[n] != '=')
        return false;
    text_clear(out);
    image_unquote(line + n + 1, out);
    notes_squeeze(out);
    return true;
}

enum { ID, VERSION_ID, BUILD_ID, IMAGE_ID, IMAGE_VERSION, MEMBERS };

struct release {
    struct text member[MEMBERS];
};

static bool release_line(const char *line, void *release)
{
    static const char *const names[MEMBERS] = {"ID", "VERSION_ID", "BUILD_ID", "IMAGE_ID", "IMAGE_VERSION"};
    struct release *o = release;
    for (size_t i = 0; i < MEMBERS; i++)
        os_release_value(line, names[i], &o->member[i]);
    return true;
}

static int read_release(int root, struct release *o)
{
    int r = sys_each_line(root, "etc/os-release", release_line, o);
    return r == -ENOENT ? sys_each_line(root, "usr/lib/os-release", release_line, o) : r;
}

static void fini_release(struct release *o)
{
    for (size_t i = 0; i < MEMBERS; i++)
        text_fini(&o->member[i]);
}

/* One member, and another behind it where there is one. */
static void note_two(struct notes *n, const struct text *a, const struct text *b, const char *name)
{
    CLEANUP_TEXT struct text both = {0};
    if (a->len)
        text_add(&both, a->s);
    if (b && b->len)
        text_printf(&both, "%s%s", both.len ? " " : "", b->s);
    if (both.len)
        notes_value(n, both.s, "%s", name);
    else
        notes_absent(n, "%s", name);
}

void os_read(const struct reading *r, struct notes *n)
{
    struct release o = {0};
    int failed = read_release(r->root, &o);
    if (failed && failed != -ENOENT) {
        notes_error(n, failed, "os.id");
        notes_error(n, failed, "os.version");
    } else {
        note_two(n, &o.member[ID], NULL, "os.id");
        note_two(n, &o.member[VERSION_ID], &o.member[BUILD_ID], "os.version");
    }
    fini_release(&o);
}

/* --- images ------------------------------------------------------------------------------------------ */

static const char *const FILES[] = {"run/fettle/image", "etc/fettle-image"};

/* Takes the parameters uenv and os. A parameter that is missing makes no note. */
static int take_file(const char *path, const struct text *bytes, struct notes *n, struct err *why)
{
    static const char *const known[] = {"uenv", "os"};
    struct conf c;
    int r = conf_parse(path, bytes->s, bytes->len, CONF_PARAMETERS, &c, why);
    for (size_t i = 0; r == 0 && i < c.n; i++) {
        const struct conf_field *f = &c.lines[i].fields[0];
        if (strcmp(f->key, "uenv") != 0 && strcmp(f->key, "os") != 0)
            r = conf_unknown_key(&c, &c.lines[i], f->key, known, 2, why);
        else
            notes_value(n, f->value, "image.%s", f->key);
    }
    conf_fini(&c);
    return r;
}

/* The first of the files that is there. */
static int read_file(const struct reading *r, struct notes *n, struct err *why)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        CLEANUP_TEXT struct text bytes = {0};
        int failed = notes_read(r->root, FILES[i], SYS_FILE_BYTES_MAX, &bytes);
        if (failed == 0)
            return take_file(FILES[i], &bytes, n, why);
        if (failed != -ENOENT)
            return err_set(why, failed, "%s: %s", FILES[i], strerror(-failed));
    }
    return 0;
}

void image_read(const struct reading *r, struct notes *n)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    if (read_file(r, &said, &why) < 0) {
        notes_unknown(n, why.msg, "image.uenv");
        notes_unknown(n, why.msg, "image.os");
        return;
    }
    if (notes_find(&said, "image.uenv"))
        notes_expect(n, &said, "image.uenv", "", "image.uenv");
    else
        notes_absent(n, "image.uenv");
    if (notes_find(&said, "image.os")) {
        notes_expect(n, &said, "image.os", "", "image.os");
        return;
    }
    struct release o = {0};
    int failed = read_release(r->root, &o);
    if (failed && failed != -ENOENT)
        notes_error(n, failed, "image.os");
    else
        note_two(n, &o.member[IMAGE_ID], &o.member[IMAGE_VERSION], "image.os");
    fini_release(&o);
}
