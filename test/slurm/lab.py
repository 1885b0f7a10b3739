# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on the loopback for a test: munged, slurmctld and several slurmd of Debian's packages, in a
directory and on ports of their own, under a user of their own right; and the driver of Slurm (drive.c) beside it.

Nothing outlives the test: daemons are ended by their pid files, slurmd before slurmctld and munged last, because a
step of a job waits for munged.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ports import free_ports

NEEDED = ("slurmctld", "slurmd", "scontrol", "munged")
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
SKIPPED = 77
OWNER = "0123456789ab"  # which Fettle the driver is


def mark(claim, problem, owner=OWNER):
    """What a reason of Fettle's has behind its words, but for their sum."""
    return f" [{problem}] [fettle:{owner}:{claim}:"


def reason(claim, problem, words, owner=OWNER):
    """A whole one. The sum is FNV-1a, of which 16 bits are taken."""
    total = 0xcbf29ce484222325
    for byte in f"{words} [{problem}]".encode():
        total = (total ^ byte) * 0x100000001b3 % 2 ** 64
    return f"{words}{mark(claim, problem, owner)}{total % 2 ** 16:04x}]"


def need_slurm():
    missing = [p for p in NEEDED if not shutil.which(p, path=SBIN)]
    if missing:
        print(f"{', '.join(missing)} not installed (tools/install-packages check)")
        sys.exit(1 if os.environ.get("FETTLE_SLURM") == "required" else SKIPPED)


def until(what, is_true, seconds=30):
    """Waits for an event, with a deadline."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = is_true()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"did not come: {what}")


def is_alive(pid):
    """A zombie that nobody has waited for is not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Lab:
    def __init__(self, nodes=3, returns=1, extra=""):
        need_slurm()
        self.dir = tempfile.mkdtemp(prefix="fettle-slurm-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.nodes = [f"c{i + 1}" for i in range(nodes)]
        self.env = dict(os.environ, SLURM_CONF=f"{self.dir}/slurm.conf", PATH=SBIN)
        for name in ("SLURM_CLUSTERS", "SLURM_TIME_FORMAT"):
            self.env.pop(name, None)
        for name in ("state", "spool", "log", "run"):
            os.mkdir(f"{self.dir}/{name}")
        for name in self.nodes:
            os.mkdir(f"{self.dir}/spool/{name}")
        self.configure(returns, extra)

    def configure(self, returns, extra):
        host = socket.gethostname().split(".")[0]
        me = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        port = free_ports(len(self.nodes) + 1)
        lines = [
            "ClusterName=lab", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={port}", f"SlurmUser={me}",
            f"SlurmdUser={me}", "AuthType=auth/munge", f"AuthInfo=socket={self.dir}/munge.sock",
            "CredType=cred/munge", f"StateSaveLocation={self.dir}/state",
            f"SlurmctldPidFile={self.dir}/run/slurmctld.pid", f"SlurmdPidFile={self.dir}/run/slurmd.%n.pid",
            f"SlurmdSpoolDir={self.dir}/spool/%n", f"SlurmctldLogFile={self.dir}/log/slurmctld.log",
            f"SlurmdLogFile={self.dir}/log/slurmd.%n.log", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none", "SwitchType=switch/none",
            "MpiDefault=none", "AccountingStorageType=accounting_storage/none", "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core", f"ReturnToService={returns}", "MailProg=/bin/true",
            "SlurmdParameters=config_overrides", "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
            "SlurmdTimeout=4", "MessageTimeout=2", "TCPTimeout=1", "KillWait=2",
            "SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=100000", extra,
        ]
        for i, name in enumerate(self.nodes):
            lines.append(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 1 + i} CPUs=2 "
                         "RealMemory=500 State=UNKNOWN")
        lines.append(f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP")
        with open(f"{self.dir}/slurm.conf", "w") as f:
            f.write("\n".join(lines) + "\n")
        with open(f"{self.dir}/cgroup.conf", "w") as f:
            f.write("CgroupPlugin=cgroup/v1\n")  # slurmd wants one even where nothing uses it

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind:
            for name in sorted(os.listdir(f"{self.dir}/log")):
                with open(f"{self.dir}/log/{name}", errors="replace") as f:
                    print(f"--- {name}\n" + "".join(f.readlines()[-15:]))
        self.stop()

    def start(self):
        with open(f"{self.dir}/key", "wb") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(os.urandom(128))
        self.run("munged", "--force", f"--key-file={self.dir}/key", f"--socket={self.dir}/munge.sock",
                 f"--pid-file={self.dir}/run/munged.pid", f"--log-file={self.dir}/log/munged.log",
                 f"--seed-file={self.dir}/munge.seed", "--num-threads=2")
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        for name in self.nodes:
            self.until_state(name, "IDLE")

    def run(self, *args, check=True, timeout=30):
        # A daemon keeps what it inherits: its words go into a file and not into a pipe that never ends.
        with open(f"{self.dir}/log/{args[0]}.out", "w+") as out:
            r = subprocess.run(args, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=timeout)
            out.seek(0)
            text = out.read()
        assert not check or r.returncode == 0, f"{args}: {text}"
        return text

    def scontrol(self, *args, check=True):
        return self.run("scontrol", *args, check=check)

    def start_controller(self):
        self.run("slurmctld", "-L", f"{self.dir}/log/slurmctld.log")
        until("slurmctld", lambda: "is UP" in self.scontrol("ping", check=False))

    def start_node(self, name):
        self.run("slurmd", "-N", name, "-L", f"{self.dir}/log/slurmd.{name}.log")

    def pid(self, what):
        try:
            with open(f"{self.dir}/run/{what}.pid") as f:
                return int(f.read())
        except (OSError, ValueError):
            return 0

    def end(self, what, how=signal.SIGTERM):
        pid = self.pid(what)
        if not pid or not is_alive(pid):
            return
        os.kill(pid, how)
        try:
            until(f"the end of {what}", lambda: not is_alive(pid), 10)
        except AssertionError:
            os.kill(pid, signal.SIGKILL)

    def stop(self):
        for name in self.nodes:
            self.end(f"slurmd.{name}")
        self.end_steps("munged", "slurmctld", "slurmscriptd")  # slurmctld waits 10 s for a slurmscriptd that is gone
        self.end("slurmctld")
        self.end_steps("munged")
        self.end("munged")
        shutil.rmtree(self.dir, ignore_errors=True)

    def end_steps(self, *spared):
        """Steps of a slurmd that was killed live on, as does what a killed slurmctld started; they have this lab's
        slurm.conf in their environment."""
        mine = f"SLURM_CONF={self.dir}/".encode()
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    is_mine = mine in f.read()
                with open(f"/proc/{pid}/comm") as f:
                    is_spared = f.read().strip() in spared
                if is_mine and not is_spared and pid != os.getpid():
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it is gone

    # --- what Slurm says

    def state(self, node):
        """The words of its state, as a set, without NOT_RESPONDING, which comes and goes by itself."""
        text = self.scontrol("-o", "show", "node", node)
        return set(re.search(r" State=(\S+)", text).group(1).split("+")) - {"NOT_RESPONDING"}

    def reason(self, node):
        found = re.search(r" Reason=(.*?)(?: \[\S+@\S+\].*)?$", self.scontrol("-o", "show", "node", node).strip())
        return found.group(1) if found else ""

    def until_state(self, node, *words, seconds=40):
        until(f"{node} {words}", lambda: self.state(node) == set(words), seconds)

    def reservations(self):
        return re.findall(r"ReservationName=(\S+)", self.scontrol("-o", "show", "reservation"))


class Driver:
    """drive.c beside a lab. Everything it says is in .lines; scontrol may be a wrapper."""

    def __init__(self, lab, scontrol=None, every=1000, deadline=3000, owner=OWNER):
        self.lab = lab
        self.home = tempfile.mkdtemp(prefix="driver-", dir=lab.dir)
        self.wants, self.records = f"{self.home}/wants", f"{self.home}/records"
        os.mkdir(self.records)
        self.args = [os.environ["SLURM_DRIVE"], scontrol or shutil.which("scontrol", path=SBIN), self.wants,
                     self.records, str(every), str(deadline), owner]
        self.lines = []
        self.process = None
        self.wanted = {}

    def start(self, crash_at=0):
        self.process = subprocess.Popen(self.args + [str(crash_at)], env=self.lab.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.listen, args=(self.process,), daemon=True)
        self.reader.start()
        return self

    def listen(self, process):
        for line in process.stdout:
            self.lines.append(line.strip())

    def want(self, **nodes):
        """want(c1=("drain", "1.1", "node_problem", "x"), c2=None)"""
        self.wanted.update(nodes)
        with open(self.wants + ".new", "w") as f:
            for node, what in self.wanted.items():
                if what:
                    f.write(f"{node} {' '.join(what)}\n")
        os.rename(self.wants + ".new", self.wants)
        self.look()

    def look(self):
        if self.process:
            try:
                self.process.stdin.write("look\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                pass  # it was meant to crash

    def record(self, node):
        try:
            with open(f"{self.records}/slurm.{node}") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def has(self, node, state):
        return f'"state":"{state}"' in (self.record(node) or "")

    def until_record(self, node, state):
        until(f"{node} {state}, is {self.record(node)}; {self.lines[-8:]}",
              lambda: self.has(node, state) if state else self.record(node) is None)

    def count(self, start):
        return sum(line.startswith(start) for line in self.lines)

    def until_line(self, start, n=1, seconds=30):
        until(f"{n} times {start!r} in {self.lines[-8:]}", lambda: self.count(start) >= n, seconds)

    def readings(self, n=2):
        """Waits for whole readings from here on."""
        self.until_line("saw", self.count("saw") + n)

    def settle(self):
        """Until two readings from now on have nothing to do: the first is told before it is planned by."""
        at = len(self.lines)

        def rests():
            saw = [line for line in self.lines[at:] if line.startswith("saw")]
            return len(saw) > 1 and all(line.endswith("waiting 0") for line in saw[-2:])
        until("rest", rests)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self):
        if not self.process:
            return
        self.process.stdin.close()
        code = self.process.wait(timeout=20)
        self.reader.join(timeout=5)
        self.process = None
        assert code == 0, f"the driver ended with {code}"

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if kind and self.process:
            print("\n".join(self.lines[-30:]))
            self.process.kill()
            self.process.wait()
            self.process = None
        self.stop()
