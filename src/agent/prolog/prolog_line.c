/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/prolog_line.h"

#include "base/text.h"
#include "health/check.h"

#include <stdio.h>
#include <string.h>

static const struct prolog_kind kinds[] = {{"prolog", CHECK_PROLOG, false, true, false},
                                           {"epilog", CHECK_EPILOG, false, false, true},
                                           {"task-prolog", CHECK_PROLOG, true, false, false},
                                           {"task-epilog", CHECK_EPILOG, true, false, false}};

const struct prolog_kind *prolog_kind_find(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            return &kinds[i];
    return NULL;
}

static bool is_job(const char *job)
{
    for (const char *p = job; *p; p++)
        if (*p <= ' ' || *p > '~')
            return false;
    return strlen(job) <= PROLOG_JOB_BYTES_MAX;
}

bool prolog_question_read(const char *line, struct prolog_question *q)
{
    char word[16];
    size_t len = strcspn(line, " ");
    const char *job = line + len + (line[len] == ' ');
    snprintf(word, sizeof word, "%.*s", (int)len, line);
    *q = (struct prolog_question){.kind = len < sizeof word ? prolog_kind_find(word) : NULL};
    if (!q->kind || !is_job(job))
        return false;
    snprintf(q->job, sizeof q->job, "%s", job);
    return true;
}

void prolog_question_write(const char *word, const char *job, char out[static PROLOG_QUESTION_BYTES_MAX])
{
    snprintf(out, PROLOG_QUESTION_BYTES_MAX, "%.16s %s\n", word, is_job(job) ? job : "");
}

enum prolog_answer prolog_answer_read(char *line, const char **why, uint64_t *ms)
{
    if (strcmp(line, "ok") == 0)
        return PROLOG_OK;
    if (strncmp(line, "wait ", 5) == 0)
        return text_parse_u64(line + 5, 0, PROLOG_WAIT_MS_MAX, ms, NULL) ? PROLOG_NONE : PROLOG_WAIT;
    if (strncmp(line, "no ", 3) != 0)
        return PROLOG_NONE;
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    *why = line + 3;
    return PROLOG_NO;
}
