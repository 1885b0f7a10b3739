/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_RENDER_H
#define FETTLE_API_RENDER_H

#include "base/json.h"
#include "cluster/cluster.h"
#include "watch/watch.h"

/*
 * Small pieces of answers as JSON text, without a tree in between: tables have ten thousand rows. Inside this
 * folder.
 */

/* One claim; nodes is the folded list to show. */
void render_claim(const struct claim *c, const char *nodes, struct text *t);
/* Every claim on any of the nodes, by id, each with those of the nodes that it holds. */
void render_claims(struct member *const *nodes, size_t n, struct text *t);

/* "held": the present claims on the nodes. */
void render_held(const struct cluster *c, const struct hostlist *nodes, struct text *t);

/* Small pieces: a word that needs no escaping; a string, null for NULL; a time in RFC 3339; a
 * fingerprint in hex; the short name of a cohort, null for NULL; names as a folded list. */
void render_word(struct text *t, const char *word);
void render_string(struct text *t, const char *s);
/* The holder of the node elsewhere, in words; nothing for nobody. */
void render_holder(const struct observed *o, struct text *t);
void render_time(struct text *t, struct wall at);
void render_fingerprint(struct text *t, const struct fingerprint *f);
void render_cohort(struct text *t, const struct cohort *k);
void render_fold(struct text *t, const char *const *names, size_t n);
/* A candidate for the baseline of a class that has none: {"node","share","of"}, or null. */
void render_suggestion(struct text *t, const struct cluster *c, struct watch *w, uint16_t class);

#endif
