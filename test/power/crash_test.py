#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The driver is killed at each step of a power cycle and started again with the records as they are: the node is
cycled once, or, when it died between the record that says begun and the end, never again, and that is said."""

import sys

import lab

CYCLE = ["power 0", "power 1"]


def begin(l, run="power.cycle", **options):
    bmc = l.bmc(**options)
    driver = l.driver(l.ipmi("lx01", bmc.port))
    return bmc, driver, driver.operate("lx01", run)


def again(driver):
    driver.kill()
    driver.start()


def test_before_it_says_begun(l):
    bmc, driver, _ = begin(l)
    driver.send("may again")
    again(driver)
    assert driver.follow()["state"] == "done"
    assert bmc.log() == CYCLE


def test_said_but_not_written(l):
    bmc, driver, _ = begin(l)
    assert driver.result()[1]["state"] == "begun"
    again(driver)
    assert driver.follow()["state"] == "done"
    assert bmc.log() == CYCLE


def test_written_but_not_heard(l):
    bmc, driver, key = begin(l)
    driver.commit(*driver.result())
    again(driver)
    assert driver.follow() == {"state": "unknown", "id": "7.1", "text": "the controller ended in the middle of it"}
    assert bmc.log() == []
    driver.operate("lx01", "power.cycle", operation="7.2")
    assert driver.follow()["state"] == "done"
    assert bmc.log() == CYCLE


def test_in_the_middle(l):
    """The command that runs may go on to its end; another one is not begun."""
    bmc, driver, key = begin(l)
    (bmc.dir / "hold").touch()
    driver.commit(*driver.result())
    driver.tell(key)
    lab.until(lambda: bmc.log() == CYCLE[:1])
    again(driver)
    assert driver.follow()["state"] == "unknown"
    (bmc.dir / "hold").unlink()
    lab.until(lambda: bmc.log() == CYCLE)
    assert driver.now("lx01", "status") == (True, "on")
    assert bmc.log() == CYCLE


def test_done_but_not_written(l):
    bmc, driver, key = begin(l)
    driver.commit(*driver.result())
    driver.tell(key)
    assert driver.result()[1]["state"] == "done"
    again(driver)
    assert driver.follow()["state"] == "unknown"
    assert bmc.log() == CYCLE


def test_done_and_written(l):
    bmc, driver, key = begin(l)
    driver.follow()
    again(driver)
    assert driver.now("lx01", "status") == (True, "on")
    assert bmc.log() == CYCLE


def test_on_and_off_are_looked_at(l):
    bmc, driver, key = begin(l, run="power.off")
    driver.commit(*driver.result())
    driver.tell(key)
    assert driver.result()[1] == {"state": "done", "id": "7.1", "text": "off"}
    again(driver)
    assert driver.follow() == {"state": "done", "id": "7.1",
                               "text": "the controller ended in the middle; the power is off"}
    driver.operate("lx01", "power.on", operation="7.2")
    driver.commit(*driver.result())
    again(driver)
    assert driver.follow() == {"state": "failed", "id": "7.2",
                               "text": "the controller ended in the middle; the power is off"}
    assert bmc.log() == ["power 0"]


def test_a_persons_command_that_was_not_begun_is_done_once(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    driver.wish("lx01", "cycle")
    assert driver.result()[1]["state"] == "begun"
    again(driver)
    assert driver.follow()["state"] == "done"
    assert bmc.log() == CYCLE


def test_a_persons_command_that_was_begun_is_not_done_again(l):
    bmc = l.bmc()
    driver = l.driver(l.ipmi("lx01", bmc.port))
    driver.wish("lx01", "cycle")
    driver.commit(*driver.result())
    again(driver)
    assert driver.follow() == {"state": "unknown", "id": "8.1", "text": "the controller ended in the middle of it"}
    assert bmc.log() == []


def test_two_controllers(l):
    """Both say begun; the record takes one, and the other one does nothing."""
    bmc, driver, key = begin(l)
    other = l.driver(l.ipmi("lx01", bmc.port))
    other.records = driver.records
    other.tell(key)
    mine, theirs = driver.result(), other.result()
    assert driver.commit(*mine)
    assert not driver.commit(*theirs)
    other.tell(key)
    assert other.result()[1]["state"] == "unknown"
    driver.tell(key)
    assert driver.result()[1]["state"] == "done"
    assert bmc.log() == CYCLE


if __name__ == "__main__":
    lab.need("ipmi_sim", "ipmitool")
    lab.run([test for name, test in sorted(globals().items()) if name.startswith("test_")])
    sys.exit(0)
