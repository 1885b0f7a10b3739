/* SPDX-License-Identifier: Apache-2.0 */
#include "node/ended.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *code;
    bool own;
    int stands_h;
    const char *what;
} rows[ENDEDS] = {
#define ENDED(symbol, name, code, own, stands_h, what) [ENDED_##symbol] = {name, code, own, stands_h, what},
#include "node/ended.tbl"
#undef ENDED
};

const char *ended_name(enum ended d)
{
    assert((size_t)d < sizeof rows / sizeof *rows);
    return rows[d].name;
}

const char *ended_what(enum ended d)
{
    assert((size_t)d < sizeof rows / sizeof *rows);
    return rows[d].what;
}

const char *ended_code(enum ended d)
{
    assert((size_t)d < sizeof rows / sizeof *rows);
    return rows[d].code;
}

bool ended_is_own(enum ended d)
{
    assert((size_t)d < sizeof rows / sizeof *rows);
    return rows[d].own;
}

int ended_stands_h(enum ended d)
{
    assert((size_t)d < sizeof rows / sizeof *rows);
    return rows[d].stands_h;
}

bool ended_of_code(const char *code, enum ended *out)
{
    for (int d = 0; d < ENDEDS; d++) {
        if (strcmp(rows[d].code, code) == 0) {
            *out = (enum ended)d;
            return true;
        }
    }
    return false;
}

static enum ended ended_of_name(const char *name)
{
    for (int d = 0; d < ENDEDS; d++)
        if (strcmp(rows[d].name, name) == 0)
            return (enum ended)d;
    return ENDED_UNKNOWN;
}

void last_boot_read(const json_t *inventory, struct last_boot *out)
{
    const json_t *o = json_object_get(inventory, "LastBoot");
    const char *name = json_text(o, "ended");
    *out = (struct last_boot){.known = *name != '\0'};
    if (!out->known)
        return;
    out->ended = ended_of_name(name);
    text_line(out->text, sizeof out->text, json_text(o, "text"));
}

json_t *last_boot_write(const struct last_boot *b)
{
    return json_pack("{s:s,s:s}", "ended", ended_name(b->ended), "text", b->text);
}
