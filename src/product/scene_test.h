/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PRODUCT_SCENE_TEST_H
#define FETTLE_PRODUCT_SCENE_TEST_H

#include "product/product.h"

/* Records as text, for the tests of the products. */

json_t *object_of(const char *text); /* NULL for NULL */
/* "" when the record is right, else the sentence; valid until the next call. */
const char *record_refuses(enum product_effect effect, const char *record);
/* The journal's sentence about what became of `was` is exactly this. */
void record_says(enum product_effect effect, const char *was, const char *is, const char *sentence);

#endif
