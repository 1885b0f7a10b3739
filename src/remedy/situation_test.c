/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Situations and what is chosen in them: every file of test/data/remedy has some, each a paragraph of
 *
 *     situation WORDS
 *     remedies sample              the shipped sample with nothing commented out, before the other records
 *     Remedy=NAME ...              a record
 *     class NAME
 *     open FAULT RESULT [DEVICE]
 *     tried REMEDY FAULT[,FAULT] SPAN     so long ago
 *     record REMEDY FAULT HELPED FAILED
 *     busy | draw N | explore PERCENT | person COST | scarce PERCENT
 *
 * then lines that begin with '|', which are the plan. FETTLE_GOLDEN=write writes the plans anew. */
#include "remedy/remedy.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS_MAX = 64, WORDS_MAX = 5 };

struct record {
    char *remedy, *fault;
    struct outcomes of;
};

struct situation {
    struct text conf;
    struct choice_input in;
    struct fault faults[FAULTS_MAX];
    struct attempt attempts[ATTEMPTS_MAX];
    size_t n_records;
    struct record records[RECORDS_MAX];
};

static void read_all(const char *path, struct text *t)
{
    FILE *f = fopen(path, "re");
    char buf[4096];
    assert_non_null(f);
    text_add(t, "");
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        text_add_bytes(t, buf, n);
    fclose(f);
}

static struct outcomes outcomes(const void *arg, const char *fault, const char *remedy, const char *class)
{
    const struct situation *s = arg;
    for (size_t i = 0; i < s->n_records; i++)
        if (strcmp(s->records[i].remedy, remedy) == 0 && strcmp(s->records[i].fault, fault) == 0)
            return s->records[i].of;
    return (struct outcomes){0};
}

/* The lines of the sample that are records, without the sign before them. */
static void add_sample(struct text *conf)
{
    CLEANUP_TEXT struct text sample = {0};
    read_all(SAMPLE, &sample);
    char *rest = sample.s;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, "#Remedy=", 8) == 0)
            text_printf(conf, "%s\n", line + 1);
}

static uint64_t number(const char *word)
{
    uint64_t n = 0;
    if (text_parse_u64(word, 0, UINT64_MAX / 2, &n, NULL) < 0)
        fail_msg("\"%s\" is no number", word);
    return n;
}

static void add_open(struct situation *s, char *w[WORDS_MAX])
{
    struct fault *f = &s->faults[s->in.n_faults++];
    *f = (struct fault){.fault = w[1], .group = w[3]};
    assert_true(w[2] && result_parse(w[2], &f->severity));
}

static void add_tried(struct situation *s, char *w[WORDS_MAX])
{
    struct span ago = {0};
    assert_true(w[3] && span_parse(w[3], &ago, NULL) == 0);
    s->attempts[s->in.n_attempts++] =
        (struct attempt){w[1], w[2], {s->in.now.ns - ago.ns}, w[4] && strcmp(w[4], "here") == 0};
}

static void add_record(struct situation *s, char *w[WORDS_MAX])
{
    struct outcomes of = {(uint32_t)number(w[3]), (uint32_t)number(w[4])};
    s->records[s->n_records++] = (struct record){w[1], w[2], of};
}

static void take_words(struct situation *s, char *w[WORDS_MAX])
{
    const char *key = w[0];
    struct cost_policy *p = &s->in.policy;
    if (strcmp(key, "situation") == 0)
        return;
    if (strcmp(key, "remedies") == 0)
        add_sample(&s->conf);
    else if (strcmp(key, "class") == 0)
        s->in.class = w[1];
    else if (strcmp(key, "open") == 0)
        add_open(s, w);
    else if (strcmp(key, "tried") == 0)
        add_tried(s, w);
    else if (strcmp(key, "record") == 0)
        add_record(s, w);
    else if (strcmp(key, "busy") == 0)
        s->in.busy = true;
    else if (strcmp(key, "draw") == 0)
        s->in.draw = number(w[1]);
    else if (strcmp(key, "explore") == 0)
        p->explore = (unsigned)number(w[1]);
    else if (strcmp(key, "person") == 0)
        p->person = (uint32_t)number(w[1]);
    else if (strcmp(key, "scarce") == 0)
        p->scarce = (uint32_t)number(w[1]);
    else
        fail_msg("what is \"%s\"?", key);
}

/* Takes a line of a situation, which it cuts into words. */
static void take_line(struct situation *s, char *line)
{
    char *w[WORDS_MAX] = {0};
    if (strncmp(line, "Remedy=", 7) == 0) {
        text_printf(&s->conf, "%s\n", line);
        return;
    }
    char *rest = line;
    for (size_t n = 0; n < WORDS_MAX && rest; n++)
        w[n] = strsep(&rest, " ");
    take_words(s, w);
}

static const char *chosen_name(const struct choice *c)
{
    return c->chosen ? c->chosen->name : c->waits ? "(later)" : "(a person)";
}

static void print_plan(const struct choice *c, struct text *t)
{
    text_printf(t, "| %s: %s\n", chosen_name(c), c->why);
    for (size_t i = 0; i < c->n; i++) {
        const struct candidate *x = &c->candidates[i];
        if (x->covers == 0 && strncmp(x->why, "helps against no open", 21) == 0)
            continue;
        text_printf(
            t,
            "|   %-14s covers %u  chance %u.%u %%  record %u+ %u-  own %lld  next %lld  expected %lld%s%s\n",
            x->remedy->name, x->covers, x->chance / 10000, x->chance / 1000 % 10, x->helped, x->failed,
            (long long)x->own, (long long)x->next, (long long)x->expected, *x->why ? "  " : "", x->why);
    }
}

static void decide(struct situation *s, struct text *t)
{
    static struct choice out;
    struct remedies r;
    struct err e = {0};
    text_add(&s->conf, "");
    if (remedies_parse("situation", s->conf.s, s->conf.len, &r, &e) < 0)
        fail_msg("%s", e.msg);
    s->in.remedies = &r;
    remedy_choose(&s->in, &out);
    print_plan(&out, t);
    remedies_fini(&r);
}

/* One paragraph: as it stands without its plan, and the plan behind it. */
static void play(const char *paragraph, struct text *t)
{
    struct situation s = {.in = {.class = "gpu", .now = {span_s(86400 * 365).ns}, .outcomes = outcomes}};
    s.in.policy = (struct cost_policy){.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100};
    s.in.outcomes_arg = &s;
    s.in.faults = s.faults;
    s.in.attempts = s.attempts;
    CLEANUP_FREE char *lines = mem_dup(paragraph);
    char *rest = lines;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line == '|' || *line == '\0')
            continue;
        text_printf(t, "%s\n", line);
        if (*line != '#')
            take_line(&s, line);
    }
    decide(&s, t);
    text_fini(&s.conf);
}

static bool is_situation(const char *paragraph)
{
    return strncmp(paragraph, "situation ", 10) == 0;
}

static void play_file(const char *path)
{
    CLEANUP_TEXT struct text file = {0}, plan = {0};
    read_all(path, &file);
    CLEANUP_FREE char *copy = mem_dup(file.s);
    char *rest = copy;
    while (rest && *rest) {
        char *end = strstr(rest, "\n\n");
        if (end)
            *end = '\0';
        text_printf(&plan, "%s", plan.len ? "\n" : "");
        if (is_situation(rest))
            play(rest, &plan);
        else
            text_printf(&plan, "%s\n", rest);
        rest = end ? end + 2 : NULL;
    }
    const char *mode = getenv("FETTLE_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        assert_int_equal(fwrite(plan.s, 1, plan.len, f), plan.len);
        fclose(f);
        return;
    }
    assert_string_equal(plan.s, file.s);
}

static int is_text(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot && strcmp(dot, ".txt") == 0;
}

static void test_every_situation_is_chosen_as_written(void **state)
{
    struct dirent **files;
    int n = scandir(TEST_DATA, &files, is_text, alphasort);
    assert_true(n >= 5);
    for (int i = 0; i < n; i++) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s/%s", TEST_DATA, files[i]->d_name);
        play_file(path.s);
        free(files[i]);
    }
    free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_situation_is_chosen_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
