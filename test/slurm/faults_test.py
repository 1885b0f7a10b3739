# SPDX-License-Identifier: Apache-2.0
"""A Slurm that answers nothing, late, half or nonsense: nothing is written by it, the work is unknown, one line of
trouble is told; and when it answers again, everything goes on."""
import functools
import os
import signal
import subprocess
import sys
import time

import lab
from beside import beside

PROBLEM = ("node_problem", "disk: io errors")
# $1 is the request to scontrol; only reading is broken, so that any write would be seen in the calls.
WRAPPER = """#!/bin/sh
echo "$*" >> {0}/calls
mode=$(cat {0}/mode)
anew='s/^BOOT_TIME.*/BOOT_TIME = 2026-01-01T00:00:00/'
case "$mode $*" in
"fine "*) exec scontrol "$@" ;;
"hangs "*) echo $$ >> {0}/hung; sleep 600 & sleep 600 ;;
"fails "*) echo "slurm_load_node error: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
"standby "*) echo "slurm_update error: Slurm backup controller in standby mode" >&2; exit 1 ;;
"nothing "*) exit 0 ;;
"half "*) scontrol "$@" | head -c 700; exit 0 ;;
"lines "*show*) scontrol "$@" | head -n 1; exit 0 ;;
"word "*show\\ node*) scontrol "$@" | sed 's/State=[^ ]*/State=IDLE+LEVITATING/' ;;
"noise "*show*) head -c 100000 /dev/urandom ;;
"endless "*show*) exec yes "NodeName=c1 State=IDLE Reason=x" ;;
"refuses "*update*|"refuses "*create*) echo "slurm_update error: Invalid user id" >&2; exit 1 ;;
"deaf "*update*|"deaf "*create*) exit 0 ;;
"sticks -o -a show node c1"|"mute update"*) echo $$ >> {0}/hung; sleep 600 & sleep 600 ;;
"forgets show config") scontrol update NodeName=c1 State=UNDRAIN && echo anew > {0}/mode && scontrol "$@" | sed "$anew" ;;
"anew show config") scontrol "$@" | sed "$anew" ;;
"lost -o -a show node") scontrol "$@" | grep -v NodeName=c1 ;;
"lost -o -a show node c1") echo "Node c1 not found"; exit 1 ;;
"mum -o -a show node c1") exit 0 ;;
"halves -o -a show node c1") scontrol "$@" | head -c 300 ;;
"errs -o -a show node c1") scontrol "$@"; echo "slurm_load_node error: Unable to contact slurm controller" >&2; exit 1 ;;
"puzzles -o -a show node c1") scontrol "$@" | sed 's/State=[^ ]*/State=IDLE+LEVITATING/' ;;
"slow "*) sleep 0.4; exec scontrol "$@" ;;
"many -o -a show node") scontrol "$@" && seq -f "NodeName=x%g State=IDLE" 700 ;;
"twins -o -a show node") scontrol "$@" && seq -f "NodeName=x%g State=IDLE" 700 && echo "NodeName=c1 State=IDLE" ;;
"tail -o -a show node") scontrol "$@" && seq -f "NodeName=x%g State=IDLE" 700 && echo "and so on" ;;
*) exec scontrol "$@" ;;
esac
"""


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def calls(home):
    try:
        with open(f"{home}/calls") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def writes(home):
    return [c for c in calls(home) if not c.split(" ")[0].startswith("-") and not c.startswith("show")]


def no_answer(l, d, home, mode):
    put(f"{home}/mode", mode)
    troubles, at = d.count("trouble"), len(d.lines)
    d.until_line("trouble Slurm", troubles + 1)
    before = len(writes(home))
    d.want(c1=("drain", f"1.{mode}", *PROBLEM))
    lab.until("three failures", lambda: sum(x.startswith("saw 0 ") for x in d.lines[at:]) >= 3)
    assert any(x.startswith("saw 0 2 ") for x in d.lines[at:]), d.lines[at:]
    assert len(writes(home)) == before and d.record("c1") is None, d.lines[at:]
    assert d.count("trouble") == troubles + 1, d.lines[at:]
    back_again(l, d, home, mode)
    assert d.count("trouble") == troubles + 2 and d.count("trouble Slurm over") == (troubles + 2) // 2


def back_again(l, d, home, mode):
    put(f"{home}/mode", "fine")
    d.until_record("c1", "drained")
    assert "DRAIN" in l.state("c1")
    d.want(c1=None)
    d.until_record("c1", None)
    d.settle()


def an_unknown_word(l, d, home):
    """The reading is one; of nodes whose state nobody knows nothing follows."""
    put(f"{home}/mode", "word")
    d.readings(3)
    before, troubles = len(writes(home)), d.count("trouble")
    d.want(c1=("drain", "1.word", *PROBLEM))
    d.readings(3)
    assert len(writes(home)) == before and d.lines[-1].startswith("saw 0 2"), d.lines[-3:]
    assert d.count("trouble") == troubles
    back_again(l, d, home, "word")


def a_list_cut_between_two_lines(l, d, home):
    """c2's drain stands, and the reading has no c2: that is no override."""
    d.want(c2=("drain", "1.lines", *PROBLEM))
    d.until_record("c2", "drained")
    put(f"{home}/mode", "lines")
    d.readings(4)
    put(f"{home}/mode", "fine")
    d.readings(3)
    assert d.has("c2", "drained") and d.count("overridden c2") == 0
    d.want(c2=None)
    d.until_record("c2", None)


def refused(l, d, home, mode):
    """A write that is refused, or taken and not carried out, is tried again, ever less often, and reported once."""
    put(f"{home}/mode", mode)
    before, troubles = len(writes(home)), d.count("trouble")
    began = time.monotonic()
    d.want(c1=("drain", f"1.{mode}", *PROBLEM), c2=("drain", f"2.{mode}", *PROBLEM))
    d.until_line("trouble", troubles + 1)
    d.readings(6)
    count = len(writes(home)) - before
    assert count <= 2 * (2 + (time.monotonic() - began) / 2), count
    assert d.count("trouble") == troubles + 1
    put(f"{home}/mode", "fine")
    d.until_record("c1", "drained")
    d.until_record("c2", "drained")
    d.until_line("trouble Slurm over", 1)
    d.want(c1=None, c2=None)
    d.until_record("c1", None)
    d.until_record("c2", None)
    d.settle()


def more_nodes_than_a_turn_takes(l, d, home):
    """A fault at the end of a long list counts for the whole list."""
    troubles = d.count("trouble")
    for mode, saw in (("many", "702 0"), ("twins", "701 1"), ("tail", "0 702"), ("many", "702 0"), ("fine", "2 0")):
        put(f"{home}/mode", mode)
        d.readings(3)
        assert d.lines[-1].startswith(f"saw {saw} "), (mode, d.lines[-3:])
    assert d.count("trouble") == troubles + 2, d.lines[-20:]


def drained(d):
    d.want(c1=("drain", "1.1", *PROBLEM))
    d.until_record("c1", "drained")
    d.settle()


def released(l, d):
    d.want(c1=None)
    d.until_record("c1", None)
    d.settle()
    assert "DRAIN" not in l.state("c1")


def no_answer_right_before_a_write(l, d, home):
    """Whole readings are fine, and those of c1 by name are none: nothing is written, and the readings go on."""
    for mode in ("sticks", "mum", "halves", "errs", "puzzles"):
        before = len(writes(home))
        put(f"{home}/mode", mode)
        d.want(c1=("drain", f"1.{mode}", *PROBLEM))
        d.until_record("c1", "draining")
        d.readings(6)
        assert len(writes(home)) == before, mode
        back_again(l, d, home, mode)


def hangs_in_a_write(l, d, home):
    """A slurmctld that does not take a write in time counts as not answering."""
    put(f"{home}/mode", "mute")
    at = len(d.lines)
    d.want(c1=("drain", "1.mute", *PROBLEM))
    lab.until("nobody knows", lambda: any(x.startswith("saw 0 2 ") for x in d.lines[at:]))
    back_again(l, d, home, "mute")


def slurmctld_starts_anew_within_a_reading(l, d, home):
    """What was read of the nodes is of the one before, which had the drain; the one whose start was read lost it."""
    overridden = d.count("overridden")
    drained(d)
    put(f"{home}/mode", "forgets")

    def has_forgotten():
        with open(f"{home}/mode") as f:
            return f.read() == "anew\n"
    lab.until("slurmctld forgets", has_forgotten)
    lab.until("the drain", lambda: "DRAIN" in l.state("c1"))
    d.settle()
    assert d.has("c1", "drained") and d.count("overridden") == overridden
    put(f"{home}/mode", "fine")
    d.settle()
    released(l, d)


def a_node_that_was_made_anew(l, d, home):
    """With the node went its drain, which nobody took back; what a person took back stays so."""
    overridden = d.count("overridden")
    drained(d)
    put(f"{home}/mode", "lost")
    d.until_record("c1", None)
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
    put(f"{home}/mode", "fine")
    d.until_record("c1", "drained")
    assert "DRAIN" in l.state("c1") and d.count("overridden") == overridden
    d.settle()
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
    d.until_record("c1", "overridden")
    put(f"{home}/mode", "lost")
    d.readings(4)
    put(f"{home}/mode", "fine")
    d.readings(4)
    assert d.has("c1", "overridden")
    released(l, d)


def a_person_while_a_write_is_refused(l, d, home):
    """The drain stood, and only its words were to be others: who takes it back is right all the same."""
    troubles = d.count("trouble")
    drained(d)
    put(f"{home}/mode", "refuses")
    d.want(c1=("drain", "1.1", "hardware_problem", "memory"))
    d.until_line("trouble Slurm c1: drain", d.count("trouble Slurm c1: drain") + 1)
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
    d.until_record("c1", "overridden")
    put(f"{home}/mode", "fine")
    d.until_line("trouble", troubles + 2)
    d.readings(3)
    released(l, d)


def slow(l, d, home):
    put(f"{home}/mode", "slow")
    d.want(c1=("drain", "1.slow", *PROBLEM))
    d.until_record("c1", "drained")
    put(f"{home}/mode", "fine")
    d.want(c1=None)
    d.until_record("c1", None)


def slurmctld_away(l, d, home):
    d.want(c1=("drain", "1.away", *PROBLEM))
    d.until_record("c1", "drained")
    d.settle()
    troubles, overridden = d.count("trouble"), d.count("overridden")
    l.end("slurmctld")
    d.until_line("trouble", troubles + 1)
    l.start_controller()
    d.until_line("trouble", troubles + 2)
    d.settle()
    assert d.has("c1", "drained") and d.count("overridden") == overridden
    l.until_state("c1", "IDLE", "DRAIN")
    d.want(c1=None)
    d.until_record("c1", None)


def told(test, *mode):
    return lambda *where: test(*where, *mode)


TESTS = {**{mode: told(no_answer, mode) for mode in ("fails", "standby", "nothing", "half", "noise", "endless", "hangs")},
         **{test.__name__: test for test in (
             an_unknown_word, a_list_cut_between_two_lines, more_nodes_than_a_turn_takes, no_answer_right_before_a_write,
             hangs_in_a_write, slurmctld_starts_anew_within_a_reading, a_node_that_was_made_anew,
             a_person_while_a_write_is_refused, slow, slurmctld_away)},
         **{mode: told(refused, mode) for mode in ("refuses", "deaf")}}


def in_a_lab(names):
    """One after the other in a Slurm of their own."""
    with lab.Lab(nodes=2) as l:
        home = f"{l.dir}/wrapper"
        os.mkdir(home)
        put(f"{home}/scontrol", WRAPPER.format(home))
        put(f"{home}/mode", "fine")
        os.chmod(f"{home}/scontrol", 0o755)
        with lab.Driver(l, f"{home}/scontrol", every=200, deadline=700) as d:
            d.settle()
            for name in names:
                began = time.monotonic()
                TESTS[name](l, d, home)
                print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
            put(f"{home}/mode", "hangs")  # and it ends in the middle of one
            d.until_line("trouble", d.count("trouble") + 1)
        with open(f"{home}/hung") as f:
            hung = f.read().split()
        for pid in hung:
            lab.until(f"the end of {pid}", lambda: not lab.is_alive(pid), 5)
            left = subprocess.run(["pgrep", "-g", pid], capture_output=True, text=True).stdout.split()
            assert not [p for p in left if lab.is_alive(p)], left


LABS = 2
sys.exit(any(beside({i: functools.partial(in_a_lab, list(TESTS)[i::LABS]) for i in range(LABS)}, LABS).values()))
