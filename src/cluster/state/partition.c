/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct partition *partition_named(const struct partition *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (*name && strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

const struct partition *partition_numbered(const struct partition *list, size_t n, unsigned number)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].number == number)
            return &list[i];
    return NULL;
}

const char *partition_word(const struct partition *list, size_t n, unsigned number,
                           char buf[static PARTITION_WORD_BYTES])
{
    const struct partition *p = partition_numbered(list, n, number);
    if (p && *p->name)
        snprintf(buf, PARTITION_WORD_BYTES, "%s", p->name);
    else
        snprintf(buf, PARTITION_WORD_BYTES, "%u", number);
    return buf;
}

static int no_partition(const struct partition *list, size_t n, const char *word, struct err *e)
{
    const char *names[PARTITION_MAX + 1];
    for (size_t i = 0; i < n; i++)
        names[i] = list[i].name;
    const char *near = text_nearest(word, names, n);
    if (near && *near)
        return err_set(e, -EINVAL, "\"%.80s\" is neither a number nor a partition; the nearest is \"%s\"",
                       word, near);
    return err_set(e, -EINVAL, "\"%.80s\" is neither a number nor a partition of PartitionConf", word);
}

int partition_numbers(const struct partition *list, size_t n, const char *words, struct text *numbers,
                      struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(words);
    char *rest = copy;
    text_add(numbers, "");
    for (char *word; *words && (word = strsep(&rest, ","));) {
        const struct partition *p = partition_named(list, n, word);
        if (numbers->len)
            text_add_char(numbers, ',');
        if (word[strspn(word, "0123456789")] == '\0')
            text_add(numbers, word); /* its own check says what is wrong with an empty one */
        else if (p)
            text_add_u64(numbers, p->number);
        else
            return no_partition(list, n, word, e);
    }
    return 0;
}
