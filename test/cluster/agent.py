# SPDX-License-Identifier: Apache-2.0
"""The agent on its own: reports once, waits, outlives its controller, reads a root that it is given."""
import os
import re
import socket
import time
import uuid

from harness import CALM, ROOT, SANITIZED, Agent, Controller, check, contains, equal, fake_root, holds, main, program, wait

BOOT = '33333333-3333-4333-8333-333333333333'


def test_capacity_is_told_in_steps_and_preferred(world):
    """How much memory is free is a field of a node, and work goes where there is room."""
    roots = {n: fake_root(world, n, str(uuid.uuid4())) for n in ('n01', 'n02', 'n03')}
    for node, free in (('n01', 500000), ('n02', 2000000)):
        with open(os.path.join(roots[node], 'proc/meminfo'), 'a') as f:
            f.write(f'MemAvailable:    {free} kB\n')
    c = Controller(world, ''.join(f'Name={n}\n' for n in roots), **CALM)
    for node, root in roots.items():
        Agent(world, c, node, root=root)
    c.wait_nodes('they take work', list(roots), Schedulable=True)
    equal([c.node(n)['FreeMemory'] for n in roots], [512, 1920, None], 'what is free, in steps of 128 MiB')
    equal(c.node('n01')['GPUUse'], None, 'the GPUs of a node without any')
    equal(c.fettle('node', 'list', '-o', 'name,FreeMemory', '--where', 'FreeMemory>1000').split()[2:], ['n02', '1920'],
          'the nodes with more than 1000 MiB')
    contains(c.fettle('node', 'show', 'n01'), 'FreeMemory', 'fettle node show')
    said = c.fettle('place', '-N', '2', '--policy', 'interactive')
    contains(said, 'n[02-03]', 'the nodes with room')
    contains(said, 'room 1.000 * 0.050', 'the term of the score')
    contains(c.fettle('place', '-N', '3'), 'room 0.666', 'the term where one has none')


def test_once(world):
    """-i 0 reports once and ends; without a controller it says so."""
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01', '-i', '0')
    equal(agent.process.wait_end(), 0, 'the exit status')
    wait('its report is there', lambda: c.node('n01')['RealMemory'] and c.node('n01')['Boot'])
    wait('it was heard', lambda: c.node('n01')['LastResponse'])
    agent.start()
    equal(agent.process.wait_end(), 0, 'the exit status of a second report')
    c.process.stop()
    agent.start()
    check(agent.process.wait_end() > 0, 'a report to nobody ended with 0')


def test_interval_zero(world):
    """HeartBeatInterval 0: agents report once and stay connected; nobody is judged. A reload wakes them."""
    c = Controller(world, 'Name=n01\n', HeartBeatInterval=0, LateAfter='1s', HeartBeatTimeout='2s')
    Agent(world, c, 'n01')
    c.wait_nodes('it has reported', ['n01'], State='IDLE', Liveness='live')
    last = c.node('n01')['LastResponse']
    holds('nobody is judged', 4, lambda: c.node('n01')['State'] == 'IDLE')
    equal(c.node('n01')['LastResponse'], last, 'the last response')
    c.write(HeartBeatInterval='500ms', LateAfter='5s', HeartBeatTimeout='10s')
    c.fettle('reload')
    wait('it reports again', lambda: c.node('n01')['LastResponse'] > last)
    c.write(HeartBeatInterval=0, LateAfter='1s', HeartBeatTimeout='2s')
    c.fettle('reload')
    holds('nobody is judged', 3, lambda: c.node('n01')['State'] == 'IDLE')
    equal(c.suspected(), [], 'nodes that were suspected')


def test_without_a_controller(world):
    """It does not grow while nobody is there, comes back by itself, and reports what has changed."""
    c = Controller(world, 'Name=n01\nName=n02\n', **CALM)
    root = fake_root(world, 'n01', BOOT)
    agent = Agent(world, c, 'n01', root=root)
    c.wait_nodes('it is heard', ['n01'], State='IDLE', Work='idle')
    before = agent.process.memory_kb('VmHWM')  # what a link takes; it gives some back while nothing happens
    c.process.kill()
    time.sleep(6)  # the time without a controller is what this is about
    away = agent.process.memory_kb()
    check(away - before < (4096 if SANITIZED else 512), f'it grew from {before} to {away} KiB in 6 s alone')
    tries = agent.process.log().count('no link')
    check(tries <= 4, f'{tries} lines about the same trouble')
    world.write('n01/run/fettle/work/job.17', '')
    c.start()
    c.wait_nodes('it is back', ['n01'], Liveness='live', Work='busy', State='BUSY', Running=['job.17'])
    check(agent.process.memory_kb() - before < (4096 if SANITIZED else 768), 'it grew by coming back')
    c.fettle('node', 'drain', 'n01', '--reason', 'x')
    c.wait_nodes('its work is awaited', ['n01'], State='DRAINING')
    os.unlink(world.path('n01/run/fettle/work/job.17'))
    c.wait_nodes('its work has ended', ['n01'], State='DRAINED', Work='idle')


def test_several_controllers(world):
    """Among its addresses the agent finds the one that answers."""
    c = Controller(world, 'Name=n01\n', **CALM)
    with socket.socket() as closed, socket.socket() as mute:
        for s in (closed, mute):
            s.bind(('127.0.0.1', 0))
        dead = f'127.0.0.1:{closed.getsockname()[1]}'
        agent = Agent(world, c, 'n01', '-c', dead, '-c', 'no.such.host.invalid:1', '-c', f'127.0.0.1:{c.port}')
        c.wait_nodes('it is heard', ['n01'], State='IDLE')
        agent.process.stop()


def test_fixture_root(world):
    """The agent reports what is below its root, and invents nothing."""
    c = Controller(world, 'Name=n01\n', **CALM)
    root = fake_root(world, 'n01', BOOT)
    world.write('n01/proc/sys/kernel/ostype', 'Linux\n')
    world.write('n01/proc/sys/kernel/osrelease', '2.4.7-10\n')
    world.write('n01/proc/cpuinfo', 'processor\t: 0\nmodel name\t: x\ncpu MHz\t\t: 863.863\n')
    world.write('n01/sys/devices/system/cpu/online', '0-1\n')
    Agent(world, c, 'n01', root=root)
    c.wait_nodes('it is heard', ['n01'], State='IDLE', Boot=BOOT)
    wait('its inventory', lambda: c.node('n01')['OS'])
    node = c.node('n01')
    equal((node['OS'], node['CPUs'], node['RealMemory'], node['VirtualMemory']), ('Linux.2.4.7-10', 2, 2048, 3072),
          'OS, CPUs and memory')
    equal((node['GPUs'] or 0, node['NICs'] or 0), (0, 0), 'devices that are not there')
    equal(node['Uptime'] // 100, 12, 'hundreds of seconds of uptime')


def test_stops_at_once(world):
    """SIGTERM is a goodbye: it ends with 0, and the controller knows that nobody speaks for the node."""
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01')
    c.wait_nodes('it is heard', ['n01'], State='IDLE')
    agent.process.stop()
    wait('its connection is gone', lambda: c.status()['agents'] == 0)
    agent.start()
    c.wait_nodes('it is back', ['n01'], Liveness='live')
    equal(c.suspected(), [], 'nodes that were suspected')
    for words, status in ((['--version'], 0), (['--help'], 0), (['-x'], 2), (['-i', 'abc'], 2), (['-p', '70000'], 2),
                          (['-d', 'everything'], 2), (['-c', 'host:0x'], 2), (['-i', '-1'], 2), (['join', 'a'], 2),
                          (['-h'], 0), (['check', '--local', '--help'], 0), (['prolog', '--help'], 0)):
        got, out, err = world.run([program('fettle-agent'), *words])
        equal(got, status, f'fettle-agent {words}: {out}{err}: the exit status')
    got, _, err = world.run([program('fettle-agent'), '-D', world.path('nothing')])
    check(got != 0 and 'join' in err, f'without an identity it says {err}')


def test_keys_and_state_that_others_reach(world):
    """It refuses to start, with the command that mends it; then it starts."""
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01', '-i', '0')
    equal(agent.process.wait_end(), 0, 'the exit status')
    again = [program('fettle-agent'), '-D', agent.home, '-p', '0', '-i', '0']
    spoils = [('node.key', 'chmod', '640'), ('node.pem', 'chmod', '666'), ('kernel-log', 'chmod', '606'),
              ('.', 'chmod', '777')]
    spoils += [('ca.pem', 'chown', '12345'), ('operations', 'chown', '12345')] if ROOT else []
    world.run(['install', '-m', '600', '/dev/null', os.path.join(agent.home, 'operations')])
    world.run(['install', '-m', '600', '/dev/null', os.path.join(agent.home, 'kernel-log')])
    for file, command, what in spoils:
        path = os.path.normpath(os.path.join(agent.home, file))
        world.run([command, what, path])
        status, _, err = world.run(again)
        equal(status, 5, f'{command} {what} {path}: {err}: the exit status')
        advice = re.search(r'mend it with "((?:chmod|chown) [^"]*)"', err)
        check(advice and path in err, f'{command} {what} {path}: it says {err}')
        status, _, err = world.run([program('fettle-agent'), 'join', 'fettle1.x', 'localhost', '-D', agent.home])
        check(status and not os.path.exists(os.path.join(agent.home, 'try.new')), f'join: {err}')
        equal(world.run(['sh', '-c', advice.group(1)])[0], 0, advice.group(1))
    status, _, err = world.run(again)
    equal(status, 0, f'mended, it says {err}: the exit status')
    os.makedirs(agent.run, exist_ok=True)  # what it keeps in memory counts as well
    os.chmod(agent.run, 0o777)
    status, _, err = world.run(again[:-2], env={'RUNTIME_DIRECTORY': agent.runtime})
    equal(status, 5, f'others may write {agent.run}: {err}: the exit status')
    contains(err, f'chmod go-w {agent.run}', 'what mends it')


main()
