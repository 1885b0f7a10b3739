/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * service   "process PID" ("process 0": none), "socket 0|1", "port 0|1", "unit 0|1": what the record asks
 * for; "installed 0|1" where a command or a unit is asked for and does not run
 *
 * A walk through /proc costs too much to be made each second, so where a command was found the last time
 * is remembered, and looked at first. It is a hint and nothing else: it counts when the same command is
 * there now.
 *
 * Whether a program is installed is read from the disk, which may hang. So while the service runs it is
 * looked at in the agent itself, and otherwise in a child. What ran once on this boot was installed then,
 * wherever it lies.
 */

enum { HINTS = 32, COMM_BYTES_MAX = 15 };

struct hint {
    char *root, *command;
    uint64_t pid;
};

static struct hint *hint_get(const char *root, const char *command)
{
    static struct hint hints[HINTS];
    static size_t next;
    for (size_t i = 0; i < HINTS; i++)
        if (hints[i].command && strcmp(hints[i].command, command) == 0 && strcmp(hints[i].root, root) == 0)
            return &hints[i];
    struct hint *h = &hints[next++ % HINTS];
    free(h->root);
    free(h->command);
    *h = (struct hint){.root = mem_dup(root), .command = mem_dup(command)};
    return h;
}

/* The kernel keeps 15 bytes of a command. */
static bool service_runs(const struct process *p, const char *command)
{
    return p->state != 'Z' && p->state != 'X' && strncmp(p->name, command, COMM_BYTES_MAX) == 0 &&
           strlen(p->name) == strnlen(command, COMM_BYTES_MAX);
}

struct search {
    const char *command;
    uint64_t pid;
};

static bool on_process(const struct process *p, void *arg)
{
    struct search *s = arg;
    if (!service_runs(p, s->command))
        return true;
    s->pid = p->pid;
    return false;
}

static bool hint_stands(const struct hint *hint, int root)
{
    struct process p;
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRIu64, hint->pid);
    return hint->pid > 0 && process_read(root, pid, &p) == 0 && service_runs(&p, hint->command);
}

void fact_process(const struct look *l, int root, const char *command, struct text *out)
{
    struct hint *hint = hint_get(l->root, command);
    if (!hint_stands(hint, root)) {
        struct search s = {.command = command};
        if (!processes_each(root, on_process, &s, out))
            return;
        hint->pid = s.pid;
    }
    fact_add(out, "process", "%" PRIu64, hint->pid);
}

/* --- sockets -------------------------------------------------------------------------------- */

struct wanted {
    const char *path;
    uint64_t port;
    bool found;
};

/* "0000000000000000: 00000002 00000000 00010000 0001 01 21716 /run/munge/munge.socket.2"; the flag is
 * __SO_ACCEPTCON. */
static bool on_unix(const char *line, void *arg)
{
    struct wanted *wanted = arg;
    struct words w;
    words_of(line, &w);
    wanted->found = strcmp(w.w[3], "00010000") == 0 && strcmp(w.w[7], wanted->path) == 0;
    return !wanted->found;
}

/* "  0: 0100007F:1A9F 00000000:0000 0A ..."; 0A is LISTEN. */
static bool on_tcp(const char *line, void *arg)
{
    struct wanted *wanted = arg;
    struct words w;
    char port[8];
    words_of(line, &w);
    const char *colon = strrchr(w.w[1], ':');
    snprintf(port, sizeof port, ":%04X", (unsigned)wanted->port);
    wanted->found = colon && strcmp(colon, port) == 0 && strcmp(w.w[3], "0A") == 0;
    return !wanted->found;
}

static void find_socket(int root, const char *path, struct text *out)
{
    struct wanted wanted = {.path = path};
    int r = sys_each_line(root, "proc/net/unix", on_unix, &wanted);
    if (r < 0)
        fact_add(out, "unknown", "/proc/net/unix: %s", strerror(-r));
    else
        fact_add(out, "socket", "%d", wanted.found);
}

static void find_port(const struct look *l, int root, uint64_t port, struct text *out)
{
    struct wanted wanted = {.port = port};
    int r = *l->root ? -EOPNOTSUPP : port_listened((uint16_t)port);
    if (r >= 0) {
        fact_add(out, "port", "%d", r);
        return;
    }
    r = sys_each_line(root, "proc/net/tcp", on_tcp, &wanted);
    if (!wanted.found && sys_each_line(root, "proc/net/tcp6", on_tcp, &wanted) == 0)
        r = 0;
    if (r < 0)
        fact_add(out, "unknown", "/proc/net/tcp: %s", strerror(-r));
    else
        fact_add(out, "port", "%d", wanted.found);
}

/* systemd keeps a link for each unit as long as it is neither inactive nor failed. */
static bool unit_is_active(int root, const char *unit)
{
    CLEANUP_TEXT struct text path = {0};
    struct stat st;
    text_printf(&path, "run/systemd/units/invocation:%s%s", unit, strchr(unit, '.') ? "" : ".service");
    return fstatat(root, path.s, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void find_unit(int root, const char *unit, struct text *out)
{
    struct stat st;
    if (fstatat(root, "run/systemd/units", &st, 0) < 0)
        fact_add(out, "unsupported", "no systemd runs here");
    else
        fact_add(out, "unit", "%d", unit_is_active(root, unit));
}

/* --- the probe ------------------------------------------------------------------------------ */

static const char *command_of(const struct look *l)
{
    const char *command = check_arg(l->check, "Command");
    bool other = check_arg(l->check, "Socket") || check_arg(l->check, "Port") || check_arg(l->check, "Unit");
    return command || other ? command : check_arg(l->check, "Name");
}

bool service_stands(const struct look *l)
{
    const char *command = command_of(l), *unit = check_arg(l->check, "Unit");
    CLEANUP_FD int root = sys_open_root(l->root, NULL);
    return root < 0 || ((!command || hint_stands(hint_get(l->root, command), root)) &&
                        (!unit || unit_is_active(root, unit)));
}

static void find_installed(const struct look *l, int root, struct text *out)
{
    const char *name = check_arg(l->check, "Name"), *command = command_of(l),
               *unit = check_arg(l->check, "Unit");
    bool there = (command && program_installed(root, command)) ||
                 (command && unit_installed(root, command)) || (name && unit_installed(root, name)) ||
                 (unit && unit_installed(root, unit));
    fact_add(out, "installed", "%d", there);
}

void gather_SERVICE(const struct look *l, struct text *out)
{
    const char *command = command_of(l), *path = check_arg(l->check, "Socket");
    const char *port = check_arg(l->check, "Port"), *unit = check_arg(l->check, "Unit");
    uint64_t number;
    bool stands = service_stands(l);
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    if (command)
        fact_process(l, root, command, out);
    if (path)
        find_socket(root, path, out);
    if (port && text_parse_u64(port, 1, UINT16_MAX, &number, NULL) < 0)
        fact_add(out, "unknown", "Port=%s is not the number of a port", port);
    else if (port)
        find_port(l, root, number, out);
    if (unit)
        find_unit(root, unit, out);
    if (!stands)
        find_installed(l, root, out);
}

/* Whether it runs now or ran on this boot. A child that found the process has ended, so the place is noted
 * here. */
static bool service_ran(struct look *l, const char *facts)
{
    const char *command = command_of(l);
    uint64_t pid = 0, active = 0;
    fact_u64(facts, "process", &pid);
    fact_u64(facts, "unit", &active);
    if (command && pid > 0)
        hint_get(l->root, command)->pid = pid;
    bool ran = *memory_number(l->memory, "ran") > 0 || pid > 0 || active > 0;
    if (ran)
        memory_keep(l->memory, "ran", 1);
    return ran;
}

static bool service_is_absent(struct look *l, const char *facts)
{
    uint64_t installed;
    bool ran = service_ran(l, facts);
    return !ran && fact_u64(facts, "installed", &installed) && !installed;
}

void judge_SERVICE(struct look *l, const char *facts, struct verdict *v)
{
    static const struct {
        const char *key, *arg, *without;
    } parts[] = {{"process", "Command", "no process %s runs"},
                 {"socket", "Socket", "nobody listens on %s"},
                 {"port", "Port", "nobody listens on port %s"},
                 {"unit", "Unit", "the unit %s is not active"}};
    const char *name = check_arg(l->check, "Name");
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "service %s", name ? name : l->check->name);
    if (service_is_absent(l, facts)) {
        const char *what = command_of(l) ? command_of(l) : check_arg(l->check, "Unit");
        verdict_cannot(v, RESULT_UNSUPPORTED, "%s is not installed", what);
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t n;
        const char *asked = i == 0 ? command_of(l) : check_arg(l->check, parts[i].arg);
        CLEANUP_TEXT struct text why = {0};
        if (!asked || !fact_u64(facts, parts[i].key, &n) || n > 0)
            continue;
        const char *blank = strstr(parts[i].without, "%s");
        text_add_bytes(&why, parts[i].without, (size_t)(blank - parts[i].without));
        text_add(&why, asked);
        text_add(&why, blank + 2);
        verdict_add(v, RESULT_FATAL, device, "", "%s", why.s);
    }
}
