# SPDX-License-Identifier: Apache-2.0
"""The driver is killed between every two things that it does, and made anew from its records: each thing is done
once all the same, and nothing is left over. scontrol is a wrapper that kills the driver right before or right
after its Nth call; or the driver kills itself right before its Nth commit."""
import functools
import itertools
import os
import sys

import lab
from beside import beside

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


def with_lab(part):
    """Calls part(lab, driver, home) with a Slurm of its own."""
    with lab.Lab(nodes=1) as l:
        home = f"{l.dir}/wrapper"
        os.mkdir(home)
        put(f"{home}/scontrol", WRAPPER.format(home))
        os.chmod(f"{home}/scontrol", 0o755)
        part(l, lab.Driver(l, f"{home}/scontrol", every=300), home)


def run(l, d, home, number, when, crash_at=0):
    put(f"{home}/count", "0")
    put(f"{home}/when", when)
    put(f"{home}/done", "")
    killed = whole_course(l, d, f"1.{number}", crash_at)
    check_once(f"{home}/done", (when, crash_at))
    return killed


def until_the_end(what, at_least, course):
    """Kills it at the first of them, then at the second, until a course is over before. A slow one has more."""
    n = next(n for n in itertools.count(1) if not course(n))
    print(f"killed {what} each of {n - 1}")
    assert n - 1 >= at_least, f"most of them should have met it: {what}, {n - 1}"


def killed_before(l, d, home):
    until_the_end("before a call", 15, lambda n: run(l, d, home, n, f"{n} before"))


def killed_after(l, d, home):
    until_the_end("after a call", 15, lambda n: run(l, d, home, n, f"{n} after"))


def killed_at_commits(l, d, home):
    assert run(l, d, home, 0, "never") == 0
    until_the_end("before a commit", 6, lambda n: run(l, d, home, n, "never", n))


def killed_while_a_drain_is_lost(l, d, home):
    assert lost_course(l, d, home, "never") == 0
    calls = int(get(f"{home}/count"))
    lost = [lost_course(l, d, home, f"{n} after") for n in range(2, min(calls, 6) + 1)]
    lost += [lost_course(l, d, home, "never", n) for n in range(3, 6)]
    print(f"a drain of somebody's was lost and put back, killed {sum(lost)} of {len(lost)} times")
    assert sum(lost) >= 6, lost


PARTS = (killed_before, killed_after, killed_at_commits, killed_while_a_drain_is_lost)
sys.exit(any(beside({p.__name__: functools.partial(with_lab, p) for p in PARTS}, 2).values()))
