# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any instant: nothing that was acknowledged is lost, nothing is there twice, and no node
pays for it."""
import http.client
import random
import threading
import time

from harness import CALM, Agent, Controller, UnixHTTP, ask, check, equal, main, swarm

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
    acknowledged = 0
    for client in clients:
        check(client.trouble is None, f'client {client.number}: {client.trouble}')
        for reason, claim in client.known.items():
            acknowledged += 1
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
        told = set(client.known) | client.open
        odd = {r for r in found if r.startswith(f'client {client.number} ')} - told
        check(not odd, f'claims that nobody made: {odd}')
    return acknowledged


def one_round(c, clients, seed):
    for client in clients:
        client.start()
    delay = random.Random(seed).uniform(0.02, 0.6)
    time.sleep(delay)  # the instant of the kill is what is random here
    c.process.kill()
    for client in clients:
        client.join()
    c.start()


def check_journal(c, at_least):
    """Read in pages, it has no gap, and tells of every drain once."""
    journal = c.journal()
    revisions = [e['revision'] for e in journal]
    check(revisions == sorted(revisions), 'the journal is out of order')
    check(set(revisions) == set(range(1, c.status()['revision'] + 1)), 'the journal has gaps')
    drains = [e['text'] for e in journal if e['what'] == 'node.drain']
    equal(len(drains), len(set(drains)), 'drains in the journal, of them different')
    told = sum(e['what'] in ('node.drain', 'node.undrain') for e in journal)
    check(told >= at_least, f'the journal tells of {told} changes, and {at_least} were acknowledged')


def test_nothing_acknowledged_is_lost(world):
    c = Controller(world, f'Name=n[01-{NODES}]\n', **CALM)
    swarm(world, c, f'n[01-{NODES - 2}]')
    Agent(world, c, f'n{NODES - 1}')
    Agent(world, c, f'n{NODES}')
    names = [f'n{i:02}' for i in range(1, NODES + 1)]
    c.wait_nodes('all are in service', names, State='IDLE')
    seed, total = random.randrange(1 << 32), 0
    print(f'seed {seed}')
    for round_number in range(ROUNDS):
        clients = [Client(c, i) for i in range(CLIENTS)]
        for client in clients:
            client.count = round_number * 100000
        one_round(c, clients, seed + round_number)
        status = c.status()
        equal(status['term'], round_number + 2, 'the term')
        found = claims_of(c, names[:CLIENTS])
        total += check_against(clients, found)
        c.wait_nodes('all are heard again', names, Liveness='live')
        for node in names[:CLIENTS]:  # what the round left is taken back, all at once
            while c.node(node)['Claims']:
                c.post('/v1/nodes/undrain', {'nodes': node})
    check(total > ROUNDS * CLIENTS, f'only {total} changes were acknowledged in all rounds')
    c.wait_nodes('all are in service', names, State='IDLE')
    equal(c.suspected(), [], 'nodes that were suspected')
    check_journal(c, total)
    print(f'{total} changes were acknowledged and are there')


def test_same_state_after_a_kill(world):
    """The state's digest is the same before a kill and after the start that follows."""
    c = Controller(world, 'Name=n[01-40]\n', **CALM)
    for i in range(1, 21):
        c.post('/v1/nodes/drain', {'nodes': f'n[{i:02}-{i + 10:02}]', 'reason': f'reason {i}'})
        if i % 3 == 0:
            c.post('/v1/nodes/set', {'nodes': f'n{i:02}', 'set': {'CPUs': str(i)}})
    before = c.status()
    c.process.kill()
    c.start()
    after = c.status()
    equal((after['digest'], after['revision']), (before['digest'], before['revision']), 'digest and revision')


def test_two_controllers(world):
    """A second controller on the same state is told so and changes nothing."""
    c = Controller(world, 'Name=n01\n', **CALM)
    second = Controller(world, 'Name=n01\n', name='second', state=c.state, start=False)
    second.launch()
    equal(second.process.wait_end(), 1, 'the second controller ended with')
    check('another' in second.log() or 'lock' in second.log() or 'use' in second.log(), f'it said {second.log()}')
    c.fettle('node', 'drain', 'n01', '--reason', 'still here')


main()
