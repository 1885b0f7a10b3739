/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BOOT_INSIDE_H
#define FETTLE_WATCH_BOOT_INSIDE_H

#include "watch/watch.h"

/*
 * Boots that nobody asked for. Its state is vitals.booted and observed.came.
 */

struct vitals;

#define BOOT_CHECK "node.boot" /* in the place of a check's name */
#define BOOT_DEVICE "boot"     /* its incidents are apart from all others of the node */

/* A session opens on another boot than the one before; o->boot is that still. */
void boot_opened(struct watch *w, struct mono now, const struct member *m, const char *boot);
/* In each sweep, for a listed member: notes what explains a boot, and judges one that awaits it. */
void boot_look(struct watch *w, struct mono now, const struct member *m);
void boot_drop(struct vitals *v);
bool boot_is(const struct watch *w, const char *check);
const struct check *boot_record(void); /* nothing but the name */
/* That the present boot was asked for by nobody, as judged or as recorded; NULL: it was, or that is over.
 * Borrowed until something is put into the records. */
const struct finding *boot_finding(const struct watch *w, const struct member *m);
/* As finding_gone. */
bool boot_gone(const struct watch *w, const struct member *m, const struct finding *f);
/* What can bring it about. */
enum blame boot_blame(const struct finding *f);
/* The present boot is not judged yet, or the finding is not recorded. */
bool boot_awaits(const struct watch *w, const struct member *m);
/* The node keeps booting by itself, and that takes it out of service. */
bool boot_stands(const struct watch *w, const struct member *m);
/* The open incident of a lost node that is heard again, of which the record does not say yet what the boot
 * ended in on which it was lost. NULL: there is none, or nobody knows, and nobody will. */
const struct incident *boot_unexplained(const struct watch *w, struct mono now, const struct member *m);
/* What it ended in, in the words of a finding. False: that is still to be heard. */
bool boot_cause(const struct watch *w, const struct member *m, struct finding *out);

#endif
