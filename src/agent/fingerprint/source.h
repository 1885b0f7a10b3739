/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_SOURCE_H
#define FETTLE_AGENT_FINGERPRINT_SOURCE_H

#include "base/hostlist.h"

#include <stdbool.h>
#include <uv.h>

/* A descriptor on the loop that announces changes on the node, from inotify or from the kernel's events. */

struct source {
    uv_poll_t poll;
    int fd; /* -1 for none */
    void *owner;
    void (*closed)(void *owner);
};

/* Takes over fd, which may be -1: then nothing is opened. ready finds the source in poll->data. closed is
 * called when the loop has closed it. True: there is a handle, and closed will come. */
bool source_open(struct source *s, uv_loop_t *loop, int fd, uv_poll_cb ready, void (*closed)(void *owner),
                 void *owner);
/* Closes the descriptor with its handle, if there is one. */
void source_close(struct source *s);

/* Reads all events of inotify. True when one of them is about these paths; a directory announces changes
 * of everything in it. */
bool source_tells_of(const struct source *s, const struct hostlist *paths);
/* Reads and drops all events of inotify. */
void source_drain(const struct source *s);

#endif
