# SPDX-License-Identifier: Apache-2.0
"""What the tests of repairs in a real Slurm share: a ward whose nodes are a Slurm's, scontrol behind a wrapper that
writes down what it is called for and breaks when it is told to, and jobs."""
import hashlib
import os
import re
import shutil
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'slurm'))
import lab as slurm_lab
from harness import wait
from ward import CHECKS, ward

# scontrol's calls, one a line, are in .../calls; its mode is in .../mode.
WRAPPER = """#!/bin/sh
case "$*" in *show*) ;; *) echo "$*" >> {0}/calls ;; esac
case "$(cat {0}/mode)" in
hangs) exec sleep 600 ;;
fails) echo "slurm_load_node error: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
noise) exec head -c 100000 /dev/urandom ;;
half) {1} "$@" | head -c 500; exit 0 ;;
first) case "$*" in
  "-o -a show node") {1} "$@" | head -n 1; exit 0 ;;
  *"show node"*) exit 1 ;;
  esac ;;
nothing) exit 0 ;;
news) {1} "$@" | sed 's/ State=IDLE/ State=LEVITATING/'; exit 0 ;;
odd) {1} "$@" | sed 's/ State=ACTIVE/ State=LEVITATING/'; exit 0 ;;
esac
exec {1} "$@"
"""
# An extensive check that ends when it may, with the result that it is told.
EXAM = """#!/bin/sh
echo $FETTLE_NODE >> {0}/exam.began
while ! test -e {0}/exam.go; do sleep 0.05; done
cat {0}/exam.result
exit $(head -c 1 {0}/exam.result)
"""
EXAM_CHECK = 'Check=exam Probe=plugin Run={}/exam When=extensive Deadline=60s\n'


def lab(world, nodes=2, **options):
    """A Slurm of its own; it goes with the world."""
    l = slurm_lab.Lab(nodes, **options)
    world.cleanups.append(l.stop)
    l.start()
    home = world.path('scontrol')
    os.mkdir(home)
    for name, text in (('calls', ''), ('mode', 'fine')):
        world.write(f'scontrol/{name}', text)
    l.wrapper = world.write('scontrol/scontrol', WRAPPER.format(home, shutil.which('scontrol', path=slurm_lab.SBIN)))
    os.chmod(l.wrapper, 0o755)
    for name in ('squeue', 'scancel'):  # from where scontrol is
        os.symlink(shutil.which(name, path=slurm_lab.SBIN), world.path('scontrol', name))
    return l


def slurm_ward(world, nodes=2, checks=CHECKS, remedy=None, exam=False, **settings):
    """A Slurm, and a controller that acts in it, with an agent for each of its nodes. Nobody is held as he comes up:
    what is written into Slurm is counted."""
    l = lab(world, nodes)
    if exam:
        checks += EXAM_CHECK.format(world.dir)
        world.write('exam.result', '0 well')
        os.chmod(world.write('exam', EXAM.format(world.dir)), 0o755)
    c, agents = ward(world, l.nodes, checks=checks, remedy=remedy, SlurmScontrol=l.wrapper,
                     SlurmConf=f'{l.dir}/slurm.conf', **{'SlurmInterval': '1s', 'ProvisionNew': 'no', **settings})
    return l, c, agents


def set_mode(world, mode):
    world.write('scontrol/mode.new', mode)
    os.rename(world.path('scontrol/mode.new'), world.path('scontrol/mode'))


def calls(world, *words):
    """The changes ordered from Slurm that have all these words: a node's name, but not within a number of Fettle's."""
    patterns = [re.compile(rf'\b{w}\b' if re.fullmatch('c[0-9]+', w) else re.escape(w)) for w in words]
    with open(world.path('scontrol/calls'), encoding='utf-8') as f:
        return [line.strip() for line in f if all(p.search(line) for p in patterns)]


def is_drained(l, node):
    return 'DRAIN' in l.state(node)


def owner(c):
    """Which Fettle it is, in Slurm: the head of its authority's fingerprint."""
    with open(f'{c.state}/ca.pem', encoding='ascii') as f:
        der = ssl.PEM_cert_to_DER_cert(f.read())
    return hashlib.sha256(der).hexdigest()[:12]


def token(c, claim):
    """The mark in a reason that is this Fettle's, but for the sum of the words before it."""
    return f' [fettle:{owner(c)}:{claim}:'


def wait_drained(l, node, problem='node_problem'):
    wait(f'{node} is drained in Slurm', lambda: is_drained(l, node) and f'[{problem}]' in l.reason(node))
    return l.reason(node)


def wait_released(l, node):
    wait(f'{node} is in service in Slurm', lambda: not is_drained(l, node) and not l.reservations())


def submit(l, node, command='sleep 600'):
    return re.search(r'\d+', l.run('sbatch', '-w', node, '-o', '/dev/null', '--wrap', command)).group()


def job_state(l, job):
    found = re.search(r'JobState=(\S+)', l.scontrol('show', 'job', job, check=False))
    return found.group(1) if found else 'gone'


def wait_job(l, job, state):
    wait(f'job {job} is {state}', lambda: job_state(l, job) == state)


def cancel(l, job):
    l.run('scancel', job)


def began(world):
    """How often the extensive check was begun."""
    try:
        with open(world.path('exam.began'), encoding='utf-8') as f:
            return len(f.readlines())
    except FileNotFoundError:
        return 0


def let_exam_end(world, result='0 well'):
    world.write('exam.result', result)
    world.write('exam.go', '')
