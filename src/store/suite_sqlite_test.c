/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded engine does what every engine has to do. */
#include "store/fixture_test.h"
#include "store/suite_test.h"

static void *place_begin(void)
{
    return fixture_dir();
}

static struct store *place_open(void *place)
{
    return fixture_open(place);
}

static void place_end(void *place)
{
    fixture_remove(place);
}

int main(void)
{
    const struct suite_engine engine = {place_begin, place_open, place_end};
    return suite_run(&engine);
}
