# SPDX-License-Identifier: Apache-2.0
"""Garbage, giants, dribblers, crowds, liars and the curious on every port, while an agent goes on and people are
served."""
import contextlib
import json
import os
import random
import select
import socket
import ssl
import struct
import threading
import time

from attacks import NOBODY, flood, many_files
from harness import (TIMEOUT, SANITIZED, Agent, Controller, Link, check, contains, equal, holds, main, need_root, swarm,
                     wait)

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
            s.settimeout(TIMEOUT)
            s.connect(self.c.socket)
            return s
        port = self.c.port if way.startswith('agents') else self.c.https
        s = socket.create_connection(('127.0.0.1', port), timeout=TIMEOUT)
        if way.endswith('tls'):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            s = context.wrap_socket(s)
        return s

    def check_well(self, silent=3):
        """The good agent is live, a good client is served, and nobody was ever late."""
        began = time.monotonic()
        node = self.c.node('n01')
        took = time.monotonic() - began
        equal((node['Liveness'], node['State']), ('live', 'IDLE'), 'the good agent')
        check(node['Silent'] <= silent, f'last heard {node["Silent"]} s ago')
        check(took < 5, f'a good client waited for {took:.1f} s')
        equal(self.c.suspected(), [], 'nodes that were suspected')
        return True


def closed_by_peer(s, within=TIMEOUT):
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


@contextlib.contextmanager
def as_nobody():
    """Connections in here are made by the user nobody, as are those of all threads meanwhile."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


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
    many_files()
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


def test_a_client_that_does_not_read(world):
    """A client that asks and never reads is cut off, and the controller holds little memory for it."""
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
    """All attacks at once from several threads, for some seconds."""
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


def test_lying_collector(world):
    """A collector that names 262,144 nodes in 13 bytes, four hundred times, costs nobody anything: such a list is
    not read further than to what a collector may have been given."""
    # An interval in which this test comes to its batches on a busy machine, or the collector is given up.
    p = Ports(world, 'Name=n01\nName=k1\n', CollectorNodes='k1', HeartBeatInterval='5s', LateAfter='15s', HeartBeatTimeout='20s')
    link = Link(p.c.port, *Agent(world, p.c, 'k1', start=False).certificate())
    link.hello('k1', '00000000000000c1')
    link.expect('WELCOME')
    frames, lies = b'', ('n[1-262144]', 'r[1-512]n[1-512]', 'n[' + ','.join(['1-4'] * 9000) + ']')
    for i in range(400):
        body = json.dumps({'epoch': 1, 'seq': i, 'heard': lies[i % 3], 'verified': lies[(i + 1) % 2]}).encode()
        frames += struct.pack('>IBBH', len(body), 8, 0, 0) + body
    sender = threading.Thread(target=link.sock.sendall, args=(frames,))
    sender.start()
    holds('all goes on', 2, lambda: p.check_well(silent=10))
    sender.join()
    heard = 0
    while heard < 400:
        kind, body = link.next()
        check(kind is not None, f'the link is closed: {body}')
        heard += kind == 'HEARD'
    p.check_well(silent=10)
    said = p.c.log_lines('the nodes that were heard: "n[1-262144]": the list has more than 1 hosts')
    equal(len(said), 1, 'lines about it in the log')
    link.close()


def answers_of(s):
    """How many answers have come so far."""
    s.setblocking(False)
    said = b''
    with contextlib.suppress(BlockingIOError):
        while more := s.recv(1 << 20):
            said += more
    return said.count(b'HTTP/1.1 ')


def test_curious_user(world):
    """A user who asks the most expensive questions on a hundred connections waits for himself: root is answered
    while they wait, and nobody is judged late."""
    need_root()
    p = Ports(world, 'Name=n01\nName=x[0001-3000]\n')
    status, answer = p.c.ask('GET', '/v1/nodes?nodes=r[1-512]n[1-512]')
    equal(status, 400, 'the answer to a list of more nodes than there are')
    contains(answer['error']['message'], 'the list has more than 6066 hosts', 'its message')
    questions = ('/v1/place?count=3000&nodes=x[0001-3000]', '/v1/slurm/features?nodes=x[0001-3000]', '/v1/nodes?nodes=r[1-512]n[1-512]')
    each = 50
    crowd = []
    with as_nobody():
        for _ in range(100):
            crowd.append(p.raw('socket'))
    for i, s in enumerate(crowd):
        s.sendall(f'GET {questions[i % 3]} HTTP/1.1\r\nHost: x\r\n\r\n'.encode() * each)
    p.c.fettle('brake', 'stop', '--reason', 'a crowd')
    p.check_well()
    p.c.fettle('brake', 'release', '--reason', 'over')
    answered = sum(answers_of(s) for s in crowd)
    check(answered < each * len(crowd), 'root waited until all was answered')
    p.check_well()
    equal(p.c.log_lines('the loop stood still'), [], 'what the log says of the loop')
    for s in crowd:
        s.close()


def test_streams_of_nobody(world):
    """Eleven hundred event streams of one user are no more than that user's share, and the brake works."""
    need_root()
    many_files()
    p = Ports(world)
    crowd, refused = [], 0
    with as_nobody():
        for _ in range(1100):
            s = p.raw('socket')
            crowd.append(s)
            with contextlib.suppress(ConnectionError):
                s.sendall(b'GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n')
    p.c.fettle('brake', 'stop', '--reason', 'a crowd')
    p.check_well()
    streams = 0
    for s in crowd:
        s.settimeout(TIMEOUT)
        with contextlib.suppress(ConnectionError):
            said = s.recv(4096)
            streams += b' 200 OK' in said
            refused += b'there are too many connections of uid 65534: 128' in said
    equal(streams, 128, 'streams of one user')
    check(refused > 0, 'nobody was told why')
    with p.raw('socket') as own:
        own.sendall(b'GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n')
        contains(own.recv(4096), b' 200 OK', "the answer to root's stream")
    for s in crowd:
        s.close()


def test_silent_crowd(world):
    """Eleven hundred silent connections to the HTTPS port keep nobody out: not root on the local socket, and not an
    administrator who comes from the same address."""
    many_files()
    p = Ports(world)
    os.mkdir(world.path('ann'))
    p.c.fettle('cert', 'create', 'ann', '--role', 'admin', cwd=world.path('ann'))
    crowd = [p.raw('https') for _ in range(1100)]
    p.c.fettle('brake', 'stop', '--reason', 'a crowd')
    p.check_well()
    cert = {k: os.path.join(world.path('ann'), f) for k, f in (('cert', 'ann.pem'), ('key', 'ann.key'))}
    equal(p.c.ask_https('GET', '/v1/status', **cert)[0], 200, 'an administrator over HTTPS')
    for s in crowd:
        s.close()


def open_files(process):
    return len(os.listdir(f'/proc/{process.pid}/fd'))


@contextlib.contextmanager
def flooded(port):
    many_files()
    stop = threading.Event()
    thread = threading.Thread(target=flood, args=(port, stop.is_set))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_flood_of_the_agents_port(world):
    """Connections without a certificate, more than there may be and always new ones, keep no node out: another joins
    and is heard, and the controller has a bounded number of descriptors and little to say in its log."""
    p = Ports(world, 'Name=n[01-02]\n')
    before, lines = open_files(p.c.process), len(p.c.log().splitlines())
    most = 0
    with flooded(p.c.port):
        wait('the crowd is there', lambda: open_files(p.c.process) > before + 400)
        other = Agent(world, p.c, 'n02')
        p.c.wait_nodes('another agent joins and is heard', ['n02'], State='IDLE')

        def well():
            nonlocal most
            most = max(most, open_files(p.c.process))
            return p.check_well() and p.c.node('n02')['Liveness'] == 'live'
        holds('all goes on', 5, well)
    check(most < before + 1000, f'{most} descriptors, {before} of them before')
    check(len(p.c.log().splitlines()) - lines < 60, 'the log is long')
    wait('they are forgotten', lambda: open_files(p.c.process) < before + 50)
    other.process.stop()


def test_flood_of_a_collector(world):
    """The same at a collector: a node that is given to it comes in and is heard through it."""
    p = Ports(world, 'Name=n[01-02]\nName=k1\n', CollectorNodes='k1')
    k1 = Agent(world, p.c, 'k1')
    p.c.wait_nodes('the collector has its node', ['n01'], Collector='k1', Liveness='live')
    port = int(k1.process.log().split('collects on port ')[1].split()[0])
    before, lines = open_files(k1.process), len(k1.process.log().splitlines())
    with flooded(port):
        wait('the crowd is there', lambda: open_files(k1.process) > before + 200)
        Agent(world, p.c, 'n02')
        p.c.wait_nodes('another node is heard through it', ['n02'], Collector='k1', Liveness='live', State='IDLE')
        holds('all goes on', 5, lambda: p.check_well() and p.c.node('n02')['Liveness'] == 'live')
        check(open_files(k1.process) < before + 700, f'{open_files(k1.process)} descriptors, {before} of them before')
    check(len(k1.process.log().splitlines()) - lines < 60, 'its log is long')


def test_a_node_has_few_connections(world):
    """An attacker with a node's key holds some descriptors, but not all, and does not push the agent out."""
    p = Ports(world)
    before = open_files(p.c.process)
    crowd = [Link(p.c.port, *p.agent.certificate()) for _ in range(60)]
    wait('most of them are closed', lambda: open_files(p.c.process) <= before + 4)
    p.check_well()
    for link in crowd:
        link.close()


main()
