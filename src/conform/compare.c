/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which components count, and which differ.
 *
 * Three rules make lists that look different equal, or lists that look equal unproven: a component that is
 * not in a list is absent; one that "PREFIX.*" covers is unknown; unknown equals nothing. So
 * class_fingerprint leaves absent components out, as if they were not in the list, and counts "PREFIX.*" as
 * soon as anything below it may count. Then two lists without unknown components have one class_fingerprint
 * exactly when class_compare finds nothing.
 */
#include "conform/class.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- severity ------------------------------------------------------------------------------------ */

static const char *const severity_names[SEVERITIES] = {
    [SEVERITY_IGNORE] = "ignore",
    [SEVERITY_MINOR] = "minor",
    [SEVERITY_MAJOR] = "major",
    [SEVERITY_CRITICAL] = "critical",
};

const char *severity_name(enum severity s)
{
    assert((size_t)s < sizeof severity_names / sizeof *severity_names);
    return severity_names[s];
}

bool severity_parse(const char *name, enum severity *out)
{
    for (int s = 0; s < SEVERITIES; s++) {
        if (strcmp(severity_names[s], name) == 0) {
            *out = (enum severity)s;
            return true;
        }
    }
    return false;
}

struct rule {
    const char *pattern;
    enum severity severity;
};

static const struct rule defaults[] = {
#define COMPONENT(pattern, severity, what) {pattern, SEVERITY_##severity},
#include "conform/severity.tbl"
#undef COMPONENT
};
enum { DEFAULTS = sizeof defaults / sizeof defaults[0] };

/* The n-th rule of a class, its own before the defaults. */
static struct rule rule_get(const struct node_class *k, size_t n)
{
    if (n < k->n_rules)
        return (struct rule){k->rules[n].pattern, k->rules[n].severity};
    return defaults[n - k->n_rules];
}

static size_t pattern_weight(const char *pattern)
{
    size_t n = 0;
    for (; *pattern; pattern++)
        n += *pattern != '*';
    return n;
}

/* Whether the pattern matches any name that begins with these bytes. */
static bool compare_reaches(const char *pattern, const char *prefix, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (pattern[i] == '*')
            return true;
        if (pattern[i] != prefix[i])
            return false;
    }
    return true;
}

struct verdict {
    bool own; /* by a rule of the class */
    size_t weight;
    enum severity severity;
};

/* The best of the matching rules. */
struct judging {
    const struct node_class *class;
    bool any;
    struct verdict best;
};

static void compare_weigh(struct judging *j, size_t n)
{
    struct rule r = rule_get(j->class, n);
    size_t w = pattern_weight(r.pattern);
    if (!j->any || w > j->best.weight || (w == j->best.weight && r.severity > j->best.severity))
        j->best = (struct verdict){n < j->class->n_rules, w, r.severity};
    j->any = true;
}

static void on_match(void *arg, size_t rule)
{
    compare_weigh(arg, rule);
}

static struct verdict compare_judge(const struct node_class *k, const char *name)
{
    struct judging j = {.class = k};
    if (k->patterns)
        patterns_match(k->patterns, name, on_match, &j);
    if (j.any) /* the class's own rules win */
        return j.best;
    for (size_t i = 0; i < DEFAULTS; i++)
        if (pattern_matches(defaults[i].pattern, name))
            compare_weigh(&j, k->n_rules + i);
    return j.best;
}

/* "PREFIX.*" stands for everything below PREFIX, so it is as severe as the worst possible name below it.
 * Rules that match it as it is written match all of that. A stronger rule that reaches below PREFIX counts
 * too. */
static enum severity worst_below(const struct node_class *k, const char *name, size_t len, struct verdict v)
{
    enum severity worst = v.severity;
    size_t n = v.own ? k->n_rules : k->n_rules + DEFAULTS;
    for (size_t i = 0; i < n; i++) {
        struct rule r = rule_get(k, i);
        bool stronger = (i < k->n_rules && !v.own) || pattern_weight(r.pattern) >= v.weight;
        if (r.severity > worst && stronger && compare_reaches(r.pattern, name, len))
            worst = r.severity;
    }
    return worst;
}

enum severity class_severity(const struct node_class *k, const char *component)
{
    struct verdict v = compare_judge(k, component);
    size_t len = strlen(component);
    if (len > 2 && strcmp(component + len - 2, ".*") == 0)
        return worst_below(k, component, len - 1, v);
    return v.severity;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_named(const struct class_rule *r)
{
    return r->severity != SEVERITY_IGNORE && !strchr(r->pattern, '*') &&
           (strncmp(r->pattern, "sysctl.", 7) == 0 || strncmp(r->pattern, "file.", 5) == 0);
}

void classes_named(const struct classes *c, class_named_fn *fn, void *arg)
{
    size_t n = 0, max = 0;
    for (size_t i = 0; i < c->n; i++)
        max += c->list[i].n_rules;
    CLEANUP_FREE const char **names = mem_alloc(max * sizeof *names);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->list[i].n_rules; j++)
            if (is_named(&c->list[i].rules[j]))
                names[n++] = c->list[i].rules[j].pattern;
    if (n > 1)
        qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
            fn(arg, names[i]);
}

/* --- comparing ----------------------------------------------------------------------------------- */

/* "pattern" for what counts and "-pattern" for what does not, sorted, one a line. Degrees of severity make no
 * difference; the text is empty when everything counts. */
static char *what_counts(const struct node_class *k)
{
    CLEANUP_FREE char **lines = mem_alloc(k->n_rules * sizeof *lines);
    struct text all = {0};
    bool ignores = false;
    for (size_t i = 0; i < k->n_rules; i++) {
        bool ignored = k->rules[i].severity == SEVERITY_IGNORE;
        struct text line = {0};
        text_printf(&line, "%s%s\n", ignored ? "-" : "", k->rules[i].pattern);
        lines[i] = text_take(&line);
        ignores = ignores || ignored;
    }
    if (k->n_rules > 1)
        qsort(lines, k->n_rules, sizeof *lines, by_text);
    for (size_t i = 0; i < k->n_rules; i++) {
        if (ignores)
            text_add(&all, lines[i]);
        free(lines[i]);
    }
    return text_take(&all);
}

struct fingerprint class_fingerprint(const struct node_class *k, const struct listing *g, uint32_t *unknown)
{
    struct components counting = {.sorted = true};
    CLEANUP_FREE struct component *list = counting.list = mem_alloc((g->n + 1) * sizeof *list);
    CLEANUP_FREE char *rules = what_counts(k);
    char head[] = " counts";
    *unknown = 0;
    if (*rules) /* not the name of a component, and sorted before all of them */
        list[counting.n++] = (struct component){.name = head, .value = rules};
    for (uint32_t i = 0; i < g->n; i++) {
        const struct component *c = g->components[i];
        if (c->state == COMPONENT_ABSENT || class_severity(k, c->name) == SEVERITY_IGNORE)
            continue;
        list[counting.n++] = *c;
        *unknown += c->state == COMPONENT_UNKNOWN;
    }
    return components_fingerprint(&counting);
}

static bool is_unknown(const struct component *c)
{
    return c && c->state == COMPONENT_UNKNOWN;
}

/* True when neither is unknown and both are equal. */
static bool compare_equal(const struct component *a, const struct component *b)
{
    bool a_is = a && a->state == COMPONENT_VALUE, b_is = b && b->state == COMPONENT_VALUE;
    if (!a_is || !b_is)
        return a_is == b_is;
    return a == b || strcmp(a->value, b->value) == 0;
}

/* Reports one name, if there is something to report. False: fn wants no more. */
static bool compare_tell(const struct node_class *k, const char *name, const struct component *expected,
                         const struct component *actual, difference_fn *fn, void *arg)
{
    struct difference d = {.name = name, .expected = expected, .actual = actual};
    d.unknown = is_unknown(expected) || is_unknown(actual);
    if (!d.unknown && compare_equal(expected, actual))
        return true;
    d.severity = class_severity(k, name);
    return d.severity == SEVERITY_IGNORE || fn(arg, &d);
}

void class_compare(const struct node_class *k, const struct listing *expected, const struct listing *actual,
                   difference_fn *fn, void *arg)
{
    uint32_t i = 0, j = 0;
    bool more = true;
    while (more && (i < expected->n || j < actual->n)) {
        const struct component *e = i < expected->n ? expected->components[i] : NULL;
        const struct component *a = j < actual->n ? actual->components[j] : NULL;
        int order = !e ? 1 : !a ? -1 : e == a ? 0 : strcmp(e->name, a->name);
        const char *name = order <= 0 ? e->name : a->name;
        if (order > 0)
            e = listing_look(expected, name);
        if (order < 0)
            a = listing_look(actual, name);
        if ((e && a) || !component_is_redfish(name)) /* otherwise the BMC of one of the two was not asked */
            more = compare_tell(k, name, e, a, fn, arg);
        i += order <= 0;
        j += order >= 0;
    }
}

static bool compare_count(void *arg, const struct difference *d)
{
    struct comparison *c = arg;
    c->unknown += d->unknown;
    c->different += !d->unknown;
    if (!d->unknown && d->severity > c->worst)
        c->worst = d->severity;
    return true;
}

struct comparison class_count(const struct node_class *k, const struct listing *expected,
                              const struct listing *actual)
{
    assert(expected->known && actual->known);
    struct comparison c = {0};
    class_compare(k, expected, actual, compare_count, &c);
    return c;
}
