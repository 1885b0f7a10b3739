/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_NVML_H
#define FETTLE_SURVEY_NVML_H

#include "base/clock.h"
#include "base/err.h"
#include "survey/notes.h"

/*
 * NVIDIA's management library, loaded when it is asked, in a child process with a deadline: it waits for
 * the driver, which waits for the GPU.
 */

/* Takes the note "driver", and for each GPU "ADDR/model", "ADDR/vbios", "ADDR/ecc", "ADDR/mig", with ADDR
 * as /sys writes it. Notes that came before the deadline count. why: the reason for missing notes, and for
 * all of them when the library could not be used. */
void nvml_ask(const char *library, struct span deadline, struct notes *into, struct err *why);

/* "00000000:3B:00.0", as the library writes an address, in the form of /sys. False for another text. */
bool nvml_address(const char *bus_id, char out[static 32]);

#endif
