/* SPDX-License-Identifier: Apache-2.0 */
/* The engine on etcd does what every engine has to do. */
#include "store/etcd/lab_test.h"
#include "store/suite_test.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static struct lab *lab;

static void *place_begin(void)
{
    lab_wipe(lab);
    return lab_endpoints(lab);
}

static struct store *place_open(void *place)
{
    const struct etcd_options o = lab_options(lab, place, "a");
    struct store *s = NULL;
    struct err e = {0};
    if (etcd_open(&o, &s, &e))
        fprintf(stderr, "%s\n", e.msg);
    assert(s);
    return s;
}

static void place_end(void *place)
{
    free(place);
}

int main(void)
{
    const struct suite_engine engine = {place_begin, place_open, place_end};
    lab_need();
    lab = lab_create(1, false, NULL);
    int failed = suite_run(&engine);
    lab_destroy(lab);
    return failed;
}
