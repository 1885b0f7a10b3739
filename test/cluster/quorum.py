# SPDX-License-Identifier: Apache-2.0
"""Several controllers with one state in etcd (Debian's): they are killed, stopped, paused and cut off from etcd, while
changes are asked for."""
import os
import random
import shutil
import socket
import threading
import time

from harness import AS, CALM, Agent, Controller, Process, Skipped, check, contains, equal, main, program, wait
from ports import free_port

NODES = 'Name=DEFAULT CPUs=1\nName=lx[001-400]\nName=' + socket.gethostname().split('.')[0] + '\n'


class Foreign(Process):
    """A daemon of others, which ends by the signal that tells it to."""

    def stop(self):
        self.wanted = False
        self.popen.terminate()
        self.popen.wait()


class Etcd:
    """An etcd of some members on this host."""

    def __init__(self, world, n=1):
        if not shutil.which('etcd'):
            raise Skipped('needs etcd')
        self.world = world
        self.ports = [(free_port(), free_port()) for _ in range(n)]
        self.cluster = ','.join(f'e{i}=http://127.0.0.1:{peer}' for i, (_, peer) in enumerate(self.ports))
        self.endpoints = 'etcd:' + ','.join(f'http://127.0.0.1:{port}' for port, _ in self.ports)
        self.members = [self.start(i) for i in range(n)]

    def start(self, i):
        client, peer = (f'http://127.0.0.1:{port}' for port in self.ports[i])
        return Foreign(self.world, f'etcd{i}', [
            'etcd', '--name', f'e{i}', '--data-dir', self.world.path(f'etcd{i}'), '--initial-cluster', self.cluster,
            '--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer,
            '--initial-advertise-peer-urls', peer, '--logger', 'zap'])


class Member(Controller):
    """One of several controllers. Its ports stay, whether it leads or not."""

    def start(self, **options):
        self.launch(**options)
        wait(f'{self.name} answers', self.status)
        self.port, self.https = self.settings['MachStatusPort'], self.settings['ApiPort']

    def role(self):
        return self.status()['role']

    def share_authority(self, other):
        """Both controllers have one authority, as an administrator gives it."""
        os.makedirs(self.state, mode=0o700, exist_ok=True)
        for name in ('ca.pem', 'ca.key'):
            shutil.copy2(os.path.join(other.state, name), self.state)


class Quorum:
    """Three controllers on one etcd."""

    def __init__(self, world, members=1, **settings):
        if AS:
            raise Skipped('these controllers run as the user of the test')
        self.world = world
        self.etcd = Etcd(world, members)
        self.all = [Member(world, NODES, name=f'c{i}', start=False,
                           **{**CALM, 'ControlMachine': f'c{i}', 'Store': self.etcd.endpoints, **settings}) for i in range(3)]
        self.all[0].start()
        for c in self.all[1:]:
            c.share_authority(self.all[0])
            c.start()
        self.leader()

    def leader(self):
        """The one that leads, when one does."""
        def found():
            leading = [c for c in self.all if c.process.status() is None and c.role() == 'leader']
            check(len(leading) < 2, f'{len(leading)} controllers say that they lead')
            return leading
        return wait('a controller leads', found)[0]

    def followers(self):
        leader = self.leader()
        return [c for c in self.all if c is not leader and c.process.status() is None]

    def sockets(self):
        return ','.join(c.socket for c in self.all)

    def fettle(self, *words, status=0):
        """The tool, which knows all controllers."""
        got, out, err = self.world.run([program('fettle'), *words], env={'FETTLE_CONTROLLER': self.sockets()})
        equal(got, status, f'fettle {" ".join(words)}: {out}{err}: the exit status')
        return out + err

    def drain_at_last(self, node, reason):
        """While etcd elects another leader, changes may be refused; their outcome is always known in the end."""
        wait(f'{node} is drained', lambda: self.world.run(
            [program('fettle'), 'node', 'drain', node, '--reason', reason], env={'FETTLE_CONTROLLER': self.sockets()})[0] == 0)

    def agreed(self, what):
        """All that run have the same state."""
        def same():
            states = {(s['revision'], s['digest']) for s in (c.status() for c in self.all if c.process.status() is None)}
            return len(states) == 1
        wait(f'{what}: all controllers have one state', same)

    def drains(self):
        """The reasons of the drains in the journal, in its order."""
        return [e['text'].split(' (')[0] for e in self.leader().journal() if e['what'] == 'node.drain']


def test_changes_reach_the_leader(world):
    """A follower refuses a change with the leader's name; the tool, which knows all three, goes on to the leader."""
    q = Quorum(world)
    leader, follower = q.leader(), q.followers()[0]
    status, answer = follower.ask('POST', '/v1/nodes/drain', {'nodes': 'lx001', 'reason': 'fan'})
    equal((status, answer['error']['code']), (421, 'not_leader'), 'a change at a follower')
    contains(answer['error']['message'], f'{leader.name} leads', 'the refusal')
    follower.fettle('node', 'drain', 'lx001', '--reason', 'fan', env={'FETTLE_CONTROLLER': f'{follower.socket},{leader.socket}'})
    q.agreed('after a drain')
    for c in q.all:
        contains(c.fettle('node', 'list', '-H', '-o', 'name,why', 'lx001'), 'fan', f'the reason at {c.name}')
    status = follower.status()
    equal((status['role'], status['quorum']['leader'], status['quorum']['current']), ('follower', leader.name, True), 'a follower')
    wait('the members are told', lambda: {m['name'] for m in follower.status()['quorum']['members']} == {'c0', 'c1', 'c2'})
    contains(follower.fettle('status'), leader.name, 'what a follower says of itself')


def test_a_killed_leader_is_replaced(world):
    """What was acknowledged stays; the agent finds the new leader; no node is suspected for the gap."""
    q = Quorum(world)
    leader = q.leader()
    name = socket.gethostname().split('.')[0]
    addresses = ','.join(f'127.0.0.1:{c.port}' for c in q.all)
    agent = Agent(world, leader, name, '-c', addresses)
    leader.wait_nodes('the agent is heard', [name], Liveness='live')
    q.fettle('node', 'drain', 'lx[001-100]', '--reason', 'before')
    leader.process.kill()
    q.fettle('node', 'drain', 'lx101', '--reason', 'after')
    second = q.leader()
    check(second is not leader, 'another controller leads')
    second.wait_nodes('the agent is heard again', [name], Liveness='live')
    equal(second.suspected(), [], 'nodes that were suspected')
    equal([n for n, row in second.table('Name,Claims').items() if row['Claims']], [f'lx{i:03}' for i in range(1, 102)],
          'the drained nodes')
    check(second.status()['term'] > leader_term(leader), 'the term has risen')
    leader.start()
    equal(leader.role(), 'follower', 'the one that was killed')
    q.agreed('after it came back')
    agent.process.stop()


def leader_term(c):
    """By its log; it does not answer any more."""
    return max(int(line.split('term ')[1].split(',')[0]) for line in c.log_lines('this controller leads'))


def test_a_stopped_leader_hands_over(world):
    q = Quorum(world)
    leader = q.leader()
    leader.process.stop()
    q.fettle('node', 'drain', 'lx001', '--reason', 'after')
    check(q.leader() is not leader, 'another controller leads')
    leader.start()
    q.agreed('after it came back')


def test_a_paused_leader_acts_no_more(world):
    """It stands still for longer than its lease. When it runs again, it follows, and has committed nothing."""
    q = Quorum(world)
    leader = q.leader()
    leader.process.pause()
    others = [c for c in q.all if c is not leader]
    wait('another one leads', lambda: any(c.role() == 'leader' for c in others))
    q.all = others
    q.fettle('node', 'drain', 'lx001', '--reason', 'while it stood still')
    leader.process.resume()
    q.all = others + [leader]
    wait('it follows', lambda: leader.role() == 'follower' and leader.status()['quorum']['current'])
    contains(leader.log(), 'does not lead any more', 'its log')
    q.agreed('after the pause')
    equal(len(q.drains()), 1, 'drains')


def test_without_etcd_reads_go_on(world):
    q = Quorum(world)
    q.fettle('node', 'drain', 'lx001', '--reason', 'before')
    q.agreed('before')
    q.etcd.members[0].pause()
    wait('everybody has noticed', lambda: all(c.status()['quorum']['message'] for c in q.all))
    for c in q.all:
        contains(c.fettle('node', 'list', '-H', '-o', 'name,why', 'lx001'), 'before', f'a read at {c.name}')
        status, answer = c.ask('POST', '/v1/nodes/drain', {'nodes': 'lx002', 'reason': 'meanwhile'})
        check(status in (421, 503, 504), f'a change at {c.name}: {status} {answer}')
    wait('nobody leads', lambda: not any(c.status()['quorum']['current'] for c in q.all))
    q.etcd.members[0].resume()
    q.leader()
    q.fettle('node', 'drain', 'lx003', '--reason', 'after')
    q.agreed('after etcd came back')
    reasons = q.drains()
    equal(len(reasons), len(set(reasons)), f'drains that happened twice in {reasons}')


def test_a_lost_member_of_etcd_costs_nothing(world):
    q = Quorum(world, members=3)
    q.etcd.members[0].kill()
    q.drain_at_last('lx001', 'with two members')
    q.agreed('with two members')
    q.etcd.members[0] = q.etcd.start(0)
    leader = q.leader()
    wait('the member is back', lambda: all(at['answers'] for at in leader.status()['quorum']['etcd']['endpoints']))
    q.etcd.members[1].kill()
    q.drain_at_last('lx002', 'with two others')
    q.agreed('with two others')


def test_another_authority_is_refused(world):
    """Agents, Slurm and OpenCHAMI know a Fettle by its authority: controllers of one state have the same."""
    q = Quorum(world)
    stranger = Member(world, NODES, name='c3', start=False,
                      **{**CALM, 'ControlMachine': 'c3', 'Store': q.etcd.endpoints})
    stranger.launch()
    equal(stranger.process.wait_end(), 1, 'the exit status without the authority')
    contains(stranger.log(), 'copy ca.key and ca.pem', 'its log')
    other = Controller(world, NODES, name='other')
    other.process.stop()
    stranger.share_authority(other)
    stranger.launch()
    equal(stranger.process.wait_end(), 1, 'the exit status with another authority')
    contains(stranger.log(), 'have the authority', 'its log')


def test_the_configuration_is_one(world):
    """A reload is agreed, and followers take it; a controller that starts takes what is agreed, not its own files."""
    q = Quorum(world)
    leader, follower = q.leader(), q.followers()[0]
    leader.write(nodes=NODES + 'Name=gx01\n')
    leader.fettle('reload')
    wait('the follower knows the node', lambda: 'gx01' in follower.table())
    follower.restart()
    check('gx01' in follower.table(), 'the follower knows the node after its start')
    q.agreed('after the reload')


def test_features_are_agreed(world):
    """Each controller tells which level it knows, and the leader agrees what all of them know."""
    q = Quorum(world)
    follower = q.followers()[0]
    wait('the level is agreed', lambda: follower.status()['quorum']['level'] == 2)
    equal({m['level'] for m in follower.status()['quorum']['members']}, {2}, 'what the members know')
    (agreed,) = [e for e in q.leader().journal() if e['what'] == 'feature.level']
    contains(agreed['text'], 'level 2: all controllers know', 'the journal')


def test_a_follower_agrees_its_files(world):
    """The tool that reached a follower takes that one's files, and brings their texts to the leader."""
    q = Quorum(world)
    leader, follower = q.leader(), q.followers()[0]
    both = {'FETTLE_CONTROLLER': f'{follower.socket},{leader.socket}'}
    roles = world.write('roles.conf', 'Role=operator Users=ann\n')
    follower.write(nodes=NODES + 'Name=gx02\n', RoleConf=roles)
    said = follower.fettle('reload', '--dry-run', env=both)
    contains(said, 'node gx02 added', 'a dry run')
    contains(said, 'the records of RoleConf changed', 'a dry run')
    check('gx02' not in leader.table(), 'nothing was taken')
    status, stale = follower.ask('GET', '/v1/configuration')
    equal(status, 200, 'the texts of the follower')
    contains(follower.fettle('reload', env=both), 'node gx02 added', 'a reload')
    check('gx02' in leader.table(), 'the leader knows the node')
    for c in q.followers():
        wait(f'{c.name} knows the node', lambda: 'gx02' in c.table())
    contains(follower.fettle('reload', env=both), 'nothing has changed', 'it is agreed')
    status, answer = leader.ask('POST', '/v1/reload', stale)
    equal((status, answer['error']['code']), (409, 'conflict'), 'texts that were compared with an earlier revision')
    status, answer = leader.ask('POST', '/v1/reload', {'revision': 2, 'parts': [{'part': 'nodes', 'text': 'Name=a'}]})
    equal((status, answer['error']['code']), (400, 'invalid'), 'texts without the parameters')
    q.agreed('after the reload')
    # A file of a controller's own that others may read: it does not decide by an older configuration then, and does not lead.
    secret = world.write('secret', 'x')
    os.chmod(secret, 0o644)
    follower.write(nodes=NODES + 'Name=gx02\n', RoleConf=roles, MqttPasswordFile=secret, MqttUser='x', MqttBroker='127.0.0.1:1')
    leader.write(nodes=NODES + 'Name=gx03\n', RoleConf=roles)
    leader.fettle('reload')
    wait('the follower says why not', lambda: 'chmod' in follower.status()['quorum']['message'])
    check('gx03' not in follower.table(), 'it is not taken')
    os.chmod(secret, 0o600)
    wait('the follower knows the node', lambda: 'gx03' in follower.table())
    equal(follower.status()['quorum']['message'], '', 'it is well')


class Clients:
    """Threads that drain nodes, each node once, and remember what was acknowledged."""

    def __init__(self, q, n):
        self.q, self.acknowledged, self.unknown, self.odd = q, [], [], []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i, n)) for i in range(n)]
        for t in self.threads:
            t.start()

    def run(self, first, step):
        for number in range(first + 1, 401, step):
            node = f'lx{number:03}'
            if self.stopping.is_set():
                return
            got, out, err = self.q.world.run([program('fettle'), 'node', 'drain', node, '--reason', node],
                                             env={'FETTLE_CONTROLLER': self.q.sockets()})
            kind = {0: self.acknowledged, 8: self.unknown}.get(got)
            if kind is not None:
                kind.append(node)
            elif got != 6:
                self.odd.append((node, got, out, err))

    def stop(self):
        self.stopping.set()
        for t in self.threads:
            t.join()


def test_nothing_acknowledged_is_lost(world):
    """Leaders are killed, stopped and paused under load. Each acknowledged drain is there, once; none is there twice."""
    q = Quorum(world, members=3)
    chance = random.Random(16)
    clients = Clients(q, 4)
    until = time.monotonic() + 25
    while time.monotonic() < until:
        leader = q.leader()
        how = chance.choice(['kill', 'stop', 'pause'])
        time.sleep(chance.random())
        if how == 'pause':
            leader.process.pause()
            time.sleep(5)
            leader.process.resume()
        else:
            leader.process.kill() if how == 'kill' else leader.process.stop()
            time.sleep(chance.random())
            leader.start()
    clients.stop()
    equal(clients.odd, [], 'answers that nobody expects')
    q.agreed('in the end')
    drained = [e['nodes'] for e in q.leader().journal() if e['what'] == 'node.drain']
    equal(len(drained), len(set(drained)), 'drains that happened twice')
    check(len(clients.acknowledged) > 10, f'only {len(clients.acknowledged)} drains were acknowledged')
    equal(sorted(set(clients.acknowledged) - set(drained)), [], 'acknowledged drains that are lost')
    equal(sorted(set(drained) - set(clients.acknowledged) - set(clients.unknown)), [], 'drains that were refused, and are there')


main()
