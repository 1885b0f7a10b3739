/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts: a line each, TIME ACTION NODES [ARGUMENT], times from the start of the swarm.
 *
 *   10s  silence  sw[01-10]          heartbeats stop, the connection stays
 *   40s  speak    sw[01-10]         (these two also for nodes of keepers)
 *   5s   delay    sw[01-10] 3s       each heartbeat comes so much later
 *   5s   loss     sw[01-10] 30       percent of the heartbeats that are not sent
 *   20s  reboot   sw03               new boot id, new instance, connection cut
 *   20s  restart  sw03               new instance, connection cut
 *   20s  name     sw03 lx99          says another name than its certificate's
 *   20s  garbage  sw03               4 KiB of noise into the connection
 *   20s  replay   sw03               sends its last heartbeat again
 *   20s  work     sw03 job.17        runs that; without an argument, nothing
 *   20s  close    sw03               cuts the connection
 *   20s  leave    sw03               cuts it and stays away, until `come`
 *   20s  kind     sw03 7             is a node of kind 7 from now on, and says so (with -f)
 *   20s  verify   sw03               says that its fingerprint is still the same
 *   20s  ill      sw03 disk          its check "disk" finds something, until it is told to do anything (with
 * -l) 20s  lie      sw03 hash          how it answers for its components from now on: none, hash, order,
 *                                    large, many, silent (enum lie)
 */
#include "test/swarm/swarm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct action {
    uv_timer_t timer;
    struct swarm *swarm;
    struct hostlist nodes;
    char name[16];
    char argument[256];
};

static struct player *find(struct swarm *s, const char *name)
{
    for (size_t i = 0; i < s->n_players; i++)
        if (strcmp(s->players[i].name, name) == 0)
            return &s->players[i];
    return NULL;
}

static void on_time(uv_timer_t *t)
{
    struct action *a = t->data;
    for (size_t i = 0; i < a->nodes.n; i++) {
        struct player *p = find(a->swarm, a->nodes.names[i]);
        bool known =
            p ? player_act(p, a->name, a->argument) : keeper_act(a->swarm, a->nodes.names[i], a->name);
        if (!known)
            fprintf(stderr, "swarm: no action \"%s\"\n", a->name);
    }
}

int script_start(struct swarm *s, const char *path, struct err *e)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    char line[4096], when[32], nodes[2048];
    int rc = 0, number = 0;
    while (rc == 0 && fgets(line, sizeof line, f)) {
        number++;
        if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
            continue;
        struct action *a = mem_alloc(sizeof *a);
        struct span at;
        a->swarm = s;
        if (sscanf(line, "%31s %15s %2047s %255s", when, a->name, nodes, a->argument) < 3)
            rc = err_set(e, -EINVAL, "%s:%d: not TIME ACTION NODES [ARGUMENT]", path, number);
        if (rc == 0)
            rc = span_parse(when, &at, e);
        if (rc == 0)
            rc = hostlist_parse(nodes, &a->nodes, e);
        if (rc < 0)
            break;
        uv_timer_init(&s->loop, &a->timer);
        a->timer.data = a;
        uv_timer_start(&a->timer, on_time, (uint64_t)span_to_ms(at), 0);
    }
    fclose(f);
    return rc;
}
