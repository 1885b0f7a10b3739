/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OBSERVE_OBSERVER_H
#define FETTLE_CONTROLLER_OBSERVE_OBSERVER_H

#include "link/tls.h"
#include "watch/watch.h"

#include <uv.h>

/*
 * A controller that follows is told what the leader observes. It dials the leader's HTTPS interface, with its
 * own certificate, and reads the stream (reading.h). The first picture fills a watch of its own, beside the
 * one that answers; when it is whole, the two change places. What comes later goes into the one that answers.
 * After a cut, or from another leader, all is read anew, and what was observed before answers meanwhile, with
 * its age.
 *
 * Nothing that is told here is agreed, and nothing follows from it but answers.
 */

struct observer_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch; /* the one that answers */
    const struct watch_policy *policy;
    struct tls_context *tls; /* shows this controller's certificate */
};

struct observer;
struct observer *observer_create(const struct observer_setup *s);
/* Nothing is called afterwards. The loop must run on until its handles are closed. */
void observer_destroy(struct observer *o);
/* This controller leads ("host:port"), "" for none. */
void observer_leader(struct observer *o, const char *address);
/* A commit changed these nodes, as watch_changed. */
void observer_changed(struct observer *o, const struct hostlist *nodes);
/* The policy, or something that the observations depend on, changed: everything is read anew. */
void observer_anew(struct observer *o);
/* Dials and notices a cut; call it some times a second. */
void observer_turn(struct observer *o, struct mono now);
/* 0 while the leader tells; else -EREMOTE with the reason. *age: how old the observations are; negative:
 * there are none. */
int observer_age(const struct observer *o, struct mono now, struct span *age, struct err *e);

#endif
