# SPDX-License-Identifier: Apache-2.0
"""Several controllers with one state in etcd (Debian's): they are killed, stopped, paused and cut off from etcd, while
changes are asked for."""
import base64
import json
import json
import os
import random
import re
import shutil
import signal
import socket
import threading
import time
import urllib.request

from fleet import boot_id, whole_root
from harness import AS, CALM, Agent, Controller, Process, Skipped, check, contains, equal, main, program, skewed, wait
from ports import free_port
from ward import CHECKS, ROOT_MOUNT, SCRATCH, unmount

NODES = 'Name=DEFAULT CPUs=1\nName=lx[001-400]\nName=' + socket.gethostname().split('.')[0] + '\n'


def same_bytes(a, b):
    with open(a, 'rb') as one, open(b, 'rb') as other:
        return one.read() == other.read()


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

    def put(self, key, value):
        """Writes a key by hand."""
        body = {k: base64.b64encode(v.encode()).decode() for k, v in (('key', key), ('value', value))}
        request = urllib.request.Request(f'http://127.0.0.1:{self.ports[0][0]}/v3/kv/put', json.dumps(body).encode())
        urllib.request.urlopen(request, timeout=10).close()

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

    def authority(self):
        return os.path.join(self.state, 'ca.key')

    def asked(self):
        """The key that it prints for the person that is to admit it."""
        return wait(f'{self.name} says its key', lambda: re.findall(f'admit {self.name} ([0-9a-f]{{66}})', self.log()))[-1]

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
        self.exports = 0
        self.etcd = Etcd(world, members)
        self.all = [Member(world, NODES, name=f'c{i}', start=False,
                           **{**CALM, 'ControlMachine': f'c{i}', 'Store': self.etcd.endpoints, **settings}) for i in range(3)]
        self.all[0].start()
        for c in self.all[1:]:
            c.share_authority(self.all[0])
            c.start()
        self.leader()

    def another(self):
        """One more, which was not started yet, and has no authority."""
        return Member(self.world, NODES, name='c3', start=False,
                      **{**CALM, 'ControlMachine': 'c3', 'Store': self.etcd.endpoints})

    def listed(self, fields):
        """What `fettle controller list` prints: the second field by the first."""
        return dict(line.split(None, 1) for line in self.fettle('controller', 'list', '-H', '-o', fields).splitlines())

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

    def same_journal(self, what):
        """All that run tell the same journal, each from its own disk."""
        self.agreed(what)
        journals = {c.name: c.journal() for c in self.all if c.process.status() is None}
        first = next(iter(journals.values()))
        for name, journal in journals.items():
            equal(journal, first, f'{what}: the journal at {name}')
        return first

    def same_log(self, what):
        """All that run have the same audit log, each signed with its own key, and each verifies."""
        def logs():
            answers = [c.ask('GET', '/v1/audit') for c in self.all if c.process.status() is None]
            return all(status == 200 for status, _ in answers) and [answer for _, answer in answers]
        def same():
            found = logs()
            return found and len({(log['size'], log['root']) for log in found}) == 1 and found
        found = wait(f'{what}: all controllers have one audit log', same)
        equal(len({log['key'] for log in found}), len(found), 'keys')
        entries = len(self.same_journal(what))
        for c in (c for c in self.all if c.process.status() is None):
            directory = self.world.path(f'export-{c.name}-{self.exports}')
            contains(c.fettle('audit', 'export', directory), 'good', f'the export of {c.name}')
            verified = c.fettle('audit', 'verify', directory).split()
            equal((verified[0], verified[2]), ('good', str(entries)), f'{what}: the log of {c.name}')
            check('audit audit' not in c.alarms(), f'{what}: {c.name} raises {c.alarms()}')
        self.exports += 1

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
    wait('it has what it missed', lambda: journal_works(leader))
    q.same_journal('after it came back')
    agent.process.stop()


def journal_works(c):
    """Its copy of the journal is complete again."""
    return c.ask('GET', '/v1/journal?after=0')[0] == 200


def journal_state(c):
    return next(line['state'] for line in c.status()['counterparts'] if line['name'] == 'journal')


def test_a_mirror_is_made_again(world):
    """One that is gone, damaged or refused by its disk costs nothing but its own reading; etcd has it all."""
    q = Quorum(world)
    follower = q.followers()[0]
    mirror = os.path.join(follower.state, 'mirror')
    q.fettle('node', 'drain', 'lx001', '--reason', 'first')
    follower.process.kill()
    shutil.rmtree(mirror)
    os.close(os.open(mirror, os.O_CREAT | os.O_WRONLY, 0o600))
    follower.start()
    q.fettle('node', 'drain', 'lx002', '--reason', 'second')
    wait('it is in trouble', lambda: journal_state(follower) == 'trouble')
    contains(follower.fettle('journal', '--tail', '9', 'lx002'), 'second', 'a search, which etcd answers')
    status, answer = follower.ask('GET', '/v1/journal?after=0')
    equal((status, answer['error']['code']), (503, 'unavailable'), 'a list')
    contains(answer['error']['message'], 'not complete', 'its message')
    os.unlink(mirror)
    wait('it is well again', lambda: journal_state(follower) == 'ok' and journal_works(follower))
    q.same_journal('after a disk that refused')
    follower.process.kill()
    with open(os.path.join(mirror, 'state.db'), 'r+b') as f:
        f.write(b'no database')
    follower.start()
    wait('it is complete', lambda: journal_works(follower))
    contains(follower.log(), 'the old one is moved aside', 'its log')
    q.same_journal('after damage')
    shutil.rmtree(f'{mirror}-aside')


def test_the_audit_log_is_everywhere(world):
    """Each controller has the log, of the same leaves, and proves an entry to whoever asks it."""
    q = Quorum(world)
    q.fettle('node', 'drain', 'lx[001-100]', '--reason', 'bad DIMM')
    q.same_log('in the beginning')
    for c in q.all:
        number = re.search(r'^(\d+\.0) .*bad DIMM', c.fettle('audit', 'list', 'lx001'), re.MULTILINE)[1]
        proof = world.write(f'{c.name}.tlog-proof', c.fettle('audit', 'prove', number))
        contains(c.fettle('audit', 'verify', proof, '--log-key', c.get('/v1/audit')['key']), 'bad DIMM', f'the proof of {c.name}')
    killed = q.followers()[0]
    killed.process.kill()
    for i in range(1, 40):
        q.fettle('node', 'undrain', f'lx{i:03}')
    shutil.rmtree(os.path.join(killed.state, 'mirror'))
    killed.start()
    q.same_log('after one was away')


def test_another_log_is_an_alarm(world):
    """A controller whose log has other leaves is named by the others, and they sign no more."""
    q = Quorum(world)
    q.fettle('node', 'drain', 'lx001', '--reason', 'bad DIMM')
    q.same_log('before')
    told = {'name': 'c9', 'address': 'c9:1', 'instance': '0' * 16, 'count': 1, 'lease_ms': 3000, 'revision': 3, 'at_ns': 1,
            'audit': '2 ' + base64.b64encode(bytes(32)).decode()}
    q.etcd.put('fettle/member/c9', json.dumps(told))
    for c in q.all:
        wait(f'{c.name} raises the alarm', lambda c=c: 'audit audit' in c.alarms())
        line = next(line for line in c.status()['counterparts'] if line['name'] == 'audit')
        contains(line['text'], 'the audit log of c9 is another one than', f'the reason at {c.name}')
    size = q.all[0].get('/v1/audit')['size']
    q.fettle('node', 'drain', 'lx002', '--reason', 'later')
    q.agreed('changes go on')
    equal([c.get('/v1/audit')['size'] for c in q.all], [size] * 3, 'the sizes of the logs')


def test_a_backup_becomes_the_state_of_one_controller(world):
    """The leader makes it of etcd's records and its own copy of the journal; it is restored without an etcd."""
    q = Quorum(world, BackupDirectory=world.path('backups'), BackupEvery='0')
    q.fettle('node', 'drain', 'lx[001-150]', '--reason', 'bad DIMM')
    wait('the leader has the journal', lambda: journal_works(q.leader()))
    path = q.fettle('backup', 'create').strip()
    contains(q.fettle('backup', 'verify', path), ': good;', 'the verdict')
    with open(os.path.join(path, 'manifest.json'), encoding='utf-8') as f:
        manifest = json.load(f)
    before = [e for e in q.leader().journal() if e['revision'] <= manifest['revision']]
    q.same_journal('after the backup')
    for c in q.all:
        c.process.stop()
    single = Controller(world, NODES, name='single', start=False)
    os.makedirs(single.state, mode=0o700, exist_ok=True)
    contains(single.fettle('backup', 'restore', path, single.state), 'has the state of', 'the answer')
    single.start()
    equal([e for e in single.journal() if e['revision'] <= manifest['revision']], before, 'the journal')
    equal(len([n for n, row in single.table('Name,Claims').items() if row['Claims']]), 150, 'drained nodes')
    check(single.status()['term'] > manifest['term'], 'the term is an old one')


AGES = {'LastResponse', 'Silent', 'Uptime', 'SchedulerRead'}
SCRATCH_CHECK = CHECKS.replace('Path=/scratch', 'Path=/scratch Severity=degraded')


def same_nodes(q, what):
    """Every controller shows the same nodes, apart from how old it is."""
    def same():
        tables = [[{k: v for k, v in node.items() if k not in AGES} for node in c.get('/v1/nodes')['nodes']]
                  for c in q.all if c.process.status() is None]
        odd = [(a, b) for t in tables[1:] for a, b in zip(tables[0], t) if a != b]
        check(not odd, f'two controllers show {odd[:1]}')
        return True
    wait(f'{what}: all controllers show the same', same)


def observed(c):
    return c.status()['quorum']['observed']


def age(c):
    """What the answer of a read says of its own age; None: it is of now."""
    connection = c.connect()
    try:
        connection.request('GET', '/v1/nodes?fields=Name')
        response = connection.getresponse()
        response.read()
        return response.getheader('Age')
    finally:
        connection.close()


def said(c, node):
    """What the checks of the node say, by the controller."""
    return json.dumps([{k: v for k, v in one.items() if not k.endswith(('_s', '_ms'))} for one in c.get(f'/v1/health/{node}')['checks']])


def everywhere(q, what, names, **members):
    for c in [q.leader(), *q.followers()]:
        c.wait_nodes(f'{what}, at {c.name}', names, **members)
    same_nodes(q, what)


def test_followers_know_what_the_leader_observes(world):
    """Nodes are live at followers, what a check finds shows there, and a killed agent is missed there. After the leader was
    killed, the next one tells."""
    q = Quorum(world, CheckConf=world.write('checks.conf', SCRATCH_CHECK))
    addresses = ','.join(f'127.0.0.1:{c.port}' for c in q.all)
    agents = {}
    for n in ('lx001', 'lx002'):
        root = whole_root(world, n, boot_id(), proc__self__mountinfo=ROOT_MOUNT + SCRATCH, dev__kmsg='')
        agents[n] = Agent(world, q.leader(), n, '-c', addresses, root=root)
    everywhere(q, 'the agents are live', list(agents), Liveness='live', Health='ok', Lifecycle='available')
    equal(age(q.leader()), None, 'how old an answer of the leader is')
    wait('two are told', lambda: observed(q.leader())['readers'] == 2)
    for c in q.followers():
        at = observed(c)
        check(not at['own'] and at['current'] and at['age_ms'] < 5000, f'{c.name} is told: {at}')
        check(int(age(c)) < 5, f'how old an answer of {c.name} is: {age(c)}')
        contains(c.fettle('status'), 'told by the leader', f'the status of {c.name}')
        equal(c.get('/v1/place?count=2')['nodes'], 'lx[001-002]', f'a placement at {c.name}')
    unmount(world, 'lx001')
    everywhere(q, 'a check has found something', ['lx001'], Health='degraded')
    wait('the controllers say the same of the checks', lambda: len({said(c, 'lx001') for c in q.all}) == 1)
    contains(said(q.followers()[0], 'lx001'), 'nothing is mounted', 'the checks at a follower')
    leader = q.leader()
    leader.process.kill()
    second = q.leader()
    check(second is not leader, 'another controller leads')
    everywhere(q, 'the agents found the next leader', list(agents), Liveness='live')
    everywhere(q, 'and told it their checks', ['lx001'], Health='degraded')
    check(observed(q.followers()[0])['current'], 'the next leader tells')
    agents['lx002'].process.kill()
    everywhere(q, 'an agent is gone', ['lx002'], Liveness='late')
    leader.start()
    everywhere(q, 'the first leader follows', ['lx001'], Health='degraded')


def test_a_cut_is_marked(world):
    """While the leader stands still, followers answer with what they were told, and say how old it is; they place nothing."""
    q = Quorum(world)
    leader, follower = q.leader(), q.followers()[0]
    agent = Agent(world, leader, 'lx001', '-c', ','.join(f'127.0.0.1:{c.port}' for c in q.all))
    everywhere(q, 'the agent is live', ['lx001'], Liveness='live')
    q.etcd.members[0].pause()  # nobody takes over
    leader.process.pause()
    wait('the follower has noticed', lambda: not observed(follower)['current'])
    first = observed(follower)['age_ms']
    wait('it grows older', lambda: observed(follower)['age_ms'] > first)
    follower.wait_nodes('it answers', ['lx001'], Liveness='live')
    contains(follower.fettle('status'), 'NOT CURRENT', 'its status')
    check(int(age(follower)) >= 5, 'its answers say how old they are')
    status, answer = follower.ask('GET', '/v1/place?count=1')
    equal((status, answer['error']['code']), (421, 'not_leader'), 'a placement by what is old')
    leader.process.resume()
    q.etcd.members[0].resume()
    everywhere(q, 'all go on', ['lx001'], Liveness='live')
    wait('all are told', lambda: all(observed(c)['current'] for c in q.all))
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
    for c in q.all:
        wait(f'{c.name} has the journal', lambda c=c: journal_works(c))
    q.etcd.members[0].pause()
    wait('everybody has noticed', lambda: all(c.status()['quorum']['message'] for c in q.all))
    for c in q.all:
        contains(c.fettle('node', 'list', '-H', '-o', 'name,why', 'lx001'), 'before', f'a read at {c.name}')
        contains(c.fettle('journal', '--tail', '9', 'lx001'), 'before', f'a search at {c.name}')
        equal([e['nodes'] for e in c.journal() if e['what'] == 'node.drain'], ['lx001'], f'the journal at {c.name}')
        status, answer = c.ask('POST', '/v1/nodes/drain', {'nodes': 'lx002', 'reason': 'meanwhile'})
        check(status in (421, 503, 504), f'a change at {c.name}: {status} {answer}')
    wait('nobody leads', lambda: not any(c.status()['quorum']['current'] for c in q.all))
    q.etcd.members[0].resume()
    q.leader()
    q.fettle('node', 'drain', 'lx003', '--reason', 'after')
    q.agreed('after etcd came back')
    reasons = q.drains()
    equal(len(reasons), len(set(reasons)), f'drains that happened twice in {reasons}')
    q.same_journal('after etcd came back')


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
    stranger = q.another()
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


def hears(process, signum):
    """Whether the process has a handler for the signal."""
    with open(f'/proc/{process.pid}/status', encoding='ascii') as f:
        caught = next(line for line in f if line.startswith('SigCgt:'))
    return int(caught.split()[1], 16) >> (signum - 1) & 1


def test_told_to_end_while_it_opens(world):
    """A controller that waits for a silent etcd is told to end. It cannot open the state either, which is no fault then."""
    q = Quorum(world)
    c = q.followers()[0]
    c.process.stop()
    q.etcd.members[0].pause()
    c.launch()
    wait('it hears signals', lambda: hears(c.process, signal.SIGTERM))
    c.process.stop()
    contains(c.log_lines('ending after signal')[-1], '15', 'its log')
    q.etcd.members[0].resume()
    q.leader()


def test_a_person_admits_a_controller(world):
    """It gets the authority by etcd, for its own key, when a person has typed that key; and leads like the others."""
    q = Quorum(world)
    new = q.another()
    new.launch()
    key = new.asked()
    check(not os.path.exists(new.authority()), 'it has no authority before')
    contains(q.fettle('controller', 'admit', 'c3', key[:-1], status=2), 'not the key that a new controller prints', 'a cut key')
    contains(q.fettle('controller', 'admit', 'c3', '--dry-run', key), 'c3 has the authority', 'a dry run')
    time.sleep(3) # it looks every two seconds
    check(not os.path.exists(new.authority()), 'a dry run gives nothing')
    contains(q.fettle('controller', 'admit', 'c3', key), 'c3 is admitted', 'the answer')
    wait('it takes part', new.status)
    check(same_bytes(new.authority(), q.all[0].authority()), 'it has the authority')
    equal(os.stat(new.authority()).st_mode & 0o777, 0o600, 'the mode of ca.key')
    wait('it is listed', lambda: q.listed('controller,state').get('c3') == 'follower')
    for c in q.all:
        c.process.stop()
    q.all.append(new)
    check(q.leader() is new, 'it leads')
    q.fettle('node', 'drain', 'lx001', '--reason', 'by the new one')
    wait('the others are away', lambda: q.listed('controller,state') == {'c0': 'away', 'c1': 'away', 'c2': 'away', 'c3': 'leader'})
    contains(new.fettle('status'), 'away since 20', 'the status')


def test_a_removed_controller_takes_no_part(world):
    """It ends its part at once, and after a restart; no member is left of it; a person can admit it again."""
    q = Quorum(world)
    leader, gone = q.leader(), q.followers()[0]
    wait('all are listed', lambda: len(q.listed('controller,state')) == 3)
    contains(q.fettle('controller', 'remove', leader.name, '--reason', 'sold', status=3), 'leads; stop its fettled first', 'the leader')
    contains(q.fettle('controller', 'remove', 'c9', '--reason', 'sold', status=4), 'no controller', 'an unknown one')
    contains(q.fettle('controller', 'remove', gone.name, '--reason', 'sold'), 'still known there', 'the answer')
    q.all.remove(gone)
    key = gone.asked()
    contains(gone.log(), 'removed this controller: sold', 'its log')
    wait('no member is left of it', lambda: gone.name not in {m['name'] for m in leader.status()['quorum']['members'] if m['state'] != 'removed'})
    equal(q.listed('controller,state')[gone.name], 'removed', 'its state')
    gone.process.stop()
    gone.launch()
    wait('it still waits', lambda: gone.log().count('removed this controller: sold; to admit it again') > 1)
    q.fettle('controller', 'admit', gone.name, key)
    wait('it takes part again', gone.status)
    q.all.append(gone)
    q.agreed('after it came back')


def test_agents_learn_the_controllers(world):
    """An agent that was given one address finds the next leader, also after its own restart; and learns when one is removed."""
    q = Quorum(world)
    leader = q.leader()
    name = socket.gethostname().split('.')[0]
    agent = Agent(world, leader, name, '-c', f'127.0.0.1:{leader.port}')
    leader.wait_nodes('the agent is heard', [name], Liveness='live')
    kept = os.path.join(agent.home, 'controllers.learned')

    def learned():
        if not os.path.exists(kept):
            return set()
        with open(kept, encoding='utf-8') as f:
            return set(f.read().split())
    wait('it has learned all', lambda: learned() == {f'127.0.0.1:{c.port}' for c in q.all})
    equal(os.stat(kept).st_mode & 0o777, 0o600, 'the mode of the list')
    leader.process.kill()
    second = q.leader()
    second.wait_nodes('the agent is heard again', [name], Liveness='live')
    agent.process.stop()
    agent.start()
    second.wait_nodes('and after its restart', [name], Liveness='live')
    q.fettle('controller', 'remove', leader.name, '--reason', 'sold')
    wait('it has unlearned one', lambda: learned() == {f'127.0.0.1:{c.port}' for c in q.all if c is not leader})
    agent.process.stop()


def test_a_wrong_clock_of_a_controller_is_named(world):
    """An alarm stands while the clocks differ by more than 2 s, and is over when they agree again."""
    q = Quorum(world)
    leader, wrong = q.leader(), q.followers()[0]
    wait('the clocks are known', lambda: len([m for m in leader.status()['quorum']['members'] if 'clock_ahead_ms' in m]) == 2)
    for m in [m for m in leader.status()['quorum']['members'] if m['name'] != leader.name]:
        check(abs(m['clock_ahead_ms']) <= m['clock_within_ms'] + 100, f'on one machine the clocks are the same: {m}')
    equal([a for a in leader.status()['alarms'] if a['alarm'] == 'skew'], [], 'alarms before')
    wrong.process.stop()
    wrong.start(env=skewed(20))
    wait('an alarm stands', lambda: [a['subject'] for a in leader.status()['alarms'] if a['alarm'] == 'skew'] == [wrong.name])
    ahead, within = (int(q.listed(f'controller,{field}')[wrong.name]) for field in ('clock', 'within'))
    check(abs(ahead - 20000) <= within + 100, f'it is {ahead} ms ahead, give or take {within}')
    contains(leader.fettle('status'), ' ms, give or take ', 'the status')
    wrong.process.stop()
    wrong.start()
    wait('it is over', lambda: not [a for a in leader.status()['alarms'] if a['alarm'] == 'skew'])


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
    check('gx02' in follower.table(), 'it is not taken') # gx03 the follower knows, because the leader shows it
    os.chmod(secret, 0o600)
    wait('it is well', lambda: follower.status()['quorum']['message'] == '')
    equal([name for name in follower.table() if name.startswith('gx')], ['gx03'], 'the nodes of the follower')


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
    for c in q.all:
        wait(f'{c.name} has what it missed', lambda c=c: journal_works(c))
    q.same_log('in the end')
    drained = [e['nodes'] for e in q.leader().journal() if e['what'] == 'node.drain']
    equal(len(drained), len(set(drained)), 'drains that happened twice')
    check(len(clients.acknowledged) > 10, f'only {len(clients.acknowledged)} drains were acknowledged')
    equal(sorted(set(clients.acknowledged) - set(drained)), [], 'acknowledged drains that are lost')
    equal(sorted(set(drained) - set(clients.acknowledged) - set(clients.unknown)), [], 'drains that were refused, and are there')


def test_a_follower_ends_while_the_leader_commits(world):
    """What is committed while it closes finds nobody who has closed already."""
    q = Quorum(world)
    clients = Clients(q, 4)
    for _ in range(5):
        for c in q.followers():
            c.process.stop()
        for c in q.all:
            if c.process.status() is not None:
                c.start()
    clients.stop()
    equal(clients.odd, [], 'answers that nobody expects')
    q.agreed('in the end')


if __name__ == '__main__':
    main()
