# SPDX-License-Identifier: Apache-2.0
"""Three controllers and three members of etcd, each on a machine of its own (apart.py), and everything that can happen
to them at once, under load: kill -9, SIGSTOP, orderly stops, machines that are cut off, links that are cut in one direction
or both, full disks, steps of wall clocks. A history of all requests and answers is checked afterwards (linear.py).

The faults follow from a seed; storms of them are followed by calms, in which everything has to work again. By hand:

    quorum_faults.py                                       # a seed by chance, three storms
    FETTLE_FAULTS_SEED=7 FETTLE_FAULTS_STORMS=20 quorum_faults.py
"""
import itertools
import mmap
import os
import random
import shutil
import struct
import threading
import time

import linear
from apart import Network
from harness import AS, CALM, Agent, Controller, Damaged, Skipped, UnixHTTP, ask, check, equal, main, program, wait

SEED = int(os.environ.get('FETTLE_FAULTS_SEED', random.randrange(1 << 30)))
STORMS = int(os.environ.get('FETTLE_FAULTS_STORMS', 3))
STORM_S = 12
QUOTAS = {'a': 3, 'b': 3, 'c': 4}
OWNED = [f'o{i}' for i in range(1, 9)]
DRAINED = [f'lx{i:04}' for i in range(1, 4001)]
AGENTS = ['n1', 'n2']
NODES = 'Name=o[1-8]\nName=lx[0001-4000]\nName=n[1-2]\n'
ASKED_S = 8  # how long a client waits for an answer
STEPS_S = (-3600, -60, -5, 5, 60, 3600)  # of wall clocks


# --- the daemons ---------------------------------------------------------------------------------


class Clock:
    """The wall clock of a controller, by skew.so; it can be stepped."""

    def __init__(self, path):
        with open(path, 'wb') as f:
            f.write(bytes(8))
        with open(path, 'r+b') as f:
            self.map = mmap.mmap(f.fileno(), 8)
        self.env = {'LD_PRELOAD': os.environ['FETTLE_SKEW'], 'FETTLE_SKEW_FILE': path,
                    'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}

    def set(self, seconds):
        self.map[:8] = struct.pack('=q', seconds)


class Kept:
    """A daemon that is started again whenever it has ended, as a service manager does it."""

    def __init__(self, machine):
        self.machine, self.ends, self.after, self.keeps = machine, [], 0, True

    def begin(self, process):
        process.wanted = False  # to be running all the time
        return process

    def keep(self):
        if self.process.status() is None:
            return
        self.ends.append(self.process.status())
        if self.process.damage() or self.process.status() not in self.ALLOWED:
            self.process.wanted = True  # for `wait` as well, which takes no other failure as the end
            raise Damaged(f'{self.process.name} has ended with {self.process.status()} {self.process.damage()}')
        if self.keeps and time.monotonic() > self.after:
            self.launch()
            self.after = time.monotonic() + 1

    def kill(self, back_in):
        self.after = time.monotonic() + back_in
        if self.process.status() is None:
            self.process.kill()

    def tell_to_end(self, back_in):
        self.after = time.monotonic() + back_in
        if self.process.status() is None:
            self.process.send(15)


class Etcd(Kept):
    ALLOWED = range(-64, 256)  # it ends in many ways when its disk is full

    def __init__(self, world, machine, cluster):
        super().__init__(machine)
        self.world, self.name, self.cluster = world, machine.name, cluster
        machine.mount_disk(world.path(machine.name), 160)
        self.launch()

    def launch(self):
        client, peer = f'http://{self.machine.address}:2379', f'http://{self.machine.address}:2380'
        self.process = self.begin(self.world.start(f'{self.name}', [
            'etcd', '--name', self.name, '--data-dir', self.world.path(self.name, 'data'), '--initial-cluster', self.cluster,
            '--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer,
            '--initial-advertise-peer-urls', peer, '--logger', 'zap'], limits=self.machine.enter))


class Member(Controller, Kept):
    # One that cannot open the state, with etcd away, says so and ends with 1; then the service manager tries again. One that
    # has only just been started has no handler for SIGTERM yet.
    ALLOWED = (0, 1, -9, -15)

    def __init__(self, world, machine, endpoints):
        Kept.__init__(self, machine)
        self.clock = Clock(world.path(f'{machine.name}.clock'))
        Controller.__init__(self, world, NODES, name=machine.name, start=False, **{
            **CALM, 'ControlMachine': machine.name, 'Store': endpoints, 'MachStatusAddress': machine.address,
            'MachStatusPort': 6120, 'ApiPort': 6121, 'TenantConf': world.path('tenants.conf')})
        machine.mount_disk(self.state, 16)

    def launch(self):
        Controller.launch(self, limits=self.machine.enter, env=self.clock.env)
        self.begin(self.process)


class Quorum:
    def __init__(self, world):
        if AS:
            raise Skipped('these controllers run as the user of the test')
        if not shutil.which('etcd'):
            raise Skipped('needs etcd')
        self.world, self.network = world, Network(world)
        self.etcd_machines = [self.network.machine(f'e{i}') for i in range(3)]
        self.controller_machines = [self.network.machine(f'c{i}') for i in range(3)]
        cluster = ','.join(f'{m.name}=http://{m.address}:2380' for m in self.etcd_machines)
        self.etcds = [Etcd(world, m, cluster) for m in self.etcd_machines]
        world.write('tenants.conf', ''.join(f'Tenant={t} Nodes={n}\n' for t, n in QUOTAS.items()))
        endpoints = 'etcd:' + ','.join(f'http://{m.address}:2379' for m in self.etcd_machines)
        self.controllers = [Member(world, m, endpoints) for m in self.controller_machines]
        self.daemons = {d.machine.name: d for d in self.etcds + self.controllers}
        self.begin_controllers()
        self.agents = [self.begin_agent(name) for name in AGENTS]

    def begin_controllers(self):
        first = self.controllers[0]
        wait('the first controller is ready', lambda: self.begun(first))
        for c in self.controllers[1:]:
            for name in ('ca.pem', 'ca.key'):
                shutil.copy2(os.path.join(first.state, name), c.state)
            wait(f'{c.name} is ready', lambda c=c: self.begun(c))

    def begun(self, c):
        if c.process is None:
            c.launch()
        c.keep()
        return c.status()['quorum']['current']

    def begin_agent(self, name):
        c, world = self.leader(), self.world
        addresses = ','.join(f'{m.address}:6120' for m in self.controller_machines)
        agent = Agent(world, c, name, '-c', addresses, start=False, join=False)
        status, out, err = world.run([program('fettle-agent'), 'join', c.token(name), f'{c.machine.address}:6120', '--name', name,
                                      '-D', agent.home])
        equal(status, 0, f'{out}{err}: the exit status')
        agent.start()
        return agent

    def keep(self):
        for d in self.daemons.values():
            d.keep()

    def leader(self):
        def found():
            self.keep()
            return [c for c in self.controllers if c.process.status() is None and c.status()['role'] == 'leader']
        return wait('a controller leads', found)[0]

    def agreed(self):
        """All of them run, and have the same state."""
        def same():
            self.keep()
            states = [c.status() for c in self.controllers]
            return all(s['quorum']['current'] for s in states) and len({(s['revision'], s['digest']) for s in states}) == 1
        wait('all controllers have one state', same)

    def sockets(self):
        return ','.join(c.socket for c in self.controllers)

    def stop(self):
        for d in self.daemons.values():
            d.keeps = False
        for p in [a.process for a in self.agents] + [c.process for c in self.controllers]:
            p.stop()
        for e in self.etcds:
            e.process.popen.terminate()
            e.process.popen.wait()


# --- faults --------------------------------------------------------------------------------------


def script(chance, names, seconds):
    """Faults with their beginnings and ends, by the time: (time, fault, whether it begins, words)."""
    events, t = [], 0
    controllers = [n for n in names if n.startswith('c')]
    while (t := t + chance.expovariate(1.2)) < seconds:
        fault = chance.choice(FAULTS)
        among = controllers if fault in (stop, step) else names
        target = chance.choice(['leader', chance.choice(among)]) if fault is not fill else chance.choice(among)
        words = (target, chance.choice([n for n in names if n != target]), chance.choice(STEPS_S), chance.uniform(0.3, 6))
        events.append((t, len(events), fault, True, words))
        events.append((min(t + words[-1], seconds), len(events), fault, False, words))
    return sorted(events, key=lambda e: e[:2])


def kill(q, d, other, words, begins):
    if begins:
        d.kill(words[-1])


def stop(q, d, other, words, begins):
    if begins:
        d.tell_to_end(words[-1])


def pause(q, d, other, words, begins):
    if d.process.status() is None:
        d.process.send(19 if begins else 18)


def cut_off(q, d, other, words, begins):
    d.machine.cut_off(begins)


def lose(q, d, other, words, begins):
    if d is not other:
        (d.machine.lose if begins else d.machine.reach)(other.machine)


def cut(q, d, other, words, begins):
    lose(q, d, other, words, begins)
    lose(q, other, d, words, begins)


def fill(q, d, other, words, begins):
    if begins:
        d.machine.fill()
    else:
        d.machine.clear()


def step(q, d, other, words, begins):
    d.clock.set(words[2] if begins else 0)


FAULTS = [kill, kill, stop, pause, pause, cut_off, lose, lose, cut, fill, step]


class Storm:
    """Faults, and their ends; a calm follows."""

    def __init__(self, q, chance, log):
        self.q, self.log, self.began = q, log, time.monotonic()
        self.events, self.meant = script(chance, list(q.daemons), STORM_S), {}

    def meets(self, words):
        """The daemon of a fault; that of one which has begun, at its end."""
        if words not in self.meant:
            leading = [c for c in self.q.controllers if c.name == self.log.leading]
            self.meant[words] = (leading or self.q.controllers)[0] if words[0] == 'leader' else self.q.daemons[words[0]]
        return self.meant[words]

    def rage(self):
        for at, _, fault, begins, words in self.events:
            while time.monotonic() < self.began + at:
                self.q.keep()
                time.sleep(0.02)
            d = self.meets(words)
            self.log.note(f'{fault.__name__} {"begins" if begins else "ends"}: {d.name} {words}')
            fault(self.q, d, self.q.daemons[words[1]], words, begins)


# --- clients -------------------------------------------------------------------------------------


class Log:
    """What clients asked and were answered, and what was seen meanwhile."""

    def __init__(self):
        self.began, self.lines = time.monotonic(), []
        self.calls, self.drains, self.looks, self.reads, self.odd = [], [], [], [], []
        self.digests, self.leading, self.ended = {}, None, threading.Event()

    def note(self, text):
        self.lines.append(f'{time.monotonic() - self.began:7.3f} {text}')


# By the status of an answer. Every other answer, and none at all, leaves the outcome open.
OUTCOMES = {200: linear.DONE, 409: linear.REFUSED, 421: linear.NOTHING, 503: linear.NOTHING, 500: linear.NOTHING,
            507: linear.NOTHING}


def request(c, method, path, body=None):
    """(outcome, answer)."""
    connection = UnixHTTP(c.socket, ASKED_S)
    try:
        connection.connect()
    except OSError:
        return linear.NOTHING, None
    try:
        status, answer = ask(connection, method, path, body)
        return OUTCOMES.get(status, linear.UNKNOWN), answer
    except Exception:  # the connection has ended, or the answer did not come
        return linear.UNKNOWN, None
    finally:
        connection.close()


class Client(threading.Thread):
    """Does something again and again, each time at some controller."""

    def __init__(self, q, log, number):
        super().__init__(daemon=True)
        self.q, self.log, self.number, self.chance = q, log, number, random.Random(SEED + number)
        self.at = q.controllers[0]
        self.start()

    def run(self):
        try:
            for k in itertools.count():
                if self.log.ended.is_set():
                    return
                self.turn(k)
                time.sleep(self.chance.uniform(0, 0.05))
        except Exception as e:
            self.log.odd.append(f'{type(self).__name__} {self.number}: {e!r}')

    def elsewhere(self):
        """The leader, or another controller."""
        leading = [c for c in self.q.controllers if c.name == self.log.leading]
        self.at = (leading or self.q.controllers)[0] if self.chance.random() < 0.5 else self.chance.choice(self.q.controllers)
        time.sleep(0.1)


class Scheduler(Client):
    """Claims, transfers and releases nodes that others want, too."""
    PATHS = {(False, True): 'claim', (True, False): 'release', (True, True): 'transfer'}

    def __init__(self, *args):
        self.known = dict.fromkeys(OWNED, '')
        super().__init__(*args)

    def turn(self, k):
        node = self.chance.choice(OWNED)
        before = self.known[node] if self.chance.random() < 0.9 else ''
        after = f'{self.chance.choice(list(QUOTAS))}:{self.number}-{k}' if not before or self.chance.random() < 0.5 else ''
        body = {'nodes': node, **({'owner': before} if before else {'owner': after})}
        if before and after:
            body['new_owner'] = after
        began = time.monotonic()
        outcome, answer = request(self.at, 'POST', f'/v1/owners/{self.PATHS[bool(before), bool(after)]}', body)
        call = linear.Call(began, time.monotonic(), node, before, after, outcome)
        if outcome == linear.DONE:
            call.revision, self.known[node] = answer['revision'], after
        elif outcome == linear.REFUSED:
            self.refused(call, answer['error'])
        else:
            self.elsewhere()
        self.log.calls.append(call)

    def refused(self, call, error):
        if error['code'] == 'conflict':
            call.owner = self.known[call.node] = error.get('owner', '')
        else:
            call.outcome = linear.NOTHING  # by a quota, which other nodes fill
            self.known[call.node] = ''


class Reader(Client):
    def turn(self, k):
        outcome, answer = request(self.chance.choice(self.q.controllers), 'GET', '/v1/nodes?nodes=o%5B1-8%5D&fields=Name,Owner')
        if outcome == linear.DONE:
            self.log.reads.append((answer['revision'], {n['Name']: n['Owner'] for n in answer['nodes']}))
        time.sleep(0.05)


class Drainer(Client):
    """Drains nodes, each once, and undrains some again; by the interface."""

    def turn(self, k):
        node = DRAINED[self.number * 1000 + k % 1000]
        outcome, _ = request(self.at, 'POST', '/v1/nodes/drain', {'nodes': node, 'reason': f'{node} {k}'})
        self.log.drains.append((node, f'{node} {k}', outcome))
        if outcome in (linear.NOTHING, linear.UNKNOWN):
            self.elsewhere()


class Operator(Drainer):
    """The same by the tool, which knows all controllers and finds the leader."""
    OUTCOMES = {0: linear.DONE, 8: linear.UNKNOWN, 6: linear.NOTHING, 7: linear.NOTHING}

    def turn(self, k):
        node = DRAINED[self.number * 1000 + k % 1000]
        status, out, err = self.q.world.run([program('fettle'), 'node', 'drain', node, '--reason', f'{node} {k}'],
                                            env={'FETTLE_CONTROLLER': self.q.sockets()})
        if status not in self.OUTCOMES:
            self.log.odd.append(f'fettle node drain: {status} {out}{err}')
        self.log.drains.append((node, f'{node} {k}', self.OUTCOMES.get(status, linear.UNKNOWN)))


class Observer(Client):
    """Looks at one controller all the time."""

    def turn(self, k):
        c, began = self.q.controllers[self.number % 3], time.monotonic()
        outcome, status = request(c, 'GET', '/v1/status')
        if outcome != linear.DONE:
            return
        if status['role'] == 'leader':
            self.log.leading = c.name
            self.log.looks.append((began, time.monotonic(), c.name, status['term']))
        digest = self.log.digests.setdefault(status['revision'], status['digest'])
        if digest != status['digest']:
            self.log.odd.append(f'revision {status["revision"]} has the digests {digest} and {status["digest"]}')


def begin_clients(q, log):
    kinds = [Scheduler] * 3 + [Drainer, Operator, Reader] + [Observer] * 3
    numbers = {Drainer: 1, Operator: 2}
    return [kind(q, log, numbers.get(kind, 3 + i)) for i, kind in enumerate(kinds)]


# --- the checks ----------------------------------------------------------------------------------


def owner_entries(journal):
    """(revision, node, owner before, owner after) of each change of an owner."""
    return [(e['revision'], e['nodes'], e.get('owner_from', ''), e.get('owner_to', '')) for e in journal
            if e['what'].startswith('owner.')]


def check_owners(log, journal):
    entries = owner_entries(journal)
    wrong = linear.journal(log.calls, entries) + linear.quotas(entries, QUOTAS)
    equal(wrong[:5], [], 'answers about owners, against the journal')
    for node in OWNED:
        stuck = linear.linear([c for c in log.calls if c.node == node])
        equal(stuck, None, f'no order explains the answers about {node}; the search ended here')


def check_reads(log, journal):
    """What any controller answered was the state at the revision that it named, or what became of it while it answered."""
    entries = owner_entries(journal)
    for revision, owners in log.reads:
        before = {node: after for r, node, _, after in entries if r <= revision}
        for node, owner in owners.items():
            later = {after for r, n, _, after in entries if n == node and r > revision}
            check(owner in later | {before.get(node, '')}, f'{owner!r} owns {node}, as it was read at revision {revision}')


def check_drains(log, journal):
    made = {}
    for e in journal:
        if e['what'] == 'node.drain':
            reason = e['text'].split(' (')[0]
            made[reason] = made.get(reason, 0) + 1
    twice = {r: n for r, n in made.items() if n > 1}
    equal(twice, {}, 'drains that were done twice')
    lost = [d for d in log.drains if d[2] == linear.DONE and d[1] not in made]
    equal(lost, [], 'drains that were acknowledged and are lost')
    refused = [d for d in log.drains if d[2] == linear.NOTHING and d[1] in made]
    equal(refused, [], 'drains that were refused, and are there')


def check_terms(journal):
    """Claims have the term in their ids: one term commits after another."""
    terms = [int(e['claims'][0].split('.')[0]) for e in journal if e['what'] == 'node.drain']
    equal(terms, sorted(terms), 'the terms, in the order of the journal')
    return len(set(terms))


def check_all(q, log):
    journals = [c.journal() for c in q.controllers]
    for j in journals[1:]:
        equal([x == y for x, y in zip(j, journals[0])].count(False) + abs(len(j) - len(journals[0])), 0, 'entries that differ')
    journal = journals[0]
    equal(log.odd[:5], [], 'what nobody expects')
    equal(linear.leaders(log.looks)[:5], [], 'two that say that they lead')
    terms = check_terms(journal)
    check_drains(log, journal)
    check_owners(log, journal)
    check_reads(log, journal)
    equal([e['text'] for e in journal if e['what'] in ('node.down', 'node.silent')], [], 'nodes that were suspected')
    done = sum(c.outcome == linear.DONE for c in log.calls), sum(d[2] == linear.DONE for d in log.drains)
    unknown = sum(c.outcome == linear.UNKNOWN for c in log.calls) + sum(d[2] == linear.UNKNOWN for d in log.drains)
    print(f'seed {SEED}: {STORMS} storms, {terms} terms with drains, {done[0]} changes of owners, {done[1]} drains, '
          f'{unknown} unknown outcomes, {len(log.reads)} reads, {len(log.digests)} digests', flush=True)


def again():
    return f'FETTLE_FAULTS_SEED={SEED} FETTLE_FAULTS_STORMS={STORMS} FETTLE_KEEP=1 test/cluster/quorum_faults.py'


def test_faults(world):
    print(f'again: {again()}', flush=True)
    q, log, chance = Quorum(world), Log(), random.Random(SEED)
    clients = begin_clients(q, log)
    try:
        for _ in range(STORMS):
            Storm(q, chance, log).rage()
            log.note('calm')
            before = sum(d[2] == linear.DONE for d in log.drains)
            wait('drains go on', lambda: q.keep() or sum(d[2] == linear.DONE for d in log.drains) > before)
        log.ended.set()
        for c in clients:
            c.join(60)
        q.agreed()
        check_all(q, log)
        q.stop()
    except Exception:
        log.ended.set()
        print(f'what happened with seed {SEED}:', *log.lines, sep='\n    ', flush=True)
        raise


main()
