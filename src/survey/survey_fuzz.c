/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/normal.h"
#include "survey/nvml.h"
#include "survey/part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a survey reads. The first byte says which: 'd' dpkg's status, 'o' os-release, 'c' boot parameters,
 * 'm' mountinfo, 'p' modules, 'f' fingerprint.conf, 'a' what a child process says (NVML's), 'n' a name that
 * a class names. */

static const struct hostlist NOBODY;

/* Whatever notes there are, components can be made of them. */
static void settle(struct notes *n)
{
    struct components c = {0};
    notes_settle(n, "x", &NOBODY, &c);
    assert(components_sort(&c, NULL) == 0);
    components_fini(&c);
    notes_fini(n);
}

/* In two pieces, so that lines are put together. */
static void lines(const char *bytes, size_t n, sys_line_fn *fn, void *arg)
{
    struct sys_lines l = {.len = 0};
    if (sys_lines_feed(&l, bytes, n / 2, fn, arg))
        sys_lines_feed(&l, bytes + n / 2, n - n / 2, fn, arg);
}

static void dpkg(const char *bytes, size_t n)
{
    struct notes notes = {0};
    struct dpkg d = {.notes = &notes};
    lines(bytes, n, dpkg_line, &d);
    dpkg_end(&d);
    settle(&notes);
}

static bool release_line(const char *line, void *notes)
{
    CLEANUP_TEXT struct text value = {0};
    if (os_release_value(line, "ID", &value))
        notes_value(notes, value.s, "os.id");
    return true;
}

static void release(const char *bytes, size_t n)
{
    struct notes notes = {0};
    lines(bytes, n, release_line, &notes);
    settle(&notes);
}

static void cmdline(const char *text)
{
    struct notes notes = {0};
    CLEANUP_TEXT struct text out = {0}, options = {0}, source = {0};
    normal_cmdline(text, "lx07.cluster", &out);
    normal_options(text, "lx07", &options);
    normal_source(text, "1", &source);
    notes_value(&notes, out.s ? out.s : "", "kernel.cmdline");
    settle(&notes);
}

static void note_mount(void *notes, const char *path, const char *value)
{
    notes_value(notes, value, "mount.%s", path);
}

static void mounts(const char *text)
{
    struct notes notes = {0};
    mounts_parse(text, "lx07", note_mount, &notes);
    mounts_remote(text, "/home/me");
    settle(&notes);
}

static bool one_module(const char *line, void *notes)
{
    char name[64];
    if (module_live(line, name))
        notes_value(notes, "loaded", "module.%s", name);
    return true;
}

static void modules(const char *bytes, size_t n)
{
    struct notes notes = {0};
    lines(bytes, n, one_module, &notes);
    settle(&notes);
}

static void conf(const char *bytes, size_t n)
{
    struct survey_conf c;
    struct err e = {0};
    int r = survey_conf_parse("f", bytes, n, &c, &e);
    assert(r == 0 || (r < 0 && e.code == r && *e.msg));
    if (r == 0)
        survey_conf_fini(&c);
}

static void answer(const char *bytes, size_t n)
{
    struct notes notes = {0};
    char address[32];
    struct text said = {0};
    text_add_bytes(&said, bytes, n);
    apart_take(&said, &notes);
    for (size_t i = 0; i < notes.n; i++)
        nvml_address(notes.list[i].value, address);
    settle(&notes);
    text_fini(&said);
}

static void name(const char *text)
{
    struct survey_conf c = {0};
    char path[300];
    survey_conf_name(&c, text);
    for (size_t i = 0; i < c.sysctls.n; i++) {
        assert(sysctl_path(c.sysctls.names[i], path));
        assert(path[0] != '/' && path[0] != '.' && !strstr(path, "/."));
    }
    survey_conf_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    CLEANUP_FREE char *text = mem_dup_len(bytes, size - 1);
    switch (data[0]) {
    case 'd': dpkg(bytes, size - 1); break;
    case 'o': release(bytes, size - 1); break;
    case 'c': cmdline(text); break;
    case 'm': mounts(text); break;
    case 'p': modules(bytes, size - 1); break;
    case 'f': conf(bytes, size - 1); break;
    case 'a': answer(bytes, size - 1); break;
    case 'n': name(text); break;
    default: break;
    }
    return 0;
}
