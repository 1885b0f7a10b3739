/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FAKE_TEST_H
#define FETTLE_AGENT_FAKE_TEST_H

#include "agent/home/home.h"
#include "base/json.h"
#include "link/order.h"
#include "link/peer.h"
#include "link/tls.h"

#include <stdbool.h>
#include <uv.h>

/*
 * A controller for tests, in the test's process: it writes down what it hears and says what the
 * test tells it to. Also the authority, and homes and certificates for nodes.
 */

enum { FAKE_PEERS_MAX = 32, FAKE_FRAMES_MAX = 1024 };

struct fake_frame {
    int peer; /* index of the link that it came over */
    uint8_t type;
    bool collected; /* it came to the collector */
    size_t len;     /* of the body as it came */
    json_t *body;
};

struct fake {
    uv_loop_t loop;
    uv_timer_t guard;
    uv_prepare_t prepare;
    bool (*cond)(void *arg); /* of fake_wait */
    void *cond_arg;
    bool late;     /* a wait ran out */
    char dir[128]; /* everything is below */
    struct authority *ca;
    struct signer *signer; /* of this controller */
    struct tls_context *tls, *collector_tls;
    struct listener *listener, *collector;
    uint16_t port;
    struct peer *peers[FAKE_PEERS_MAX]; /* NULL when gone */
    int n_peers;
    struct fake_frame frames[FAKE_FRAMES_MAX];
    int n_frames;
    const char *welcome; /* sent at once after every HELLO; NULL: nothing is */
};

void fake_init(struct fake *f);
/* Runs the loop until nothing is left on it, removes the directory. A test that failed may have left
 * something for good: then it gives up. */
void fake_fini(struct fake *f);
/* For cmocka: *state is one of its own. */
int fake_setup(void **state);
int fake_teardown(void **state);
uint16_t fake_port(const struct fake *f);
/* Stops and starts listening, on the same port. */
void fake_close(struct fake *f);
void fake_open(struct fake *f);

/* Listens as a collector, too, which welcomes and then stands still. Its port. */
uint16_t fake_collect(struct fake *f, const char *node);

/* Runs the loop until the condition holds. False after 20 s. */
typedef bool fake_cond_fn(void *arg);
bool fake_wait(struct fake *f, fake_cond_fn *cond, void *arg);
/* Waits for the n-th frame of a type since index from (n from 1). Its index, or -1. */
int fake_wait_frame(struct fake *f, uint8_t type, int from, int n);
void fake_send(struct fake *f, int peer, enum frame_type type, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The text as an order of this controller. The caller frees it. */
char *fake_order(const struct fake *f, const char *text);

/* A directory of state for a node, its certificate valid for `valid`; the caller frees the path. */
char *fake_home(struct fake *f, const char *node, struct span valid);
/* What a node shows and believes; the caller destroys it. */
struct tls_context *fake_node_tls(struct fake *f, const char *node);
struct signer *fake_node_signer(struct fake *f, const char *node);
/* A root with what the probe reads; the caller frees the path. */
char *fake_root(struct fake *f, const char *name);
void fake_write(const char *dir, const char *path, const char *text);

#endif
