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
 * specification, else "default". A field matches when the node has the same value (Partition: the same set).
 * Sensitive, Borrowed, Group and Partition have a value even when they are not specified. The severity of a
 * component comes from the class's own patterns, then from the defaults of severity.tbl. Among several
 * matching patterns the longest counts (most characters that are not '*'); among equally long ones the more
 * severe. '*' stands for any run of characters. A name "PREFIX.*" (nothing below PREFIX could be read) is as
 * severe as the most severe possible name below PREFIX.
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

/* Wait for it, or ask the scheduler to requeue or cancel it. */
enum lost_work { LOST_WORK_WAIT, LOST_WORK_REQUEUE, LOST_WORK_CANCEL };
const char *lost_work_name(enum lost_work l);

/* Whether nodes of the class are provisioned when they come up. */
enum provision_new { PROVISION_NEW_UNSET, PROVISION_NEW_YES, PROVISION_NEW_NO };

struct node_class {
    char *name;
    /* Which nodes are in the class; all given conditions must hold. */
    struct hostlist nodes; /* empty: any name */
    bool has_spec;         /* the fields given in spec must match */
    struct spec spec;
    /* Which components count. */
    size_t n_rules;
    struct class_rule *rules;
    struct patterns *patterns; /* an index of the rules' patterns, to find those that match a name; NULL
                                  without any */
    /* The consequences of drift. */
    bool exclude;  /* a drifted node is drained, within the brake; otherwise it is less preferred */
    bool reboot;   /* a major or worse drift asks for a reboot into the image below */
    bool excepted; /* Remediate=no: the nodes are only observed */
    char *kernel, *initrd, *params; /* of that image; NULL: the boot parameters are not changed */
    /* What happens to work that its user has lost with the node. */
    enum lost_work lost_work;
    /* Use class_provisions and class_provision_deadline, which apply the defaults. */
    enum provision_new provision_new;
    struct span provision_deadline; /* ns 0: not set */
};
/* The class's own setting; without one, the setting `all` for all classes. */
bool class_provisions(const struct node_class *k, bool all);
struct span class_provision_deadline(const struct node_class *k, struct span all);

/* All classes, the one named "default" last. Zero-initialise; classes_fini. */
struct classes {
    size_t n;
    struct node_class *list;
};
void classes_fini(struct classes *c);

/* Takes one record of ClassConf, key by key. Class comes first; then Nodes, any settable field of a node,
 * Critical, Major, Minor, Ignore (patterns separated by commas), Drifted (avoid, exclude), Reboot (yes, no),
 * Remediate (yes, no: applies to the class; nodes do not match by it), Kernel, Initrd, Params, LostWork
 * (wait, requeue, cancel), ProvisionNew (yes, no), ProvisionDeadline (a span up to a week). Adds a class at
 * the end. -EINVAL with a sentence that names the key (and the nearest one, for an unknown key), -EEXIST for
 * a class that exists already; *c is unchanged then. The class "default" names no nodes. */
struct class_key {
    const char *key, *value;
};
int classes_add(struct classes *c, const struct class_key *keys, size_t n, unsigned partition_max,
                struct err *e);
/* Puts the class "default" at the end, and makes it when there was no record. Call it after the last
 * record. */
void classes_finish(struct classes *c);
/* The keys that classes_add knows, for sentences. Returns their number, at most max. */
size_t classes_keys(const char **keys, size_t max);

/* Finds the class of a node. For many nodes, make an index of the names first; without an index (NULL) the
 * look-up is slow. */
struct class_index;
struct class_index *class_index_create(const struct classes *c);
void class_index_destroy(struct class_index *x);
uint16_t classes_match(const struct classes *c, const struct class_index *x, const char *name,
                       const struct spec *s);
/* -ENOENT with the nearest name. */
int classes_find(const struct classes *c, const char *name, uint16_t *out, struct err *e);

enum severity class_severity(const struct node_class *k, const char *component);

/* Calls fn once, in order, for each sysctl and file that a pattern of a class names without '*' and does not
 * ignore ("sysctl.vm.swappiness", "file./etc/hosts"). Every agent reads these beside its own. */
typedef void class_named_fn(void *arg, const char *component);
void classes_named(const struct classes *c, class_named_fn *fn, void *arg);

/* --- comparing ------------------------------------------------------------------------------- */

/* The fingerprint of the components that count in the class. It leaves out ignored components, and absent
 * ones, which mean the same as missing from the list; it includes what the class ignores, so that nodes of
 * two classes are not the same only because one class ignores more. *unknown is the number of counting
 * components that are unknown; with any, the node is a group of one. Two listings without unknown components,
 * for which a BMC reported the same components or none in either, have equal fingerprints exactly when
 * class_compare finds nothing. When nothing is ignored or absent the result is the listing's own
 * fingerprint. */
struct fingerprint class_fingerprint(const struct node_class *k, const struct listing *g, uint32_t *unknown);

struct difference {
    const char *name;
    const struct component *expected, *actual; /* NULL: absent */
    enum severity severity;
    bool unknown; /* one side could not be read, so no difference is proven */
};
/* Calls fn for each component that counts and is not provably equal, in order of names. A component that is
 * unknown on either side is unknown, even when the listings are the same. Components from a BMC
 * (COMPONENT_REDFISH) are compared only when both sides have them. Stops when fn returns false. Both listings
 * must be known. */
typedef bool difference_fn(void *arg, const struct difference *d);
void class_compare(const struct node_class *k, const struct listing *expected, const struct listing *actual,
                   difference_fn *fn, void *arg);

/* The comparison in numbers. */
struct comparison {
    uint32_t different, unknown; /* components */
    enum severity worst;         /* the worst severity of the different ones; IGNORE when there is none */
};
struct comparison class_count(const struct node_class *k, const struct listing *expected,
                              const struct listing *actual);

#endif
