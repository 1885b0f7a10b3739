/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_RENDER_H
#define FETTLE_API_RENDER_H

#include "base/json.h"
#include "cluster/cluster.h"
#include "node/field.h"
#include "watch/watch.h"

/*
 * A node's fields, claims and counts as JSON text, without a tree between: tables have ten thousand
 * rows. Inside this folder.
 */

/* Which fields, in which order. */
struct selection {
    size_t n;
    enum field fields[FIELDS];
};

/* Reads "Name,State" (any case); NULL is every field. -EINVAL for an empty name, one that is not
 * known (with the nearest) and one that is there twice. */
int selection_parse(const char *text, struct selection *s, struct err *e);

/* What is looked at while nodes are rendered, one after the other. Zero-initialise, with cluster,
 * watch and now; view_fini. */
struct view {
    const struct cluster *cluster;
    const struct watch *watch;
    struct mono now;
    const struct member *member;
    const struct observed *seen;
    bool judged; /* fitness, fit and the texts are of this member */
    bool fit;
    struct fitness fitness;
    struct text claims, shortfall, why;
};
void view_fini(struct view *v);
/* The node that is looked at from now on. */
void view_set(struct view *v, const struct member *m);

/* {"Name":"lx01","State":"IDLE"} */
void render_node(struct view *v, const struct selection *s, struct text *t);
/* When what it has was last known to be so, as a time; null when that is not known. */
void render_inventory_at(const struct view *v, struct text *t);
/* The settable fields that were specified, as their texts in NodeSpecConf: {"CPUs":"2"} */
void render_specification(const struct spec *s, struct text *t);
/* One claim; nodes is the folded list to show. */
void render_claim(const struct claim *c, const char *nodes, struct text *t);
/* Every claim that rests on any of the nodes, by id, each with those of them that it holds. */
void render_claims(struct member *const *nodes, size_t n, struct text *t);

/* Small pieces: a word that needs no escaping; a string, null for NULL; a time in RFC 3339; a
 * fingerprint in hex; the short name of a cohort, null for NULL; names as a folded list. */
void render_word(struct text *t, const char *word);
void render_string(struct text *t, const char *s);
/* Who holds the node elsewhere, in words; nothing for nobody. */
void render_holder(const struct observed *o, struct text *t);
void render_time(struct text *t, struct wall at);
void render_fingerprint(struct text *t, const struct fingerprint *f);
void render_cohort(struct text *t, const struct cohort *k);
void render_fold(struct text *t, const char *const *names, size_t n);
/* What might become the baseline of a class that has none: {"node","share","of"}, or null. */
void render_suggestion(struct text *t, const struct cluster *c, struct watch *w, uint16_t class);

/* How many nodes are what. Zero-initialise. */
struct tally {
    size_t nodes;
    size_t schedulable;
    struct {
        size_t held, unknown; /* of listed nodes, as of elsewhere_state */
        size_t out;           /* takes no new work there, whoever says so */
    } elsewhere[ELSEWHERES];
    size_t states[LIFECYCLES][2]; /* [1]: busy */
};
void tally_add(struct tally *y, struct view *v);
/* The number of nodes by 2001 word, for those words that occur: {"IDLE":12,"DOWN":1} */
void render_states(const struct tally *y, struct text *t);
/* Where somebody else holds nodes, or nobody knows it: [{"where":"slurm","held":2,"out":3,"unknown":0}] */
json_t *tally_elsewhere(const struct tally *y);

#endif
