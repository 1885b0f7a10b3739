# SPDX-License-Identifier: Apache-2.0
"""The driver under test (drive.c) and BMCs for it: Debian's ipmi_sim, each with a chassis script that writes
down what is done to the power.  What needs a program that is not installed is skipped, or fails where
FETTLE_POWER is "required"."""

import json
import os
import pathlib
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ports import free_port

TIMEOUT_S = 60
SECRET = "s3cret"
# ipmi_sim calls it: CHASSIS MC get|set|check NAME [VALUE]...  While the file "hold" is there an action waits.
CHASSIS = """#!/bin/sh
cd "$(dirname "$0")"
shift
op=$1
shift
while [ $# -gt 0 ]; do
    case $op in
    get) if [ -f "state.$1" ]; then echo "$1:$(cat "state.$1")"; elif [ "$1" = boot ]; then echo boot:none; else echo "$1:0"; fi
         shift ;;
    set) echo "$1 $2" >>log
         i=0; while [ -f hold ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
         [ "$1" = reset ] || echo "$2" >"state.$1"
         shift 2 ;;
    *) shift ;;
    esac
done
"""


def need(*programs):
    """Ends the test when one is missing."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing and os.environ.get("FETTLE_POWER") == "required":
        sys.exit("missing: " + " ".join(missing))
    if missing:
        print("skipped: there is no", " ".join(missing))
        sys.exit(77)


def until(what, said="it does not come"):
    """The first true answer of what()."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError(said)


class Bmc:
    """One ipmi_sim; power is "0" or "1"."""

    def __init__(self, directory, power="1", sel=""):
        self.dir = pathlib.Path(directory)
        self.dir.mkdir()
        self.port = free_port(socket.SOCK_DGRAM)
        self.process = None
        (self.dir / "state.power").write_text(power)
        (self.dir / "chassis").write_text(CHASSIS)
        (self.dir / "chassis").chmod(0o755)
        (self.dir / "lan.conf").write_text(f"""name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {self.port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "{self.dir}/chassis 0x20"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "admin" "{SECRET}" admin 10 none md2 md5 straight
""")
        (self.dir / "sim.emu").write_text(f"""mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 100 0x0a
mc_enable 0x20
{sel}""")

    def start(self):
        (self.dir / "var").mkdir(exist_ok=True)
        with open(self.dir / "sim.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["ipmi_sim", "-n", "-c", "lan.conf", "-f", "sim.emu", "-s", "var"], cwd=self.dir,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        until(self.answers, "ipmi_sim does not start")
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError((self.dir / "sim.log").read_text())
        return self.ipmitool("chassis", "power", "status").returncode == 0

    def ipmitool(self, *words):
        return subprocess.run(["ipmitool", "-I", "lanplus", "-C", "3", "-N", "1", "-R", "2", "-H", "127.0.0.1", "-p",
                               str(self.port), "-U", "admin", "-P", SECRET, *words], capture_output=True, text=True,
                              check=False)

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def log(self):
        path = self.dir / "log"
        return path.read_text().splitlines() if path.exists() else []

    def power(self):
        return (self.dir / "state.power").read_text().strip()

    def boot(self):
        path = self.dir / "state.boot"
        return path.read_text().strip() if path.exists() else "none"


class Driver:
    """The program, and the records that it works on: a result is taken as the cluster takes it."""

    def __init__(self, conf, replace=None):
        self.conf, self.replace = conf, replace
        self.records, self.lines, self.process, self.takes, self.wishes = {}, [], None, True, 0
        self.start()

    def start(self):
        """Again, after kill: it is told the records that there are."""
        words = [os.environ["POWER_DRIVE"], str(self.conf)] + ([str(self.replace)] if self.replace else [])
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = queue.Queue()
        self.reader = threading.Thread(target=self.read, args=(self.process, self.said))
        self.reader.start()
        for key in self.records:
            self.tell(key)

    @staticmethod
    def read(process, said):
        for line in process.stdout:
            said.put(line.rstrip("\n"))
        process.stdout.close()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def tell(self, key):
        record = self.records.get(key)
        self.send(f"effect {key} {json.dumps(record) if record else '-'}")

    def operate(self, node, run, deadline_s=120, operation="7.1"):
        key = f"effect/operate.{node}"
        self.records[key] = {"id": operation, "run": run, "of": "x", "boot": "", "instance": "1",
                             "deadline": str(time.time_ns() + deadline_s * 10**9), "done": None}
        self.tell(key)
        return key

    def next(self, kind):
        """The next line of this kind; others are dropped."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            line = self.said.get(timeout=max(0.01, end - time.monotonic()))
            self.lines.append(line)
            if line.startswith(kind + " "):
                return line[len(kind) + 1:]

    def result(self):
        key, done = self.next("result").split(" ", 1)
        return key, json.loads(done)

    def commit(self, key, done):
        """True when the record has it now: what of another operation, or not in order, is dropped."""
        record = self.records.get(key)
        if not record or done["id"] != record["id"]:
            return False
        was = (record["done"] or {}).get("state")
        late = ("begun",) if was else ("done", "unknown")  # as the controller judges
        if was not in (None, "begun") or done["state"] in late:
            return False
        record["done"] = done
        return True

    def follow(self):
        """Takes results into the records until one has its end; that."""
        while True:
            key, done = self.result()
            if self.commit(key, done):
                self.tell(key)
                if done["state"] != "begun":
                    return done

    def now(self, node, verb):
        """What a person is answered: (whether, words). What changes something goes through a record."""
        if verb != "status":
            self.wish(node, verb)
            done = self.follow()
            return done["state"] == "done", done["text"]
        self.send(f"now {node}")
        ok, words = self.next("now").split(" ", 1)
        return ok == "ok", words

    def wish(self, node, verb, deadline_s=120):
        """A person's power command, as the cluster writes it down."""
        self.wishes += 1
        key = f"effect/power.{node}"
        self.records[key] = {"id": f"8.{self.wishes}", "run": f"power.{verb}", "by": "ann", "why": "a test", "force": False,
                             "deadline": str(time.time_ns() + deadline_s * 10**9), "done": None}
        self.tell(key)
        return key

    def look(self, node):
        """What its BMC knows; a text: why it does not say."""
        self.send(f"look {node}")
        said = self.next("look")
        return json.loads(said) if said.startswith("{") else said

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()

    def end(self):
        """With its standard input; it leaves nothing behind, or says so."""
        self.process.stdin.close()
        code = self.process.wait(TIMEOUT_S)
        self.reader.join()
        assert code == 0, f"it ended with {code}"


class Lab:
    """A directory with a password, and what is started in it; all of it ends with the scope."""

    def __enter__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="fettle-power-"))
        self.things = []
        (self.dir / "secret").touch(0o600)
        (self.dir / "secret").write_text(SECRET + "\n")
        return self

    def bmc(self, name="bmc", **options):
        self.things.append(Bmc(self.dir / name, **options))
        return self.things[-1].start()

    def conf(self, *lines):
        path = self.dir / "bmc.conf"
        path.write_text("".join(line + "\n" for line in lines))
        return path

    def ipmi(self, node, port, secret="secret"):
        return f"Nodes={node} Driver=ipmi Address=127.0.0.1:{port} User=admin Cipher=3 " \
               f"PasswordFile={self.dir}/{secret}"

    def driver(self, *lines, replace=None):
        driver = Driver(self.conf(*lines), replace)
        self.things.append(driver)
        return driver

    def __exit__(self, kind, value, trace):
        try:
            for thing in reversed(self.things):
                thing.end()
        finally:
            shutil.rmtree(self.dir)


def run(tests):
    """Each of them in a laboratory of its own."""
    for test in tests:
        with Lab() as lab:
            test(lab)
        print("ok", test.__name__, flush=True)
