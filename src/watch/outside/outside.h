/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_OUTSIDE_H
#define FETTLE_WATCH_OUTSIDE_OUTSIDE_H

#include "watch/health/health.h"
#include "watch/outside/shell.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

/*
 * What is known about a node from outside: the answers of its BMC, checks of other systems, its silence when
 * it lasts, boots that nobody asked for, the maintenance window in which it lies, and the machine that has
 * its name. This room owns when each BMC is asked, and what is to be written down at the end of a sweep. It
 * proposes BMC, WINDOW, MACHINE and INSTANCE.
 */

#define BOOT_CHECK "node.boot" /* used like the name of a check */
#define BOOT_DEVICE "boot"     /* keeps these incidents apart from all others of the node */
#define OUTSIDE_PREFIX "sensu."
enum { OUTSIDE_MAX = 32 };
/* The last result of another system's check. */
struct outside {
    char name[CHECK_NAME_BYTES_MAX + 1];
    struct check record; /* only its name is set */
    enum result result;
    struct mono since, looked, told;
    char *text;
    unsigned more;
    size_t n;
    struct finding *findings;
    struct outside *next;
};

/* --- as a follower is told (picture.h) --------------------------------------------------------------- */

/* Adds the results of other systems' checks on m, as JSON: an array. */
void outside_write(const struct watch *w, struct mono now, const struct member *m, struct text *t);
/* Takes one of them over. -EINVAL. */
int outside_read(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *one,
                 struct err *e);
/* Adds what is known of m, which stays silent, as JSON: an object, or null when nothing is. */
void lost_write(const struct watch *w, struct mono now, const struct member *m, struct text *t);
/* Takes it over. -EINVAL. */
int lost_read(struct watch *w, struct mono now, const struct member *m, const json_t *is, struct err *e);

/* --- nodes that stay silent -------------------------------------------------------------------------- */

/* In each sweep, for a listed member: when it stays silent, its BMC is asked, and then it is lost. */
void lost_look(struct watch *w, struct mono now, const struct member *m);
void lost_drop(struct watch *w, struct health_state *v);
const struct check *lost_record(void); /* only its name is set */
bool lost_is(const struct watch *w, const char *check);
/* The finding that m is lost; NULL: m is not lost. Borrowed. */
const struct finding *lost_finding(const struct watch *w, const struct member *m);
bool lost_stands(const struct watch *w,
                 const struct member *m); /* m is lost, while there is no mass silence */
/* Whether something may be done to m, which is not heard: 0, or -EAGAIN with the reason. */
int lost_check(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* m has been silent for so long that a person has to remove what prevents its repair. */
bool lost_lasts(const struct watch *w, struct mono now, const struct member *m);
/* Whether work runs on m, which is lost, as far as that is known. */
enum work lost_work(const struct watch *w, const struct member *m);
/* m has been lost for long, and nothing can tell whether work runs on it, because there is no scheduler. */
bool lost_work_unsaid(const struct watch *w, struct mono now, const struct member *m);
/* The number of nodes whose loss would be noticed, in a Group; group 0: in the cluster. */
unsigned lost_runners(const struct watch *w, unsigned group);
/* Whether work runs on m, for its repair. */
enum work repair_work(const struct watch *w, const struct member *m);

/* --- BMCs -------------------------------------------------------------------------------------------- */

/* In each sweep, for a listed member: its BMC is to be asked when it is due. */
void bmc_look(struct watch *w, struct mono now, const struct member *m);
void bmcs_end_sweep(struct watch *w);
void bmc_boot(struct watch *w, struct mono now, const struct member *m); /* m came up anew */
/* m's BMC answered, or did not. False: it was not asked. */
bool bmc_answered(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is);
/* Other BMCs may be configured now. */
void bmcs_reconfigure(struct watch *w);
void bmcs_grow(struct watch *w, size_t from, size_t n); /* makes room for members up to n - 1 */
void bmc_destroy(struct watch *w);

/* --- boots that nobody asked for --------------------------------------------------------------------- */

/* A session opens on a new boot; o->boot is still the boot before. */
void boot_opened(struct watch *w, struct mono now, const struct member *m, const char *boot);
/* In each sweep, for a listed member: notes what explains a boot, and judges a boot that is not judged yet.
 */
void boot_look(struct watch *w, struct mono now, const struct member *m);
void boot_drop(struct health_state *v);
bool boot_is(const struct watch *w, const char *check);
const struct check *boot_record(void); /* only its name is set */
/* The finding that nobody asked for the present boot, as judged or as recorded; NULL: there is none, or it is
 * over. Borrowed until the records change. */
const struct finding *boot_finding(const struct watch *w, const struct member *m);
/* As finding_gone. */
bool boot_gone(const struct watch *w, const struct member *m, const struct finding *f);
/* Whether the node, or something outside of it, can cause it. */
enum blame boot_blame(const struct finding *f);
/* The present boot is not judged yet, or its finding is not recorded. */
bool boot_awaits(const struct watch *w, const struct member *m);
/* The node keeps booting by itself, and that takes it out of service. */
bool boot_stands(const struct watch *w, const struct member *m);
/* The open incident of a lost node that is heard again and whose record does not yet say how the boot ended
 * on which it was lost. NULL: there is none, or that is not known and never will be. */
const struct incident *boot_unexplained(const struct watch *w, struct mono now, const struct member *m);
/* Writes how that boot ended, as a finding. False: that is not known yet. */
bool boot_cause(const struct watch *w, const struct member *m, struct finding *out);

/* --- maintenance windows of the scheduler ------------------------------------------------------------ */

/* In each sweep, for every member: notes what is to be written down. True when the window of m, which is
 * listed, is over and the record does not say so yet. */
bool window_look(struct watch *w, const struct member *m);
void windows_end_sweep(struct watch *w);
void windows_destroy(struct watch *w);

/* --- which machine has a name ------------------------------------------------------------------------ */

/* In each sweep, for a listed member: notes its machine, and proposes what follows when it is another one. */
void machine_look(struct watch *w, struct mono now, const struct member *m);
void machines_end_sweep(struct watch *w);
void machines_destroy(struct watch *w);

/* --- checks of other systems ------------------------------------------------------------------------- */

/* The check has no record here, and may be another system's. */
bool outside_is(const struct watch *w, const char *check);
struct outside *outside_find(const struct health_state *v, const char *check); /* or NULL */
void outside_drop(struct health_state *v);
/* In each sweep: forgets checks that are not reported any more. */
void outside_look(struct mono now, const struct member *m, struct health_state *v);
enum result outside_now(const struct watch *w, struct mono now, const struct member *m,
                        const struct outside *x);
bool outside_fresh(const struct watch *w, struct mono now, const struct outside *x);
bool outside_ill(const struct health_state *v);
enum result outside_worst(const struct watch *w, struct mono now, const struct member *m);
/* As finding_gone. */
bool outside_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* The check's last result is not worse than a warning, on any device. */
bool outside_recovered(const struct watch *w, struct mono now, const struct member *m, const char *check);
/* The number of nodes for which the check was reported, in a Group; group 0: in the cluster. */
unsigned outside_runners(const struct watch *w, const char *check, unsigned group);
void outside_each(const struct watch *w, struct mono now, const struct member *m, struct said *said,
                  said_fn *fn, void *arg);
void outside_create(struct watch *w);
void outside_destroy(struct watch *w);

#endif
