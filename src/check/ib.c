/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * ib.port       "port DEVICE/PORT LAYER STATE PHYSICAL RATE BOARD LID SM-LID" for each port: InfiniBand or
 *               Ethernet, numbers of the states (4 is active, 5 linked), Mb/s, the adapter's board
 * ib.flap       the same, and "counter DEVICE/PORT link_downed VALUE" of those that are active
 * ib.counters   the same with all of its counters
 * ib.congestion the same with those of congestion
 * ib.device     "file NAME THERE" for each device that RDMA programs open
 *
 * The counters are asked of the adapter's firmware, which the kernel reports as an error (ACCESS_REG) where a
 * port has no cable: of ports that are not active none is read. What was counted before is kept for them.
 */

enum { STATE_ACTIVE = 4, PHYSICAL_DISABLED = 3 };

/* Counters that must not grow, and counters that may grow only so much within a time. Those without a
 * number in the tables of the field have the number of port_rcv_errors. The first window is as long as the
 * finding is reported. */
static const struct limit limits[] = {
    {"link_downed", false, 0, 3600, RESULT_WARN}, /* ib.flap judges how often */
    {"excessive_buffer_overrun_errors", false, 0, 3600, RESULT_FATAL},
    {"local_link_integrity_errors", false, 0, 3600, RESULT_FATAL},
    {"rnr_nak_retry_err", true, 0, 3600, RESULT_FATAL},
    {"symbol_error", false, 120, 3600, RESULT_FATAL},
    {"symbol_error", false, 600, 60, RESULT_WARN},
    {"link_error_recovery", false, 5, 60, RESULT_WARN},
    {"port_rcv_errors", false, 600, 60, RESULT_WARN},
    {"port_rcv_remote_physical_errors", false, 600, 60, RESULT_WARN},
    {"port_rcv_switch_relay_errors", false, 600, 60, RESULT_WARN},
    {"port_rcv_constraint_errors", false, 600, 60, RESULT_WARN},
    {"port_xmit_constraint_errors", false, 600, 60, RESULT_WARN},
    {"VL15_dropped", false, 600, 60, RESULT_WARN},
    {"port_xmit_discards", false, 6000, 60, RESULT_WARN},
    {"local_ack_timeout_err", true, 60, 60, RESULT_WARN},
    {"roce_slow_restart", true, 600, 60, RESULT_WARN},
};
enum { LIMITS = sizeof limits / sizeof *limits };

/* Counters that show congestion of the fabric, and how many a minute are worth knowing without the key;
 * -1: only the site knows. Marked packets are answered by congestion notifications (CNP), which slow their
 * sender down. The length of a tick of port_xmit_wait depends on the adapter. */
static const struct {
    const char *name;
    bool hw;
    const char *key;
    int64_t most;
} signs[] = {{"np_cnp_sent", true, "Packets", 600000},
             {"rp_cnp_handled", true, "Packets", 600000},
             {"out_of_sequence", true, "Packets", 600000},
             {"port_xmit_wait", false, "Wait", -1}};
enum { SIGNS = sizeof signs / sizeof *signs };

/* --- gathering ------------------------------------------------------------------------------ */

/* A word of its own; "-" for what is not said. */
static void word_of(int dir, const char *path, char out[static SYS_TEXT_BYTES_MAX])
{
    if (sys_text(dir, path, out) < 0 || !*out)
        snprintf(out, SYS_TEXT_BYTES_MAX, "-");
    out[strcspn(out, " :")] = '\0';
}

/* "400 Gb/sec (4X NDR)" in Mb/s; 0 when it is malformed. */
static uint64_t rate_of(int dir)
{
    char text[SYS_TEXT_BYTES_MAX];
    uint64_t mb;
    word_of(dir, "rate", text);
    return text_parse_milli(text, &mb, NULL) == 0 ? mb : 0;
}

static bool add_port(int dir, int device, const char *port, struct text *out)
{
    char board[SYS_TEXT_BYTES_MAX];
    char layer[SYS_TEXT_BYTES_MAX], state[SYS_TEXT_BYTES_MAX], physical[SYS_TEXT_BYTES_MAX];
    char lid[SYS_TEXT_BYTES_MAX], master[SYS_TEXT_BYTES_MAX];
    uint64_t n;
    word_of(device, "board_id", board);
    word_of(dir, "link_layer", layer);
    word_of(dir, "state", state);
    word_of(dir, "phys_state", physical);
    word_of(dir, "lid", lid);
    word_of(dir, "sm_lid", master);
    if (text_parse_u64(state, 0, UINT64_MAX, &n, NULL) < 0) {
        fact_add(out, "unknown", "the state of %s", port);
        return false;
    }
    fact_add(out, "port", "%s %s %s %s %" PRIu64 " %s %s %s", port, layer, state, physical, rate_of(dir),
             board, lid, master);
    return n == STATE_ACTIVE;
}

void each_port(int device, const char *name, port_fn *fn, struct text *out)
{
    struct sys_names names = {0};
    CLEANUP_FD int ports = sys_open_dir(device, "ports");
    if (ports < 0)
        return;
    sys_names_read(&names, ports);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        char port[SYS_TEXT_BYTES_MAX];
        CLEANUP_FD int dir = sys_open_dir(ports, names.names[i]);
        snprintf(port, sizeof port, "%.64s/%.16s", name, names.names[i]);
        if (dir >= 0)
            fn(dir, device, port, out);
    }
    sys_names_fini(&names);
}

void fact_counter(struct text *out, const char *device, int dir, const char *name, bool hw)
{
    char path[96];
    uint64_t n;
    snprintf(path, sizeof path, "%s/%s", hw ? "hw_counters" : "counters", name);
    if (sys_u64(dir, path, &n) == 0)
        fact_add(out, "counter", "%s %s %" PRIu64, device, name, n);
}

static void port_alone(int dir, int device, const char *port, struct text *out)
{
    add_port(dir, device, port, out);
}

static void port_and_downed(int dir, int device, const char *port, struct text *out)
{
    if (add_port(dir, device, port, out))
        fact_counter(out, port, dir, "link_downed", false);
}

static void port_and_counters(int dir, int device, const char *port, struct text *out)
{
    if (!add_port(dir, device, port, out))
        return;
    for (size_t i = 0; i < LIMITS; i++)
        if (i == 0 || strcmp(limits[i].name, limits[i - 1].name) != 0)
            fact_counter(out, port, dir, limits[i].name, limits[i].hw);
}

static void port_and_congestion(int dir, int device, const char *port, struct text *out)
{
    if (!add_port(dir, device, port, out))
        return;
    for (size_t i = 0; i < SIGNS; i++)
        fact_counter(out, port, dir, signs[i].name, signs[i].hw);
}

static void on_port(int dir, const char *name, struct text *out)
{
    each_port(dir, name, port_alone, out);
}

static void on_flap(int dir, const char *name, struct text *out)
{
    each_port(dir, name, port_and_downed, out);
}

static void on_counters(int dir, const char *name, struct text *out)
{
    each_port(dir, name, port_and_counters, out);
}

static void on_congestion(int dir, const char *name, struct text *out)
{
    each_port(dir, name, port_and_congestion, out);
}

static void gather_ports(const struct look *l, entry_fn *fn, struct text *out)
{
    gather_each(l, "sys/class/infiniband", fn, "there is no InfiniBand port", out);
}

void gather_IB_PORT(const struct look *l, struct text *out)
{
    gather_ports(l, on_port, out);
}

void gather_IB_FLAP(const struct look *l, struct text *out)
{
    gather_ports(l, on_flap, out);
}

void gather_IB_COUNTERS(const struct look *l, struct text *out)
{
    gather_ports(l, on_counters, out);
}

void gather_IB_CONGESTION(const struct look *l, struct text *out)
{
    gather_ports(l, on_congestion, out);
}

/* --- judging -------------------------------------------------------------------------------- */

/* The ports that count. */
struct port {
    struct words w;
    const char *name, *board, *number;
    uint64_t state, physical, rate;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
};

/* The ports of Device=, or all that speak InfiniBand. */
static bool port_of(const struct look *l, const struct fact_line *line, struct port *p)
{
    const char *devices = check_arg(l->check, "Device");
    if (strcmp(line->key, "port") != 0)
        return false;
    words_of(line->value, &p->w);
    p->name = p->w.w[0];
    p->board = p->w.w[5];
    p->number = p->name + strcspn(p->name, "/");
    snprintf(p->device, sizeof p->device, "ib %.59s", p->name);
    if (!word_u64(&p->w, 2, &p->state) || !word_u64(&p->w, 4, &p->rate))
        return false;
    if (!word_u64(&p->w, 3, &p->physical))
        p->physical = 0;
    return devices ? options_have(devices, p->name, (size_t)(p->number - p->name))
                   : strcmp(p->w.w[1], "InfiniBand") == 0;
}

/* Ports with the same number on the same board should be capable of the same. */
static bool ib_alike(const struct port *a, const struct port *b)
{
    return strcmp(a->board, b->board) == 0 && strcmp(a->number, b->number) == 0;
}

struct seen {
    uint64_t ports, active; /* that count */
    uint64_t alike_active, alike_rate;
};

static struct seen look_around(const struct look *l, const char *facts, const struct port *p)
{
    struct seen s = {0};
    struct fact_line line;
    struct port other;
    for (const char *at = facts; fact_next(&at, &line);) {
        if (!port_of(l, &line, &other))
            continue;
        bool active = other.state == STATE_ACTIVE;
        s.ports++;
        s.active += active;
        if (!p || !active || !ib_alike(p, &other))
            continue;
        s.alike_active++;
        if (other.rate > s.alike_rate)
            s.alike_rate = other.rate;
    }
    return s;
}

/* Without Ports=, a port that is down may be unused. It is in use when it was up in this boot, or when
 * others like it are up. */
static void judge_state(struct look *l, const struct port *p, const struct seen *s, struct span most,
                        struct verdict *v)
{
    int64_t *was = memory_number(l->memory, p->name);
    enum result down = down_result(l, p->name, p->state != STATE_ACTIVE, most);
    if (p->state == STATE_ACTIVE)
        *was = 1;
    else if (check_arg(l->check, "Ports") || (!*was && s->alike_active == 0))
        return;
    else
        verdict_add(v, down, p->device, "", "%s is %s%s", p->name,
                    p->physical == PHYSICAL_DISABLED ? "disabled" : "not active",
                    *was ? ", which it was before" : "; others like it are");
}

static void judge_rate(const struct port *p, const struct seen *s, int64_t least, struct verdict *v)
{
    uint64_t want = least > 0 ? (uint64_t)least * 1000 : s->alike_rate;
    if (p->state == STATE_ACTIVE && p->rate > 0 && p->rate < want)
        verdict_add(v, RESULT_DEGRADED, p->device, "",
                    "%s runs at %" PRIu64 " Mb/s, of at least %" PRIu64 "%s", p->name, p->rate, want,
                    least > 0 ? "" : " as others like it");
}

/* A port without an address waits for the subnet manager, which takes a moment after a boot. */
static void judge_manager(struct look *l, const struct port *p, struct verdict *v)
{
    bool none = p->state == STATE_ACTIVE && strcmp(p->w.w[1], "InfiniBand") == 0 &&
                (strcmp(p->w.w[6], "0x0") == 0 || strcmp(p->w.w[7], "0x0") == 0);
    if (in_a_row(l, "manager", p->name, none) >= 3)
        verdict_add(v, RESULT_DEGRADED, p->device, "", "no subnet manager gave %s an address", p->name);
}

void judge_IB_PORT(struct look *l, const char *facts, struct verdict *v)
{
    int64_t ports, rate;
    struct span most;
    struct fact_line line;
    struct port p;
    if (!want_number(l, "Ports", -1, &ports, v) || !want_number(l, "Rate", 0, &rate, v) ||
        !want_span(l, "Down", span_s(DOWN_S), &most, v))
        return;
    struct seen all = look_around(l, facts, NULL);
    for (const char *at = facts; fact_next(&at, &line);) {
        if (!port_of(l, &line, &p))
            continue;
        struct seen s = look_around(l, facts, &p);
        judge_state(l, &p, &s, most, v);
        judge_rate(&p, &s, rate, v);
        judge_manager(l, &p, v);
    }
    bool few = ports > 0 && all.active < (uint64_t)ports;
    enum result down = down_result(l, "ports", few || all.active == 0, most);
    if (few)
        verdict_add(v, down, "ib", "", "%" PRIu64 " of %" PRIu64 " ports are active, of at least %" PRId64,
                    all.active, all.ports, ports);
    else if (all.ports == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "there is no InfiniBand port");
    else if (ports < 0 && all.active == 0 && v->n == 0)
        verdict_add(v, down, "ib", "", "none of %" PRIu64 " ports is active", all.ports);
}

/* --- flaps ---------------------------------------------------------------------------------- */

enum { STORM = 4 }; /* as many flaps as Flaps are too often within any time */

static bool counter_of(const char *facts, const char *port, const char *name, uint64_t *value)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        if (strcmp(line.key, "counter") != 0)
            continue;
        words_of(line.value, &w);
        if (strcmp(w.w[0], port) == 0 && strcmp(w.w[1], name) == 0)
            return word_u64(&w, 2, value);
    }
    return false;
}

static void key_of(char out[static 256], const char *what, const char *port)
{
    snprintf(out, 256, "%s %s", what, port);
}

/* Growth within the window. A port that is not active has no value, and keeps its last one. */
static uint64_t grown_kept(struct look *l, const char *what, const char *facts, const char *port,
                           const char *counter, struct span window)
{
    char key[256];
    uint64_t value;
    if (counter_of(facts, port, counter, &value))
        return grown_within(l, what, port, value, window);
    key_of(key, what, port);
    return memory_window(l->memory, key, l->now, window, 0);
}

/* How often the port came back within the window, as seen here: for adapters that do not count, or whose
 * counter is full at 255. */
static uint64_t came_back(struct look *l, const struct port *p, struct span window)
{
    enum { UNSEEN, UP, DOWN };
    char key[256];
    int64_t *was = memory_number(l->memory, p->name);
    bool active = p->state == STATE_ACTIVE, back = active && *was == DOWN;
    *was = active ? UP : *was == UNSEEN ? UNSEEN : DOWN;
    key_of(key, "back", p->name);
    return memory_window(l->memory, key, l->now, window, back);
}

/* In how many spells of ten minutes it went down: a switch that boots takes its links down several times, and
 * a bad cable goes on. */
static uint64_t spells_of(struct look *l, const struct port *p, uint64_t flaps, struct span window)
{
    char key[256];
    key_of(key, "flaps", p->name);
    int64_t *had = memory_number(l->memory, key);
    bool more = flaps > (uint64_t)*had;
    *had = (int64_t)flaps;
    key_of(key, "spell", p->name);
    int64_t *began = memory_number(l->memory, key);
    bool begins = more && (!*began || l->now.ns - *began >= span_s(DOWN_S).ns);
    *began = begins ? l->now.ns : *began;
    key_of(key, "spells", p->name);
    return memory_window(l->memory, key, l->now, window, begins);
}

void judge_IB_FLAP(struct look *l, const char *facts, struct verdict *v)
{
    int64_t most;
    struct span window;
    struct fact_line line;
    struct port p;
    char about[32];
    if (!want_number(l, "Flaps", 3, &most, v) || !want_span(l, "Window", span_s(12 * 3600), &window, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        if (!port_of(l, &line, &p))
            continue;
        uint64_t flaps = grown_kept(l, "downed", facts, p.name, "link_downed", window);
        uint64_t seen = came_back(l, &p, window);
        flaps = seen > flaps ? seen : flaps;
        uint64_t spells = spells_of(l, &p, flaps, window);
        bool too_often = spells >= (uint64_t)most || flaps / STORM >= (uint64_t)most;
        if (flaps > 0)
            verdict_add(v, too_often ? RESULT_DEGRADED : RESULT_WARN, p.device, "",
                        "the link of %s went down %" PRIu64 " times within %s, in %" PRIu64
                        " spell%s of ten minutes; %" PRId64 " are too many",
                        p.name, flaps, span_human(window, about), spells, spells == 1 ? "" : "s", most);
    }
}

/* --- counters ------------------------------------------------------------------------------- */

void judge_limit(struct look *l, const char *facts, const char *device, const char *named,
                 const struct limit *limit, struct verdict *v)
{
    char what[64], about[32];
    struct span window = span_s(limit->window_s);
    snprintf(what, sizeof what, "%s %d", limit->name, limit->window_s);
    uint64_t grew = grown_kept(l, what, facts, device, limit->name, window);
    if (grew > limit->most)
        verdict_add(v, limit->result, named, "",
                    "%s of %s grew by %" PRIu64 " within %s, of at most %" PRIu64, limit->name, device, grew,
                    span_human(window, about), limit->most);
}

void judge_IB_COUNTERS(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct port p;
    for (const char *at = facts; fact_next(&at, &line);)
        if (port_of(l, &line, &p))
            for (size_t i = 0; i < LIMITS; i++)
                judge_limit(l, facts, p.name, p.device, &limits[i], v);
}

/* --- congestion ----------------------------------------------------------------------------- */

static void judge_sign(struct look *l, const char *facts, const struct port *p, size_t i, struct verdict *v)
{
    int64_t most;
    if (!want_number(l, signs[i].key, signs[i].most, &most, v) || most < 0)
        return;
    const struct limit limit = {signs[i].name, signs[i].hw, (uint64_t)most, 60, RESULT_INFO};
    judge_limit(l, facts, p->name, p->device, &limit, v);
}

/* It is the fabric's, and no fault of the node's. */
void judge_IB_CONGESTION(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct port p;
    for (const char *at = facts; fact_next(&at, &line);)
        if (port_of(l, &line, &p))
            for (size_t i = 0; i < SIGNS; i++)
                judge_sign(l, facts, &p, i, v);
}

/* --- device files --------------------------------------------------------------------------- */

static void add_files(int root, const char *class, struct text *out)
{
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(root, class);
    if (dir < 0)
        return;
    sys_names_read(&names, dir);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        CLEANUP_FD int device = sys_open_dir(dir, names.names[i]);
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "dev/infiniband/%s", names.names[i]);
        if (device >= 0)
            fact_add(out, "file", "%s %d", names.names[i], faccessat(root, path.s, F_OK, 0) == 0);
    }
    sys_names_fini(&names);
}

void gather_IB_DEVICE(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    add_files(root, "sys/class/infiniband_verbs", out);
    add_files(root, "sys/class/infiniband_mad", out);
    if (out->len == 0 && !sys_mounted(root))
        fact_add(out, "unknown", "/sys is not mounted");
    else if (out->len == 0)
        fact_add(out, "unsupported", "there is no RDMA device");
}

/* udev may be late. */
void judge_IB_DEVICE(struct look *l, const char *facts, struct verdict *v)
{
    int64_t looks;
    struct fact_line line;
    if (!want_number(l, "Looks", 3, &looks, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        bool missing = strcmp(line.key, "file") == 0 && strcmp(w.w[1], "0") == 0;
        snprintf(device, sizeof device, "ib %.59s", w.w[0]);
        if (in_a_row(l, "missing", w.w[0], missing) >= looks)
            verdict_add(v, RESULT_FATAL, device, "", "there is no /dev/infiniband/%s", w.w[0]);
    }
}
