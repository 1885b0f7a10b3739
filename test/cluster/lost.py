# SPDX-License-Identifier: Apache-2.0
"""Nodes that stay silent: looked at from outside, and repaired by their BMC where nothing else explains it. A BMC is a
script here, which writes down what it was told; a node that died is an agent that was killed."""
import os
import sys
import time

from fleet import accept, boot_id, change, diff, reboot, wait_conformance
from fuse import FailingFiles, Hanging, HangingFiles, own_mounts
from harness import contains, equal, holds, main, need_root, wait
from ward import health, incidents, mount, repair, step, steps, unmount, wait_step, ward

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'power'))
import redfish

BMC = '''#!/bin/sh
test -e {dir}/$FETTLE_NODE.mute && {{ echo no answer >&2; exit 1; }}
test "$1" = status || echo "$1" >>{dir}/$FETTLE_NODE.power
echo on
echo "1 | Watchdog2 | Hard reset"
'''
CYCLE = ('Remedy=cycle Run=power.cycle Helps=node.lost Confidence=70% Because="a kernel that panicked" Takes=20s '
         'Deadline=60s Disturbs=60 Settle=1s')
# Silent after 4 s, lost after 8 s.
TIMES = {'HeartBeatInterval': 1, 'LateAfter': 2, 'HeartBeatTimeout': 4, 'LostAfter': 8, 'SurgeNodes': 1000,
         'EvidenceAge': '10s'}
LOST_S = 8


def lost_ward(world, names, remedy=CYCLE, **settings):
    bmc = world.write('bmc.sh', BMC.format(dir=world.dir))
    os.chmod(bmc, 0o755)
    bmcs = world.write('bmc.conf', f'Nodes={",".join(names)} Driver=script Run={bmc}\n')
    return ward(world, names, remedy=remedy, BmcConf=bmcs, **{**TIMES, **settings})


def told(world, node):
    """The commands that the node's BMC got."""
    path = world.path(f'{node}.power')
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return f.read().split()


def boots(world, agents, node):
    change(world, node, 'proc/sys/kernel/random/boot_id', boot_id() + '\n')
    agents[node].start()


PANIC = 'Panic#1 Part1\n<0>[   61.002] Kernel panic - not syncing: Fatal machine check\n'


def crashes(world, agents, node, record=PANIC):
    """Its agent is gone, and it is on another boot, in which systemd has put away what the last one left."""
    now = int(time.time())
    agents[node].process.kill()
    change(world, node, 'proc/uptime', '2.00 2.00\n')
    change(world, node, 'proc/stat', f'cpu 0\nbtime {now}\n')
    os.makedirs(world.path(node, 'var/lib/systemd/pstore/1'), exist_ok=True)
    world.write(f'{node}/var/lib/systemd/pstore/1/dmesg.txt', record)
    boots(world, agents, node)


def test_a_silent_node_is_power_cycled_and_returns(world):
    c, agents = lost_ward(world, ['n1', 'n2'])
    agents['n1'].process.kill()
    began = time.monotonic()
    wait('its BMC was told', lambda: told(world, 'n1'))
    took = time.monotonic() - began
    print(f'power cycled {took:.1f} s after it died, {took - LOST_S:.1f} s after LostAfter')
    equal(took >= LOST_S - 1.5, True, 'nothing was done before it was lost')
    crashes(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    equal(told(world, 'n1'), ['cycle'], 'what its BMC was told')
    equal([(f['code'], f['text']) for i in health(c, 'n1')['past'] for f in i['findings']][1:],
          [('boot.panic', 'its kernel panicked: Kernel panic - not syncing: Fatal machine check')], 'why it was lost')
    equal(incidents(c, 'n1'), [], 'what is open of a boot that was asked for')
    wait('it is judged', lambda: [(a['remedy'], a['verdict']) for a in repair(c, 'n1')['attempts']] ==
         [('cycle', 'helped')])
    said = ' '.join(e['text'] for e in c.journal() if e['what'] == 'health.findings' and e['nodes'] == 'n1')
    contains(said, 'lost node.lost: not heard for', 'the journal')
    contains(said, "the BMC's log ends with: 1 | Watchdog2 | Hard reset", 'the journal')
    contains(said, 'info boot.panic: its kernel panicked: Kernel panic - not syncing: Fatal machine check', 'the journal')
    equal((told(world, 'n2'), step(c, 'n2')), ([], 'none'), 'the other one')


def test_a_node_that_loops_is_out_at_the_second(world):
    """Not at the first, which is told; over a restart of the controller; and no boot counts that a person asked for."""
    c, agents = lost_ward(world, ['n1', 'n2'], LostAfter=0)
    crashes(world, agents, 'n1')
    wait('it is told', lambda: incidents(c, 'n1'))
    c.wait_nodes('it goes on', ['n1'], Lifecycle='available', Schedulable=True,
                 LastBoot='panic: Kernel panic - not syncing: Fatal machine check')
    first = health(c, 'n1')['open']
    equal([(i['severity'], f['check'], f['code']) for i in first for f in i['findings']],
          [('warn', 'node.boot', 'boot.panic')], 'what is told')
    c.restart()
    c.wait_nodes('it goes on under another controller', ['n1', 'n2'], Lifecycle='available', Schedulable=True)
    crashes(world, agents, 'n1', '')
    wait_step(c, 'n1', 'queue')
    equal([(i['severity'], f['code']) for i in health(c, 'n1')['open'] for f in i['findings']],
          [('fatal', 'boot.panic'), ('fatal', 'boot.unknown')], 'what is told of the second')
    c.fettle('node', 'drain', 'n2', '--reason', 'mine')
    for _ in range(2):
        boot = c.node('n2')['Boot']
        crashes(world, agents, 'n2')
        wait('it is on another boot', lambda: c.node('n2')['Boot'] not in (boot, None))
        c.wait_nodes('it is a person\'s', ['n2'], Lifecycle='drained')
    c.fettle('node', 'undrain', 'n2')
    c.wait_nodes('it is back', ['n2'], Lifecycle='available', Schedulable=True)
    equal(incidents(c, 'n2'), [], 'what is told of boots that a person asked for')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'another board')
    c.wait_nodes('a person answered for it', ['n1'], Lifecycle='available', Schedulable=True)


def test_nodes_that_are_not_repaired(world):
    """These nodes are a node whose BMC does not answer, a node that a person has, and many nodes that are silent at once."""
    names = [f'n{i}' for i in range(1, 9)]
    c, agents = lost_ward(world, names, MaxSilentShare=40)
    world.write('n1.mute', '')
    c.fettle('node', 'drain', 'n2', '--reason', 'mine')
    for n in ('n1', 'n2'):
        agents[n].process.kill()
    wait_step(c, 'n1', 'queue')
    contains(' '.join(steps(c, 'n1')), 'its BMC does not answer', 'why a person is asked')
    contains(c.fettle('queue', 'resolve', 'n1', '--reason', 'mended', status=3), 'when it answers again it is tested and '
             'returns by itself', 'what is said to who resolves it')
    equal(step(c, 'n1'), 'queue', 'where it is')
    agents['n1'].start()
    c.wait_nodes('nobody took it: it returns by itself', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    contains(steps(c, 'n1')[-2], 'queue -> provision: it was lost, and is heard again', 'how it returned')
    agents['n1'].process.kill()
    for n in names[3:]:
        agents[n].process.kill()
    wait('the alarm is raised', lambda: 'silence' in c.alarms())
    holds('nobody is repaired', LOST_S + 4, lambda: all(step(c, n) == 'none' for n in names[1:]))
    equal([told(world, n) for n in names], [[]] * len(names), 'what BMCs were told')


def test_a_bmc_does_the_work_that_its_agent_cannot(world):
    """The node's agent cannot record what it is about to do."""
    lines = ['Remedy=restart Run="node:true" Helps=* Confidence=90% Because="a try" Takes=1s Disturbs=0',
             'Remedy=reboot Run=reboot Helps=* Confidence=80% Because="a try" Takes=2s Disturbs=0',
             CYCLE.replace('node.lost', '*')]
    c, agents = lost_ward(world, ['n1'], remedy=lines, LostAfter=0)
    blocker = os.path.join(agents['n1'].run, 'operations.new')
    os.mkdir(blocker)
    unmount(world, 'n1')
    wait('its BMC was told', lambda: told(world, 'n1'))
    tried = [(a['remedy'], a['verdict'], a['done']) for a in repair(c, 'n1')['attempts']]
    equal(tried[0], ('restart', 'not counted', False), 'what its agent refused')
    equal([r for r, _, _ in tried], ['restart', 'cycle'], 'what was tried')
    os.rmdir(blocker)
    agents['n1'].process.kill()
    mount(world, 'n1')
    boots(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)


def test_a_reboot_that_a_hung_disk_would_hold_up(world):
    """The agent refuses it, and its BMC is told at once."""
    need_root()
    own_mounts()
    disk = HangingFiles(world, world.path('agent-n1-0'))  # its directory of state
    lines = ['Remedy=reboot Run=reboot Helps=* Confidence=80% Because="a try" Takes=2s Disturbs=0', CYCLE.replace('node.lost', '*')]
    c, agents = lost_ward(world, ['n1'], remedy=lines, LostAfter=0)
    disk.hang()
    unmount(world, 'n1')
    wait('its BMC was told', lambda: told(world, 'n1'))
    tried = repair(c, 'n1')['attempts']
    equal([(a['remedy'], a['verdict']) for a in tried[:1]], [('reboot', 'not counted')], 'what its agent refused')
    contains(tried[0]['text'], 'the disk of the node hangs', 'why')
    equal([a['remedy'] for a in tried], ['reboot', 'cycle'], 'what was tried')
    agents['n1'].process.kill()
    disk.resume()
    mount(world, 'n1')
    boots(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    disk.end()


def reboots_by(world, node, script):
    """A node on which `reboot` is this."""
    world.write(f'{node}/sbin/reboot', '#!/bin/sh\n' + script)
    os.chmod(world.path(node, 'sbin/reboot'), 0o755)


def test_a_reboot_that_a_failing_disk_would_hold_up(world):
    """The kernel still has the program, and systemd would begin. The agent refuses it, and its BMC is told at once."""
    need_root()
    own_mounts()
    disk = FailingFiles(world, world.path('n1', 'sbin'))
    reboots_by(world, 'n1', f'touch {world.path()}/begun\n')
    lines = ['Remedy=reboot Run=reboot Helps=* Confidence=80% Because="a try" Takes=2s Disturbs=0', CYCLE.replace('node.lost', '*')]
    c, agents = lost_ward(world, ['n1'], remedy=lines, LostAfter=0)
    with open(world.path('n1', 'sbin/reboot'), encoding='utf-8') as f:
        f.read()
    disk.fail()
    unmount(world, 'n1')
    wait('its BMC was told', lambda: told(world, 'n1'))
    tried = repair(c, 'n1')['attempts']
    equal([(a['remedy'], a['verdict']) for a in tried[:1]], [('reboot', 'not counted')], 'what its agent refused')
    contains(tried[0]['text'], 'sbin/reboot: Input/output error', 'why')
    equal((tried[1]['remedy'], os.path.exists(world.path('begun'))), ('cycle', False), 'what was done')
    agents['n1'].process.kill()
    mount(world, 'n1')
    boots(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    disk.end()


def test_a_shutdown_that_hangs(world):
    """It is cut short by the node itself, whose agent is gone by then."""
    line = 'Remedy=reboot Run=reboot Helps=* Confidence=80% Because="a try" Takes=2s Deadline=8s Disturbs=0'
    c, agents = lost_ward(world, ['n1'], remedy=[line, CYCLE], LostAfter=0)
    reboots_by(world, 'n1', f'touch {world.path()}/begun\n')
    trigger = world.write('n1/proc/sysrq-trigger', '')
    unmount(world, 'n1')
    wait('it goes down', lambda: os.path.exists(world.path('begun')))
    agents['n1'].process.kill()

    def told_kernel():
        with open(trigger, encoding='utf-8') as f:
            return f.read()
    wait('the kernel is told to restart', lambda: told_kernel() == 'sb', 20)
    mount(world, 'n1')
    boots(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    equal(([a['remedy'] for a in repair(c, 'n1')['attempts']], told(world, 'n1')), (['reboot'], []), 'what was tried')


def test_a_node_that_dies_before_it_said_what_runs_there(world):
    """On a boot on which it was not in service yet: nothing runs there, and it is repaired."""
    need_root()
    own_mounts()
    c, agents = lost_ward(world, ['n1'])
    agents['n1'].process.kill()
    work = Hanging(world, world.path('n1', 'run', 'fettle', 'work'))
    work.hang()
    unmount(world, 'n1')  # so that it does not get into service
    boots(world, agents, 'n1')
    c.wait_nodes('it is heard, and it is not known whether work runs on it', ['n1'], Liveness='live', Health='fatal', Work='unknown')
    agents['n1'].process.kill()
    wait('its BMC was told', lambda: told(world, 'n1'))
    work.end()
    mount(world, 'n1')
    boots(world, agents, 'n1')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)


def redfish_ward(world, names, **settings):
    secret = world.write('secret', 's3cret\n')
    os.chmod(secret, 0o600)
    bmcs = {n: redfish.Bmc('openbmc') for n in names}
    world.cleanups += [b.end for b in bmcs.values()]
    lines = [f'Nodes={n} Driver=redfish Address={b.url} User=admin PasswordFile={secret}\n' for n, b in bmcs.items()]
    c, agents = ward(world, names, BmcConf=world.write('bmc.conf', ''.join(lines)), **{**TIMES, **settings})
    return c, agents, bmcs


def parts(c, node):
    return {d['component']: d['actual']['value'] for d in diff(c, node)['differences']}


def test_bmcs_tell_by_redfish(world):
    """The firmware of BMCs joins the components of the nodes, a lock is a hold, and a BMC tells of a node that stays silent."""
    names = ['n1', 'n2']
    c, agents, bmcs = redfish_ward(world, names)
    manager = '/redfish/v1/Managers/bmc'
    wait('what both tell is recorded', lambda: sorted(c.table('Name')) == names and
         sum(e['nodes'].count('n') for e in c.journal() if e['what'] == 'node.bmc') > 0 and
         len(c.get('/v1/conform/groups')['groups']) == 1)
    accept(c, 'n1')
    wait_conformance(c, names, 'conformant')
    bmcs['n2'].tree[manager]['FirmwareVersion'] = '2.15.0'
    bmcs['n2'].system['Status'] = {'State': 'Updating'}
    reboot(world, agents['n2'])
    wait_conformance(c, ['n2'], 'drifted')
    equal(parts(c, 'n2'), {'redfish.bmc.firmware': '2.15.0'}, 'what differs')
    for words in (('node', 'show', 'n2'), ('remedy', 'explain', 'n2')):
        contains(c.fettle(*words), 'bmc: locked: the system is Updating', ' '.join(words))
    for b in bmcs.values():
        b.hang = True
    c.process.kill()
    c.start()
    c.wait_nodes('they are heard', names, Liveness='live')
    wait_conformance(c, ['n1'], 'conformant')
    wait_conformance(c, ['n2'], 'drifted')
    for b in bmcs.values():
        b.hang = False
        b.released.set()
    agents['n1'].process.kill()

    def said():
        return ' '.join(e['text'] for e in c.journal() if e['what'] == 'health.findings' and e['nodes'] == 'n1')
    wait('it is lost', lambda: 'node.lost' in said())
    contains(said(), 'its watchdog: not enabled, action ResetSystem, Enabled', 'the evidence')
    contains(said(), "the BMC's log ends with: 2024-05-01T10:00:00+00:00 | Power restored", 'the evidence')
    equal([b.log for b in bmcs.values()], [[], []], 'what BMCs were told')
    bmcs['n2'].released.clear()
    bmcs['n2'].hang = True
    asked = bmcs['n2'].requests
    reboot(world, agents['n2'])
    wait('it is asked, and the controller ends meanwhile', lambda: bmcs['n2'].requests > asked)


main(at_once=3)
