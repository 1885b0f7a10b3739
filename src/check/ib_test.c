/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add(struct trial *t, const char *port, const char *file, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "sys/class/infiniband/%.6s/ports/%s/%s", port, port + 7, file);
    trial_add(t, path, text);
}

/* "mlx5_0/1": six characters, and the port's number. */
static void add_port(struct trial *t, const char *port, bool active)
{
    char path[96];
    snprintf(path, sizeof path, "sys/class/infiniband/%.6s/board_id", port);
    trial_add(t, path, "MT_0000000838\n");
    add(t, port, "link_layer", "InfiniBand\n");
    add(t, port, "state", active ? "4: ACTIVE\n" : "1: DOWN\n");
    add(t, port, "phys_state", active ? "5: LinkUp\n" : "2: Polling\n");
    add(t, port, "rate", active ? "400 Gb/sec (4X NDR)\n" : "10 Gb/sec (4X SDR)\n");
}

/* Three devices of a real machine, whose files have no newline at their end. */
static void test_real_machine(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=ib.port", "unsupported there is no /sys/class/infiniband");
    trial_add(t, "sys/class/infiniband@", TEST_DATA "/infiniband");
    trial_expect(t, "Probe=ib.port", "ok");
    trial_expect(t, "Probe=ib.port Ports=2 Rate=400", "ok");
    trial_expect(t, "Probe=ib.port Ports=8", "warn ib: 2 of 2 ports are active, of at least 8");
    trial_expect(t, "Probe=ib.port Device=mlx5_bond_0 Rate=200", "ok");
    trial_expect(t, "Probe=ib.port Device=mlx5_bond_0 Rate=400",
                 "degraded ib mlx5_bond_0/1: mlx5_bond_0/1 runs at 200000 Mb/s, of at least 400000");
    trial_expect(t, "Probe=ib.flap", "ok");
    trial_expect(t, "Probe=ib.counters", "ok"); /* 255 links downed, long ago */
    trial_expect(t, "Probe=ib.counters Device=mlx5_bond_0", "ok");
}

static void test_port(void **state)
{
    struct trial *t = *state;
    trial_add(t, "sys/class/infiniband/", "");
    trial_expect(t, "Probe=ib.port", "unsupported there is no InfiniBand port");
    add_port(t, "mlx5_0/1", false);
    trial_expect(t, "Probe=ib.port", "warn ib: none of 1 ports is active");
    trial_expect(t, "Probe=ib.port Ports=0", "ok");
    add_port(t, "mlx5_0/1", true);
    trial_expect(t, "Probe=ib.port", "ok");
    add_port(t, "mlx5_0/2", false); /* the second one of a card that nobody uses */
    trial_expect(t, "Probe=ib.port", "ok");
    add_port(t, "mlx5_1/1", false);
    trial_expect(t, "Probe=ib.port", "warn ib mlx5_1/1: mlx5_1/1 is not active; others like it are");
    trial_expect(t, "Probe=ib.port Ports=1", "ok");
    add(t, "mlx5_1/1", "phys_state", "3: Disabled\n");
    trial_expect(t, "Probe=ib.port", "warn ib mlx5_1/1: mlx5_1/1 is disabled; others like it are");
    trial_expect(t, "Probe=ib.port Device=mlx5_0", "ok");
    add_port(t, "mlx5_0/1", false);
    trial_expect(t, "Probe=ib.port", "warn ib mlx5_0/1: mlx5_0/1 is not active, which it was before");
    add(t, "mlx5_0/1", "state", "rubbish\n");
    trial_expect(t, "Probe=ib.port Device=mlx5_0 Ports=0", "unknown the state of mlx5_0/1");
}

static void test_rate(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add_port(t, "mlx5_1/1", true);
    add(t, "mlx5_1/1", "rate", "100 Gb/sec (1X NDR)\n");
    trial_expect(t, "Probe=ib.port",
                 "degraded ib mlx5_1/1: mlx5_1/1 runs at 100000 Mb/s, of at least 400000 as others like it");
    trial_expect(t, "Probe=ib.port Rate=100", "ok");
    trial_add(t, "sys/class/infiniband/mlx5_1/board_id", "another\n");
    trial_expect(t, "Probe=ib.port", "ok");
}

static void test_subnet_manager(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "lid", "0x12\n");
    add(t, "mlx5_0/1", "sm_lid", "0x0\n");
    trial_expect(t, "Probe=ib.port", "ok");
    trial_expect(t, "Probe=ib.port", "ok");
    trial_expect(t, "Probe=ib.port", "degraded ib mlx5_0/1: no subnet manager gave mlx5_0/1 an address");
    add(t, "mlx5_0/1", "sm_lid", "0x1\n");
    trial_expect(t, "Probe=ib.port", "ok");
}

static void test_flap(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "counters/link_downed", "7\n");
    trial_expect(t, "Probe=ib.flap", "ok");
    /* What was counted while it was down is found when it is back. */
    add_port(t, "mlx5_0/1", false);
    add(t, "mlx5_0/1", "counters/link_downed", "9\n");
    trial_expect(t, "Probe=ib.flap", "ok");
    add_port(t, "mlx5_0/1", true);
    trial_expect(t, "Probe=ib.flap",
                 "warn ib mlx5_0/1: the link of mlx5_0/1 went down 2 times within 12h00m, in 1 spell of ten "
                 "minutes; 3 are too many");
    add(t, "mlx5_0/1", "counters/link_downed", "11\n"); /* as a switch boots */
    trial_begins(t, "Probe=ib.flap", "warn ib mlx5_0/1: the link of mlx5_0/1 went down 4 times");
    t->now_s += 600;
    add(t, "mlx5_0/1", "counters/link_downed", "12\n");
    trial_begins(t, "Probe=ib.flap", "warn ib mlx5_0/1: the link of mlx5_0/1 went down 5 times");
    t->now_s += 600;
    add(t, "mlx5_0/1", "counters/link_downed", "13\n");
    trial_begins(t, "Probe=ib.flap", "degraded ib mlx5_0/1: the link of mlx5_0/1 went down 6 times");
    t->now_s += 12 * 3600;
    trial_expect(t, "Probe=ib.flap", "ok");
    add(t, "mlx5_0/1", "counters/link_downed", "0\n"); /* the driver was loaded anew */
    trial_expect(t, "Probe=ib.flap", "ok");
}

static void test_flaps_without_end(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "counters/link_downed", "0\n");
    trial_expect(t, "Probe=ib.flap", "ok");
    add(t, "mlx5_0/1", "counters/link_downed", "11\n");
    trial_begins(t, "Probe=ib.flap", "warn ib mlx5_0/1: the link of mlx5_0/1 went down 11 times");
    add(t, "mlx5_0/1", "counters/link_downed", "12\n");
    trial_begins(t, "Probe=ib.flap", "degraded ib mlx5_0/1: the link of mlx5_0/1 went down 12 times");
}

/* A counter that is full does not count. */
static void test_flap_that_is_seen(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "counters/link_downed", "255\n");
    for (int i = 0; i < 2; i++) {
        add_port(t, "mlx5_0/1", true);
        trial_look(t, "Probe=ib.flap Flaps=2");
        add_port(t, "mlx5_0/1", false);
        trial_look(t, "Probe=ib.flap Flaps=2");
        t->now_s += 600;
    }
    add_port(t, "mlx5_0/1", true);
    trial_begins(t, "Probe=ib.flap Flaps=2", "degraded ib mlx5_0/1: the link of mlx5_0/1 went down 2 times");
}

static void test_counters(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "hw_counters/rnr_nak_retry_err", "3\n");
    add(t, "mlx5_0/1", "counters/port_rcv_errors", "14\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add(t, "mlx5_0/1", "counters/port_rcv_errors", "614\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add(t, "mlx5_0/1", "counters/port_rcv_errors", "1215\n");
    trial_expect(t, "Probe=ib.counters",
                 "warn ib mlx5_0/1: port_rcv_errors of mlx5_0/1 grew by 601 within 1m00s, of at most 600");
    add(t, "mlx5_0/1", "hw_counters/rnr_nak_retry_err", "4\n");
    trial_expect(t, "Probe=ib.counters",
                 "fatal ib mlx5_0/1: rnr_nak_retry_err of mlx5_0/1 grew by 1 within 1h00m, of at most 0");
    t->now_s += 3600;
    trial_expect(t, "Probe=ib.counters", "ok");
    add(t, "mlx5_0/1", "counters/port_rcv_errors", "rubbish\n");
    trial_expect(t, "Probe=ib.counters", "ok");
}

static void test_symbol_errors(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "counters/symbol_error", "0\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add(t, "mlx5_0/1", "counters/symbol_error", "120\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add(t, "mlx5_0/1", "counters/symbol_error", "121\n");
    trial_expect(t, "Probe=ib.counters",
                 "fatal ib mlx5_0/1: symbol_error of mlx5_0/1 grew by 121 within 1h00m, of at most 120");
}

/* To read the counters of a port without a link makes the adapter complain. */
static void test_counters_of_a_port_that_is_down_are_not_read(void **state)
{
    struct trial *t = *state;
    add_port(t, "mlx5_0/1", true);
    add(t, "mlx5_0/1", "counters/link_downed", "1\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add_port(t, "mlx5_0/1", false);
    add(t, "mlx5_0/1", "counters/link_downed", "2\n");
    trial_expect(t, "Probe=ib.counters", "ok");
    add_port(t, "mlx5_0/1", true);
    trial_expect(t, "Probe=ib.counters",
                 "warn ib mlx5_0/1: link_downed of mlx5_0/1 grew by 1 within 1h00m, of at most 0");
}

static void test_congestion(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=ib.congestion", "unsupported there is no /sys/class/infiniband");
    add_port(t, "mlx5_0/1", true);
    trial_expect(t, "Probe=ib.congestion Packets=0 Wait=0", "ok"); /* an adapter without such counters */
    add(t, "mlx5_0/1", "hw_counters/np_cnp_sent", "5000000\n");
    add(t, "mlx5_0/1", "hw_counters/rp_cnp_handled", "0\n");
    add(t, "mlx5_0/1", "hw_counters/out_of_sequence", "1\n");
    add(t, "mlx5_0/1", "counters/port_xmit_wait", "12345678901234\n");
    trial_expect(t, "Probe=ib.congestion Packets=0 Wait=0", "ok");
    add(t, "mlx5_0/1", "hw_counters/np_cnp_sent", "5600000\n");
    trial_expect(t, "Probe=ib.congestion", "ok");
    add(t, "mlx5_0/1", "hw_counters/np_cnp_sent", "6200001\n");
    add(t, "mlx5_0/1", "counters/port_xmit_wait", "22345678901234\n");
    trial_expect(t, "Probe=ib.congestion",
                 "info ib mlx5_0/1: np_cnp_sent of mlx5_0/1 grew by 600001 within 1m00s, of at most 600000");
    add(t, "mlx5_0/1", "hw_counters/rp_cnp_handled", "21\n");
    add(t, "mlx5_0/1", "hw_counters/out_of_sequence", "22\n");
    trial_expect(t, "Probe=ib.congestion Packets=20",
                 "info ib mlx5_0/1: rp_cnp_handled of mlx5_0/1 grew by 21 within 1m00s, of at most 20\n"
                 "info ib mlx5_0/1: out_of_sequence of mlx5_0/1 grew by 21 within 1m00s, of at most 20");
    trial_expect(t, "Probe=ib.congestion Wait=1000", "ok"); /* the baseline of this key */
    add(t, "mlx5_0/1", "counters/port_xmit_wait", "22345678902235\n");
    trial_expect(t, "Probe=ib.congestion Wait=1000",
                 "info ib mlx5_0/1: port_xmit_wait of mlx5_0/1 grew by 1001 within 1m00s, of at most 1000");
    add_port(t, "mlx5_0/1", false);
    trial_expect(t, "Probe=ib.congestion Packets=0 Wait=0", "ok");
}

static void test_counters_are_not_read_often(void **state)
{
    struct checks checks = {0};
    struct err e = {0};
    (void)state;
    static const char often[] = "Check=x Probe=ib.counters Every=29s\n",
                      too[] = "Check=ib.congestion Every=29s\n", seldom[] = "Check=ib.flap Every=30s\n";
    assert_true(checks_parse("f", often, strlen(often), &checks, &e) < 0);
    assert_string_equal(
        e.msg, "f:1: Every: the counters of InfiniBand ports are asked of firmware, each 30s at most");
    assert_true(checks_parse("f", too, strlen(too), &checks, &e) < 0);
    assert_int_equal(checks_parse("f", seldom, strlen(seldom), &checks, &e), 0);
    checks_fini(&checks);
}

static void test_device_files(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=ib.device", "unsupported there is no RDMA device");
    trial_add(t, "sys/class/infiniband_verbs/abi_version", "6\n");
    trial_add(t, "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    trial_add(t, "sys/class/infiniband_mad/umad0/ibdev", "mlx5_0\n");
    trial_add(t, "dev/infiniband/uverbs0", "");
    trial_expect(t, "Probe=ib.device", "ok");
    trial_expect(t, "Probe=ib.device", "ok");
    trial_expect(t, "Probe=ib.device", "fatal ib umad0: there is no /dev/infiniband/umad0");
    trial_add(t, "dev/infiniband/umad0", "");
    trial_expect(t, "Probe=ib.device", "ok");
}

/* --- EFA ------------------------------------------------------------------------------------ */

static void add_efa(struct trial *t, const char *file, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "sys/class/infiniband/rdmap0s31/%s", file);
    trial_add(t, path, text);
}

static void test_efa(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=efa", "unsupported there is no /sys/class/infiniband");
    trial_expect(t, "Probe=efa Count=1", "fatal efa: 0 EFA adapters, of 1");
    add_port(t, "mlx5_0/1", true);
    trial_expect(t, "Probe=efa", "unsupported there is no EFA adapter");
    add_efa(t, "device/driver@", "../../../bus/pci/drivers/efa");
    add_efa(t, "ports/1/state", "4: ACTIVE\n");
    trial_expect(t, "Probe=efa Count=1", "ok");
    trial_expect(t, "Probe=efa Count=2", "fatal efa: 1 EFA adapters, of 2");
    add_efa(t, "ports/1/state", "1: DOWN\n");
    trial_expect(t, "Probe=efa", "fatal efa rdmap0s31/1: the state of rdmap0s31/1 is DOWN, not ACTIVE");
    trial_remove(t, "sys/class/infiniband/rdmap0s31/ports/1/state");
    trial_expect(t, "Probe=efa", "unknown the state of rdmap0s31/1: No such file or directory");
}

static void test_efa_counters(void **state)
{
    struct trial *t = *state;
    add_efa(t, "device/driver@", "../../../bus/pci/drivers/efa");
    add_efa(t, "ports/1/state", "4: ACTIVE\n");
    add_efa(t, "hw_counters/no_completion_cmds", "7\n"); /* from before */
    add_efa(t, "hw_counters/cmds_err", "30\n");
    add_efa(t, "ports/1/hw_counters/rx_drops", "100000\n");
    add_efa(t, "ports/1/hw_counters/unresponsive_remote_events", "5\n");
    trial_expect(t, "Probe=efa", "ok");
    add_efa(t, "ports/1/hw_counters/rx_drops", "106000\n");
    add_efa(t, "hw_counters/cmds_err", "40\n");
    trial_expect(t, "Probe=efa", "ok");
    add_efa(t, "ports/1/hw_counters/rx_drops", "112001\n");
    trial_expect(t, "Probe=efa",
                 "warn efa rdmap0s31/1: rx_drops of rdmap0s31/1 grew by 6001 within 1m00s, of at most 6000");
    add_efa(t, "ports/1/hw_counters/rx_drops", "0\n"); /* a reset */
    add_efa(t, "ports/1/hw_counters/unresponsive_remote_events", "66\n");
    trial_expect(
        t, "Probe=efa",
        "warn efa rdmap0s31/1: unresponsive_remote_events of rdmap0s31/1 grew by 61 within 1m00s, of at "
        "most 60");
    add_efa(t, "hw_counters/no_completion_cmds", "8\n");
    trial_expect(t, "Probe=efa",
                 "fatal efa rdmap0s31: no_completion_cmds of rdmap0s31 grew by 1 within 1h00m, of at most 0");
    t->now_s += 3600;
    trial_expect(t, "Probe=efa", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_real_machine),
        IN_TRIAL(test_port),
        IN_TRIAL(test_rate),
        IN_TRIAL(test_subnet_manager),
        IN_TRIAL(test_flap),
        IN_TRIAL(test_flaps_without_end),
        IN_TRIAL(test_flap_that_is_seen),
        IN_TRIAL(test_counters),
        IN_TRIAL(test_symbol_errors),
        IN_TRIAL(test_counters_of_a_port_that_is_down_are_not_read),
        IN_TRIAL(test_congestion),
        IN_TRIAL(test_counters_are_not_read_often),
        IN_TRIAL(test_device_files),
        IN_TRIAL(test_efa),
        IN_TRIAL(test_efa_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
