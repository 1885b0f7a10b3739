# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: a world of real controllers, agents and swarms on this host.

A test file has functions test_NAME(world) and ends with main(). Each function gets a world of its
own: a new directory under /tmp, ports of its own (ports.py), processes that are known by their pid.
When it is over the world stops what still runs, and complains of whatever is left: a process with
the world's mark in its environment, a daemon that did not end well, a socket that still listens, a
file that nobody ought to leave, a word of a sanitizer in a log.

Nothing sleeps for luck. What is to happen is waited for with a deadline (TIMEOUT); what must not
happen is looked for in the controller's log and journal, which leave nothing out.
"""
import contextlib
import datetime
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from beside import beside
from ports import free_port

BUILD = os.environ['FETTLE_BUILD']
SANITIZED = os.environ.get('FETTLE_SANITIZE', 'none') != 'none'
ROOT = os.geteuid() == 0
USER = 64123  # nobody's
AS = int(os.environ.get('FETTLE_AS', 0))  # the user that controllers run as, beside fettle-exec; 0: as this one
TIMEOUT = 120  # seconds that anything may take, on a busy machine and with sanitizers
PROGRAMS = {'fettled': 'src/controller/fettled', 'fettle-agent': 'src/agent/fettle-agent',
            'fettle': 'src/cli/fettle', 'fettle-exec': 'src/exec/fettle-exec', 'swarm': 'test/swarm/swarm'}
MARK = 'FETTLE_TEST_WORLD'
STATE_FILES = {'state.db', 'state.db-wal', 'state.db-shm', 'state.lock', 'ca.pem', 'ca.key', 'last-heard', 'last-heard.new', 'last-known',
               'last-known.new', 'seen', 'seen.new', 'member.key', 'journal.db', 'journal.db-wal', 'journal-export',
               'audit', 'audit-archive', 'mirror'}
HOME_FILES = {'checklist', 'operations', 'command', 'kernel-log', 'boot-checks', 'node.key', 'node.pem', 'ca.pem',
              'controllers', 'controllers.learned'}
HOME_FILES |= {name + '.new' for name in HOME_FILES}  # an agent that ends does not wait for its writer


class Failed(Exception):
    pass


class Damaged(Failed):
    """A program of ours ended by itself, or a sanitizer complained: no second try makes that good."""


class Skipped(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what() if callable(what) else what)


def equal(got, wanted, what):
    check(got == wanted, f'{what}: {got!r}, and not {wanted!r}')


def contains(text, part, what):
    check(part in text, f'{what}: no {part!r} in {text!r}')


def program(name):
    return os.path.join(BUILD, PROGRAMS[name])


def need_root():
    if not ROOT:
        raise Skipped('needs root')


class Process:
    """A program that was started, its log, and how it ended."""

    def __init__(self, world, name, argv, cwd=None, env=None, limits=None, stdin=subprocess.DEVNULL):
        self.world, self.name = world, name
        self.log_path = os.path.join(world.dir, name + '.log')
        self.wanted = True  # to be running; False once we ended it
        with open(self.log_path, 'ab') as log:
            self.popen = subprocess.Popen(argv, stdin=stdin, stdout=log, stderr=log, cwd=cwd or world.dir,
                                          env={**world.env, **(env or {})}, preexec_fn=limits)
        self.pid = self.popen.pid
        world.processes.append(self)

    def log(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def status(self):
        """The exit status, or None while it runs."""
        return self.popen.poll()

    def send(self, sig):
        self.popen.send_signal(sig)

    def pause(self):
        self.send(signal.SIGSTOP)
        wait(f'{self.name} stands still', lambda: process_state(self.pid) == 'T')

    def resume(self):
        self.send(signal.SIGCONT)

    def kill(self):
        """kill -9."""
        self.wanted = False
        self.popen.kill()
        self.popen.wait()

    def stop(self):
        """Ends it in order; anything but the status 0 is a failure."""
        self.wanted = False
        if self.popen.poll() is None:
            self.send(signal.SIGTERM)
        status = self.wait_end()
        if self.damage():
            raise Damaged(f'{self.name}: {self.damage()}')
        equal(status, 0, f'{self.name}, told to end, has the exit status')

    def damage(self):
        """What a sanitizer found in the process, or ""."""
        found = re.search(r'(?m)^.*(Sanitizer|runtime error:).*$', self.log())
        return self.log()[found.start():][:4000] if found else ''

    def wait_end(self, within=TIMEOUT):
        self.wanted = False
        try:
            return self.popen.wait(within)
        except subprocess.TimeoutExpired:
            raise Failed(f'{self.name} did not end within {within} s') from None

    def memory_kb(self, what='VmRSS'):
        with open(f'/proc/{self.pid}/status') as f:
            return int(re.search(rf'^{what}:\s+(\d+)', f.read(), re.M).group(1))


def uid_of(pid):
    """The user ids that a process has."""
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return {uid for line in f if line.startswith('Uid:') for uid in line.split()[1:]}


def process_state(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rsplit(')', 1)[1].split()[0]


current_world = None


def skewed(seconds):
    """The environment of a process whose wall clock is wrong; the sanitizers want to come first, and need not."""
    return {'LD_PRELOAD': os.environ['FETTLE_SKEW'], 'FETTLE_SKEW_S': str(seconds),
            'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}


def wait(what, condition, within=TIMEOUT):
    """Waits until condition() is true and returns it. A daemon that ended meanwhile is a failure."""
    until = time.monotonic() + within
    last = None
    while True:
        try:
            value = condition()
            if value:
                return value
        except (Failed, OSError, http.client.HTTPException) as e:
            last = e
        for p in current_world.processes:
            if p.wanted and p.status() is not None:
                raise Damaged(f'{p.name} ended by itself with {p.status()} while waiting: {what}')
        if time.monotonic() > until:
            raise Failed(f'not within {within} s: {what}' + (f' ({last})' if last else ''))
        time.sleep(0.03)


def holds(what, seconds, condition):
    """A condition that stays true for a while: for what must go on, or must not happen."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check(condition(), f'no longer true: {what}')
        time.sleep(0.1)


class World:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='fettle-e2e-')
        os.chmod(self.dir, 0o755)  # so that other users reach the socket
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('FETTLE_')}
        self.env[MARK] = self.dir
        self.env['LC_ALL'] = 'C.UTF-8'
        self.processes, self.controllers, self.agents = [], [], []
        self.cleanups = []  # called last of all, newest first
        self.releases = []  # called before what still runs is killed: without them that would not end

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def start(self, name, argv, **options):
        return Process(self, name, argv, **options)

    def run(self, argv, env=None, cwd=None, within=TIMEOUT, text_in=None, limits=None):
        """Runs a program to its end: (status, standard output, standard error)."""
        p = subprocess.run(argv, input=text_in, capture_output=True, text=True, env={**self.env, **(env or {})},
                           cwd=cwd or self.dir, timeout=within, errors='replace', preexec_fn=limits,
                           **({'stdin': subprocess.DEVNULL} if text_in is None else {}))
        if 'Sanitizer' in p.stderr or 'runtime error:' in p.stderr:
            raise Failed(f'{argv}: {p.stderr}')
        return p.returncode, p.stdout, p.stderr

    def marked(self):
        """Pids of living processes that this world started, directly or not."""
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            with contextlib.suppress(OSError):
                with open(f'/proc/{pid}/environ', 'rb') as f:
                    if f'{MARK}={self.dir}'.encode() in f.read().split(b'\0') and process_state(pid) != 'Z':
                        found.append(int(pid))
        return [p for p in found if p != os.getpid()]

    def finish(self):
        """Stops everything in order and checks that nothing is left."""
        for p in reversed(self.processes):
            if p.status() is None:
                p.resume()
                p.stop()
            elif p.wanted:
                raise Damaged(f'{p.name} ended by itself with {p.status()}')
        wait('no process is left', lambda: not self.marked(), 15)
        for p in self.processes:
            if p.damage():
                raise Damaged(f'{p.name}: {p.damage()}')
        for c in self.controllers:
            c.check_left()
        for a in self.agents:
            a.check_left()

    def abandon(self):
        """After a failure: ends what was started, by pid."""
        for release in self.releases:
            release()
        for p in self.processes:
            if p.status() is None:
                p.popen.kill()
                p.popen.wait()
        for pid in self.marked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self):
        for cleanup in reversed(self.cleanups):
            cleanup()
        shutil.rmtree(self.dir)


# --- the interface -------------------------------------------------------------------------------


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path, timeout=TIMEOUT):
        super().__init__('localhost', timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(connection, method, path, body=None):
    """One exchange: (status, what the JSON of the answer says)."""
    connection.request(method, path, None if body is None else json.dumps(body),
                       {'Content-Type': 'application/json'} if body is not None else {})
    response = connection.getresponse()
    return response.status, json.loads(response.read() or 'null')


class Events:
    """The event stream, read by hand over the local socket."""

    def __init__(self, controller, last_id=None):
        self.last_id, self.seen, self.buffer = last_id, [], b''
        self.until = time.monotonic() + TIMEOUT
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(controller.socket)
        resume = f'Last-Event-ID: {last_id}\r\n' if last_id else ''
        self.sock.sendall(f'GET /v1/events HTTP/1.0\r\nHost: localhost\r\n{resume}\r\n'.encode())
        head = self.read_until(b'\r\n\r\n')
        contains(head, b'200', 'the answer to GET /v1/events')

    def read_until(self, mark):
        while mark not in self.buffer:
            left = self.until - time.monotonic()
            check(left > 0 and select.select([self.sock], [], [], left)[0], 'no more events')
            more = self.sock.recv(65536)
            check(more, 'the event stream ended')
            self.buffer += more
        part, self.buffer = self.buffer.split(mark, 1)
        return part

    def next(self, within=TIMEOUT):
        """The next event: {'name', 'id', and the members of its data}."""
        self.until = time.monotonic() + within
        while True:
            event = {}
            for line in self.read_until(b'\n\n').decode().split('\n'):
                key, _, value = line.partition(': ')
                if key:
                    event[key] = value
            if 'data' in event:
                self.last_id = event.get('id', self.last_id)
                event = {'name': event['event'], 'id': event.get('id'), **json.loads(event['data'])}
                self.seen.append(event)
                return event

    def wait(self, what, within=TIMEOUT, **members):
        """The next event of this name, with these members; others are passed over."""
        until = time.monotonic() + within
        while True:
            try:
                event = self.next(until - time.monotonic())
            except Failed as e:
                raise Failed(f'no event {what} {members} within {within} s ({e}), but {self.seen[-5:]}') from None
            if event['name'] == what and all(event.get(k) == v for k, v in members.items()):
                return event

    def close(self):
        self.sock.close()


# --- daemons -------------------------------------------------------------------------------------

QUICK = {'HeartBeatInterval': '1s', 'LateAfter': '3s', 'HeartBeatTimeout': '6s'}  # for what falls silent
CALM = {'HeartBeatInterval': '1s', 'LateAfter': '30s', 'HeartBeatTimeout': '60s'}  # for what must not


class Exec:
    """A fettle-exec at a socket of its own, which the user alone may open."""

    def __init__(self, world, name, user, conf):
        self.path = world.path(name + '.sock')
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(self.path)
            os.chmod(self.path, 0o600)
            os.chown(self.path, user, user)
            listening.listen(64)
            self.process = world.start(name, [program('fettle-exec'), '-f', conf], stdin=listening)

    def log(self):
        return self.process.log()


class Controller:
    """A fettled with its configuration and state. Ports are the system's choice at the first start,
    and stay for those that follow. Its agents check nothing unless CheckConf says so: what this host has
    installed, and what ails it, is nobody's business here."""

    def __init__(self, world, nodes, name='fettled', partitions='Partition=1 Name=batch\n', start=True, state=None,
                 user=AS, **settings):
        self.world, self.name, self.nodes, self.partitions = world, name, nodes, partitions
        self.dir = world.path(name)
        self.user, self.own = user, self.dir + '.own' if user else self.dir
        self.state = state or os.path.join(self.own, 'state')
        self.socket = os.path.join(self.own, 'api.sock')
        self.conf = os.path.join(self.dir, 'fettle.conf')
        self.process = None
        self.settings = {'ControlMachine': 'localhost', 'NodeSpecConf': os.path.join(self.dir, 'nodes.conf'),
                         'PartitionConf': os.path.join(self.dir, 'partitions.conf'),
                         'CheckConf': os.path.join(self.dir, 'checks.conf'),
                         'MachStatusAddress': '127.0.0.1', 'MachStatusPort': free_port(), 'ApiPort': free_port(),
                         'ApiSocket': self.socket, **settings}
        os.mkdir(self.dir)
        world.controllers.append(self)
        self.write()
        if user:
            os.mkdir(self.own)
            os.chown(self.own, user, user)
            self.exec = Exec(world, name + '-exec', user, self.conf)
        if start:
            self.start()

    def write(self, nodes=None, **settings):
        """Writes the configuration; settings that are None are left out."""
        self.settings.update(settings)
        self.nodes = self.nodes if nodes is None else nodes
        for file, text in (('nodes.conf', self.nodes), ('partitions.conf', self.partitions), ('checks.conf', ''),
                           ('fettle.conf', ''.join(f'{k} = {v}\n' for k, v in self.settings.items() if v is not None))):
            with open(os.path.join(self.dir, file), 'w') as f:
                f.write(text)

    def launch(self, **options):
        """Starts it without waiting for an answer."""
        if self.user:
            options = {'env': {'FETTLE_EXEC': self.exec.path}, 'limits': self.become, **options}
        self.process = self.world.start(self.name, [program('fettled'), '-f', self.conf, '-D', self.state], **options)

    def become(self):
        """In a child: the controller's user, and no capability."""
        os.setgroups([])
        os.setgid(self.user)
        os.setuid(self.user)

    def start(self, **options):
        self.launch(**options)
        status = wait(f'{self.name} answers', self.status)
        self.port, self.https = status['ports']['agents'], status['ports']['api']
        self.write(MachStatusPort=self.port, ApiPort=self.https)

    def restart(self):
        self.process.stop()
        self.start()

    def log(self):
        return self.process.log()

    def log_lines(self, *words):
        return [line for line in self.log().splitlines() if any(w in line for w in words)]

    def suspected(self):
        """The log's lines about nodes that were late or silent, ever, one by one or in masses."""
        return self.log_lines(' node.late ', ' node.silent ', ' alarm.silence: ')

    def connect(self, timeout=TIMEOUT):
        return UnixHTTP(self.socket, timeout)

    def ask(self, method, path, body=None):
        connection = self.connect()
        try:
            return ask(connection, method, path, body)
        finally:
            connection.close()

    def get(self, path):
        status, answer = self.ask('GET', path)
        equal(status, 200, f'GET {path}: {answer}: the status')
        return answer

    def post(self, path, body):
        status, answer = self.ask('POST', path, body)
        equal(status, 200, f'POST {path} {body}: {answer}: the status')
        return answer

    def status(self):
        return self.get('/v1/status')

    def alarms(self):
        """The names of the alarms that stand, with their subjects."""
        return [f"{a['alarm']} {a['subject']}".strip() for a in self.status()['alarms']]

    def counterpart(self, name):
        """How it stands with another system; None when it is not configured."""
        return next((x for x in self.status()['counterparts'] if x['name'] == name), None)

    def node(self, name):
        return self.get(f'/v1/nodes/{name}')['node']

    def table(self, fields='Name,State,Liveness,Collector'):
        return {n['Name']: n for n in self.get(f'/v1/nodes?fields={fields}')['nodes']}

    def wait_nodes(self, what, names, within=TIMEOUT, **members):
        """Until all these nodes have these fields."""
        fields = 'Name,' + ','.join(members)

        def ready():
            table = self.table(fields)
            odd = {n: table.get(n) for n in names
                   if any(table.get(n, {}).get(k) != v for k, v in members.items())}
            check(not odd, f'still {list(odd.values())[:3]} and {len(odd)} in all')
            return True
        wait(f'{what}: {members}', ready, within)

    def https_connection(self, cert=None, key=None, source=None):
        context = ssl.create_default_context(cafile=os.path.join(self.state, 'ca.pem'))
        context.check_hostname = False
        if cert:
            context.load_cert_chain(cert, key)
        return http.client.HTTPSConnection('127.0.0.1', self.https, context=context, timeout=TIMEOUT,
                                           source_address=source)

    def ask_https(self, method, path, body=None, **options):
        connection = self.https_connection(**options)
        try:
            return ask(connection, method, path, body)
        finally:
            connection.close()

    def events(self, last_id=None):
        return Events(self, last_id)

    def journal(self):
        entries, after = [], 0
        while True:
            page = self.get(f'/v1/journal?after={after}')['entries']
            if not page:
                return entries
            entries += page
            after = page[-1]['revision']

    def fettle_run(self, *words, **options):
        return self.world.run([program('fettle'), *words], env={'FETTLE_CONTROLLER': self.socket, **options.pop('env', {})},
                              **options)

    def fettle(self, *words, status=0, **options):
        """The tool's output; on failure expected, what it said on standard error."""
        got, out, err = self.fettle_run(*words, **options)
        equal(got, status, f'fettle {" ".join(words)}: {out}{err}: the exit status')
        return out if status in (0, 3) and not err else err

    def token(self, *nodes, valid=None, again=False, options=()):
        """A token for these nodes; again: also where their certificates are valid."""
        out = self.fettle('token', 'create', '--nodes', ','.join(nodes), *(['--valid', valid] if valid else []),
                          *(['--again'] if again else []), *options, '--json')
        return json.loads(out)['token']

    def check_left(self):
        check(not os.path.exists(self.socket) or self.process.status() not in (0, None),
              f'{self.name} left its socket behind')
        if os.path.isdir(self.state):
            odd = set(os.listdir(self.state)) - STATE_FILES - {'lost+found'}
            check(not odd, f'{self.name} left {odd} in its state directory')
        if getattr(self, 'port', None):
            for port in (self.port, self.https):
                with socket.socket() as s:
                    check(s.connect_ex(('127.0.0.1', port)) != 0, f'somebody still listens on port {port}')


class Agent:
    """A fettle-agent with its identity."""

    def __init__(self, world, controller, name, *options, root=None, start=True, join=True):
        self.world, self.controller, self.name = world, controller, name
        self.home = world.path(f'agent-{name}-{len(world.agents)}')
        self.runtime = self.home + '.run'
        self.run = self.runtime + '/agent'  # what it keeps in memory, under the service manager
        self.options = list(options) + (['-r', root] if root else [])
        self.process = None
        again = any(a.name == name and a.controller is controller for a in world.agents)
        world.agents.append(self)
        if join:
            self.join(controller.token(name, again=again))
        if start:
            self.start()

    def join(self, token, status=0, *options):
        got, out, err = self.world.run([program('fettle-agent'), 'join', token, f'127.0.0.1:{self.controller.port}',
                                        '--name', self.name, '-D', self.home, *options])
        equal(got, status, f'joining as {self.name}: {out}{err}: the exit status')
        return out + err

    def start(self):
        os.makedirs(self.runtime, exist_ok=True)
        self.process = self.world.start(os.path.basename(self.home),
                                        [program('fettle-agent'), '-D', self.home, '-p', '0', *self.options],
                                        env={'RUNTIME_DIRECTORY': self.runtime})

    def certificate(self):
        return os.path.join(self.home, 'node.pem'), os.path.join(self.home, 'node.key')

    def check_left(self):
        if os.path.isdir(self.home):
            odd = set(os.listdir(self.home)) - HOME_FILES
            check(not odd, f'agent {self.name} left {odd} in its home')


def fake_root(world, name, boot):
    """A root for fettle-agent -r, of a node with 2 GiB."""
    root = world.path(name)
    for path, text in (('proc/sys/kernel/random/boot_id', boot + '\n'), ('proc/uptime', '1234.56 2000.00\n'),
                       ('proc/sys/kernel/hostname', name + '\n'),
                       ('proc/meminfo', 'MemTotal:        2097152 kB\nSwapTotal:       1048576 kB\n')):
        world.write(f'{name}/{path}', text)
    return root


def swarm(world, controller, nodes=None, keepers=None, script=None, within='0s', name='swarm', authority=None,
          kinds=None):
    """Starts a swarm; its script is text with times from now on. With kinds, nodes say fingerprints."""
    argv = [program('swarm'), '-c', f'127.0.0.1:{controller.port}', '-a', authority or controller.state, '-w', within]
    argv += ['-n', nodes] if nodes else []
    argv += ['-k', keepers] if keepers else []
    argv += ['-f', str(kinds)] if kinds else []
    argv += ['-s', world.write(f'{name}.script', script)] if script else []
    return world.start(name, argv)


# --- certificates by hand -------------------------------------------------------------------------


def openssl(*words):
    subprocess.run(['openssl', *words], check=True, capture_output=True)


def request_by_hand(world, name):
    """A key and a request for it: paths."""
    key, request = world.path(f'{name}.by-hand.key'), world.path(f'{name}.by-hand.csr')
    if not os.path.exists(key):
        openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key,
                '-out', request, '-subj', f'/CN={name}')
    return key, request


def certificate_by_hand(world, c, name, age, left):
    """A certificate as a version without records made it: it began so many seconds ago and has so many left."""
    key, request = request_by_hand(world, name)
    made = world.path(f'{name}.{age}.by-hand.pem')
    conf = world.write(f'{name}.ca.conf', f'[ca]\ndefault_ca = x\n[x]\ndatabase = {world.write(name + ".index", "")}\n'
                       f'new_certs_dir = {world.dir}\nrand_serial = yes\ndefault_md = sha256\npolicy = p\nx509_extensions = e\n'
                       f'[p]\ncommonName = supplied\n[e]\nsubjectAltName = URI:urn:fettle:node:{name}\n'
                       'basicConstraints = critical,CA:FALSE\nkeyUsage = critical,digitalSignature\n'
                       'extendedKeyUsage = serverAuth,clientAuth\n')
    now = datetime.datetime.now(datetime.timezone.utc)

    def at(seconds):
        return (now + datetime.timedelta(seconds=seconds)).strftime('%Y%m%d%H%M%SZ')
    openssl('ca', '-batch', '-config', conf, '-cert', os.path.join(c.state, 'ca.pem'), '-keyfile',
            os.path.join(c.state, 'ca.key'), '-in', request, '-out', made, '-startdate', at(-age), '-enddate', at(left), '-notext')
    return made, key


# --- an agent by hand ----------------------------------------------------------------------------

FRAMES = {'HELLO': 1, 'WELCOME': 2, 'REFUSE': 3, 'HEARTBEAT': 4, 'INVENTORY': 5, 'REDIRECT': 6, 'SHARE': 7,
          'BATCH': 8, 'JOIN': 9, 'JOINED': 10, 'RENEW': 11, 'RENEWED': 12, 'SETTINGS': 13, 'WANT': 14,
          'FINGERPRINT': 15, 'COMPONENTS': 16, 'RECHECK': 17, 'HEARD': 23,
          'STANDING': 24}
TYPES = {v: k for k, v in FRAMES.items()}
CHECKLIST = 18
BOOT = '6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de'


class Link:
    """The agents' port, spoken by hand (doc/spec/link.md)."""

    def __init__(self, port, cert=None, key=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if cert:
            context.load_cert_chain(cert, key)
        self.sock = context.wrap_socket(socket.create_connection(('127.0.0.1', port), timeout=TIMEOUT))
        self.buffer = b''

    def send(self, kind, **body):
        data = json.dumps(body).encode()
        self.sock.sendall(struct.pack('>IBBH', len(data), FRAMES.get(kind, kind), 0, 0) + data)

    def hello(self, name, instance, boot=BOOT, **more):
        self.send('HELLO', protocol=1, name=name, version='test', boot=boot, instance=instance,
                  inventory='0' * 16, **more)

    def heartbeat(self, instance, seq, boot=BOOT, work=()):
        self.send('HEARTBEAT', boot=boot, instance=instance, seq=seq, work=list(work), uptime_s=1)

    def take(self, n):
        while len(self.buffer) < n:
            more = self.sock.recv(65536)
            if not more:
                raise EOFError
            self.buffer += more
        part, self.buffer = self.buffer[:n], self.buffer[n:]
        return part

    def next(self):
        """The next frame but for what is to be checked: (type, body); (None, why) when the link is closed."""
        try:
            kind = CHECKLIST
            while kind == CHECKLIST:
                length, kind, _, _ = struct.unpack('>IBBH', self.take(8))
                body = json.loads(self.take(length) or 'null')
            return TYPES.get(kind, kind), body
        except (EOFError, OSError) as e:
            return None, e

    def expect(self, kind):
        """The next frame but for answers to batches, which has to be one of this kind."""
        got, body = self.next()
        while got == 'HEARD':
            got, body = self.next()
        equal(got, kind, f'the frame {body}')
        return body

    def close(self):
        self.sock.close()


# --- running -------------------------------------------------------------------------------------


def report(world):
    for p in {p.name: p for p in world.processes}.values():
        tail = [line[:300] for line in p.log().splitlines()[-15:]]
        print(f'--- {p.name}, status {p.status()}', *tail, sep='\n    ')


def damaged(world):
    """Whether a sanitizer complained in a world whose test failed for another reason."""
    return any(re.search(r'(?m)^.*(Sanitizer|runtime error:)', p.log()) for p in world.processes)


def run_one(name, test):
    """True, False, or None where a second try would hide something."""
    global current_world
    world = current_world = World()
    began = time.monotonic()
    try:
        test(world)
        world.finish()
        print(f'ok      {name}  {time.monotonic() - began:.1f} s')
        return True
    except Skipped as e:
        print(f'skipped {name}: {e}')
        return True
    except Exception as e:  # whatever it was, the world has to be cleared away
        print(f'FAILED  {name}  {time.monotonic() - began:.1f} s: {str(e)[:4000]}')
        if not isinstance(e, Failed):
            traceback.print_exc(file=sys.stdout)
        report(world)
        return None if isinstance(e, Damaged) or damaged(world) else False
    finally:
        world.abandon()
        if os.environ.get('FETTLE_KEEP'):
            print(f'kept    {world.dir}')
        else:
            world.remove()
        sys.stdout.flush()


RESULTS = {True: 0, False: 1, None: 2}  # of run_one, as the exit status of a process


def run_all(tests, at_once):
    """What run_one says of each, by name. Several at a time are processes of their own, which share nothing."""
    if at_once == 1:
        return {n: run_one(n.removeprefix('test_'), test) for n, test in tests.items()}
    parts = {n: lambda n=n, test=test: RESULTS[run_one(n.removeprefix('test_'), test)] for n, test in tests.items()}
    said = {status: result for result, status in RESULTS.items()}
    return {n: said.get(status) for n, status in beside(parts, at_once).items()}


def sign_out():
    """What root does here is done by root, and not by whoever became root: the journal would say so."""
    try:
        with open('/proc/self/loginuid', 'w', encoding='ascii') as f:
            f.write('4294967295')
    except OSError:
        pass  # this system remembers no logins, or lets nobody forget them


def main(at_once=1):
    """Runs the test functions of the main module, or those that the arguments name: so many at a time, where they wait
    most of the time. With FETTLE_SECOND_TRY, a test that fails is run once more after the others, and is called
    unsteady if it passes then."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a test that is ended clears its world away, too
    sign_out()
    module = sys.modules['__main__']
    tests = {n: f for n, f in vars(module).items() if n.startswith('test_')}
    chosen = ['test_' + a.removeprefix('test_') for a in sys.argv[1:]] or list(tests)
    results = run_all({n: tests[n] for n in chosen}, at_once)
    if os.environ.get('FETTLE_SECOND_TRY'):
        for n in [n for n, passed in results.items() if passed is False]:
            results[n] = run_one(n.removeprefix('test_'), tests[n])
            if results[n]:
                print(f'unsteady {os.path.basename(sys.argv[0])} {n.removeprefix("test_")}')
    sys.exit(0 if all(results.values()) else 1)
