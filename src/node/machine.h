/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_MACHINE_H
#define FETTLE_NODE_MACHINE_H

#include "base/json.h"

#include <stddef.h>

/*
 * What tells one machine from another, whatever its name: the system's UUID, its serial number and that of
 * its board, as DMI has them. A cloud's machine has its instance's id in the UUID. What a vendor left blank
 * or never filled in (placeholder.tbl) is unknown, and nothing follows from what is unknown: a machine
 * without DMI, or of which an agent that is not root read nothing, is told from no other.
 */

enum machine_kind { MACHINE_UUID, MACHINE_SERIAL, MACHINE_BOARD, MACHINE_KINDS }; /* the surest first */

enum { MACHINE_NAME_BYTES_MAX = 79 };

/* Zero-initialise; machine_fini. Each is its name ("uuid 4c4c4544-…", "serial ABC123", "board XY"), of at
 * most MACHINE_NAME_BYTES_MAX bytes of printable ASCII, or NULL when it is unknown. */
struct machine {
    char *name[MACHINE_KINDS];
};

/* Reads the member DMI of an inventory (src/probe/probe.h). What is of another form is unknown. */
void machine_read(const json_t *inventory, struct machine *out);
void machine_fini(struct machine *m);

/* The surest of its names; NULL when all are unknown. Borrowed. */
const char *machine_surest(const struct machine *m);
/* True for a text of the form of a name; that it is no placeholder is known when it is read. */
bool machine_name_ok(const char *name);

enum machine_is { MACHINE_IS_UNKNOWN, MACHINE_IS_SAME, MACHINE_IS_ANOTHER };
/* Whether the machine that had this name is this one. Unknown when nothing of the name's kind is known of it:
 * a serial number says nothing of a UUID. */
enum machine_is machine_is(const struct machine *m, const char *name);

#endif
