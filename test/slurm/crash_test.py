# SPDX-License-Identifier: Apache-2.0
"""The driver is killed between every two things that it does, and made anew from its records: each thing is done
once all the same, and nothing is left over. scontrol is a wrapper that kills the driver right before or right
after its Nth call; or the driver kills itself right before its Nth commit."""
import os

import lab

PROBLEM = ("node_problem", "memory: uncorrected")
WRAPPER = """#!/bin/sh
n=$(($(cat {0}/count) + 1))
echo $n > {0}/count
[ "$n before" = "$(cat {0}/when)" ] && kill -9 $PPID && exit 1
case "$*" in *State=UNDRAIN*) [ -f {0}/person ] && sh {0}/person && rm {0}/person ;; esac
scontrol "$@"
rc=$?
echo "$*" >> {0}/done
[ "$n after" = "$(cat {0}/when)" ] && kill -9 $PPID
exit $rc
"""
COURSE = (("drain", "drained"), ("reserve", "reserved"), ("drain", "drained"), (None, None))


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def get(path):
    with open(path) as f:
        return f.read()


def keep_alive(d):
    """Starts it again when it was killed; whether it was."""
    if d.process and d.process.poll() is None:
        return False
    assert d.process is None or d.process.returncode == -9, d.process.returncode
    d.start()
    return True


def whole_course(l, d, claim, crash_at=0):
    """A repair from its drain to its end. How often the driver was killed."""
    killed = 0
    d.start(crash_at)
    for kind, state in COURSE:
        d.want(c1=kind and (kind, claim, *PROBLEM))

        def is_there():
            nonlocal killed
            killed += keep_alive(d)
            if state == "drained" and l.reservations():
                return False
            return d.has("c1", state) if state else d.record("c1") is None and not l.reservations()
        lab.until(f"{kind} {d.record('c1')} {d.lines[-5:]}", is_there)
    d.stop() if d.process.poll() is None else d.process.wait()
    d.process = None
    assert "DRAIN" not in l.state("c1") and l.reservations() == [], (l.state("c1"), l.reservations())
    return killed


def lost_course(l, d, home, when, crash_at=0):
    """A person drains the node in the moment of our undrain, and the driver is killed. How often it was."""
    killed = 0
    put(f"{home}/when", "never")
    put(f"{home}/done", "")
    d.start(crash_at)
    d.want(c1=("drain", "9.1", *PROBLEM))
    d.until_record("c1", "drained")
    d.settle()
    put(f"{home}/person", "scontrol update NodeName=c1 State=DRAIN Reason='hands in it, Ann'\n")
    put(f"{home}/count", "0")
    put(f"{home}/when", when)
    before = d.count("restored c1 hands in it, Ann")
    d.want(c1=None)

    def is_over():
        nonlocal killed
        killed += keep_alive(d)
        return d.record("c1") is None
    lab.until(f"her drain is back {d.record('c1')} {d.lines[-5:]}", is_over)
    d.stop() if d.process.poll() is None else d.process.wait()
    d.process = None
    where = (when, crash_at)
    assert l.state("c1") == {"IDLE", "DRAIN"} and l.reason("c1") == "hands in it, Ann", (where, l.reason("c1"))
    assert d.count("restored c1 hands in it, Ann") > before, (where, d.lines[-20:])
    done = get(f"{home}/done").splitlines()
    assert sum("Reason=hands in it" in line for line in done) == 1, (where, done)
    l.scontrol("update", "NodeName=c1", "State=RESUME")
    return killed


def check_once(path, where):
    done = get(path).splitlines()
    counts = [sum(word in line for line in done)
              for word in ("State=DRAIN", "create reservation", "State=UNDRAIN", "delete Res")]
    assert counts == [2, 1, 2, 1], (where, counts, [line for line in done if "show" not in line])


with lab.Lab(nodes=1) as l:
    home = f"{l.dir}/wrapper"
    os.mkdir(home)
    put(f"{home}/scontrol", WRAPPER.format(home))
    os.chmod(f"{home}/scontrol", 0o755)
    d = lab.Driver(l, f"{home}/scontrol", every=300)
    killed = 0

    def run(when, crash_at=0):
        put(f"{home}/count", "0")
        put(f"{home}/when", when)
        put(f"{home}/done", "")
        n = whole_course(l, d, f"1.{run.claim}", crash_at)
        run.claim += 1
        check_once(f"{home}/done", (when, crash_at))
        return n
    run.claim = 1

    assert run("never") == 0
    calls = int(get(f"{home}/count"))
    commits = d.count("result")
    assert calls > 15 and commits > 6, (calls, commits)
    for n in range(1, calls + 1):
        killed += run(f"{n} before")
        killed += run(f"{n} after")
    for n in range(1, commits + 1):
        killed += run("never", n)
    print(f"{calls} calls, {commits} commits, killed {killed} times")
    assert killed >= 2 * calls - 6 + commits, "most of them should have met it"

    assert lost_course(l, d, home, "never") == 0
    calls = int(get(f"{home}/count"))
    lost = [lost_course(l, d, home, f"{n} after") for n in range(2, min(calls, 6) + 1)]
    lost += [lost_course(l, d, home, "never", n) for n in range(3, 6)]
    print(f"a drain of somebody's was lost and put back, killed {sum(lost)} of {len(lost)} times")
    assert sum(lost) >= 6, lost
