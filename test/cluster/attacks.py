# SPDX-License-Identifier: Apache-2.0
"""Attacks on a controller, one by one: for the bench, which measures them, and for the siege, which has them all at
once. Each is a process of its own until it is killed, and goes on whatever the controller answers."""
import contextlib
import itertools
import json
import mmap
import os
import random
import resource
import select
import signal
import socket
import struct
import subprocess
import time

from harness import BOOT, TIMEOUT, Agent, Link, check

NOBODY = 65534
CHECKS = 19
ABSURD_SEQ = 1 << 62
# Enough of a ClientHello to have the other side wait for the rest.
HALF_A_HELLO = b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
# The nodes whose certificates attackers hold; k2 is to be a collector.
NODES = 'Name=k2\nName=e[1-4]\n'


def many_files():
    """As many descriptors as attackers need."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)


def many(make, n):
    made = []
    for _ in range(n):
        with contextlib.suppress(OSError):
            made.append(make())
    return made


def ask_forever(sockets, questions):
    """Asks on each connection, again when it is answered; one that is closed is not replaced."""
    poll = select.poll()
    for s in sockets:
        poll.register(s, select.POLLIN)
        s.send(next(questions))
    by = {s.fileno(): s for s in sockets}
    while by:
        for fd, _ in poll.poll():
            if not by[fd].recv(1 << 20):
                poll.unregister(fd)
                by.pop(fd).close()
            else:
                by[fd].send(next(questions))


def flood(port, stops=lambda: False):
    """Connections that show no certificate come all the time, a thousand of them at once: silent ones, such as begin
    a handshake, such as end it and are silent then, and such as ask to join without a token."""
    kept, rng = [], random.Random(11)
    while not stops():
        with contextlib.suppress(OSError, EOFError):
            kind = rng.randrange(20)
            if kind < 2:
                link = Link(port)
                link.send('JOIN', token='none', name='n09', request='x' * 2000) if kind else None
                kept.append(link.sock)
                continue
            s = socket.create_connection(('127.0.0.1', port), timeout=TIMEOUT)
            kept.append(s)
            if kind < 8:
                s.sendall(HALF_A_HELLO)
        if len(kept) > 1000:
            kept.pop(rng.randrange(len(kept))).close()
    for s in kept:
        s.close()


class Attacks:
    """The attacks on one controller, whose configuration has NODES. The victim is an agent, of whose key there is a
    copy."""

    ALL = ('lists', 'questions', 'streams', 'silence', 'strangers', 'second_holder', 'leaps', 'renewals', 'flips',
           'components')

    def __init__(self, world, controller, victim, healthy):
        self.c, self.victim, self.healthy = controller, victim.name, healthy
        names = ('k2', 'e1', 'e2', 'e3', 'e4')
        self.certificates = {n: Agent(world, controller, n, start=False).certificate() for n in names}
        self.certificates[victim.name] = victim.certificate()
        self.pids = {}
        self.counts = mmap.mmap(-1, 8 * len(self.ALL))  # shared with the processes of the attacks

    def did(self, attack):
        """One more round of the attack was carried out."""
        at = 8 * self.ALL.index(attack)
        struct.pack_into('Q', self.counts, at, struct.unpack_from('Q', self.counts, at)[0] + 1)

    def rounds(self):
        """How many of each there were."""
        return dict(zip(self.ALL, struct.unpack(f'{len(self.ALL)}Q', self.counts[:])))

    # --- by local users and over HTTPS

    def local(self):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.c.socket)
        return s

    def nothing(self):
        signal.pause()

    def questions(self):
        """A user asks what costs most on a hundred connections."""
        os.setuid(NOBODY)
        paths = ('/v1/nodes?nodes=r[1-512]n[1-512]', f'/v1/place?count=1000&nodes={self.healthy}', '/v1/slurm/features',
                 f'/v1/nodes?fields=Name&nodes={self.healthy}')

        def each():
            for path in itertools.cycle(paths):
                self.did('questions')
                yield f'GET {path} HTTP/1.1\r\nHost: x\r\n\r\n'.encode()
        ask_forever(many(self.local, 100), each())
        signal.pause()

    def streams(self):
        """1,100 event streams of a user who reads none of them."""
        os.setuid(NOBODY)
        kept = many(self.local, 1100)
        for s in kept:
            with contextlib.suppress(OSError):
                s.send(b'GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n')
        self.did('streams')
        signal.pause()

    def silence(self):
        """1,100 connections to the HTTPS port, without a word; those that are closed come again."""
        while True:
            kept = many(lambda: socket.create_connection(('127.0.0.1', self.c.https)), 1100)
            self.did('silence')
            time.sleep(5)
            for s in kept:
                s.close()

    # --- at the agents' port

    def strangers(self):
        """Connections without a certificate."""
        flood(self.c.port, lambda: self.did('strangers'))

    def link(self, name, instance):
        """A connection that is welcome."""
        link = Link(self.c.port, *self.certificates[name])
        link.hello(name, instance)
        link.expect('WELCOME')
        return link

    def lists(self):
        """A collector that names 262,144 nodes in each of 400 frames, again and again."""
        link = self.link('k2', '00000000000000c2')
        body = json.dumps({'epoch': 1, 'seq': 1, 'heard': 'n[1-262144]', 'verified': 'n[1-262144]'}).encode()
        frame = struct.pack('>IBBH', len(body), 8, 0, 0) + body
        while True:
            link.sock.sendall(frame * 400)
            for _ in range(400):
                while (kind := link.next()[0]) != 'HEARD':
                    check(kind, 'the link of k2 is closed')
            self.did('lists')

    def second_holder(self):
        """Another holder of the victim's name says that it is the victim, with one instance after another."""
        for n in itertools.count(1):
            link = Link(self.c.port, *self.certificates[self.victim])
            link.hello(self.victim, f'{n:016x}')
            link.expect('REFUSE')
            link.close()
            self.did('second_holder')

    def leaps(self):
        """A node whose numbers leap, which comes again when it is refused."""
        for n in itertools.count(1):
            link = self.link('e1', f'{n:016x}')
            link.heartbeat(f'{n:016x}', 1)
            link.heartbeat(f'{n:016x}', ABSURD_SEQ)
            link.expect('REFUSE')
            link.close()
            self.did('leaps')

    def renewals(self):
        """A node that asks for one certificate after another."""
        made = subprocess.run(['openssl', 'req', '-new', '-subj', '/CN=e2', '-key', self.certificates['e2'][1]],
                              capture_output=True, text=True, check=True)
        instance, seq = '00000000000000e2', 0
        while True:
            link = self.link('e2', instance)
            kind = 'WELCOME'
            while kind not in ('REFUSE', None):
                seq += 1
                link.heartbeat(instance, seq)
                link.send('RENEW', request=made.stdout)
                kind = link.next()[0]
                self.did('renewals')
            link.close()

    def flips(self):
        """A node whose checks fail and pass all the time, each time on another device."""
        instance = '00000000000000e3'
        seq = itertools.count(1)
        while True:
            link = self.link('e3', instance)
            for n in itertools.count(1):
                finding = [{'result': 'fatal', 'device': f'part {n % 50}', 'text': f'word {n}'}]
                try:
                    link.heartbeat(instance, next(seq))
                    link.send(CHECKS, boot=BOOT, list='', full=n == 1, checks=[
                        {'check': f'check{n % 7}', 'result': 'fatal' if n % 2 else 'ok', 'age_ms': 0,
                         **({'findings': finding} if n % 2 else {})}])
                except OSError:
                    break
                self.did('flips')
            link.close()

    def components(self):
        """A node with another large list of components each time, and a wrong fingerprint."""
        instance, rng = '00000000000000e4', random.Random(4)
        seq = itertools.count(1)
        while True:
            link = self.link('e4', instance)
            with contextlib.suppress(OSError):
                while True:
                    fingerprint = rng.randbytes(32).hex()
                    link.heartbeat(instance, next(seq))
                    link.send('FINGERPRINT', fingerprint=fingerprint, boot=BOOT)
                    for part in range(8):
                        link.send('COMPONENTS', fingerprint=fingerprint, part=part, parts=8,
                                  components={f'file.x{part}-{i}': rng.randbytes(4).hex() for i in range(1000)})
                    self.did('components')
            link.close()

    # --- processes

    def begin(self, name, nice=0):
        pid = os.fork()
        if pid:
            self.pids[name] = pid
            return
        os.nice(nice)
        while True:
            with contextlib.suppress(Exception):  # refused, cut off, or too early: again
                getattr(self, name)()
            time.sleep(0.1)

    def end(self):
        """Ends those that were begun."""
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids = {}
