# SPDX-License-Identifier: Apache-2.0
"""Changes whose answers are lost: they are asked for again with the id of the request, and each is made once."""
import os
import re
import socket
import sys
import threading
import uuid

from harness import CALM, Controller, check, equal, main, program, wait
from quorum import Quorum

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..', 'python'))
import fettle

NODES = 'Name=DEFAULT CPUs=1\nName=lx[001-400]\n'


class Message:
    """A request or an answer, as it came."""

    def __init__(self, sock):
        self.bytes = b''
        while b'\r\n\r\n' not in self.bytes:
            self.more(sock)
        self.head = self.bytes.split(b'\r\n\r\n')[0].decode()
        length = int(self.header('Content-Length') or 0)
        while len(self.bytes) < len(self.head) + 4 + length:
            self.more(sock)

    def more(self, sock):
        got = sock.recv(65536)
        if not got:
            raise OSError('the other side went away')
        self.bytes += got

    def header(self, name):
        found = re.search(rf'^{name}: (.*?)\r?$', self.head, re.MULTILINE)
        return found and found[1]


class Losing:
    """A local socket in front of a controller's, on which the first good answer to each request is lost. `at_loss` is
    told the node of the request before."""

    def __init__(self, controller, at_loss):
        self.to, self.at_loss = controller.socket, at_loss
        self.path = controller.socket + '.losing'
        self.lost, self.replayed = set(), set()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client):
        with client, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            try:
                server.connect(self.to)
                request = Message(client)
                server.sendall(request.bytes)
                answer = Message(server)
                if not self.loses(request, answer):
                    client.sendall(answer.bytes)
            except OSError:
                pass

    def loses(self, request, answer):
        name = request.header('Idempotency-Key')
        if ' 200 ' not in answer.head.split('\r\n')[0]:
            return False
        if answer.header('Idempotency-Replayed'):
            self.replayed.add(name)
            return False
        if name in self.lost:
            return False
        self.lost.add(name)
        self.at_loss(re.search(rb'lx\d+', request.bytes.split(b'\r\n\r\n')[1])[0].decode())
        return True

    def close(self):
        self.listener.close()
        os.unlink(self.path)


def undrain(controller, node):
    """By another client: the same drain after it would be another drain."""
    connection = controller.connect()
    try:
        connection.request('POST', '/v1/nodes/undrain', f'{{"nodes":"{node}"}}')
        return connection.getresponse().status
    finally:
        connection.close()


def drains_of(journal):
    """node -> how often it was drained"""
    found = {}
    for e in journal:
        if e['what'] == 'node.drain':
            found[e['nodes']] = found.get(e['nodes'], 0) + 1
    return found


def drain_all(world, sockets, nodes, threads):
    """The tool drains each node; returns the exit status of each."""
    ended = {}

    def run(mine):
        for node in mine:
            got, out, err = world.run([program('fettle'), 'node', 'drain', node, '--reason', 'x', '--timeout', '90s'],
                                      env={'FETTLE_CONTROLLER': sockets}, within=120)
            ended[node] = got, out + err

    workers = [threading.Thread(target=run, args=(nodes[i::threads],)) for i in range(threads)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return ended


def test_a_lost_answer_is_given_again(world):
    """Each answer is lost once, and the node is undrained before the tool asks again: it gets the answer of before."""
    c = Controller(world, NODES, **CALM)
    way = Losing(c, lambda node: equal(undrain(c, node), 200, f'undraining {node}'))
    nodes = [f'lx{i:03}' for i in range(1, 41)]
    ended = drain_all(world, way.path, nodes, 4)
    equal({n: e for n, e in ended.items() if e[0] != 0}, {}, 'drains that failed')
    equal(drains_of(c.journal()), {n: 1 for n in nodes}, 'how often each node was drained')
    equal((len(way.lost), way.lost), (len(nodes), way.replayed), 'answers that were lost, and given again')
    equal([n for n, row in c.table('Name,Claims').items() if row['Claims']], [], 'nodes that are drained')
    way.close()


def test_the_python_client_asks_again(world):
    c = Controller(world, NODES, **CALM)
    way = Losing(c, lambda node: equal(undrain(c, node), 200, f'undraining {node}'))
    controller = fettle.Controller(f'{world.path("nobody")},{way.path}')
    for i in range(1, 6):
        equal(controller.node_drain(f'lx{i:03}', 'x')['changed'], f'lx{i:03}', 'the nodes that were drained')
    equal(drains_of(c.journal()), {f'lx{i:03}': 1 for i in range(1, 6)}, 'how often each node was drained')
    equal(controller.address, way.path, 'the controller that answers')
    way.close()
    c.process.stop()
    try:
        fettle.Controller(c.socket).node_drain('lx009', 'x')
    except fettle.Error as e:
        equal(e.code, 'unreachable', 'what never reached a controller')


def test_a_leader_that_dies_before_it_answers(world):
    """Leaders are killed between the commit and the answer, under load. Each change is made once."""
    q = Quorum(world)
    killed, lock = [], threading.Lock()

    def at_loss(node):
        with lock:
            if len(killed) < 3 and len(killed) < len(q_lost()) // 8:
                leader = [c for c in q.all if c.process.status() is None and c.role() == 'leader'][0]
                leader.process.kill()
                killed.append(leader)

    ways = [Losing(c, at_loss) for c in q.all]

    def q_lost():
        return set().union(*(w.lost for w in ways))

    nodes = [f'lx{i:03}' for i in range(1, 61)]
    done = threading.Event()

    def revive():
        """A killed controller comes back, so that there is always one to lead."""
        seen = 0
        while not done.wait(0.1):
            with lock:
                fallen = killed[seen] if seen < len(killed) else None
            if fallen:
                fallen.start()
                seen += 1

    reviver = threading.Thread(target=revive)
    reviver.start()
    ended = drain_all(world, ','.join(w.path for w in ways), nodes, 4)
    done.set()
    reviver.join()
    wait('all run', lambda: all(c.process.status() is None for c in q.all))
    q.agreed('in the end')
    drained = drains_of(q.leader().journal())
    equal({n: e for n, e in ended.items() if e[0] not in (0, 8)}, {}, 'drains that were refused')
    equal({n: k for n, k in drained.items() if k != 1}, {}, 'drains that happened twice')
    equal([n for n, e in ended.items() if e[0] == 0 and n not in drained], [], 'acknowledged drains that are lost')
    check(len([e for e in ended.values() if e[0] == 0]) > 50, f'too few were acknowledged: {ended}')
    equal(len(killed), 3, 'leaders that were killed')
    check(set().union(*(w.replayed for w in ways)), 'answers were given again')
    for w in ways:
        w.close()


def post(controller, name, body, path='/v1/nodes/drain'):
    """(status, the error's code or None, whether it is the answer of before)"""
    connection = controller.connect()
    try:
        connection.putrequest('POST', path)
        connection.putheader('Idempotency-Key', name)
        connection.putheader('Content-Length', str(len(body)))
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        code = re.search(r'"code":"(\w+)"', text)
        return answer.status, code and code[1], answer.getheader('Idempotency-Replayed') == 'true'
    finally:
        connection.close()


def test_hostile_ids(world):
    """Ids that are none, ids of others, and very many of them: nothing is remembered of what was not done."""
    c = Controller(world, NODES, **CALM)
    drain = '{"nodes":"lx001","reason":"x"}'
    for name in ('', 'short', 'x' * 65, 'x' * 8000, '0123456789abcdef/', '"0123456789abcde"', '0123456789 abcdef', '"' * 20,
                 'x' * 15 + 'ä'):
        status, code, _ = post(c, name.encode('utf-8').decode('latin-1'), drain)
        equal((name, status, code), (name, 400, 'invalid'), 'what is no id')
    digest = c.status()['digest']
    for i in range(500):
        equal(post(c, str(uuid.uuid4()), '{"nodes":"nobody","reason":"x"}')[0], 404, 'a refusal')
        equal(post(c, str(uuid.uuid4()), drain, '/v1/nodes/drain?dry_run=true')[0], 200, 'a dry run')
        equal(post(c, str(uuid.uuid4()), '{"nodes":"lx002"}', '/v1/nodes/undrain')[0], 200, 'a change of nothing')
    equal(c.status()['digest'], digest, 'the state after it')
    name = str(uuid.uuid4())
    equal(post(c, name, drain), (200, None, False), 'a drain')
    equal(post(c, f'"{name}"', drain), (200, None, True), 'the same one, with the id in quotes')
    equal(post(c, name, '{"nodes":"lx002","reason":"x"}'), (422, 'request_id_used', False), 'another one')
    c.restart()
    equal(post(c, name, drain), (200, None, True), 'the same one after a restart')


def test_two_at_once_are_one(world):
    """The second request waits for the first one, and has its answer."""
    c = Controller(world, NODES, **CALM)
    for i in range(1, 31):
        name, body = str(uuid.uuid4()), f'{{"nodes":"lx{i:03}","reason":"x"}}'
        answers = []
        both = [threading.Thread(target=lambda: answers.append(post(c, name, body))) for _ in range(2)]
        for t in both:
            t.start()
        for t in both:
            t.join()
        equal(sorted(answers, key=lambda a: a[2]), [(200, None, False), (200, None, True)], f'two drains of lx{i:03}')


main()
