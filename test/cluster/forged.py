# SPDX-License-Identifier: Apache-2.0
"""Whoever is root on a collector cannot have its nodes do anything: what no controller signed for them, now, is
not done. A collector played by hand, between a real controller and real agents."""
import contextlib
import json
import os
import select
import signal
import socket
import ssl
import struct
import threading
import time

from harness import (BOOT, CALM, CHECKLIST, FRAMES, TIMEOUT, Agent, Controller, Link, check, contains, equal, fake_root,
                     main, wait)

CHECKS, ACT, DONE, PASS = 19, 20, 21, 22
INSTANCE = '00000000000000c1'


class End:
    """One connection: its frames, as (type, body)."""

    def __init__(self, sock, buffer=b''):
        self.sock, self.buffer, self.hello, self.frames = sock, buffer, None, []
        sock.setblocking(False)

    def send(self, kind, body):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.sock.setblocking(True)
        self.sock.sendall(struct.pack('>IBBH', len(data), FRAMES.get(kind, kind), 0, 0) + data)
        self.sock.setblocking(False)

    def read(self):
        """New frames; False when it is closed."""
        with contextlib.suppress(ssl.SSLWantReadError):
            while True:
                more = self.sock.recv(65536)
                if not more:
                    return False
                self.buffer += more
        return True

    def take(self):
        while len(self.buffer) >= 8:
            length, kind, _, _ = struct.unpack('>IBBH', self.buffer[:8])
            if len(self.buffer) < 8 + length:
                return
            body, self.buffer = self.buffer[8:8 + length], self.buffer[8 + length:]
            yield kind, json.loads(body or 'null')

    def of(self, kind, since=0):
        return [body for k, body in self.frames[since:] if k == FRAMES.get(kind, kind)]


class Keeper:
    """A collector: passes on to the controller what agents say, and to them what the test wants. One thread: it
    works while turn() is called."""

    def __init__(self, world, c, name):
        cert, key = Agent(world, c, name, start=False).certificate()
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(cert, key)
        self.listener = socket.create_server(('127.0.0.1', 0))
        world.cleanups.append(self.close)
        self.certificate = cert
        self.name, self.links, self.batch, self.changed = name, {}, 0, []
        link = Link(c.port, cert, key)
        link.hello(name, INSTANCE, collector={'port': self.listener.getsockname()[1], 'epoch': 0, 'nodes': ''})
        self.up = End(link.sock, link.buffer)
        self.welcome, self.seq, self.waiting = None, 0, []

    def close(self):
        for s in [self.listener, self.up.sock, *(k.sock for k in self.waiting), *(k.sock for k in self.links.values())]:
            s.close()

    def accept(self):
        s, _ = self.listener.accept()
        s.settimeout(TIMEOUT)
        with contextlib.suppress(OSError):
            self.waiting.append(End(self.tls.wrap_socket(s, server_side=True)))

    def from_controller(self, kind, body):
        self.up.frames.append((kind, body))
        if kind == FRAMES['WELCOME']:
            self.welcome = {k: v for k, v in body.items() if k != 'want'}

    def from_agent(self, end, kind, body):
        end.frames.append((kind, body))
        if kind == FRAMES['HELLO']:
            end.hello = body
            self.links[body['name']] = end
            end.send('WELCOME', self.welcome)
        elif kind == FRAMES['HEARTBEAT']:
            self.changed.append({**body, 'name': end.hello['name'], 'version': 'x'})
            end.send('SETTINGS', {'interval_ms': self.welcome['interval_ms']})
        elif kind in (CHECKS, DONE):
            self.up.send(PASS, {'node': end.hello['name'], 'type': kind, 'body': body})

    def report(self):
        if time.monotonic() - self.batch < 0.3 or not self.welcome:
            return
        self.batch = time.monotonic()
        self.seq += 1
        self.up.send('HEARTBEAT', {'boot': BOOT, 'instance': INSTANCE, 'seq': self.seq, 'work': [], 'uptime_s': 1})
        share = self.up.of('SHARE')
        self.up.send('BATCH', {'epoch': share[-1]['epoch'] if share else 0, 'seq': self.seq,
                               'port': self.listener.getsockname()[1], 'changed': self.changed,
                               'heard': ','.join({n: None for n in [self.name] + [c['name'] for c in self.changed]})})
        self.changed = []

    def turn(self):
        ends = {k.sock: k for k in [self.up, *self.waiting]}
        for s in select.select([self.listener, *ends], [], [], 0.05)[0]:
            if s is self.listener:
                self.accept()
            elif not ends[s].read():
                check(s is not self.up.sock, 'the controller has closed')
                self.waiting.remove(ends[s])
                s.close()
        for kind, body in self.up.take():
            self.from_controller(kind, body)
        for end in self.waiting:
            for kind, body in end.take():
                self.from_agent(end, kind, body)
        self.report()
        return True

    def wait(self, what, condition):
        return wait(what, lambda: self.turn() and condition())

    def barrier(self, name):
        """Until the agent has read all that was sent to it; what it said meanwhile, as its frames."""
        end, since = self.links[name], len(self.links[name].frames)
        end.send('WANT', {})
        self.wait(f'{name} has read all', lambda: end.of('INVENTORY', since))
        return end.frames[since:]

    def passed(self, since=0):
        """The frames that the controller has passed on: the bodies of ACT."""
        return [p['body'] for p in self.up.of(PASS, since) if p['type'] == ACT and 'tell' not in p['body']]


class Played:
    """A controller, the collector k1 in this process, and the agents a1 and a2. Each time that the one check is
    looked at there is a line more in `looks`; nothing that is forged may make the file `evil`."""

    def __init__(self, world):
        self.world, self.looks, self.evil = world, world.path('looks'), world.path('evil')
        open(self.looks, 'w').close()
        self.c = Controller(world, 'Name=k1\nName=a1\nName=a2\n', CollectorNodes='k1', **CALM,
                            CheckConf=world.write('mark.conf', self.record(1)))
        self.k = Keeper(world, self.c, 'k1')
        self.k.wait('the collector has its share', lambda: self.k.up.of('SHARE') and self.k.up.of(CHECKLIST) and
                    self.k.up.of('SHARE')[-1]['nodes'] == 'a[1-2]')
        self.agents = {n: Agent(world, self.c, n, root=fake_root(world, n, BOOT)) for n in ('a1', 'a2')}
        self.come('a1')
        self.come('a2')
        self.k.wait('the controller knows of both', lambda: all(
            self.c.node(n)['Liveness'] == 'live' and self.c.node(n)['Lifecycle'] == 'available' for n in self.agents))
        self.a1 = self.agents['a1']

    def record(self, n):
        return f'Check=mark Probe=plugin Run="echo $FETTLE_NODE >>{self.looks}; exit {n}" Every=1d\n'

    def come(self, name):
        def heard():
            end = self.k.links.get(name)
            return end in self.k.waiting and end.of('HEARTBEAT')
        self.k.wait(f'{name} reports to the collector', heard)

    def looked(self, node='a1'):
        with open(self.looks) as f:
            return f.read().split().count(node)

    def send(self, node, kind, body):
        self.k.links[node].send(kind, body)

    def give_list(self, n=-1):
        """The controller's list, as it came."""
        found = self.k.up.of(CHECKLIST)
        self.send('a1', CHECKLIST, found[n])
        return json.loads(found[n]['signed'])['hash']

    def runs(self, *hashes):
        """Whether a1 says that it runs the list."""
        said = [b['list'] for b in self.k.links['a1'].of(CHECKS)]
        return said and said[-1] in hashes

    def run_check(self):
        """Has the controller order a1 to run its check; returns the result."""
        said = []
        t = threading.Thread(target=lambda: said.append(self.c.fettle_run('check', 'run', 'mark', 'a1')))
        t.start()
        return t, said

    def ask_for(self, since):
        """Passes on the notice, as the question; gives the order that the controller signed."""
        self.k.wait('the controller tells', lambda: self.k.passed(since))
        notice = self.k.passed(since)[0]
        check('signed' not in notice, 'the notice is signed')
        before = len(self.k.up.frames)
        self.send('a1', ACT, notice)
        self.k.wait('the controller signs', lambda: [b for b in self.k.passed(before) if 'signed' in b])
        return notice, [b for b in self.k.passed(before) if 'signed' in b][0]

    def restart(self, *forgets):
        end, process = self.k.links['a1'], self.a1.process
        process.wanted = False
        process.send(signal.SIGTERM)
        self.k.wait('it has ended', lambda: process.status() is not None and end not in self.k.waiting)
        equal(process.status(), 0, 'a1, told to end, has the exit status')
        for path in [os.path.join(d, file) for file in forgets for d in (self.a1.home, self.a1.run)]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        self.a1.start()
        self.k.wait('it is back', lambda: self.k.links['a1'] is not end and self.k.links['a1'].of('HEARTBEAT'))


def operation(evil, node='a1', id='evil.1', **more):
    return {'id': id, 'term': 1 << 40, 'run': f'node:touch {evil}', 'boot': BOOT, 'deadline_ms': 60000, **more}


def evil_list(evil):
    return {'hash': 'f' * 16, 'lines': [f'Check=evil Probe=plugin Run="touch {evil}" Every=1s'], 'meanings': []}


def done_of(frames, id):
    return [b['state'] for k, b in frames if k == DONE and b['id'] == id]


def test_forged_lists(world):
    """A list that no controller signed, a changed one and an old one are not taken; the right one is."""
    p = Played(world)
    genuine = p.k.up.of(CHECKLIST)[-1]
    own = {**json.loads(genuine['signed']), **evil_list(p.evil), 'revision': 1 << 50}
    with open(p.k.certificate) as f:
        node_pem = f.read()
    for forged in (evil_list(p.evil), {**genuine, 'signed': json.dumps(own)},
                   {**genuine, 'signed': json.dumps(own), 'certificate': node_pem}, {**genuine, 'certificate': node_pem},
                   {**genuine, 'signature': ''}):
        p.send('a1', CHECKLIST, forged)
    p.send('a1', 'SETTINGS', {'survey': {**genuine, 'signed': json.dumps({'type': 13, 'revision': 1 << 50, 'recheck_ms': 1})}})
    p.send('a1', 'SETTINGS', {'survey': genuine})
    said = p.k.barrier('a1')
    equal([b for k, b in said if k == CHECKS], [], 'what a1 checks')
    equal(p.looked(), 0, 'looks')
    contains(p.a1.process.log(), 'CHECKLIST from collector k1 is not believed, and nothing is done', 'the log of a1')
    first = p.give_list()
    p.k.wait('a1 runs the list of its controller', lambda: p.runs(first))
    p.k.wait('it has looked', lambda: p.looked() == 1)

    p.world.write('mark.conf', p.record(2))
    p.c.fettle('reload')
    p.k.wait('there is another list', lambda: len(p.k.up.of(CHECKLIST)) == 2)
    second = p.give_list()
    p.k.wait('a1 runs it', lambda: p.runs(second) and p.looked() == 2)
    p.give_list(0)
    p.k.barrier('a1')
    check(p.runs(second), 'the old list was taken')
    p.restart()
    equal(p.k.links['a1'].hello['checklist'], second, 'the list after a restart')
    p.k.wait('it has looked', lambda: p.looked() == 3)
    p.give_list(0)
    p.k.barrier('a1')
    contains(p.a1.process.log(), 'it is older than the present one', 'the log of a1')
    p.restart()
    equal(p.k.links['a1'].hello['checklist'], second, 'the list after another restart')
    check(not os.path.exists(p.evil), 'something forged was done')


def test_forged_operations(world):
    """An operation is done when the controller signed it for this node and as an answer to what it asked, and then
    once."""
    p = Played(world)
    first = p.give_list()
    p.k.wait('a1 runs the list', lambda: p.runs(first) and p.looked() == 1)
    p.send('a1', ACT, operation(p.evil))
    said = p.k.barrier('a1')
    equal(done_of(said, 'evil.1'), ['asks'], 'what a1 says to a forged operation')
    nonce = [b['nonce'] for k, b in said if k == DONE][0]

    since = len(p.k.up.frames)
    t, answer = p.run_check()
    notice, order = p.ask_for(since)
    good = json.loads(order['signed'])
    equal((good['node'], good['id'], good['nonce']), ('a1', notice['id'], nonce), 'what is signed')
    for forged in (operation(p.evil, nonce=nonce), {**order, 'signed': json.dumps({**good, **operation(p.evil)})},
                   {**p.k.up.of(CHECKLIST)[-1], 'signed': json.dumps({**good, **operation(p.evil)})},
                   {**order, 'signed': order['signed'].replace('check:mark', f'node:touch {p.evil}')}):
        p.send('a1', ACT, forged)
    equal(set(done_of(p.k.barrier('a1'), 'evil.1')) - {'asks'}, set(), 'what a1 says to forged operations')
    contains(p.a1.process.log(), 'ACT from collector k1 is not believed, and nothing is done', 'the log of a1')
    p.send('a2', ACT, order)
    equal([b for k, b in p.k.barrier('a2') if k == DONE], [], 'what a2 says to an order for a1')
    contains(p.agents['a2'].process.log(), 'it is for node a1', 'the log of a2')
    equal(p.looked(), 1, 'looks before the order was passed on')

    p.send('a1', ACT, order)
    p.k.wait('the person has the answer', lambda: answer)
    t.join()
    equal(answer[0][0], 0, f'fettle check run: {answer[0][1:]}: the exit status')
    equal(p.looked(), 2, 'looks')
    p.send('a1', ACT, order)
    equal(done_of(p.k.barrier('a1'), good['id'])[-1:], ['done'], 'what a1 says to the same order again')
    equal(p.looked(), 2, 'looks after the same order')

    p.restart('operations')
    p.k.wait('it has looked', lambda: p.looked() == 3)
    p.send('a1', ACT, order)
    equal(done_of(p.k.barrier('a1'), good['id']), [], 'what a1 says to an old order')
    contains(p.a1.process.log(), f'operation {good["id"]} was not asked for, or too long ago', 'the log of a1')
    equal(p.looked(), 3, 'looks after an old order')
    check(not os.path.exists(p.evil), 'something forged was done')
    equal(p.c.suspected(), [], 'nodes that were suspected')


def test_a_collector_is_no_controller(world):
    """Its term keeps nobody from the controller."""
    p = Played(world)
    p.k.welcome['term'] = 1 << 60
    p.restart()
    p.k.wait('the batch with the new a1 is sent', lambda: not p.k.changed)
    p.c.node('a1')  # an answer: the batch has been read, so the controller knows which a1 left its collector
    p.send('a1', 'REDIRECT', {})
    p.k.wait('the controller hears it', lambda: 'reports to controller' in p.a1.process.log())
    check('leads no more' not in p.a1.process.log(), 'it believes a collector about terms')


main()
