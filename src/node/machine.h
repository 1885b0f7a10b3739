/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_MACHINE_H
#define FETTLE_NODE_MACHINE_H

#include "base/json.h"

#include <stddef.h>

/*
 * The identity of a machine, whatever its node is called: the system's UUID, its serial number and its
 * board's serial number, as DMI reports them. The UUID of a cloud machine holds the instance's id. A value
 * that the vendor left blank or never filled in (placeholder.tbl) is unknown, and nothing follows from an
 * unknown value: a machine without DMI, or whose agent may not read it, cannot be told from another.
 */

enum machine_kind { MACHINE_UUID, MACHINE_SERIAL, MACHINE_BOARD, MACHINE_KINDS }; /* most reliable first */

enum { MACHINE_NAME_BYTES_MAX = 79 };

/* Zero-initialise; machine_fini. Each name ("uuid 4c4c4544-…", "serial ABC123", "board XY") has at most
 * MACHINE_NAME_BYTES_MAX bytes of printable ASCII; NULL when it is unknown. */
struct machine {
    char *name[MACHINE_KINDS];
};

/* Reads the member DMI of an inventory (src/probe/probe.h). Malformed values are unknown. */
void machine_read(const json_t *inventory, struct machine *out);
void machine_fini(struct machine *m);

/* Borrows the most reliable name; NULL when all are unknown. */
const char *machine_surest(const struct machine *m);
/* True for a text in the form of a name. Placeholders are recognised by machine_read only. */
bool machine_name_ok(const char *name);

enum machine_is { MACHINE_IS_UNKNOWN, MACHINE_IS_SAME, MACHINE_IS_ANOTHER };
/* Whether this is the machine that had this name. Unknown when the machine has no name of that kind: a serial
 * number says nothing about a UUID. */
enum machine_is machine_is(const struct machine *m, const char *name);

#endif
