# SPDX-License-Identifier: Apache-2.0
"""`fettle import slurm` against a slurmctld that takes the same slurm.conf: nodes, processors, memory and partitions
are what Slurm says of them, and fettled takes the files."""
import os
import subprocess
import sys

from lab import Lab

TOOL, CONTROLLER = os.environ["FETTLE"], os.environ["FETTLED"]

# What sites write: an included file, sets of nodes, defaults, lines that go on, keys in any case, comments.
CONF = r"""
include nodes_%c.conf
NODESET=fat Feature=bigmem
NodeSet=some Feature=gpu Nodes=c[1-2]
PartitionName=DEFAULT State=UP MaxTime=INFINITE
PARTITIONNAME=batch nodes=c[01-08] Default=YES
PartitionName=fat Nodes=fat,c3
PartitionName=mixed Nodes=some
PartitionName=all Nodes=ALL \
  Hidden=YES # seen by nobody
PartitionName=empty
"""
NODES = r"""
NodeName=DEFAULT CoresPerSocket=4 ThreadsPerCore=2 RealMemory=4000 TmpDisk=100
NodeName=c[1-3] Sockets=2 NodeAddr=127.0.0.1 Port=[17001-17003]
nodename=c[01-08] cpus=16 \
   realmemory=0x2000 Feature=bigmem,ib NodeAddr=127.0.0.2 Port=[17011-17018] # eight of them
NodeName=g[1-2] Boards=1 SocketsPerBoard=1 CPUs=8 ThreadsPerCore=1 CoresPerSocket=8 Features="gpu" NodeAddr=127.0.0.3 Port=[17021-17022]
NodeName=d1 CPUs=8 State=DRAIN Reason="bad \# one" NodeAddr=127.0.0.4
NodeName=later[1-4] State=FUTURE NodeAddr=127.0.0.5
"""


def records(text):
    """Records of nodes.conf or partitions.conf, as dictionaries."""
    return [dict(word.split("=", 1) for word in line.split()) for line in text.splitlines()
            if line and not line.startswith("#")]


class Importing(Lab):
    """munged and slurmctld alone, with the configuration above."""

    def configure(self, returns, extra):
        super().configure(returns, extra)
        with open(f"{self.dir}/slurm.conf") as f:
            kept = [line for line in f if not line.startswith(("NodeName", "PartitionName", "SlurmdParameters"))]
        with open(f"{self.dir}/slurm.conf", "w") as f:
            f.write("".join(kept) + CONF)
        with open(f"{self.dir}/nodes_lab.conf", "w") as f:
            f.write(NODES)
        self.nodes = []

    def show(self, what):
        """{name: {key: value}} as scontrol says it."""
        found = {}
        for line in self.scontrol("show", what, "-o").splitlines():
            if not line.startswith(("NodeName=", "PartitionName=")):
                continue  # what it says of its configuration
            words = dict(w.split("=", 1) for w in line.split() if "=" in w)
            found[words.get("NodeName") or words["PartitionName"]] = words
        return found

    def hostnames(self, folded):
        return self.scontrol("show", "hostnames", folded).split() if folded not in ("", "(null)") else []


def imported(lab, out):
    subprocess.run([TOOL, "import", "slurm", f"{lab.dir}/slurm.conf", "--dir", out], check=True)
    with open(f"{out}/nodes.conf") as f:
        nodes = f.read()
    with open(f"{out}/partitions.conf") as f:
        partitions = f.read()
    return nodes, partitions


def compare(lab, nodes, partitions):
    theirs, groups = lab.show("nodes"), lab.show("partitions")
    ours = {name: r for r in records(nodes) if r["Name"] != "DEFAULT" for name in lab.hostnames(r["Name"])}
    assert sorted(ours) == sorted(theirs), f"{sorted(ours)} and {sorted(theirs)}"
    for name, r in ours.items():
        for key, slurms in (("CPUs", "CPUTot"), ("RealMemory", "RealMemory"), ("TmpDisk", "TmpDisk")):
            assert r[key] == theirs[name][slurms], f"{name} {key}: {r[key]} and {theirs[name][slurms]}"
    assert sorted(r["Name"] for r in records(partitions)) == sorted(groups), partitions
    for group, said in groups.items():
        mine = sorted(n for n, r in ours.items() if group in r.get("Partition", "").split(","))
        slurms = [n for n in lab.hostnames(said["Nodes"]) if not n.startswith("later")]  # those do not exist yet
        assert mine == sorted(slurms), f"{group}: {mine} and {said['Nodes']}"


def main():
    with Importing() as lab:
        out = f"{lab.dir}/ours"
        os.mkdir(out)
        nodes, partitions = imported(lab, out)
        compare(lab, nodes, partitions)
        assert "later[1-4]" in nodes and "#Name=later[1-4]" in nodes, nodes
        with open(f"{out}/fettle.conf", "w") as f:
            f.write(f"ControlMachine = ctl\nNodeSpecConf = {out}/nodes.conf\nPartitionConf = {out}/partitions.conf\n"
                    "DefaultPartition = batch\n")
        said = subprocess.run([CONTROLLER, "-n", "-f", f"{out}/fettle.conf"], capture_output=True, text=True)
        assert said.returncode == 0 and " 14 nodes" in said.stdout + said.stderr, said
    return 0


if __name__ == "__main__":
    sys.exit(main())
