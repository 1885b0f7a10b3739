# SPDX-License-Identifier: Apache-2.0
"""Garbage, giants, dribblers and crowds on every port, while an agent goes on and people are served."""
import contextlib
import os
import random
import resource
import select
import socket
import ssl
import struct
import threading
import time

from harness import PATIENCE, SANITIZED, Agent, Controller, Link, check, equal, holds, main, swarm, wait

# A heartbeat that is delayed by a second would show: 1 s of interval, late after 3.
LIVE = {'HeartBeatInterval': '1s', 'LateAfter': '4s', 'HeartBeatTimeout': '8s'}


class Ports:
    """The three ways in."""

    def __init__(self, world, nodes='Name=n01\n', **settings):
        self.c = Controller(world, nodes, **{**LIVE, **settings})
        self.agent = Agent(world, self.c, 'n01')
        self.c.wait_nodes('the good agent is heard', ['n01'], State='IDLE')

    def raw(self, way):
        if way == 'socket':
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(PATIENCE)
            s.connect(self.c.socket)
            return s
        port = self.c.port if way.startswith('agents') else self.c.https
        s = socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)
        if way.endswith('tls'):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            s = context.wrap_socket(s)
        return s

    def check_well(self):
        """The good agent is live, a good client is served, and nobody was ever late."""
        began = time.monotonic()
        node = self.c.node('n01')
        took = time.monotonic() - began
        equal((node['Liveness'], node['State']), ('live', 'IDLE'), 'the good agent')
        check(node['Silent'] <= 3, f'last heard {node["Silent"]} s ago')
        check(took < 5, f'a good client waited for {took:.1f} s')
        equal(self.c.suspected(), [], 'nodes that were suspected')
        return True


def closed_by_peer(s, within=PATIENCE):
    """Reads until the other side closes; what it said before."""
    said, until = b'', time.monotonic() + within
    s.settimeout(1)
    while time.monotonic() < until:
        try:
            more = s.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return said
        if not more:
            return said
        said += more
    raise AssertionError(f'it is open after {within} s')


WAYS = ('agents', 'agents+tls', 'https', 'https+tls', 'socket')


def test_garbage(world):
    """Noise on every port, before and inside TLS, ends that connection and nothing else."""
    p = Ports(world)
    rng = random.Random(7)
    shapes = [rng.randbytes(4096), b'\0' * 4096, b'\xff' * 4096, b'GET / HTTP/1.1\r\n\r\n' * 100, b'\x16\x03\x01' + rng.randbytes(600),
              b'{"name":' * 500, b'\n' * 5000]
    for way in WAYS:
        for shape in shapes:
            s = p.raw(way)
            with contextlib.suppress(OSError):
                s.sendall(shape)
                s.shutdown(socket.SHUT_WR) if not isinstance(s, ssl.SSLSocket) else None
            s.close()
        p.check_well()


def test_giants(world):
    """Frames and requests over the limit end the connection before they take memory."""
    p = Ports(world)
    cert = p.agent.certificate()
    memory = p.c.process.memory_kb()
    for length in (65537, 1 << 24, (1 << 32) - 1):
        link = Link(p.c.port, *cert)
        link.sock.sendall(struct.pack('>IBBH', length, 1, 0, 0))
        equal(link.next()[0], None, f'after a frame of {length} bytes')
        link.close()
    link = Link(p.c.port, *cert)
    link.sock.sendall(struct.pack('>IBBH', 65536, 1, 0, 0) + b'[' * 65536)
    equal(link.next()[0] in ('REFUSE', None), True, 'after 65536 brackets')
    link.close()
    requests = {431: b'GET /v1/nodes HTTP/1.1\r\nHost: x\r\nX: ' + b'y' * 20000 + b'\r\n\r\n',
                413: b'POST /v1/nodes/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n' + b' ' * 1000,
                400: b'POST /v1/nodes/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'}
    for way in ('socket', 'https+tls'):
        for status, request in requests.items():
            s = p.raw(way)
            s.sendall(request)
            said = closed_by_peer(s)
            check(said.startswith(b'HTTP/1.1 %d ' % status), f'{way}: {said[:60]}, and not {status}')
            s.close()
        s = p.raw(way)
        deep = b'[' * 100000
        s.sendall(b'POST /v1/nodes/drain HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % len(deep) + deep)
        wanted = b'HTTP/1.1 400 ' if way == 'socket' else b'HTTP/1.1 401 '
        check(closed_by_peer(s).startswith(wanted), f'{way}: deep JSON')
        s.close()
    p.check_well()
    check(p.c.process.memory_kb() - memory < (200 << 10 if SANITIZED else 16 << 10), 'the controller has grown')


def test_dribblers(world):
    """Clients that send a byte now and then are answered at the deadline, and delay nobody meanwhile."""
    p = Ports(world)
    shakers = [p.raw(way) for way in ('agents', 'https') for _ in range(20)]
    askers = [p.raw(way) for way in ('socket', 'https+tls') for _ in range(30)]
    head, sent, answers = b'GET /v1/nodes HTTP/1.1\r\nHost: x\r\nX: ', 0, {}

    def dribble():
        nonlocal sent
        for s in shakers:
            with contextlib.suppress(OSError):
                s.sendall(b'\x16\x03\x01\x02\x00\x01\x00'[sent:sent + 1])
        for i, s in enumerate(askers):
            if i in answers:
                continue
            with contextlib.suppress(OSError):
                s.sendall(head[sent:sent + 1] or b'y')
            if select.select([s], [], [], 0)[0]:
                answers[i] = s.recv(4096)
        sent += 1
        p.check_well()
        return len(answers) == len(askers)
    wait('all slow requests are answered', dribble, 40)
    odd = [a for a in answers.values() if not a.startswith(b'HTTP/1.1 408 ')]
    equal(odd[:1], [], 'answers other than 408')
    for s in shakers + askers:
        s.close()


def test_half_open(world):
    """Eight hundred silent connections on each port, and everybody else is served."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    p = Ports(world, 'Name=n01\nName=n02\n')
    sockets = [p.raw(way) for way in ('agents', 'https') for _ in range(800)]
    holds('all goes on', 3, p.check_well)
    late = Agent(world, p.c, 'n02')
    p.c.wait_nodes('another agent joins and is heard', ['n02'], State='IDLE')
    equal(p.c.ask_https('GET', '/v1/status')[0], 401, 'a client over HTTPS')
    late.process.stop()
    p.check_well()
    for s in sockets:
        s.close()
    wait('they are forgotten', lambda: len(os.listdir(f'/proc/{p.c.process.pid}/fd')) < 100)
    p.check_well()


def test_who_does_not_read(world):
    """A client that asks and never reads is cut off, and holds little."""
    p = Ports(world, 'Name=n[01-99]\nName=x[0001-3000]\n')
    memory = p.c.process.memory_kb()
    sockets = []
    for _ in range(30):
        s = p.raw('socket')
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(b'GET /v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n' * 20)
        sockets.append(s)
    holds('all goes on', 3, p.check_well)
    grown = p.c.process.memory_kb() - memory
    check(grown < (600 << 10 if SANITIZED else 150 << 10), f'the controller grew by {grown} KiB')
    for s in sockets:
        s.close()
    p.check_well()


def test_storm(world):
    """Thousands of agents that all come back at once; the good one is never late."""
    n = 400 if SANITIZED else 2000
    p = Ports(world, f'Name=n01\nName=s[0001-{n:04}]\n', MaxSilentShare=100)
    crowd = swarm(world, p.c, f's[0001-{n:04}]', within='1s', script=''.join(
        f'{t}s close s[0001-{n:04}]\n' for t in (8, 12, 16)))

    def live():
        p.check_good()
        table = p.c.table('Name,Liveness')
        return sum(r['Liveness'] == 'live' for r in table.values()) == n + 1
    p.check_good = lambda: equal(p.c.node('n01')['Liveness'], 'live', 'the good agent')
    wait('the crowd is heard', live)
    wait('the last storm is over', lambda: p.check_good() or swarm_age(crowd) > 18)
    wait('the crowd is back', lambda: live() and p.c.status()['agents'] == n + 1)
    equal([line for line in p.c.suspected() if 'n01' in line], [], 'the good agent was suspected')
    crowd.stop()
    p.check_good()


def swarm_age(process):
    with open(f'/proc/{process.pid}/stat') as f:
        started = int(f.read().rsplit(')', 1)[1].split()[19]) / os.sysconf('SC_CLK_TCK')
    with open('/proc/uptime') as f:
        return float(f.read().split()[0]) - started


def test_mixed_attack(world):
    """All of it at once from several threads, for some seconds."""
    p = Ports(world)
    stop = threading.Event()

    def attack(seed):
        rng = random.Random(seed)
        while not stop.is_set():
            with contextlib.suppress(OSError):
                s = p.raw(rng.choice(WAYS))
                with s:
                    s.sendall(rng.choice([rng.randbytes(rng.randrange(1, 3000)), b'GET ', b'\x16\x03\x01\x00\xff',
                                          struct.pack('>IBBH', rng.randrange(1 << 32), rng.randrange(256), 0, 0)]))
    threads = [threading.Thread(target=attack, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    try:
        holds('all goes on', 6, p.check_well)
    finally:
        stop.set()
        for t in threads:
            t.join()
    p.check_well()


main()
