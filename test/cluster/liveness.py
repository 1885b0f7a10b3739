# SPDX-License-Identifier: Apache-2.0
"""Which nodes are late, which are down, and which are not at fault."""
import os
import time

from harness import CALM, QUICK, Agent, Controller, check, contains, equal, fake_root, holds, main, swarm, wait


def journal_of(c, *whats):
    return [(e['what'], e['nodes']) for e in c.journal() if e['what'] in whats]


def test_late_and_back_then_down_and_back(world):
    """Late takes no new work and is otherwise undisturbed; down is a claim that goes when it is heard."""
    c = Controller(world, 'Name=n01\n', **QUICK)
    agent = Agent(world, c, 'n01').process
    c.wait_nodes('it is heard', ['n01'], State='IDLE', Schedulable=True)
    wait('what it is was recorded', lambda: any(e['what'] == 'conform.seen' for e in c.journal()))
    events, revision = c.events(), c.status()['revision']

    agent.pause()
    events.wait('node.late', nodes='n01')
    c.wait_nodes('it is late', ['n01'], Liveness='late', State='IDLE', Schedulable=False)
    check(c.node('n01')['Why'], 'nothing in Why of a late node')
    agent.resume()
    events.wait('node.live', nodes='n01')
    c.wait_nodes('it is back', ['n01'], Liveness='live', State='IDLE', Schedulable=True, Claims=0)
    equal(c.status()['revision'], revision, 'the revision, for a node that was back within its grace')

    agent.pause()
    events.wait('node.silent', nodes='n01')
    c.wait_nodes('it is down', ['n01'], Liveness='silent', State='DOWN', Lifecycle='down', Claims=1)
    contains(c.fettle('node', 'up', 'n01', status=3), 'silent', 'up of a silent node')
    agent.resume()
    events.wait('node.heard', nodes='n01')
    c.wait_nodes('it is in service', ['n01'], Liveness='live', State='IDLE', Schedulable=True, Claims=0)
    equal(journal_of(c, 'node.silent', 'node.heard'), [('node.silent', 'n01'), ('node.heard', 'n01')], 'the journal')
    events.close()


def test_timeouts(world):
    """Borrowed nodes are given up first, sensitive ones last."""
    c = Controller(world, 'Name=lent Borrowed=yes\nName=plain\nName=grave Sensitive=yes\n', HeartBeatInterval='500ms',
                   BorrowedLateAfter='1s', BorrowedTimeout='2s', LateAfter='8s', HeartBeatTimeout='9s',
                   SensitiveLateAfter='15s', SensitiveTimeout='16s', MaxSilentShare=100)
    agents = swarm(world, c, 'lent,plain,grave')
    c.wait_nodes('all are heard', ['lent', 'plain', 'grave'], State='IDLE')
    events = c.events()
    agents.pause()
    events.wait('node.silent', nodes='grave')
    seen = [(e['name'], e['nodes']) for e in events.seen if e['name'] in ('node.late', 'node.silent')]
    wanted = [(what, node) for node in ('lent', 'plain', 'grave') for what in ('node.late', 'node.silent')]
    equal(seen, wanted, 'the order of things')
    events.close()
    agents.resume()
    c.wait_nodes('all are back', ['lent', 'plain', 'grave'], State='IDLE')


def test_the_controller_stood_still(world):
    """Stopped for longer than the timeout, it blames nobody."""
    c = Controller(world, 'Name=n[01-20]\n', HeartBeatInterval='1s', LateAfter='2s', HeartBeatTimeout='3s')
    swarm(world, c, 'n[01-19]')
    Agent(world, c, 'n20')
    names = [f'n{i:02}' for i in range(1, 21)]
    c.wait_nodes('all are heard', names, State='IDLE')
    before = len(c.suspected())
    c.process.pause()
    time.sleep(5)  # longer than HeartBeatTimeout is what this is about
    c.process.resume()
    holds('nobody is down', 4, lambda: all(n['State'] == 'IDLE' for n in c.table().values()))
    late = c.suspected()[before:]
    equal(late, [], 'nodes that were suspected')
    contains(c.log(), 'the loop stood still', 'the log')


def test_everything_stood_still(world):
    """A machine that was suspended with all that runs on it: nobody could have been heard."""
    c = Controller(world, 'Name=n[01-20]\n', HeartBeatInterval='1s', LateAfter='5s', HeartBeatTimeout='30s')
    crowd = swarm(world, c, 'n[01-20]')
    names = [f'n{i:02}' for i in range(1, 21)]
    c.wait_nodes('all are heard', names, State='IDLE')
    for process in (crowd, c.process):
        process.pause()
    time.sleep(8)  # longer than LateAfter is what this is about
    c.process.resume()
    holds('nobody is suspected', 2, lambda: not c.suspected())
    crowd.resume()
    holds('nobody is suspected', 2, lambda: not c.suspected())
    c.wait_nodes('all are live', names, State='IDLE', Liveness='live')


def test_reboot(world):
    """A new boot of the same node is the same node: heard at once, with its new boot id."""
    boots = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
    c = Controller(world, 'Name=n01\nName=n02\n', **CALM)
    agent = Agent(world, c, 'n01', root=fake_root(world, 'n01', boots[0]))
    c.wait_nodes('the first boot', ['n01'], State='IDLE', Boot=boots[0])
    equal((c.node('n01')['RealMemory'], c.node('n01')['VirtualMemory']), (2048, 3072), 'memory of the fixture')
    revision = c.status()['revision']
    agent.process.kill()
    fake_root(world, 'n01', boots[1])
    agent.start()
    c.wait_nodes('the second boot', ['n01'], State='IDLE', Boot=boots[1], Liveness='live')
    players = swarm(world, c, 'n02', script='3s reboot n02\n')
    first = wait('the player is heard', lambda: c.node('n02')['Boot'])
    wait('the player has rebooted', lambda: c.node('n02')['Boot'] not in (first, ''))
    c.wait_nodes('it is live', ['n02'], State='IDLE', Liveness='live')
    players.stop()
    equal(journal_of(c, 'node.silent', 'node.heard'), [], 'the journal')
    again = [e['nodes'] for e in c.journal() if e['what'] == 'node.admitted' and 'another boot' in e['text']]
    equal(again[:1], ['n01'], 'whose boot is recorded')
    check(c.status()['revision'] <= revision + 3, 'more than that was committed')


def test_mass_silence(world):
    """When too many fall silent at once there is one alarm and nobody goes down; a few are taken down, by
    one claim."""
    c = Controller(world, 'Name=n[001-100]\n', MaxSilentShare=25, **QUICK)
    swarm(world, c, 'n[001-050]', name='faithful')
    few = swarm(world, c, 'n[051-060]', name='few')
    many = swarm(world, c, 'n[061-100]', name='many')
    names = [f'n{i:03}' for i in range(1, 101)]
    c.wait_nodes('all are heard', names, State='IDLE')
    events = c.events()

    many.pause()
    alarm = events.wait('alarm.silence')
    contains(alarm['text'], 'of 100 nodes', 'the alarm')
    contains(c.fettle('status'), 'ALARM', 'fettle status')
    c.wait_nodes('they are known to be silent', names[60:], Liveness='silent')
    holds('nobody is down', 3, lambda: all(n['State'] == 'IDLE' for n in c.table().values()))
    many.resume()
    events.wait('alarm.over')
    c.wait_nodes('all are back', names, State='IDLE', Liveness='live')
    equal(len(c.log_lines(' alarm.silence: ')), 1, 'alarms')
    equal(journal_of(c, 'node.silent'), [], 'the journal')
    check('ALARM' not in c.fettle('status'), 'the alarm stays in the status')

    few.pause()
    c.wait_nodes('few are down', names[50:60], State='DOWN')
    equal(len(c.log_lines(' alarm.silence: ')), 1, 'alarms')
    c.wait_nodes('the others are not', names[:50] + names[60:], State='IDLE')
    few.resume()
    c.wait_nodes('all are back', names, State='IDLE', Liveness='live')
    events.close()


def test_when_it_was_last_heard(world):
    """A dead node and its inventory are known after a restart, whether the controller was stopped or killed."""
    c = Controller(world, 'Name=n01\nName=n02\n', **QUICK)
    agents = {n: Agent(world, c, n).process for n in ('n01', 'n02')}
    c.wait_nodes('they are heard', ['n01', 'n02'], State='IDLE')
    kept = os.path.join(c.state, 'last-heard')
    agents['n01'].kill()
    c.wait_nodes('it is down', ['n01'], State='DOWN')
    last = c.node('n01')['LastResponse']
    wait('that is kept', lambda: os.path.exists(kept) and f'{last} n01' in open(kept).read())
    had = c.node('n01')['CPUs']
    check(had, 'the node says how many processors it has')
    wait('what it had is kept', lambda: '"CPUs"' in open(os.path.join(c.state, 'last-known')).read())
    c.process.kill()
    c.start()
    equal(c.node('n01')['LastResponse'], last, 'LastResponse after a kill')
    shown = c.fettle('node', 'show', 'n01')
    contains(shown, 'LastResponse', 'fettle node show')
    contains(shown, 'Inventory, as of 20', 'the age of what is shown')
    equal(c.node('n01')['CPUs'], had, 'its processors after a kill')
    wait('the other one reports anew', lambda: c.node('n02')['CPUs'] == had)
    agents['n02'].kill()
    c.restart()
    equal(c.node('n01')['LastResponse'], last, 'LastResponse after another restart')
    equal(c.node('n01')['CPUs'], had, 'its processors after another restart')
    equal(c.node('n02')['CPUs'], had, 'the processors of a node that died while the controller was stopped')
    check(c.node('n02')['LastResponse'], 'of a node that died while the controller was stopped nothing is known')
    with open(kept, 'w') as f:
        f.write(f'garbage\n{last} n[01\n1 n01\n')
    c.process.kill()
    with open(os.path.join(c.state, 'last-known'), 'w') as f:
        f.write('garbage\nn01 {"CPUs":\nn02 {"CPUs":7}\n')
    c.start()
    equal([c.node(n)['CPUs'] for n in ('n01', 'n02')], [None, 7], 'what the lines say that can be read')
    equal(c.node('n01')['LastResponse'], 1, 'LastResponse from the line that can be read')


def test_a_restarted_controller_waits(world):
    """It judges nobody before a full window has passed, and what was down before stays down."""
    c = Controller(world, 'Name=n[01-08]\n', MaxSilentShare=100, **QUICK)
    early = swarm(world, c, 'n01', name='early')
    others = swarm(world, c, 'n[02-08]', name='others')
    names = [f'n{i:02}' for i in range(1, 9)]
    c.wait_nodes('all are heard', names, State='IDLE')
    early.kill()
    c.wait_nodes('one is down', names[:1], State='DOWN')
    c.process.kill()
    others.kill()
    began = time.monotonic()
    c.start()
    c.wait_nodes('they are as they were', names[1:], Liveness='unheard', State='IDLE', Schedulable=False)
    equal(c.node('n01')['State'], 'DOWN', 'the node that was down')
    c.wait_nodes('they are given up', names[1:], State='DOWN')
    check(time.monotonic() - began >= 6, f'they were given up after {time.monotonic() - began:.1f} s')
    again = swarm(world, c, 'n[01-08]', name='again')
    c.wait_nodes('all are back', names, State='IDLE', Liveness='live')
    again.stop()


main()
