# SPDX-License-Identifier: Apache-2.0
"""What the tests of health share: nodes with roots of their own whose checks a test makes fail and pass, remedies
that really mend them, and questions about how far a repair is."""
import json
import os

from fleet import boot_id, change, whole_root
from harness import CALM, TIMEOUT, Agent, Controller, wait

ROOT_MOUNT = '22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n'
SCRATCH = '40 22 0:50 / /scratch rw,relatime shared:9 - ext4 /dev/nvme1n1 rw\n'
MOUNTINFO, KMSG = 'proc/self/mountinfo', 'dev/kmsg'
# A mount that has to be there; what the kernel says.
CHECKS = ('Check=scratch Probe=fs.mounted Path=/scratch Every=1s Fails=1 Passes=1\n'
          'Check=kernel Probe=kernel.log\n')
# The repair on the node itself; FETTLE_NODE is its name.
MOUNT = 'Run="node:cp {}/$FETTLE_NODE.mounted {}/$FETTLE_NODE/proc/self/mountinfo" Helps=scratch Needs=nothing'
RULES = {'Health': 'act', 'MaxOut': 100, 'MaxOutClass': 100, 'MaxOutPartition': 100, 'MaxOutGroup': 100}


def remedies(world, *lines):
    """A file of remedies; "MOUNT" in a line stands for what mounts /scratch again."""
    mount = MOUNT.format(world.path(), world.path())
    return world.write('remedies.conf', ''.join(line.replace('MOUNT', mount) + '\n' for line in lines))


def ward(world, names, checks=CHECKS, remedy=None, nodes=None, **settings):
    """A controller that acts, and an agent with a root of its own for each name, all well."""
    settings = {**CALM, **RULES, 'CheckConf': world.write('checks.conf', checks), **settings}
    if remedy:
        settings['RemedyConf'] = remedies(world, *([remedy] if isinstance(remedy, str) else remedy))
    c = Controller(world, nodes or ''.join(f'Name={n}\n' for n in names), **settings)
    agents = {}
    for n in names:
        root = whole_root(world, n, boot_id(), proc__self__mountinfo=ROOT_MOUNT + SCRATCH, dev__kmsg='')
        world.write(f'{n}.mounted', ROOT_MOUNT + SCRATCH)
        agents[n] = Agent(world, c, n, root=root)
    c.wait_nodes('the agents are heard, and that is recorded', names, Liveness='live', Lifecycle='available')
    wait_health(c, names, 'ok')
    return c, agents


def wait_health(c, names, word):
    c.wait_nodes(f'their health is {word}', names, Health=word)


def unmount(world, node):
    change(world, node, MOUNTINFO, ROOT_MOUNT)


def mount(world, node):
    change(world, node, MOUNTINFO, ROOT_MOUNT + SCRATCH)


def kernel_says(world, node, text, facility=0, level=3, at=None):
    """A record of the kernel log; `at` in seconds since the boot."""
    path = world.path(node, KMSG)
    with open(path, encoding='utf-8') as f:
        seq = sum(1 for line in f if not line.startswith(' '))
    with open(path, 'a', encoding='utf-8') as f:
        f.write(f'{facility * 8 + level},{seq},{int((at or seq + 1) * 1000000)},-;{text}\n')


def health(c, node):
    return json.loads(c.fettle('check', 'show', node, '--json'))


def repair(c, node):
    return health(c, node)['repair']


def step(c, node):
    r = repair(c, node)
    return r['step'] if r else 'none'


def wait_step(c, node, word, within=TIMEOUT):
    wait(f'{node} is at step {word}', lambda: step(c, node) == word, within)


def steps(c, node):
    """The steps that the journal has, in order."""
    return [e['text'] for e in c.journal() if e['what'] == 'repair.step' and e['nodes'] == node]


def incidents(c, node):
    return health(c, node)['open']


def left(path):
    return os.path.exists(path)
