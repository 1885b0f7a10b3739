#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Redfish against the stand-in of this folder, over the trees of four vendors; and the stand-in against a client
of somebody else's, redfishtool, where it is installed."""

import shutil
import subprocess
import sys
import time

import lab
from redfish import Bmc

RESTARTS = {"hpe-ilo5": ["ForceOff", "On"], "openbmc": ["PowerCycle"], "gigabyte": ["ForceOff", "On"],
            "cray-ex235a": ["ForceOff", "On"]}


def begin(l, tree, system="", **options):
    bmc = Bmc(tree, **options)
    l.things.append(bmc)
    return bmc, l.driver(f"Nodes=lx01 Driver=redfish Address={bmc.url}/ User=admin PasswordFile={l.dir}/secret{system}")


def test_each_vendor(l):
    for tree, restart in RESTARTS.items():
        bmc, driver = begin(l, tree)
        assert driver.now("lx01", "status") == (True, "on"), tree
        driver.operate("lx01", "power.cycle")
        assert driver.follow() == {"state": "done", "id": "7.1", "text": "on"}, tree
        assert bmc.log == restart, (tree, bmc.log)
        assert driver.now("lx01", "off") == (True, "off")
        assert driver.now("lx01", "off") == (True, "off")
        assert driver.now("lx01", "status") == (True, "off")
        assert driver.now("lx01", "cycle") == (True, "on")
        assert bmc.log == restart + ["ForceOff", "On"], (tree, bmc.log)


def test_a_kill_between_off_and_on_leaves_no_node_off(l):
    """Whoever takes the operation up switches it on, and does not begin it again; not after a long time."""
    bmc, driver = begin(l, "hpe-ilo5", late=1000)
    key = driver.operate("lx01", "power.cycle")
    driver.commit(*driver.result())
    driver.tell(key)
    lab.until(lambda: bmc.log == ["ForceOff"])
    driver.kill()
    bmc.late, bmc.system["PowerState"] = 0, "Off"
    driver.records[key]["deadline"] = "1"
    driver.start()
    assert driver.follow() == {"state": "done", "id": "7.1",
                               "text": "the controller ended in the middle; the power was off, and was switched on"}
    assert bmc.log == ["ForceOff", "On"]
    bmc.system["PowerState"] = bmc.wanted = "Off"
    driver.records[key]["done"] = {"state": "begun", "id": "7.1", "at": str(time.time_ns() - 600 * 10**9)}
    driver.kill()
    driver.start()
    assert driver.follow() == {"state": "unknown", "id": "7.1", "text": "the controller ended in the middle of it"}
    assert bmc.log == ["ForceOff", "On"]


def test_where_the_power_cannot_be_cut_it_is_restarted(l):
    bmc, driver = begin(l, "hpe-ilo5")
    bmc.system["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"] = ["On", "ForceRestart"]
    assert driver.now("lx01", "cycle") == (True, "on")
    assert bmc.log == ["ForceRestart"]


def test_reset_is_no_cycle(l):
    bmc, driver = begin(l, "openbmc")
    assert driver.now("lx01", "reset") == (True, "on")
    assert bmc.log == ["ForceRestart"]


def test_a_system_that_is_to_be_left_alone(l):
    bmc, driver = begin(l, "openbmc")
    bmc.system["Status"] = {"State": "Updating"}
    driver.operate("lx01", "power.cycle")
    assert driver.follow() == {"state": "refused", "id": "7.1",
                               "text": "the BMC says that the system is Updating: its power is left alone"}
    assert bmc.log == []
    assert driver.now("lx01", "status") == (True, "on")
    bmc.system["Status"] = {"State": "Enabled"}
    assert driver.now("lx01", "reset") == (True, "on")


def test_the_bmc_tells_of_its_node(l):
    """The BMC tells the firmware, the watchdog, the lock and the latest entries of the log, and nothing changes."""
    bmc, driver = begin(l, "openbmc")
    assert driver.look("lx01") == {
        "power": "on", "firmware": "2.14.0-dev", "bios": "F17", "watchdog": "not enabled, action ResetSystem, Enabled",
        "log": "2024-05-01T10:00:00+00:00 | Power restored\n2024-05-02T08:11:37+00:00 | Host watchdog expired\n"}
    bmc.system["Status"] = {"State": "Updating"}
    bmc.system["BiosVersion"] = None
    said = driver.look("lx01")
    assert (said["locked"], said["bios"]) == ("the system is Updating", ""), said
    bmc.tree["/redfish/v1/Managers/bmc"]["FirmwareVersion"] = ""
    del bmc.system["BiosVersion"], bmc.tree["/redfish/v1/Systems/system/LogServices"]
    said = driver.look("lx01")
    assert (said["firmware"], "bios" in said, "log" in said) == ("", False, False), said
    bmc.log.clear()
    bmc, driver = begin(l, "hpe-ilo5")
    said = driver.look("lx01")
    assert (said["firmware"], said["bios"]) == ("iLO 5 v2.78", "U30 v2.76 (02/09/2023)"), said
    assert [line[:10] for line in said["log"].splitlines()] == [f"2023-03-0{i}" for i in range(2, 7)], said
    bmc, driver = begin(l, "gigabyte")
    assert driver.look("lx01") == {"power": "on"}, "one that tells of no firmware"
    assert bmc.log == []


def test_boot_from_the_network(l):
    bmc, driver = begin(l, "gigabyte", etag=True)
    driver.operate("lx01", "power.netboot")
    assert driver.follow()["state"] == "done"
    assert bmc.boot == {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
    assert bmc.log == ["Boot Pxe", "ForceOff", "On"]


def test_a_system_that_changed_is_looked_at_again(l):
    bmc, driver = begin(l, "hpe-ilo5", etag=True, changes=True)
    assert driver.now("lx01", "netboot") == (True, "on")
    assert bmc.log == ["Boot Pxe", "ForceOff", "On"]


def test_without_boot_override_nothing_is_done(l):
    bmc, driver = begin(l, "cray-ex235a")
    driver.operate("lx01", "power.netboot")
    assert driver.follow() == {"state": "failed", "id": "7.1",
                               "text": "the BMC answers 400: BootSourceOverrideTarget is unknown"}
    assert bmc.log == []


def test_tasks(l):
    for task in ("monitor", "body"):
        bmc, driver = begin(l, "openbmc", task=task)
        assert driver.now("lx01", "cycle") == (True, "on")
        assert bmc.log == ["PowerCycle"], task
    bmc, driver = begin(l, "openbmc", task="fails")
    assert driver.now("lx01", "cycle") == (False, "its task is Exception: the fan wall says no")
    assert bmc.log == []


def test_the_power_takes_its_time(l):
    bmc, driver = begin(l, "openbmc", late=2)
    assert driver.now("lx01", "off") == (True, "off")
    assert driver.now("lx01", "on") == (True, "on")
    assert driver.now("lx01", "cycle") == (True, "on")
    assert bmc.log == ["ForceOff", "On", "PowerCycle"]


def test_a_reset_whose_answer_is_lost_is_not_sent_again(l):
    bmc, driver = begin(l, "openbmc", lose=True)
    driver.operate("lx01", "power.cycle")
    assert driver.follow()["state"] == "failed"
    assert bmc.log == ["PowerCycle"]


def test_the_system_is_chosen(l):
    _, driver = begin(l, "hpe-ilo5", system=" System=1")
    assert driver.now("lx01", "status") == (True, "on")
    _, driver = begin(l, "hpe-ilo5", system=" System=2")
    assert driver.now("lx01", "status") == (False, 'the BMC has no system "2"')


def test_a_wrong_password_is_said(l):
    bmc, driver = begin(l, "openbmc")
    (l.dir / "secret").write_text("wrong\n")
    assert driver.now("lx01", "cycle") == (False, "the BMC answers 401: no valid session")
    (l.dir / "secret").write_text("\n")
    ok, why = driver.now("lx01", "cycle")
    assert not ok and "no password" in why, why
    assert bmc.log == []


def test_a_bmc_that_hangs_or_is_away(l):
    bmc, driver = begin(l, "openbmc", hang=True)
    driver.operate("lx01", "power.cycle", deadline_s=2)
    assert driver.follow() == {"state": "refused", "id": "7.1", "text": "it did not end in time", "code": "unreachable"}
    bmc.hang = False
    bmc.end()
    l.things.remove(bmc)
    ok, why = driver.now("lx01", "status")
    assert not ok and "connect" in why, why


def test_only_over_tls_that_is_verified(l):
    key, cert = l.dir / "key.pem", l.dir / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "2", "-subj", "/CN=bmc", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    bmc, driver = begin(l, "openbmc", certificate=(cert, key))
    ok, why = driver.now("lx01", "cycle")
    assert not ok and "certificate" in why, why
    assert bmc.log == []
    trusting = l.driver(f"Nodes=lx01 Driver=redfish Address={bmc.url} User=admin PasswordFile={l.dir}/secret CaFile={cert}")
    assert trusting.now("lx01", "cycle") == (True, "on")
    assert bmc.log == ["PowerCycle"]


def test_a_client_of_somebody_elses_takes_the_stand_in_for_a_bmc(l):
    if not shutil.which("redfishtool"):
        print("skipped: there is no redfishtool")
        return
    for tree, kind in (("hpe-ilo5", "ForceRestart"), ("openbmc", "PowerCycle")):
        bmc, _ = begin(l, tree)

        def tool(*words, port=bmc.port):
            done = subprocess.run(["redfishtool", "-r", f"127.0.0.1:{port}", "-S", "Never", "-A", "Basic", "-u", "admin",
                                   "-p", lab.SECRET, "Systems", "-1", *words], capture_output=True, text=True, check=False)
            assert done.returncode == 0, (tree, done)
            return done.stdout

        assert '"PowerState": "On"' in tool()
        tool("reset", kind)
        tool("setBootOverride", "Once", "Pxe")
        assert bmc.log == [kind, "Boot Pxe"], bmc.log


if __name__ == "__main__":
    lab.run([test for name, test in sorted(globals().items()) if name.startswith("test_")])
    sys.exit(0)
