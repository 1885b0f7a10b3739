# SPDX-License-Identifier: Apache-2.0
"""Processes that kill -9 does not end, because the kernel waits for a server that is gone: the agent goes on, and no
second one is sent after the first."""
import contextlib
import json
import os

from fleet import change
from fuse import Hanging, HangingFiles, own_mounts
from harness import check, contains, equal, main, need_root, process_state, wait
from ward import CHECKS, MOUNTINFO, ROOT_MOUNT, SCRATCH, health, incidents, kernel_says, repair, unmount, wait_step, ward

NFS = '41 22 0:51 / /nfs rw,relatime shared:9 - nfs4 server:/export rw\n'
EVERY = 'Every=1s Deadline=1s Fails=1 Passes=1\n'
SPACE = f'Check=space Probe=fs.space Path={{}} {EVERY}'
# Another one whose looks are children, and that counts them.
PULSE = 'Check=pulse Probe=plugin Run="echo . >>{}/pulse" Every=1s\n'


def clinic(world, checks, **options):
    """A node with /nfs, which hangs from now on."""
    need_root()
    own_mounts()
    nfs = Hanging(world, world.path('n1', 'nfs'))
    c, agents = ward(world, ['n1'], checks=CHECKS + PULSE.format(world.dir) + checks, **options)
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + SCRATCH + NFS)
    world.write('n1.mounted', ROOT_MOUNT + SCRATCH + NFS)
    nfs.hang()
    return nfs, c, agents['n1']


def stuck(world):
    """Processes of the agents that were killed, and are still there."""
    found = []
    for pid in world.marked():
        with contextlib.suppress(OSError, ProcessLookupError):
            with open(f'/proc/{pid}/status', encoding='utf-8') as f:
                pending = [int(line.split()[1], 16) for line in f if line.startswith(('SigPnd:', 'ShdPnd:'))]
            if process_state(pid) == 'D' and any(p & 1 << 8 for p in pending):
                found.append(pid)
    return found


def pulses(world):
    with contextlib.suppress(FileNotFoundError):
        return os.stat(world.path('pulse')).st_size // 2
    return 0


def verdict(c, name):
    return next(r['verdict'] for r in health(c, 'n1')['checks'] if r['check'] == name)


def faults(c):
    """The node's faults, without the check that hangs."""
    return [i for i in incidents(c, 'n1') if any(f['code'] != 'probe.stuck' for f in i['findings'])]


def is_alone_while_others_go_on(world, c, name):
    wait('a process cannot be killed', lambda: stuck(world))
    wait('it is said so', lambda: 'probe.stuck' in verdict(c, name).get('text', ''))
    first, before = stuck(world), pulses(world)
    wait('many periods are over', lambda: pulses(world) >= before + 4)
    equal(stuck(world), first, 'processes that cannot be killed')
    equal(len(first), 1, 'how many')
    equal((c.node('n1')['Lifecycle'], faults(c)), ('available', []), 'what is not known takes no node out')


def recovers(world, nfs, c, name):
    nfs.end()
    wait('nobody waits any more', lambda: not stuck(world))
    again = Hanging(world, nfs.path)
    wait('it is looked at again', lambda: verdict(c, name) == {'result': 'ok'})
    again.end()


def test_a_look_that_cannot_be_killed(world):
    nfs, c, agent = clinic(world, SPACE.format('/nfs'))
    is_alone_while_others_go_on(world, c, 'space')
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + NFS)
    wait('another fault is found', lambda: faults(c))
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + SCRATCH + NFS)
    wait('and its end', lambda: not faults(c))
    agent.process.stop()  # though its child cannot
    equal(len(stuck(world)), 1, 'processes that cannot be killed')
    agent.start()
    c.wait_nodes('the node is live', ['n1'], Liveness='live')
    recovers(world, nfs, c, 'space')
    equal(c.suspected(), [], 'nodes that were suspected')


def test_a_check_that_hangs_is_an_incident(world):
    """Beside what it said before, which still counts."""
    need_root()
    own_mounts()
    nfs = Hanging(world, world.path('n1', 'nfs'))
    c, _ = ward(world, ['n1'], checks=CHECKS + SPACE.format('/nfs'))
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + SCRATCH + NFS)
    nfs.hang()
    wait('there is an incident', lambda: incidents(c, 'n1'))
    i = incidents(c, 'n1')[0]
    f = i['findings'][0]
    equal((i['severity'], f['code'], f['check']), ('warn', 'probe.stuck', 'space'), 'what it is')
    wait('it is an event', lambda: 'probe.stuck' in ' '.join(c.log_lines('health.findings')))
    equal(c.node('n1')['Lifecycle'], 'available', 'the node')
    recovers(world, nfs, c, 'space')
    wait('it is over', lambda: not incidents(c, 'n1'))


def test_a_disk_that_cannot_be_killed(world):
    """The other targets are looked at all the same, and another check of the stuck target waits for the same process."""
    for disk in ('sda', 'sdb', 'sdc'):
        world.write(f'n1/sys/block/{disk}/device/vendor', 'ATA')
    for disk in ('sda', 'sdc'):
        world.write(f'n1/dev/{disk}', '')
    need_root()
    own_mounts()
    disk = Hanging(world, world.path('n1', 'dev', 'sdb'))
    c, _ = ward(world, ['n1'], checks=CHECKS + PULSE.format(world.dir) +
                f'Check=smart {EVERY}Check=second Probe=smart Path=/dev/sdb {EVERY}')
    disk.hang()
    wait('a process cannot be killed', lambda: stuck(world))
    wait('it is said so', lambda: '/dev/sdb' in verdict(c, 'second').get('text', ''))
    first, before = stuck(world), pulses(world)
    wait('many periods are over', lambda: pulses(world) >= before + 4)
    equal((stuck(world), len(first)), (first, 1), 'processes that cannot be killed')
    wait('that is all', lambda: 'probe.stuck: /dev/sdb' in verdict(c, 'smart').get('text', ''))
    os.remove(world.path('n1', 'dev', 'sda'))
    os.remove(world.path('n1', 'dev', 'sdc'))
    wait('another is asked', lambda: '/dev/sda: No such file' in verdict(c, 'smart').get('text', ''))
    equal(stuck(world), first, 'processes that cannot be killed')
    disk.end()
    wait('nobody waits any more', lambda: not stuck(world))
    equal(c.suspected(), [], 'nodes that were suspected')


def test_a_link_leads_there(world):
    """No list of mounts says so."""
    os.makedirs(world.path('n1'))
    os.symlink('nfs', world.path('n1', 'data'))
    nfs, c, _ = clinic(world, SPACE.format('/data'))
    is_alone_while_others_go_on(world, c, 'space')
    recovers(world, nfs, c, 'space')
    equal(c.suspected(), [], 'nodes that were suspected')


def test_a_plugin_that_cannot_be_killed(world):
    """Nor can what it started; the shell that did can."""
    nfs, c, _ = clinic(world, f'Check=plug Probe=plugin Run="stat -f {world.dir}/n1/nfs >/dev/null && exit 0" {EVERY}')
    is_alone_while_others_go_on(world, c, 'plug')
    recovers(world, nfs, c, 'plug')
    equal(c.suspected(), [], 'nodes that were suspected')


LOST = '(setsid sleep 4321 &)'  # a session of its own, and no parent


def lost(world):
    """Processes that have left their parent."""
    found = []
    for pid in world.marked():
        with contextlib.suppress(OSError):
            with open(f'/proc/{pid}/cmdline', encoding='utf-8') as f:
                found += [pid] if f.read() == 'sleep\0004321\0' else []
    return found


def test_processes_that_a_plugin_leaves_behind(world):
    """The processes end with the plugin, at its deadline, and with the agent."""
    c, agents = ward(world, ['n1'], checks=CHECKS + PULSE.format(world.dir) +
                     f'Check=quick Probe=plugin Run="{LOST}; sleep 0.2" Every=1s Observe=yes\n'
                     f'Check=slow Probe=plugin Run="{LOST}; echo . >>{world.dir}/slow; sleep 1000" Observe=yes {EVERY}'
                     f'Check=long Probe=plugin Run="{LOST}; echo . >>{world.dir}/long; sleep 1000" Observe=yes '
                     'Every=1h Deadline=10m\n')

    def looks(file):
        with contextlib.suppress(FileNotFoundError):
            return os.stat(world.path(file)).st_size // 2
        return 0
    wait('many were started', lambda: looks('slow') >= 4 and pulses(world) >= 4 and looks('long'))
    check(len(lost(world)) <= 3, lambda: f'{len(lost(world))} of at most three plugins are left')
    agents['n1'].process.kill()
    wait('none outlives the agent', lambda: not lost(world))
    agents['n1'].start()
    wait('it goes on', lambda: looks('long') == 2)
    agents['n1'].process.stop()
    wait('nor one that is stopped', lambda: not lost(world))


def test_limits_of_a_plugin(world):
    """A check with more processes than allowed is ended."""
    c, _ = ward(world, ['n1'], checks=CHECKS + 'Check=many Probe=plugin Observe=yes Deadline=1m Every=1h '
                'Run="for i in $(seq 300); do sleep 1000 & done; wait"\n')
    wait('it is said', lambda: 'more than 256 processes' in verdict(c, 'many').get('text', ''))


def test_processes_that_a_remedy_leaves_behind(world):
    """A command that failed or ran out of time leaves no process; a background process of a successful one stays."""
    c, _ = ward(world, ['n1'], remedy=[
        f'Remedy=ask Run="node:{LOST}; touch {world.dir}/n1.ready; sleep 1000" Helps=scratch '
        'Needs=nothing Confidence=80% Because="a try" Takes=1s Deadline=3s Disturbs=0 Tries=1'])
    unmount(world, 'n1')
    wait('it is under way', lambda: os.path.exists(world.path('n1.ready')) and lost(world))
    wait_step(c, 'n1', 'queue')
    equal(lost(world), [], 'what is left of it')
    contains(repair(c, 'n1')['attempts'][-1]['text'], 'killed', 'what is said of it')


def test_a_remedy_that_cannot_be_killed(world):
    nfs, c, agent = clinic(world, '', remedy=(
        f'Remedy=ask Run="node:exec stat -f {world.dir}/n1/nfs" Helps=scratch Needs=nothing Confidence=80% '
        'Because="a try" Takes=1s Deadline=2s Disturbs=0 Tries=1'))
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + NFS)
    wait_step(c, 'n1', 'queue')
    attempt = repair(c, 'n1')['attempts'][-1]
    equal(attempt['done'], False, 'whether it was carried out')
    contains(attempt['text'], 'could not be killed', 'what is said of it')
    equal(len(stuck(world)), 1, 'processes that cannot be killed')
    change(world, 'n1', MOUNTINFO, ROOT_MOUNT + SCRATCH + NFS)
    c.fettle('queue', 'resolve', 'n1', '--reason', 'mounted by hand')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')
    agent.process.stop()
    nfs.end()


def operations(agent):
    with open(agent.run + '/operations', encoding='utf-8') as f:
        return json.load(f)['operations']


def test_the_root_disk_hangs(world):
    """The agent is heard, takes new checks, hears the kernel and carries out remedies. It says what hangs, and waits
    with one process for each thing that hangs. What it could not write is written when the disk is back."""
    need_root()
    own_mounts()
    disk = HangingFiles(world, world.path('agent-n1-0'))  # its directory of state
    etc = Hanging(world, world.path('n1', 'etc', 'fettle'))
    space = SPACE.format('/etc/fettle')
    asks = (f'Remedy=ask Run="node:cp {world.dir}/n1.mounted {world.dir}/n1/proc/self/mountinfo" Helps=scratch '
            'Needs=nothing Confidence=80% Because="a try" Takes=1s Deadline=20s Disturbs=0')
    c, agents = ward(world, ['n1'], checks=CHECKS + PULSE.format(world.dir) + space, remedy=asks)
    agent = agents['n1']
    disk.hang()
    etc.hang()
    wait('it is said what hangs', lambda: 'probe.stuck' in verdict(c, 'space').get('text', ''))
    world.write('checks.conf', CHECKS + PULSE.format(world.dir) + space + 'Check=second Probe=plugin Run="exit 1" '
                'Every=1s Observe=yes\n')
    c.fettle('reload')
    wait('a new check is run', lambda: verdict(c, 'second').get('result') == 'warn')
    c.fettle('conform', 'recheck', 'n1')  # which reads its configuration
    unmount(world, 'n1')
    wait('a remedy is carried out', lambda: os.path.exists(agent.run + '/operations') and
         any(o['state'] == 'done' for o in operations(agent)))
    kernel_says(world, 'n1', 'EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm bash: reading directory')
    wait('the kernel is heard', lambda: verdict(c, 'kernel')['result'] not in ('ok', 'unknown'))
    with open(agent.run + '/kernel-log', encoding='utf-8') as f:
        contains(f.read(), 'ext4', 'what is kept of what the kernel said')
    before, processes = pulses(world), len(world.marked())
    wait('many periods are over', lambda: pulses(world) >= before + 8)
    check(len(stuck(world)) <= 5, lambda: f'{len(stuck(world))} processes wait for it')
    check(len(world.marked()) <= processes + 2, lambda: f'{len(world.marked())} processes, and {processes} before')
    equal(c.suspected(), [], 'nodes that were suspected')
    disk.resume()
    etc.end()
    wait('the new checks are written', lambda: b'Check=second' in disk.files[b'checklist'].bytes)
    wait('and the operation', lambda: b'"done"' in disk.files[b'operations'].bytes)
    wait('nobody waits any more', lambda: not stuck(world))
    disk.end()


main(at_once=3)
