#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""IPMI against Debian's simulator of a BMC."""

import socket
import sys
import threading

import lab


def test_status_on_off(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    assert driver.now("lx01", "status") == (True, "on")
    assert driver.now("lx01", "off") == (True, "off")
    assert bmc.power() == "0"
    assert driver.now("lx01", "status") == (True, "off")
    assert driver.now("lx01", "on") == (True, "on")
    assert bmc.log() == ["power 0", "power 1"]


def test_the_bmc_tells_of_a_node_that_is_silent(l):
    """The BMC tells the power, the watchdog and the end of the log: a watchdog reset the node (sensor type 0x23, offset 1)."""
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    said = driver.look("lx01")
    assert said == {"power": "on", "watchdog": said["watchdog"]}, f"a log that is empty: {said}"
    assert said["watchdog"].startswith("Stopped, action No action"), said
    bmc = l.bmc("other", sel="sel_add 0x20 0x02 0 0 0 0 0x20 0 0x04 0x23 0x01 0x6f 0x01 0xff 0xff\n")
    driver = l.driver(l.ipmi("lx01", bmc.port))
    said = driver.look("lx01")
    assert said["power"] == "on" and "Watchdog2" in said["log"] and "Hard reset" in said["log"], said
    assert bmc.log() == []


def test_a_cycle_is_one(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    driver.operate("lx01", "power.cycle")
    assert driver.follow() == {"state": "done", "id": "7.1", "text": "on"}
    assert bmc.log() == ["power 0", "power 1"], bmc.log()
    driver.operate("lx01", "power.reset", operation="7.2")
    assert driver.follow()["state"] == "done"
    assert bmc.log()[2:] == ["reset 1"], bmc.log()


def test_a_cycle_of_what_is_off_switches_it_on(l):
    bmc = l.bmc(power="0")
    driver = l.driver(l.ipmi("lx01", bmc.port))
    driver.operate("lx01", "power.cycle")
    assert driver.follow()["text"] == "on"
    assert bmc.log() == ["power 1"]


def test_boot_from_the_network(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    driver.operate("lx01", "power.netboot")
    assert driver.follow()["state"] == "done"
    assert bmc.boot() == "pxe"
    assert bmc.log() == ["boot pxe", "power 0", "power 1"], bmc.log()


def test_a_wrong_password_does_nothing(l):
    bmc = l.bmc()
    (l.dir / "wrong").touch(0o600)
    (l.dir / "wrong").write_text("wrong\n")
    driver = l.driver(l.ipmi("lx01", bmc.port, "wrong"))
    driver.operate("lx01", "power.cycle")
    done = driver.follow()
    assert done["state"] == "refused" and done["code"] == "unreachable" and "ipmitool" in done["text"], done
    assert bmc.log() == []


def test_a_password_that_cannot_be_read_is_said(l):
    driver = l.driver(l.ipmi("lx01", 1, "missing"))
    ok, why = driver.now("lx01", "status")
    assert not ok and "missing: No such file" in why, why


def test_a_bmc_that_is_away(l):
    driver = l.driver(l.ipmi("lx01", lab.free_port(socket.SOCK_DGRAM)))
    ok, why = driver.now("lx01", "status")
    assert not ok and "ipmitool" in why, why


def test_a_bmc_that_hangs(l):
    """A port that takes everything and answers nothing; the operation ends at its deadline."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        driver = l.driver(l.ipmi("lx01", silent.getsockname()[1]))
        driver.operate("lx01", "power.cycle", deadline_s=3)
        assert driver.follow() == {"state": "refused", "id": "7.1", "text": "it did not end in time",
                                   "code": "unreachable"}
        driver.send("now lx01 status")
        driver.operate("lx01", "power.cycle", operation="7.2")
        key, done = driver.result()
        driver.commit(key, done)
        driver.tell(key)
    # What runs is ended with the driver.


def test_a_bmc_that_breaks_off_in_the_middle(l):
    """It is told to cycle, and dies before it answers: that is not done, and not told again."""
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    (bmc.dir / "hold").touch()
    driver.operate("lx01", "power.cycle")
    end = {}
    follower = threading.Thread(target=lambda: end.update(driver.follow()))
    follower.start()
    lab.until(lambda: bmc.log() == ["power 0"])
    bmc.end()
    (bmc.dir / "hold").unlink()
    follower.join()
    assert end["state"] == "failed", end


def test_a_person_and_a_repair_wait_for_each_other(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    (bmc.dir / "hold").touch()
    key = driver.wish("lx01", "off")
    driver.commit(*driver.result())
    driver.tell(key)
    lab.until(lambda: bmc.log() == ["power 0"])
    driver.operate("lx01", "power.on")
    (bmc.dir / "hold").unlink()
    first = driver.result()
    assert first == (key, {"state": "done", "id": "8.1", "text": "off"}), first
    driver.commit(*first)
    driver.tell(key)
    assert driver.follow() == {"state": "done", "id": "7.1", "text": "on"}
    assert bmc.log() == ["power 0", "power 1"]


if __name__ == "__main__":
    lab.need("ipmi_sim", "ipmitool")
    lab.run([test for name, test in sorted(globals().items()) if name.startswith("test_")])
    sys.exit(0)
