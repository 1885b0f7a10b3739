/* SPDX-License-Identifier: Apache-2.0 */
/* A session's reports about a node: its own node, or, as a collector, one that it speaks for. */
#include "controller/sessions/collectors_inside.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

enum { WORK_ITEMS_MAX = 1024, WORK_BYTES_MAX = 255, VERSION_BYTES_MAX = 64 };

static const char *string_of(const json_t *o, const char *key, const char *otherwise)
{
    const char *s = otherwise;
    json_take_string(o, key, &s, NULL);
    return s;
}

static bool work_ok(const json_t *work)
{
    if (!json_is_array(work) || json_array_size(work) > WORK_ITEMS_MAX)
        return false;
    size_t i;
    json_t *item;
    json_array_foreach (work, i, item) {
        if (!json_is_string(item) || json_string_length(item) > WORK_BYTES_MAX)
            return false;
    }
    return true;
}

int heartbeat_read(const json_t *body, struct heartbeat *h, struct err *e)
{
    *h = (struct heartbeat){.boot = string_of(body, "boot", "")};
    if (!beat_parse_instance(string_of(body, "instance", ""), &h->instance))
        return err_set(e, -EINVAL, "a heartbeat without an instance");
    if (json_take_u64(body, "seq", INT64_MAX, &h->seq, e) < 0)
        return -EINVAL;
    json_take_u64(body, "uptime_s", UINT32_MAX, &h->uptime_s, NULL);
    const json_t *work = json_object_get(body, "work");
    h->work = work_ok(work) ? work : NULL; /* anything odd is unknown, not idle */
    return 0;
}

int session_open_member(struct session *s, struct member *m, const json_t *body,
                        const struct member *collector, bool *want, struct err *e)
{
    struct agents *a = s->agents;
    struct hello h = {.name = m->name,
                      .version = string_of(body, "version", ""),
                      .boot = string_of(body, "boot", ""),
                      .inventory = string_of(body, "inventory", ""),
                      .key = collector || !s->peer ? 0 : stream_peer(peer_stream(s->peer))->key};
    if (!beat_parse_instance(string_of(body, "instance", ""), &h.instance))
        return err_set(e, -EINVAL, "no instance");
    if (strlen(h.version) > VERSION_BYTES_MAX)
        return err_set(e, -EINVAL, "a version of more than %d bytes", VERSION_BYTES_MAX);
    void *old = NULL;
    int rc = watch_open(a->with.watch, mono_now(), m, &h, s, collector, want, &old, e);
    if (rc == 0 && old) {
        struct session *before = old;
        if (before->member == m && before->peer)
            session_part(before); /* the same agent over a newer connection */
    }
    if (rc == 0 && collector)
        sent_arrived(a, m);
    return rc;
}

void session_inventory(struct session *s, struct member *m, const json_t *body)
{
    struct agents *a = s->agents;
    struct err e = {0};
    int rc = watch_inventory(a->with.watch, m, body, &e);
    if (rc == -ENOENT && m == s->member)
        session_send(s, FRAME_WANT, json_object());
    else if (rc < 0)
        log_warn("node %s: %s", m->name, e.msg);
}
