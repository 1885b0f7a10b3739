#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A part of tools/bench, in its quickest form: it ends well, and says a value for each of its figures. Which they are is in
test/data/bench; FETTLE_GOLDEN=write writes it anew. How large they are is nobody's business here.

usage: part_test.py TOOLS_BENCH PART GOLDEN_FILE      or: part_test.py TOOLS_BENCH --parts PART...
"""
import os
import re
import shutil
import subprocess
import sys

SLURM = ("list", "repairs", "drain", "interleave", "overrides")
ROOT = ("drain", "event", "siege", "overrides")
SKIPPED = 77


def need(part):
    """Ends the test where the part cannot be measured."""
    programs = ("slurmctld", "slurmd", "munged") if part in SLURM else ("etcd", "etcdctl") if part in ("etcd", "followers") else ()
    missing = [p for p in programs if not shutil.which(p, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")]
    if missing and os.environ.get("FETTLE_SLURM") == "required":
        sys.exit(f"not installed: {', '.join(missing)}")
    if missing or (part in ROOT and os.geteuid() != 0):
        print(f"needs {', '.join(missing) or 'root'}")
        sys.exit(SKIPPED)


def outline(text):
    """The lines without their figures. Those with four spaces and more are about one turn, if it was a long one."""
    lines = []
    for line in text.splitlines()[1:]:  # the first one is about the machine
        figure = re.fullmatch(r"  (\S.*?) {2,}(\S.*)", line)
        if not line.startswith("    "):
            lines.append(re.sub(r"(?<![\w.])\d[\d.,]*", "#", "  " + figure[1] if figure else line).rstrip())
    return "\n".join(lines) + "\n"


def main():
    bench, part, *rest = sys.argv[1:]
    if part == "--parts":
        told = subprocess.run([bench, "--parts"], check=True, capture_output=True, text=True).stdout.split()
        sys.exit(0 if told == rest else f"test/bench/meson.build has {rest}, and tools/bench has {told}")
    need(part)
    env = {k: v for k, v in os.environ.items() if k != "FETTLE_NHC"}
    run = subprocess.run([bench, "--quick", part], stdout=subprocess.PIPE, text=True, env=env)
    print(run.stdout)
    if run.returncode:
        sys.exit(f"it ended with {run.returncode}")
    got = outline(run.stdout)
    if os.environ.get("FETTLE_GOLDEN") == "write":
        with open(rest[0], "w", encoding="utf-8") as f:
            f.write(got)
    with open(rest[0], encoding="utf-8") as f:
        wanted = f.read()
    if got != wanted:
        sys.exit(f"these are its lines:\n{got}and these ought to be:\n{wanted}")


main()
