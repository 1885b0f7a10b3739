/* SPDX-License-Identifier: Apache-2.0 */
#include "test/swarm/swarm.h"

#include "agent/fingerprint/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Kinds of nodes: all nodes of a kind have one fingerprint. A list is made when it is asked for, and only the
 * fingerprint of a kind is kept. Two kinds differ in their kernel, in one sysctl and in one package.
 */

enum { PACKAGES = 1500, LARGE_PARTS = 25, LARGE_VALUES = 9, MANY_PARTS = 10, MANY_A_PART = 2000 };

unsigned kind_of(const struct swarm *s, const char *name)
{
    const char *digits = name + strlen(name);
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return s->kinds ? (unsigned)(strtoul(digits, NULL, 10) % s->kinds) : 0;
}

static void add(struct components *c, const char *name, const char *value)
{
    components_add(c, name, COMPONENT_VALUE, value, NULL);
}

static void fill(struct components *c, unsigned kind)
{
    char name[64], value[64];
    snprintf(value, sizeof value, "6.1.%u", kind);
    add(c, "kernel.release", value);
    snprintf(value, sizeof value, "%u", kind % 101);
    add(c, "sysctl.vm.swappiness", value);
    add(c, "cpu.model", "Playing Processor 9000");
    components_add(c, "cxi.count", COMPONENT_ABSENT, "", NULL);
    for (unsigned i = 0; i < PACKAGES; i++) {
        snprintf(name, sizeof name, "package.played-%04u", i);
        snprintf(value, sizeof value, "%u.%u-1 amd64", i % 7, i == 0 ? kind : i);
        add(c, name, value);
    }
    components_sort(c, NULL);
}

static void read_kind(unsigned kind, struct reading *out)
{
    CLEANUP_TEXT struct text report = {0};
    struct components c = {0};
    fill(&c, kind);
    reading_report(&c, &(struct reading_stamps){0}, &report);
    reading_take(out, report.s, report.len, NULL);
    components_fini(&c);
}

const struct fingerprint *kind_fingerprint(struct swarm *s, unsigned kind)
{
    if (kind >= s->n_fingerprints) {
        s->fingerprints = mem_grow(s->fingerprints, (kind + 1) * sizeof *s->fingerprints);
        memset(s->fingerprints + s->n_fingerprints, 0,
               (kind + 1 - s->n_fingerprints) * sizeof *s->fingerprints);
        s->n_fingerprints = kind + 1;
    }
    static const struct fingerprint none;
    struct fingerprint *known = &s->fingerprints[kind];
    if (fingerprint_equal(known, &none)) {
        struct components c = {0};
        fill(&c, kind);
        *known = components_fingerprint(&c);
        components_fini(&c);
    }
    return known;
}

static json_t *part_of(const struct fingerprint *id, int part, int parts)
{
    char hex[FINGERPRINT_HEX + 1];
    return json_pack("{s:s,s:i,s:i,s:{}}", "fingerprint", fingerprint_format(id, hex), "part", part, "parts",
                     parts, "components");
}

/* More bytes than a list may have, with each value of an allowed length. */
static void answer_large(const struct fingerprint *id, kind_emit_fn *emit, void *arg)
{
    char value[4097], name[64];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (int i = 0; i < LARGE_PARTS; i++) {
        json_t *part = part_of(id, i, LARGE_PARTS);
        for (int k = 0; k < LARGE_VALUES; k++) {
            snprintf(name, sizeof name, "command.%d-%d", i, k);
            json_object_set_new(json_object_get(part, "components"), name, json_string(value));
        }
        emit(arg, part);
    }
}

/* More components than a list may have. */
static void answer_many(const struct fingerprint *id, kind_emit_fn *emit, void *arg)
{
    char name[64];
    for (int i = 0; i < MANY_PARTS; i++) {
        json_t *part = part_of(id, i, MANY_PARTS);
        for (int k = 0; k < MANY_A_PART; k++) {
            snprintf(name, sizeof name, "a%d.%d", i, k);
            json_object_set_new(json_object_get(part, "components"), name, json_string(""));
        }
        emit(arg, part);
    }
}

static void twist(json_t *part)
{
    json_t *list = json_object_get(part, "components");
    if (json_object_get(list, "kernel.release"))
        json_object_set_new(list, "kernel.release", json_string("a lie"));
}

static void answer_parts(unsigned kind, enum lie lie, kind_emit_fn *emit, void *arg)
{
    struct reading r = {0};
    json_t *parts[16];
    int n = 0;
    size_t at = 0, len;
    read_kind(kind, &r);
    for (const char *body; n < 16 && (body = reading_next_part(&r, &at, &len)); n++) {
        parts[n] = json_read(body, len, NULL);
        if (lie == LIE_HASH)
            twist(parts[n]);
    }
    for (int i = 0; i < n; i++)
        emit(arg, parts[lie == LIE_ORDER ? n - 1 - i : i]);
    reading_fini(&r);
}

void kind_answer(struct swarm *s, unsigned kind, enum lie lie, kind_emit_fn *emit, void *arg)
{
    const struct fingerprint *id = kind_fingerprint(s, kind);
    s->totals.lists++;
    switch (lie) {
    case LIE_NONE:
    case LIE_HASH:
    case LIE_ORDER: answer_parts(kind, lie, emit, arg); break;
    case LIE_LARGE: answer_large(id, emit, arg); break;
    case LIE_MANY: answer_many(id, emit, arg); break;
    case LIE_SILENT: break;
    }
}

bool lie_parse(const char *word, enum lie *out)
{
    static const char *const words[] = {[LIE_NONE] = "none",   [LIE_HASH] = "hash", [LIE_ORDER] = "order",
                                        [LIE_LARGE] = "large", [LIE_MANY] = "many", [LIE_SILENT] = "silent"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = (enum lie)i;
            return true;
        }
    }
    return false;
}
