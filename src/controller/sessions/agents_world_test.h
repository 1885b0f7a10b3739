/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_AGENTS_WORLD_TEST_H
#define FETTLE_CONTROLLER_SESSIONS_AGENTS_WORLD_TEST_H

#include "base/digest.h"
#include "base/json.h"
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * For tests of the agents' port: a real port over a real cluster, watch, committer and store in a
 * temporary directory, and clients on the same loop that say what a test tells them to. What the
 * controller logs is kept, for that is where its notices go. The teardown proves that the loop
 * closes and that nothing is left in the directory.
 */

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER_BOOT "76543210-89ab-cdef-0123-456789abcdef"
#define INSTANCE "00000000000000a1"
#define OTHER_INSTANCE "00000000000000b2"
/* A list of components and its fingerprint. */
#define A_LIST "\"components\":{\"kernel.release\":\"6.1.0\",\"os.id\":\"debian\"},\"absent\":[\"image.os\"]"
#define A_FINGERPRINT "29f8236fc0e547f33954b248265762ffe0186712643fe305f9bd3f6bb888145c"

struct client {
    struct peer *peer; /* NULL once it is closed */
    bool open, closed;
    json_t *last[256]; /* the newest body of each type */
    unsigned count[256];
    struct client *next;
};

struct world {
    uv_loop_t loop;
    char dir[32];
    struct config conf;
    struct cluster *cluster;
    struct watch *watch;
    struct store *store;
    struct committer *committer;
    struct authority *authority;
    struct tls_context *tls;
    struct signer *signer;
    struct agents *agents;
    uint64_t term;
    uv_timer_t tick;
    char *key, *request; /* all clients have the same key */
    struct client *clients;
};

extern struct world w;

/* The first lines of fettle.conf come from the test; nodes are lx[1-20] with two CPUs. */
int world_setup(void **state);
int world_teardown(void **state);
/* Ends the agents' port, and the loop when its last connection is gone. */
void world_stop(void);
/* Takes another configuration. */
void world_reload(const char *lines);
/* The nodes are lx[1-n] from now on. */
void world_nodes(size_t n);
/* Writes DIR/classes, for ClassConf. */
void world_classes(const char *text);
/* Writes DIR/checks, and takes the lines with it as CheckConf. */
void world_checks(const char *lines, const char *text);
/* True when the log so far holds the text; the log since the last world_log_clear. */
bool world_logged(const char *text);
void world_log_clear(void);
struct tls_context *world_tls(const char *certificate);
char *world_certificate(const char *name);
/* A new token, good for the nodes until then. The caller frees it. */
char *world_token(const char *nodes, int64_t expires_in_ms);

/* A connection with the certificate of a node; NULL: with none. */
struct client *client_new(const char *node);
struct client *client_with(struct tls_context *tls);
void client_send(struct client *c, enum frame_type type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Comes as an agent and waits for the answer. */
struct client *client_hello(const char *node, const char *instance);
void client_heartbeat(struct client *c, const char *instance, unsigned seq);
void client_fingerprint(struct client *c, const char *fingerprint, const char *boot);
/* A_LIST in two parts. */
void client_components(struct client *c, const char *fingerprint);
/* Comes as a collector that listens on the port and holds the nodes already. */
struct client *collector_hello(const char *node, const char *instance, unsigned port, const char *nodes);
void client_cut(struct client *c);

struct member *node(const char *name);
const struct observed *seen(const char *name);
struct standing standing_of(const char *name);
/* In hex, "" before it was said. Valid until the next call. */
const char *fingerprint_of(const char *name);
/* Whether the components behind it are known. */
bool components_known(const char *name);
/* What is signed in an order of this controller's. The caller owns it. */
json_t *opened(const json_t *order);
/* Of the last frame of this type; of an order, of what is signed. */
const char *text_in(const struct client *c, enum frame_type type, const char *key);
/* Waits for the server to have read all that the client sent. */
void settle(struct client *c);

/* Runs the loop until the condition holds; fails the test when it does not within 30 s. */
#define run_until(condition)                                       \
    do {                                                           \
        struct mono run_until_ = mono_add(mono_now(), span_s(30)); \
        while (!(condition)) {                                     \
            if (mono_sub(mono_now(), run_until_).ns > 0)           \
                fail_msg("did not come: %s", #condition);          \
            uv_run(&w.loop, UV_RUN_ONCE);                          \
        }                                                          \
    } while (0)

/* Waits for a refusal with the code. */
#define assert_refused(c, code)                                               \
    do {                                                                      \
        const struct client *refused_ = (c);                                  \
        run_until(refused_->closed);                                          \
        assert_int_equal(refused_->count[FRAME_REFUSE], 1);                   \
        assert_string_equal(text_in(refused_, FRAME_REFUSE, "code"), (code)); \
    } while (0)

#endif
