/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_OUTSIDE_H
#define FETTLE_WATCH_OUTSIDE_OUTSIDE_H

#include "watch/health/health.h"
#include "watch/outside/shell.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

/*
 * What is known of a node from outside: its BMC, checks of other systems, its silence that lasts, its boots
 * that nobody asked for, the maintenance window that it lies in, and which machine has its name. It owns when
 * each BMC is asked, and what is to be written down at the end of a sweep. It proposes BMC, WINDOW, MACHINE,
 * INSTANCE.
 */

#define BOOT_CHECK "node.boot" /* in the place of a check's name */
#define BOOT_DEVICE "boot"     /* its incidents are apart from all others of the node */
#define OUTSIDE_PREFIX "sensu."
enum { OUTSIDE_MAX = 32 };
/* What was said last of a check that others run. */
struct outside {
    char name[CHECK_NAME_BYTES_MAX + 1];
    struct check record; /* nothing but the name, for whoever asks whose finding it is */
    enum result result;
    struct mono since, looked, told;
    char *text;
    unsigned more;
    size_t n;
    struct finding *findings;
    struct outside *next;
};

/* --- nodes that stay silent -------------------------------------------------------------------------- */

/* In each sweep, for a listed member: of one that stays silent the BMC is to be asked, and then it is lost.
 */
void lost_look(struct watch *w, struct mono now, const struct member *m);
void lost_drop(struct watch *w, struct health_state *v);
const struct check *lost_record(void); /* nothing but the name */
bool lost_is(const struct watch *w, const char *check);
/* What is found of one that is lost; NULL: it is not. Borrowed. */
const struct finding *lost_finding(const struct watch *w, const struct member *m);
bool lost_stands(const struct watch *w, const struct member *m); /* it is, and not many with it */
/* Whether something may be done to m, which is not heard: 0, or -EAGAIN with why not. */
int lost_check(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* It is silent for so long that what keeps it from being repaired is a person's. */
bool lost_lasts(const struct watch *w, struct mono now, const struct member *m);
/* What runs on one that is lost, as far as anybody can say. */
enum work lost_work(const struct watch *w, const struct member *m);
/* Nobody can say what runs on m, which is lost for long, and nobody ever will: there is no scheduler. */
bool lost_work_unsaid(const struct watch *w, struct mono now, const struct member *m);
/* Nodes that would be missed; of a Group, but with 0. */
unsigned lost_runners(const struct watch *w, unsigned group);
/* What runs on m, for whoever wants to repair it. */
enum work repair_work(const struct watch *w, const struct member *m);

/* --- BMCs -------------------------------------------------------------------------------------------- */

/* In each sweep, for a listed member: its BMC is to be asked when it is due. */
void bmc_look(struct watch *w, struct mono now, const struct member *m);
void bmcs_end_sweep(struct watch *w);
void bmc_boot(struct watch *w, struct mono now, const struct member *m); /* m came up anew */
/* What m's BMC said, or that it did not answer. False: it was not asked. */
bool bmc_answered(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is);
/* Other BMCs may be configured now. */
void bmcs_reconfigure(struct watch *w);
void bmcs_grow(struct watch *w, size_t from, size_t n); /* members up to n - 1 are there */
void bmc_destroy(struct watch *w);

/* --- boots that nobody asked for --------------------------------------------------------------------- */

/* A session opens on another boot than the one before; o->boot is that still. */
void boot_opened(struct watch *w, struct mono now, const struct member *m, const char *boot);
/* In each sweep, for a listed member: notes what explains a boot, and judges one that awaits it. */
void boot_look(struct watch *w, struct mono now, const struct member *m);
void boot_drop(struct health_state *v);
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

/* --- maintenance windows of the scheduler ------------------------------------------------------------ */

/* In each sweep, for every member: notes what is to be written down. True when the window of m, which is
 * listed, is over, and the record does not say so yet. */
bool window_look(struct watch *w, const struct member *m);
void windows_end_sweep(struct watch *w);
void windows_destroy(struct watch *w);

/* --- which machine has a name ------------------------------------------------------------------------ */

/* In each sweep, for a listed member: notes which machine it is, and proposes what follows from another one.
 */
void machine_look(struct watch *w, struct mono now, const struct member *m);
void machines_end_sweep(struct watch *w);
void machines_destroy(struct watch *w);

/* --- checks of other systems ------------------------------------------------------------------------- */

/* A check that no record here has, and others may. */
bool outside_is(const struct watch *w, const char *check);
struct outside *outside_find(const struct health_state *v, const char *check); /* NULL without */
void outside_drop(struct health_state *v);
/* In each sweep: forgets those of which nobody speaks any more. */
void outside_look(struct mono now, const struct member *m, struct health_state *v);
enum result outside_now(const struct watch *w, struct mono now, const struct member *m,
                        const struct outside *x);
bool outside_fresh(const struct watch *w, struct mono now, const struct outside *x);
bool outside_ill(const struct health_state *v);
enum result outside_worst(const struct watch *w, struct mono now, const struct member *m);
/* As finding_gone. */
bool outside_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* It is said to be well, whatever the device. */
bool outside_recovered(const struct watch *w, struct mono now, const struct member *m, const char *check);
/* Nodes of which it was said; of a Group, but with 0. */
unsigned outside_runners(const struct watch *w, const char *check, unsigned group);
void outside_each(const struct watch *w, struct mono now, const struct member *m, struct said *said,
                  said_fn *fn, void *arg);
void outside_create(struct watch *w);
void outside_destroy(struct watch *w);

#endif
