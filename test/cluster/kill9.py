# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any instant: nothing that was acknowledged is lost, nothing is there twice, and no node
pays for it."""
import http.client
import random
import threading
import time

from harness import CALM, Agent, Controller, UnixHTTP, ask, check, equal, main, swarm, wait

CLIENTS, NODES, ROUNDS = 16, 24, 20


class Client(threading.Thread):
    """Drains one node of its own, and takes every other of its drains back, as fast as it is answered.
    What it was told is in `known`: reason to claim id, or to None when it was released. What it did
    not hear the end of may be either way."""

    def __init__(self, controller, number):
        super().__init__()
        self.path, self.number = controller.socket, number
        self.node = f'n{number + 1:02}'
        self.known, self.open, self.count = {}, set(), 0
        self.stop, self.trouble = threading.Event(), None

    def step(self, connection):
        reason = f'client {self.number} drain {self.count}'
        self.count += 1
        self.open.add(reason)
        status, answer = ask(connection, 'POST', '/v1/nodes/drain', {'nodes': self.node, 'reason': reason})
        equal(status, 200, f'{answer}: the status')
        self.known[reason] = answer['claim']
        if self.count % 20 == 0:  # a claim that stays
            self.open.discard(reason)
            return
        status, answer = ask(connection, 'POST', '/v1/nodes/undrain', {'nodes': self.node, 'claim': answer['claim']})
        equal(status, 200, f'{answer}: the status')
        self.known[reason] = None
        self.open.discard(reason)

    def run(self):
        try:
            connection = UnixHTTP(self.path)
            while not self.stop.is_set():
                self.step(connection)
        except (OSError, http.client.HTTPException):
            pass  # the controller was killed
        except Exception as e:
            self.trouble = e


def claims_of(controller, nodes):
    """Every claim of the nodes by reason: [id]."""
    found = {}
    for node in nodes:
        for claim in controller.get(f'/v1/nodes/{node}')['claims']:
            found.setdefault(claim['reason'], set()).add(claim['id'])
    return found


def check_against(clients, found):
    told = set()
    for client in clients:
        check(client.trouble is None, f'client {client.number}: {client.trouble}')
        for reason, claim in client.known.items():
            told.add(reason)
            ids = found.get(reason, set())
            check(len(ids) <= 1, f'"{reason}" is there twice: {ids}')
            if reason in client.open:
                check(ids <= {claim}, f'"{reason}" was acknowledged as {claim} and is {ids}')
            elif claim is None:
                equal(ids, set(), f'"{reason}" was released and is there')
            else:
                equal(ids, {claim}, f'"{reason}" was acknowledged as {claim}, there is')
        for reason in client.open - client.known.keys():
            check(len(found.get(reason, set())) <= 1, f'"{reason}" is there twice')
        asked = set(client.known) | client.open
        odd = {r for r in found if r.startswith(f'client {client.number} ')} - asked
        check(not odd, f'claims that nobody made: {odd}')
    return told


def one_round(c, clients, seed):
    for client in clients:
        client.start()
    delay = random.Random(seed).uniform(0.02, 0.6)
    time.sleep(delay)  # the instant of the kill is what is random here
    c.process.kill()
    for client in clients:
        client.join()
    c.start()


def check_journal(c, told):
    """Read in pages, it has no gap and tells of every acknowledged drain, once."""
    journal = c.journal()
    revisions = [e['revision'] for e in journal]
    check(revisions == sorted(revisions), 'the journal is out of order')
    check(set(revisions) == set(range(1, c.status()['revision'] + 1)), 'the journal has gaps')
    drains = [e['text'].rsplit(' (claim', 1)[0] for e in journal if e['what'] == 'node.drain']
    equal(len(drains), len(set(drains)), 'drains in the journal, of them different')
    missing = told - set(drains)
    check(not missing, f'{len(missing)} drains were acknowledged and are not in the journal: {list(missing)[:3]}')


def test_nothing_acknowledged_is_lost(world):
    c = Controller(world, f'Name=n[01-{NODES}]\n', **CALM)
    swarm(world, c, f'n[01-{NODES}]')
    names = [f'n{i:02}' for i in range(1, NODES + 1)]
    c.wait_nodes('all are in service', names, State='IDLE')
    seed, told = random.randrange(1 << 32), set()
    print(f'seed {seed}')
    for round_number in range(ROUNDS):
        clients = [Client(c, i) for i in range(CLIENTS)]
        for client in clients:
            client.count = round_number * 100000
        one_round(c, clients, seed + round_number)
        status = c.status()
        equal(status['term'], round_number + 2, 'the term')
        found = claims_of(c, names[:CLIENTS])
        told |= check_against(clients, found)
        c.wait_nodes('all are heard again', names, Liveness='live')
        for node in names[:CLIENTS]:  # what the round left is taken back, all at once
            while c.node(node)['Claims']:
                c.post('/v1/nodes/undrain', {'nodes': node})
    check(len(told) > ROUNDS * CLIENTS, f'only {len(told)} drains were acknowledged in all rounds')
    c.wait_nodes('all are in service', names, State='IDLE')
    equal(c.suspected(), [], 'nodes that were suspected')
    check_journal(c, told)
    print(f'{len(told)} drains were acknowledged')


def test_agents_come_back(world):
    """Real agents after one kill: heard again, with a full window before anybody is judged."""
    c = Controller(world, 'Name=n[1-3]\n', **CALM)
    for name in ('n1', 'n2', 'n3'):
        Agent(world, c, name)
    c.wait_nodes('all are in service', ['n1', 'n2', 'n3'], State='IDLE')
    c.process.kill()
    c.start()
    c.wait_nodes('all are heard again', ['n1', 'n2', 'n3'], Liveness='live', State='IDLE')
    equal(c.suspected(), [], 'nodes that were suspected')


def test_journal_in_pages(world):
    """Entries that were committed together are not separated by the end of a page."""
    c = Controller(world, 'Name=n[01-16]\n', **CALM)
    clients = [Client(c, i) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    wait('some were committed together', lambda: c.status()['revision'] > 100)
    for client in clients:
        client.stop.set()
        client.join()
    whole = c.get('/v1/journal?limit=1000')['entries']
    check(len(whole) > len({e['revision'] for e in whole}), 'no two drains were committed together')
    for limit in (1, 3, 50):
        after, paged = 0, []
        while paged[-1:] != whole[-1:] and (page := c.get(f'/v1/journal?after={after}&limit={limit}')['entries']):
            paged += page
            after = page[-1]['revision']
        equal(len(paged), len(whole), f'entries in pages of {limit}')
        check(paged == whole, f'pages of {limit} differ from the whole')


def test_same_state_after_a_kill(world):
    """The state's digest is the same before a kill and after the start that follows, which records a certificate."""
    c = Controller(world, 'Name=n[01-40]\n', **CALM)
    for i in range(1, 21):
        c.post('/v1/nodes/drain', {'nodes': f'n[{i:02}-{i + 10:02}]', 'reason': f'reason {i}'})
        if i % 3 == 0:
            c.post('/v1/nodes/set', {'nodes': f'n{i:02}', 'set': {'CPUs': str(i)}})
    before = c.status()
    c.process.kill()
    c.start()
    after = c.status()
    equal((after['digest'], after['revision']), (before['digest'], before['revision'] + 1), 'digest and revision')


def test_two_controllers(world):
    """A second controller on the same state is told so and changes nothing."""
    c = Controller(world, 'Name=n01\n', **CALM)
    second = Controller(world, 'Name=n01\n', name='second', state=c.state, start=False)
    second.launch()
    equal(second.process.wait_end(), 1, 'the second controller ended with')
    check('another' in second.log() or 'lock' in second.log() or 'use' in second.log(), f'it said {second.log()}')
    c.fettle('node', 'drain', 'n01', '--reason', 'still here')


main()
