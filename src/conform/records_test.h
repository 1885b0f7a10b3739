/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_RECORDS_TEST_H
#define FETTLE_CONFORM_RECORDS_TEST_H

#include "conform/class.h"

/* Classes from records as in ClassConf: "Class=gpu Nodes=lx[1-4] ...". */

int class_record_add(struct classes *c, const char *record, struct err *e); /* as classes_add, of line 7 */
void class_record_good(struct classes *c, const char *record);              /* a refusal fails the test */

#endif
