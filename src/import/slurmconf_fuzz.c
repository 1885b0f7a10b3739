/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include "base/conf.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *bytes;
    size_t len;
};

/* The file includes itself, and every other file is missing. */
static int read_input(void *arg, const char *path, struct text *bytes, struct err *e)
{
    const struct input *in = arg;
    if (strcmp(path, "/slurm.conf") != 0)
        return err_set(e, -ENOENT, "no %s", path);
    text_add_bytes(bytes, in->bytes, in->len);
    return 0;
}

/* What is written is a file of records. */
static void expect_records(const struct text *t)
{
    struct conf c;
    if (conf_parse("fuzz", t->s, t->len, CONF_RECORDS, &c, NULL) < 0)
        abort();
    conf_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct text nodes = {0}, partitions = {0};
    struct err e = {0};
    int rc = import_slurm("/slurm.conf", read_input, &in, &nodes, &partitions, &e);
    if (rc < 0 && e.msg[0] == '\0')
        abort();
    if (rc == 0) {
        expect_records(&nodes);
        expect_records(&partitions);
    }
    text_fini(&nodes);
    text_fini(&partitions);
    return 0;
}
