/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/prolog_line.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the agent takes is what the program would have written. */
static void read_question(const char *line)
{
    struct prolog_question q, again;
    char written[PROLOG_QUESTION_BYTES_MAX];
    if (!prolog_question_read(line, &q))
        return;
    prolog_question_write(q.kind->word, q.job, written);
    size_t len = strlen(written);
    if (written[len - 1] != '\n')
        abort();
    written[len - 1] = 0;
    if (!prolog_question_read(written, &again) || again.kind != q.kind || strcmp(again.job, q.job) != 0)
        abort();
}

/* What the program prints moves no cursor, and it waits for no year. */
static void read_answer(char *line)
{
    const char *why = NULL;
    uint64_t ms = UINT64_MAX;
    enum prolog_answer a = prolog_answer_read(line, &why, &ms);
    if (a == PROLOG_WAIT && ms > PROLOG_WAIT_MS_MAX)
        abort();
    for (const char *p = a == PROLOG_NO ? why : ""; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= PROLOG_ANSWER_BYTES_MAX)
        return 0;
    CLEANUP_FREE char *line = mem_dup_len((const char *)data, size);
    read_question(line);
    read_answer(line);
    return 0;
}
