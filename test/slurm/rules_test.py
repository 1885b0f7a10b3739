# SPDX-License-Identifier: Apache-2.0
"""The rules of doc/spec/slurm.md, one after the other, against a real Slurm with real jobs."""
import functools
import os
import re
import signal
import subprocess
import sys
import time

import lab
from beside import beside

PROBLEM = ("node_problem", "xid.79 gpu: GPU has fallen off the bus")
OTHER = "ba9876543210"  # another Fettle on the same Slurm
GUARD_C2 = f"suspicious-node-c2.{lab.OWNER}"


def drained_and_taken_back(l, d):
    began = time.monotonic()
    d.want(c1=("drain", "1.1", *PROBLEM))
    lab.until("the drain", lambda: "DRAIN" in l.state("c1"))
    print(f"  drained after {1000 * (time.monotonic() - began):.0f} ms")
    assert l.reason("c1") == lab.reason("1.1", *PROBLEM), l.reason("c1")
    d.until_record("c1", "drained")
    d.settle()
    d.want(c1=None)
    l.until_state("c1", "IDLE")
    d.until_record("c1", None)


def between_regular_readings_only_who_needs_it_is_read(l, d):
    d.settle()
    with open(f"{l.dir}/calls") as f:
        before = len(f.readlines())
    regular = d.count("saw")
    d.want(c1=("drain", "1.9", *PROBLEM))
    d.until_record("c1", "drained")
    d.want(c1=None)
    d.until_record("c1", None)
    with open(f"{l.dir}/calls") as f:
        calls = [line.strip() for line in f.readlines()[before:]]
    assert calls.count("-o -a show node") <= d.count("saw") - regular + 1, calls
    readings = [c for c in calls if c in ("-o -a show node c1", "-o -a show node")]  # a regular one serves, too
    assert len(readings) >= 6, calls  # to decide, before and after the write; twice


def a_reason_is_made_safe(l, d):
    d.want(c1=("drain", "1.2", "node_problem", '"quoted" \'x\' \x01tab\tä ' + "é" * 300))
    d.until_record("c1", "drained")
    reason = l.reason("c1")
    assert reason.startswith("quoted x") and lab.mark("1.2", "node_problem") in reason, reason
    assert len(reason.encode()) <= 250 and "\n" not in reason and '"' not in reason, reason
    d.settle()  # and it is known again
    d.want(c1=None)
    d.until_record("c1", None)


def words_that_slurm_appends_change_nothing(l, d):
    d.want(c1=("drain", "1.3", *PROBLEM))
    d.until_record("c1", "drained")
    l.scontrol("update", "NodeName=c1", f"Reason={lab.reason('1.3', *PROBLEM)} : reboot issued")
    d.readings()
    assert l.reason("c1").endswith("reboot issued") and d.has("c1", "drained")
    d.want(c1=None)
    d.until_record("c1", None)
    l.until_state("c1", "IDLE")


def nothing_over_somebody_elses_reason(l, d):
    l.scontrol("update", "NodeName=c1", "State=DRAIN", "Reason=new memory, Ann")
    d.want(c1=("drain", "1.4", *PROBLEM))
    d.until_record("c1", "foreign")
    d.readings()
    assert l.reason("c1") == "new memory, Ann"
    l.scontrol("update", "NodeName=c1", "State=RESUME")  # hers is gone, ours still wanted
    d.until_record("c1", "drained")
    assert lab.mark("1.4", "node_problem") in l.reason("c1")
    l.scontrol("update", "NodeName=c1", "Reason=mine now, Ann")  # she takes it over
    d.until_record("c1", "foreign")
    d.want(c1=None)
    d.until_record("c1", None)
    d.readings()
    assert l.state("c1") == {"IDLE", "DRAIN"} and l.reason("c1") == "mine now, Ann"
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
    l.until_state("c1", "IDLE")


def a_person_that_resumes_is_right(l, d):
    d.want(c1=("drain", "1.5", *PROBLEM))
    d.until_record("c1", "drained")
    before = d.count("overridden")
    l.scontrol("update", "NodeName=c1", "State=RESUME")
    d.until_record("c1", "overridden")
    assert d.count("overridden c1 1.5") == 1 and d.count("overridden") == before + 1
    d.readings(3)
    l.until_state("c1", "IDLE")
    d.want(c1=("drain", "1.6", *PROBLEM))  # another claim is another matter
    d.until_record("c1", "drained")
    d.want(c1=None)
    d.until_record("c1", None)


def a_slurmctld_that_forgot_is_no_person(l, d):
    """It acknowledges from memory: killed right after, it comes back without the drain. Where it was quick enough
    to save, the drain is there, and nothing is to be done."""
    time_of_save = f"{l.dir}/state/node_state"
    l.scontrol("update", "NodeName=c3", "Weight=2")  # a save from now on is after this
    lab.until("a save", lambda: os.path.exists(time_of_save))
    saved = os.stat(time_of_save).st_mtime_ns
    lab.until("a save", lambda: os.stat(time_of_save).st_mtime_ns != saved)
    before = d.count("overridden")
    d.want(c1=("drain", "1.7", *PROBLEM))
    d.until_record("c1", "drained")
    os.kill(l.pid("slurmctld"), signal.SIGKILL)
    d.until_line("trouble Slurm", d.count("trouble Slurm") + 1)
    l.start_controller()
    print(f"  slurmctld came back with {' '.join(sorted(l.state('c1')))}")
    lab.until("the drain", lambda: "DRAIN" in l.state("c1"))
    d.settle()
    assert d.has("c1", "drained") and d.count("overridden") == before
    l.until_state("c1", "IDLE", "DRAIN")  # slurmd has registered
    d.settle()
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")  # and now it is a person
    d.until_record("c1", "overridden")
    d.want(c1=None)
    d.until_record("c1", None)


def work_ends_first(l, d):
    job = re.search(r"\d+", l.run("sbatch", "-w", "c2", "-o", "/dev/null", "--wrap", "sleep 300")).group()
    l.until_state("c2", "MIXED")
    d.want(c2=("drain", "2.1", *PROBLEM))
    d.until_record("c2", "drained")
    assert l.state("c2") == {"MIXED", "DRAIN"}
    l.run("scancel", job)
    l.until_state("c2", "IDLE", "DRAIN")
    d.want(c2=None)
    d.until_record("c2", None)
    l.until_state("c2", "IDLE")


def no_gap_around_an_examination(l, d):
    """Work that waits for the node never gets it: not when the drain goes, not when the reservation goes."""
    d.want(c2=("drain", "2.2", *PROBLEM))
    d.until_record("c2", "drained")
    job = re.search(r"\d+", l.run("sbatch", "-w", "c2", "-o", "/dev/null", "--wrap", "true")).group()
    d.want(c2=("reserve", "2.2", *PROBLEM))
    d.until_record("c2", "reserved")
    assert l.reservations() == [GUARD_C2] and "DRAIN" not in l.state("c2")
    lab.until("c2 to answer", lambda: "NOT_RESPONDING" not in l.scontrol("-o", "show", "node", "c2"))
    l.run("srun", f"--reservation={GUARD_C2}", "-w", "c2", "true")  # the examination
    d.want(c2=("drain", "2.2", "hardware_problem", "memory"))
    d.until_record("c2", "drained")
    lab.until("no reservation", lambda: l.reservations() == [])
    d.settle()
    assert l.reason("c2") == lab.reason("2.2", "hardware_problem", "memory")
    assert "PENDING" in l.scontrol("-o", "show", "job", job)
    d.want(c2=None)
    lab.until("the job", lambda: "COMPLETED" in l.scontrol("-o", "show", "job", job))
    d.until_record("c2", None)


def somebody_elses_reservation_stays(l, d):
    l.scontrol("create", "reservation", f"ReservationName={GUARD_C2}", "Nodes=c2,c3", "Users=root",
               "StartTime=now", "Duration=10", "Flags=MAINT,IGNORE_JOBS")
    d.want(c2=("reserve", "2.3", *PROBLEM))
    d.until_line("trouble Slurm somebody changed the reservation of c2")
    d.want(c2=None)
    d.readings()
    assert l.reservations() == [GUARD_C2] and d.record("c2") is None
    l.scontrol("delete", f"ReservationName={GUARD_C2}")
    d.readings()


def a_person_that_deletes_the_reservation_is_right(l, d):
    """The deletion counts for this examination: the next one has a reservation again. A slurmctld that lost it is no person."""
    before = d.count("refused")
    for kind in ("drain", "reserve"):
        d.want(c2=(kind, "2.5", *PROBLEM))
        d.until_record("c2", kind + "d" if kind == "reserve" else "drained")
    d.settle()
    l.end("slurmctld")
    for name in ("resv_state", "resv_state.old"):
        if os.path.exists(f"{l.dir}/state/{name}"):
            os.remove(f"{l.dir}/state/{name}")
    l.start_controller()
    lab.until("the reservation", lambda: l.reservations() == [GUARD_C2])
    l.until_state("c2", "IDLE", "MAINTENANCE", "RESERVED")
    d.settle()
    assert d.has("c2", "reserved") and d.count("refused") == before
    l.scontrol("delete", f"ReservationName={GUARD_C2}")
    d.until_line("refused c2 2.5", before + 1)
    lab.until("the drain", lambda: "DRAIN" in l.state("c2"))
    d.settle()
    assert d.has("c2", "drained") and '"refused":true' in d.record("c2") and l.reservations() == []
    d.kill()  # and who takes over knows it
    d.start()
    d.readings()
    assert l.reservations() == [] and lab.mark("2.5", "node_problem") in l.reason("c2")
    d.want(c2=("drain", "2.5", *PROBLEM))
    lab.until("the examination is over", lambda: "refused" not in d.record("c2"))
    d.want(c2=("reserve", "2.5", *PROBLEM))
    d.until_record("c2", "reserved")
    assert l.reservations() == [GUARD_C2] and "DRAIN" not in l.state("c2")
    d.want(c2=None)
    d.until_record("c2", None)
    assert l.reservations() == [] and d.count("refused") == before + 1


def a_person_that_deletes_it_before_the_node_is_undrained_is_right(l, d):
    """The reservation was seen to stand, and the drain is still there."""
    d.settle()
    calls = os.path.getsize(f"{l.dir}/calls")
    d.want(c2=("drain", "2.6", *PROBLEM))
    d.until_record("c2", "drained")
    with open(f"{l.dir}/first", "w") as f:
        f.write(f"scontrol delete ReservationName={GUARD_C2}\n")
    d.want(c2=("reserve", "2.6", *PROBLEM))
    d.until_line("refused c2 2.6")
    d.until_record("c2", "drained")
    d.settle()
    assert l.reservations() == [] and "DRAIN" in l.state("c2") and '"refused":true' in d.record("c2")
    with open(f"{l.dir}/calls") as f:
        created = [line for line in f.read()[calls:].splitlines() if line.startswith("create")]
    assert len(created) == 1, created
    d.want(c2=None)
    d.until_record("c2", None)


def orphans_are_taken_back(l, d):
    """Also one that an older version wrote, with its mark first."""
    l.scontrol("update", "NodeName=c1", "State=DRAIN", f"Reason=fettle:{lab.OWNER}:0.1 [node_problem] of a crash")
    l.scontrol("update", "NodeName=c2", "State=DRAIN", f"Reason={lab.reason('0.2', 'node_problem', 'of a crash')}")
    l.scontrol("create", "reservation", f"ReservationName=suspicious-node-c3.{lab.OWNER}", "Nodes=c3", "Users=root",
               "StartTime=now", "Duration=infinite", "Flags=MAINT,IGNORE_JOBS")
    lab.until("no orphans", lambda: l.reservations() == [] and not any("DRAIN" in l.state(n) for n in ("c1", "c2")))
    d.until_record("c1", None)
    d.until_record("c2", None)


def a_node_that_was_down_comes_back(l, d):
    """ReturnToService=1 lets a node back whose reason is Slurm's own; ours stood over that."""
    l.end("slurmd.c3")
    lab.until("c3 down", lambda: "DOWN" in l.state("c3"))
    d.want(c3=("drain", "3.1", "hardware_problem", "no contact"))
    d.until_record("c3", "drained")
    l.start_node("c3")
    lab.until("c3 registers", lambda: "NOT_RESPONDING" not in l.scontrol("-o", "show", "node", "c3"))
    assert l.state("c3") == {"DOWN", "DRAIN"}
    d.want(c3=None)
    d.until_record("c3", None)
    l.until_state("c3", "IDLE")


def slurmctld_sets_a_silent_node_down_by_itself(l, d):
    """Which is why the driver never does: its jobs end as their owners wanted, the drain and its reason stay."""
    job = re.search(r"\d+", l.run("sbatch", "--no-requeue", "-w", "c2", "-o", "/dev/null", "--wrap", "sleep 300")).group()
    l.until_state("c2", "MIXED")
    d.want(c2=("drain", "3.3", *PROBLEM))
    d.until_record("c2", "drained")
    os.kill(l.pid("slurmd.c2"), signal.SIGKILL)
    lab.until("c2 down", lambda: {"DOWN", "DRAIN"} <= l.state("c2"))
    lab.until("the job's end", lambda: "NODE_FAIL" in l.scontrol("-o", "show", "job", job))
    assert l.reason("c2") == lab.reason("3.3", *PROBLEM)
    l.start_node("c2")
    d.want(c2=None)
    d.until_record("c2", None)
    l.until_state("c2", "IDLE")


def two_fettles_leave_each_other_alone(l, d):
    """What one of them drained and reserved is no orphan of the other, and nothing that it may write over."""
    with lab.Driver(l, every=300, owner=OTHER) as other:
        other.want(c1=("drain", "1.1", *PROBLEM), c3=("reserve", "1.2", *PROBLEM))
        other.until_record("c1", "drained")
        other.until_record("c3", "reserved")
        d.readings(3)
        assert l.reason("c1") == lab.reason("1.1", *PROBLEM, owner=OTHER)
        assert l.reservations() == [f"suspicious-node-c3.{OTHER}"]
        d.want(c1=("drain", "1.1", *PROBLEM), c2=("drain", "1.2", *PROBLEM))  # of the same ids
        d.until_record("c1", "foreign")
        d.until_record("c2", "drained")
        other.readings(3)
        assert "DRAIN" in l.state("c2") and f"[fettle:{OTHER}:" in l.reason("c1")
        other.want(c1=None, c3=None)
        other.until_record("c1", None)
        other.until_record("c3", None)
        d.until_record("c1", "drained")
        other.readings(3)
        assert lab.mark("1.1", "node_problem") in l.reason("c1") and l.reservations() == []
        d.want(c1=None, c2=None)
        for n in ("c1", "c2"):
            d.until_record(n, None)
            l.until_state(n, "IDLE")


def a_reason_that_is_edited_is_a_persons(l, d):
    d.want(c1=("drain", "6.1", *PROBLEM))
    d.until_record("c1", "drained")
    ours = l.reason("c1")
    for edited in (f'ticket "4711" is open: é日; {ours}', f"{ours}, ticket 4711", ours.replace("fallen", "jumped")):
        l.scontrol("update", "NodeName=c1", f"Reason={edited}")
        d.until_record("c1", "foreign")
        d.readings(2)
        assert l.reason("c1") == edited
        l.scontrol("update", "NodeName=c1", f"Reason={ours}")
        d.until_record("c1", "drained")
    d.want(c1=("drain", "6.1", "hardware_problem", "memory"))  # Fettle's own words changed since
    lab.until("the new words", lambda: l.reason("c1") == lab.reason("6.1", "hardware_problem", "memory"))
    d.settle()
    d.want(c1=None)
    d.until_record("c1", None)
    l.until_state("c1", "IDLE")


def a_comment_of_several_lines(l, d):
    """Site's tools put JSON there, and scontrol -o writes it as it is."""
    troubles = d.count("trouble")
    l.scontrol("update", "NodeName=c1", "Comment=rack 7\nshelf 2", 'Extra={\n  "asset": 4711\n}')
    d.want(c1=("drain", "6.2", *PROBLEM), c2=("drain", "6.2", *PROBLEM))
    for n in ("c1", "c2"):
        d.until_record(n, "drained")
    d.want(c1=None, c2=None)
    for n in ("c1", "c2"):
        d.until_record(n, None)
        l.until_state(n, "IDLE")
    l.scontrol("update", "NodeName=c1", "Comment=", "Extra=")
    assert d.count("trouble") == troubles, d.lines[-10:]


def a_person_who_writes_between_reading_and_writing(l, d):
    """The wrapper writes as a person does, right after what the driver goes by was read."""
    for kind, sees in ((("drain", "7.1", *PROBLEM), "foreign"), (None, None)):
        d.settle()
        with open(f"{l.dir}/person", "w") as f:
            f.write("scontrol update NodeName=c1 State=DRAIN Reason=mine,Ann\n")
        d.want(c1=kind)
        d.until_record("c1", sees)
        assert not os.path.exists(f"{l.dir}/person")
        d.readings()
        assert l.reason("c1") == "mine,Ann" and l.state("c1") == {"IDLE", "DRAIN"}, l.reason("c1")
        if kind:  # hers is gone, ours stands, and she writes again while it is taken back
            l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
            d.until_record("c1", "drained")
    l.scontrol("update", "NodeName=c1", "State=UNDRAIN")
    l.until_state("c1", "IDLE")


def write_before(l, kind, command):
    """The wrapper carries it out right before the driver writes, after all that it reads: the drain lands in the one
    moment in which nothing that is read can show it."""
    with open(f"{l.dir}/{kind}.new", "w") as f:
        f.write(command)
    os.rename(f"{l.dir}/{kind}.new", f"{l.dir}/{kind}")


def a_change_that_a_write_of_ours_undid_is_put_back(l, d):
    for kind, words in (("first", "State=DRAIN Reason='new memory, Ann'"), ("first", "Reason='mine by now, Bob'"),
                        ("before", "State=DRAIN Reason='hands in it, Cy'"), ("before", "State=FAIL Reason='fan, Di'")):
        d.settle()
        before, reason = d.count("restored"), re.search("'(.*)'", words).group(1)
        if kind == "before":
            write_before(l, kind, f"scontrol update NodeName=c1 {words}\n")
        d.want(c1=("drain", "7.2", *PROBLEM), c2=("drain", "7.2", *PROBLEM))  # one call for both
        d.until_record("c2", "drained")
        if kind == "first":
            d.until_record("c1", "drained")
            d.settle()
            write_before(l, kind, f"scontrol update NodeName=c1 {words}\n")
        else:
            d.until_record("c1", "foreign")
        d.want(c1=None, c2=None)
        for n in ("c1", "c2"):
            d.until_record(n, None)
        d.readings()
        assert d.lines.count(f"restored c1 {reason}") == 1 and d.count("restored") == before + 1, d.lines[-20:]
        assert l.reason("c1") == reason, l.reason("c1")
        assert l.state("c1") == {"IDLE", "FAIL" if "FAIL" in words else "DRAIN"}, l.state("c1")
        l.until_state("c2", "IDLE")
        l.scontrol("update", "NodeName=c1", "State=RESUME")
        l.until_state("c1", "IDLE")


def a_reason_pasted_to_another_node_is_a_persons(l, d):
    d.want(c1=("drain", "8.1", *PROBLEM))
    d.until_record("c1", "drained")
    l.scontrol("update", "NodeName=c2", "State=DRAIN", f"Reason={l.reason('c1')}")
    d.readings(3)
    assert "DRAIN" in l.state("c2") and d.record("c2") is None, d.record("c2")
    d.want(c2=("drain", "8.2", *PROBLEM))
    d.until_record("c2", "foreign")
    d.want(c1=None, c2=None)
    for n in ("c1", "c2"):
        d.until_record(n, None)
    l.until_state("c1", "IDLE")
    d.readings(3)  # also when the claim is over
    assert "DRAIN" in l.state("c2") and d.record("c2") is None, d.record("c2")
    l.scontrol("update", "NodeName=c2", "State=RESUME")
    l.until_state("c2", "IDLE")


def a_reboot_is_no_persons_word(l, d):
    """scontrol reboot nextstate=resume takes the drain away when the node is back: nobody said that it is well."""
    d.want(c3=("drain", "9.1", *PROBLEM))
    d.until_record("c3", "drained")
    before = d.count("overridden")
    l.scontrol("reboot", "ASAP", "nextstate=RESUME", "c3")
    lab.until("the reboot", lambda: "REBOOT_ISSUED" in l.state("c3"))
    lab.until("it is seen", lambda: '"reboot":true' in (d.record("c3") or ""))
    l.end("slurmd.c3")
    time.sleep(2)  # slurmctld counts in seconds whether it was booted since
    l.run("slurmd", "-b", "-N", "c3", "-L", f"{l.dir}/log/slurmd.c3.log")  # which reports that it was booted
    lab.until("it is drained anew", lambda: l.state("c3") == {"IDLE", "DRAIN"} and d.has("c3", "drained")
              and "reboot" not in d.record("c3"), 60)
    assert d.count("overridden") == before and lab.mark("9.1", "node_problem") in l.reason("c3"), l.reason("c3")
    l.scontrol("update", "NodeName=c3", "State=RESUME")  # and this is a person
    d.until_record("c3", "overridden")
    d.want(c3=None)
    d.until_record("c3", None)


def one_call_for_many_nodes(l, d):
    d.settle()  # a reading that is under way would see some of them sooner
    before = int(subprocess.run(["wc", "-l", f"{l.dir}/calls"], capture_output=True, text=True).stdout.split()[0])
    d.want(**{n: ("drain", "4.1", *PROBLEM) for n in l.nodes})
    for n in l.nodes:
        d.until_record(n, "drained")
    with open(f"{l.dir}/calls") as f:
        writes = [line for line in f.readlines()[before:] if line.startswith("update")]
    assert len(writes) == 1 and "NodeName=c[1-3]" in writes[0], writes
    d.want(**{n: None for n in l.nodes})
    for n in l.nodes:
        d.until_record(n, None)
        l.until_state(n, "IDLE")


def a_node_slurm_does_not_know(l, d):
    before = d.count("trouble")
    d.want(nosuch=("drain", "5.1", *PROBLEM))
    d.readings(3)
    assert d.count("trouble") == before and d.record("nosuch") is None
    assert d.lines[-1].startswith("saw 3 0"), d.lines[-1]  # it is not one of those that are not known
    with open(f"{l.dir}/calls") as f:
        assert f.read().count("show node nosuch") == 1  # asked by name, once
    d.want(nosuch=None)


# Writes down what it is called for; and where there is a file "person", carries it out once, behind a reading that
# leads to a write: the one in which Slurm does not say yet what is wanted. A file "first" is carried out before a
# drain is taken back, "before" before one is written.
WRAPPER = """#!/bin/sh
echo "$*" >> {0}/calls
case "$*" in
"-o -a show node"*) [ -e {0}/person ] && {{ scontrol "$@"; sh {0}/person; rm {0}/person; exit 0; }} ;;
"update "*UNDRAIN*) [ -e {0}/first ] && {{ sh {0}/first; rm {0}/first; }} ;;
"update "*State=DRAIN*) [ -e {0}/before ] && {{ mv {0}/before {0}/now; sh {0}/now; rm {0}/now; }} ;;
esac
exec scontrol "$@"
"""

TESTS = (drained_and_taken_back, between_regular_readings_only_who_needs_it_is_read, a_reason_is_made_safe,
         words_that_slurm_appends_change_nothing,
         nothing_over_somebody_elses_reason, a_person_that_resumes_is_right, work_ends_first,
         no_gap_around_an_examination, somebody_elses_reservation_stays,
         a_person_that_deletes_the_reservation_is_right, a_person_that_deletes_it_before_the_node_is_undrained_is_right,
         orphans_are_taken_back,
         one_call_for_many_nodes, a_node_slurm_does_not_know, a_node_that_was_down_comes_back,
         slurmctld_sets_a_silent_node_down_by_itself,
         two_fettles_leave_each_other_alone, a_reason_that_is_edited_is_a_persons,
         a_comment_of_several_lines,
         a_person_who_writes_between_reading_and_writing, a_change_that_a_write_of_ours_undid_is_put_back,
         a_reason_pasted_to_another_node_is_a_persons, a_reboot_is_no_persons_word, a_slurmctld_that_forgot_is_no_person)


def in_a_lab(tests):
    """One after the other in a Slurm of their own."""
    with lab.Lab(extra="RebootProgram=/bin/true") as l:
        wrapper = f"{l.dir}/counted"
        with open(wrapper, "w") as f:
            f.write(WRAPPER.format(l.dir))
        os.chmod(wrapper, 0o755)
        with lab.Driver(l, wrapper, every=300) as d:
            for test in tests:
                began = time.monotonic()
                test(l, d)
                print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        with open(f"{l.dir}/calls") as f:
            assert "RESUME" not in f.read()


LABS = 3
sys.exit(any(beside({i: functools.partial(in_a_lab, TESTS[i::LABS]) for i in range(LABS)}, LABS).values()))
