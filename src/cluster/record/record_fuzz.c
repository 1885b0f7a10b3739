/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Records, as they stand in a store: a key and a value on each line, with a blank between (a key
 * may have some, a value begins with a brace). One that is
 * refused changes nothing; one that is taken can be put again and removed, and leaves nothing behind. */

/* The value behind the key, which is ended; NULL when there is none. */
static char *split(char *line)
{
    char *value = strstr(line, " {");
    if (!value)
        value = strchr(line, ' ');
    if (value)
        *value++ = '\0';
    return value;
}

static void put(struct cluster *c, char *key)
{
    struct err e = {0};
    char *value = split(key);
    uint64_t before = cluster_digest(c);
    int rc = cluster_put(c, key, value, &e);
    if (rc < 0) {
        assert(e.code == rc && *e.msg && cluster_digest(c) == before);
        return;
    }
    uint64_t after = cluster_digest(c);
    rc = cluster_put(c, key, value, &e);
    assert(rc == 0 && cluster_digest(c) == after);
}

static void remove_record(struct cluster *c, char *key)
{
    split(key);
    cluster_put(c, key, NULL, NULL);
}

static void each_line(struct cluster *c, const uint8_t *data, size_t size,
                      void (*fn)(struct cluster *c, char *line))
{
    char *bytes = mem_dup_len((const char *)data, size), *rest = bytes;
    for (char *line; (line = strsep(&rest, "\n"));)
        fn(c, line);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster *c = cluster_create();
    uint64_t empty = cluster_digest(c);
    each_line(c, data, size, put);
    each_line(c, data, size, remove_record);
    assert(cluster_digest(c) == empty);
    assert(listings_count(cluster_listings(c)) == 0);
    cluster_destroy(c);
    return 0;
}
