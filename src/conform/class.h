/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_CLASS_H
#define FETTLE_CONFORM_CLASS_H

#include "base/clock.h"
#include "base/hostlist.h"
#include "conform/listing.h"
#include "conform/pattern.h"
#include "node/spec.h"

/*
 * Node classes: which nodes should be the same, which of their components count, and how much.
 *
 * Every node is in exactly one class: the first of the file whose keys all match the node's name and
 * specification, else "default". A field of a node matches when the node's is the same (Partition: the
 * same set); Sensitive, Borrowed, Group and Partition have a value also where nobody gave one. Severity of a
 * component: the class's own patterns before the defaults of severity.tbl, among several the longest (most
 * characters that are not '*'); among equally long ones the more severe. '*' stands for any run of
 * characters. A name "PREFIX.*" (nothing below PREFIX could be read) is as severe as anything below PREFIX
 * may be.
 */

enum severity { SEVERITY_IGNORE, SEVERITY_MINOR, SEVERITY_MAJOR, SEVERITY_CRITICAL, SEVERITIES };
const char *severity_name(enum severity s); /* "ignore", "minor", "major", "critical" */
/* False for another word. */
bool severity_parse(const char *name, enum severity *out);

enum { CLASS_NAME_BYTES_MAX = 63, CLASSES_MAX = 256, CLASS_PATTERNS_MAX = 1024 };
enum { CLASSES_NODES_MAX = 1 << 20 }; /* names in the host lists of all classes together */

struct class_rule {
    char *pattern;
    enum severity severity;
};

/* It is waited for; or the scheduler is asked to requeue it, or to cancel it. */
enum lost_work { LOST_WORK_WAIT, LOST_WORK_REQUEUE, LOST_WORK_CANCEL };
const char *lost_work_name(enum lost_work l);

/* Whether its nodes are provisioned as they come up. */
enum provision_new { PROVISION_NEW_UNSET, PROVISION_NEW_YES, PROVISION_NEW_NO };

struct node_class {
    char *name;
    /* Who is in it; all that are given must hold. */
    struct hostlist nodes; /* empty: any name */
    bool has_spec;         /* the fields given in spec are asked for */
    struct spec spec;
    /* What counts. */
    size_t n_rules;
    struct class_rule *rules;
    struct patterns *patterns; /* theirs, by which a name's are found; NULL without any */
    /* What follows from drift. */
    bool exclude;  /* a drifted node is drained, within the brake; otherwise it is less preferred */
    bool reboot;   /* a major or worse drift asks for a reboot into the image below */
    bool excepted; /* Remediate=no: its nodes are only observed */
    char *kernel, *initrd, *params; /* of that image; NULL: the boot parameters are left alone */
    /* What follows for the work on a node that is lost to its user. */
    enum lost_work lost_work;
    /* What is waited for as a node comes up, and for how long; ask class_provisions and
     * class_provision_deadline. */
    enum provision_new provision_new;
    struct span provision_deadline; /* ns 0: not set */
};
/* The class's own setting; without one, that of all classes. */
bool class_provisions(const struct node_class *k, bool all);
struct span class_provision_deadline(const struct node_class *k, struct span all);

/* All classes, the one named "default" last. Zero-initialise; classes_fini. */
struct classes {
    size_t n;
    struct node_class *list;
};
void classes_fini(struct classes *c);

/* Takes one record of ClassConf: key by key. Class first; then Nodes, any settable field of a node,
 * Critical, Major, Minor, Ignore (patterns with commas between), Drifted (avoid, exclude), Reboot (yes,
 * no), Remediate (yes, no: of the class, and no key that a node matches by), Kernel, Initrd, Params, LostWork
 * (wait, requeue, cancel), ProvisionNew (yes, no), ProvisionDeadline (a span up to a week). Adds a class at
 * the end. -EINVAL with a sentence that names the key (and the nearest one, for a key that is none), -EEXIST
 * for a class that is there already; *c is as it was then. The class "default" says no nodes. */
struct class_key {
    const char *key, *value;
};
int classes_add(struct classes *c, const struct class_key *keys, size_t n, unsigned partition_max,
                struct err *e);
/* Puts the class "default" at the end, made when no record did. To be called after the last. */
void classes_finish(struct classes *c);
/* The keys that classes_add knows, for sentences. Returns their number, at most max. */
size_t classes_keys(const char **keys, size_t max);

/* The class of a node. For many nodes make an index of the names first: NULL looks them up slowly. */
struct class_index;
struct class_index *class_index_create(const struct classes *c);
void class_index_destroy(struct class_index *x);
uint16_t classes_match(const struct classes *c, const struct class_index *x, const char *name,
                       const struct spec *s);
/* -ENOENT with the nearest name. */
int classes_find(const struct classes *c, const char *name, uint16_t *out, struct err *e);

enum severity class_severity(const struct node_class *k, const char *component);

/* Sysctls and files that the patterns of any class name without a '*' and do not ignore
 * ("sysctl.vm.swappiness", "file./etc/hosts"): every agent reads these beside its own. Calls fn for each
 * once, sorted. */
typedef void class_named_fn(void *arg, const char *component);
void classes_named(const struct classes *c, class_named_fn *fn, void *arg);

/* --- comparing ------------------------------------------------------------------------------- */

/* The fingerprint of what counts in the class: of the list without ignored components, and without
 * absent ones, which say no more than not standing there; and of what the class ignores, so that nodes
 * are never the same because one of their classes does not look. *unknown is the number of counting
 * components that are unknown; with any, the node is a group of one. Two listings without any, of both of
 * which or of none of which the BMC told the same components, have one fingerprint exactly when class_compare
 * finds nothing. Where nothing is ignored nor absent it is the listing's own. */
struct fingerprint class_fingerprint(const struct node_class *k, const struct listing *g, uint32_t *unknown);

struct difference {
    const char *name;
    const struct component *expected, *actual; /* NULL: absent */
    enum severity severity;
    bool unknown; /* one side could not be read: no difference is proven */
};
/* Calls fn for each component that counts and is not provably equal, in order of names; a component
 * that is unknown on either side is unknown, also where the listings are the same. What a BMC told
 * (COMPONENT_REDFISH) is compared only where both have it: where one does not, nobody looked. Stops when fn
 * returns false. Both listings are known. */
typedef bool difference_fn(void *arg, const struct difference *d);
void class_compare(const struct node_class *k, const struct listing *expected, const struct listing *actual,
                   difference_fn *fn, void *arg);

/* The comparison in numbers. */
struct comparison {
    uint32_t different, unknown; /* components */
    enum severity worst;         /* of the different ones; IGNORE when there is none */
};
struct comparison class_count(const struct node_class *k, const struct listing *expected,
                              const struct listing *actual);

#endif
