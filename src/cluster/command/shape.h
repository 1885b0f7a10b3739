/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_SHAPE_H
#define FETTLE_CLUSTER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The members of a struct as a table. One function copies everything that a struct points to, and one
 * compares two structs, for all kinds of commands.
 */

struct shape {
    size_t size; /* the size of the struct */
    size_t n;
    const struct part {
        enum { PART_VALUE, PART_WORD, PART_TEXT, PART_LIST } kind;
        size_t at, size;        /* the offset and size of the member */
        size_t count_at;        /* PART_LIST: the offset of the number of its elements, a size_t */
        const struct shape *of; /* PART_LIST: the shape of an element */
    } * parts;
};

#define PART_AT_(s, m) offsetof(struct s, m), sizeof(((struct s *)NULL)->m)
/* A number, a bool or an enum. */
#define VALUE(s, m)                         \
    {                                       \
        PART_VALUE, PART_AT_(s, m), 0, NULL \
    }
/* Text in the struct itself. */
#define WORD(s, m)                         \
    {                                      \
        PART_WORD, PART_AT_(s, m), 0, NULL \
    }
/* Text to which it points, or NULL. */
#define TEXT(s, m)                         \
    {                                      \
        PART_TEXT, PART_AT_(s, m), 0, NULL \
    }
/* As many elements as member n says. */
#define LIST(s, m, n, element)                                             \
    {                                                                      \
        PART_LIST, PART_AT_(s, m), offsetof(struct s, n), &element##_shape \
    }
/* The shape of a struct that is an element, and of a command's struct (command.tbl). */
#define SHAPE(s, ...)                                                                                \
    static const struct part s##_parts[] = {__VA_ARGS__};                                            \
    static const struct shape s##_shape = {sizeof(struct s), sizeof s##_parts / sizeof s##_parts[0], \
                                           s##_parts}
#define COMMAND_SHAPE(member, s, ...)                                                                \
    static const struct part s##_parts[] = {__VA_ARGS__};                                            \
    const struct shape command_##member = {sizeof(struct s), sizeof s##_parts / sizeof s##_parts[0], \
                                           s##_parts}

/* The memory that belongs to a copy. Zero-initialise; owned_fini frees it. */
struct owned {
    size_t n;
    void **list;
};
void owned_fini(struct owned *o);
/* Takes p over, and returns it. */
void *owned_keep(struct owned *o, void *p);

/* Puts copies in the place of all that *it points to; o owns them. */
void shape_own(const struct shape *s, void *it, struct owned *o);
/* Both say the same. */
bool shape_same(const struct shape *s, const void *a, const void *b);

#endif
