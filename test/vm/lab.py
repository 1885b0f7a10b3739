#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A small cluster of nodes that really boot, in a network namespace of its own.   usage: lab.py [-d DIRECTORY] COMMAND

up [N]                 make the image, start a controller and N nodes (3)
down                   end all of it, by the pids that were written down
wait NODE WHERE [S]    until `fettle node list NODE WHERE` prints it
sh NODE COMMAND        run a command on the node, by its second serial port
console NODE           what its kernel said so far
ipmi NODE WORD...      ipmitool to its BMC
fettle WORD...         the command line, at this lab's controller
faults                 the faults that there are
fault NAME NODE        break it
heal NAME NODE         and mend it by hand

DIRECTORY is build/vm; `down` leaves disks and state there, and removing it forgets them. FETTLE_BUILD has the programs
(build). Needs root, and the packages that tools/packages.txt has for "vm".
"""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

from machine import HERE, SECRET, Machine, command_line

BUILD = pathlib.Path(os.environ.get('FETTLE_BUILD', 'build')).resolve()
NEEDED = ('qemu-system-x86_64', 'qemu-img', 'ipmi_sim', 'ipmitool', 'dnsmasq', 'cpio', 'mke2fs', 'nsenter')


def missing():
    """The things that this machine lacks for a lab, in words; empty when it has everything."""
    lacks = [] if os.geteuid() == 0 else ['root']
    lacks += [] if os.path.exists('/dev/net/tun') else ['/dev/net/tun']
    return ', '.join(lacks + [p for p in NEEDED if not shutil.which(p)])


class Lab:
    """Everything is below one directory: image/ has what is booted, run/ what runs, with a pid file for each process."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory).resolve()
        self.image, self.run = self.dir / 'image', self.dir / 'run'
        self.socket = self.run / 'fettled.sock'

    def machine(self, name):
        return Machine(self, name)

    def machines(self):
        return [self.machine(d.name) for d in sorted(self.run.glob('n[0-9]*/'))]

    # --- processes ---

    def pid(self, name):
        """The pid that was written down, while it is still that process; else 0."""
        try:
            pid, started = (self.run / f'{name}.pid').read_text().split()
            return int(pid) if self.started(pid) == started else 0
        except (OSError, ValueError):
            return 0

    @staticmethod
    def started(pid):
        """When a process began, in ticks, which tells it from a later one with its pid; empty for one that ended."""
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            words = f.read().rsplit(')', 1)[1].split()
        return '' if words[0] == 'Z' else words[19]

    def spawn(self, name, words):
        """Starts a program in the lab's network and writes down its pid, unless it runs."""
        if self.pid(name):
            return
        if net := self.pid('net'):
            words = ['nsenter', f'--net=/proc/{net}/ns/net', *words]
        with open(self.run / f'{name}.log', 'ab') as log:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        (self.run / f'{name}.pid').write_text(f'{process.pid} {self.started(process.pid)}\n')

    def end(self, name):
        pid, limit = self.pid(name), time.monotonic() + 10
        with contextlib.suppress(ProcessLookupError):
            while pid and self.pid(name):
                os.kill(pid, signal.SIGTERM if time.monotonic() < limit else signal.SIGKILL)
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.1)
        (self.run / f'{name}.pid').unlink(missing_ok=True)

    def inside(self, words, **options):
        return subprocess.run(['nsenter', f"--net=/proc/{self.pid('net')}/ns/net", *words], check=False, **options)

    # --- what the nodes have around them ---

    def up(self, count=3):
        self.run.mkdir(parents=True, exist_ok=True)
        nodes = [f'n{i + 1}' for i in range(count)]
        if not (self.image / 'vmlinux').exists():
            subprocess.run([HERE / 'mkimage', BUILD, self.image], check=True)
        self.net_up(nodes)
        self.write_conf(nodes)
        self.spawn('fettled', [BUILD / 'src/controller/fettled', '-f', self.run / 'etc/fettle.conf', '-D', self.run / 'state'])
        self.until('fettled answers', lambda: self.get('/v1/status'), 60)
        self.spawn('provision', [sys.executable, '-B', HERE / 'provision.py', self.dir, BUILD / 'src/cli/fettle'])
        self.spawn('dnsmasq', ['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--port=0', '--interface=br0',
                               '--bind-interfaces', '--dhcp-range=10.77.0.11,10.77.0.60,1h', '--dhcp-authoritative',
                               '--dhcp-boot=http://10.77.0.1:8080/boot.ipxe', f'--dhcp-leasefile={self.run}/leases',
                               '--user=root', '--log-facility=-', f'--pid-file={self.run}/dnsmasq.inner',
                               *(f'--dhcp-host=52:54:00:77:00:{i + 1:02x},10.77.0.{11 + i}' for i in range(count))])
        for node in nodes:
            self.machine(node).start()
        return [self.machine(n) for n in nodes]

    def down(self):
        for machine in self.machines():
            machine.stop()
        for name in ('dnsmasq', 'provision', 'fettled', 'net'):
            self.end(name)

    def net_up(self, nodes):
        """A bridge by which nodes are managed, 10.77.0.1, and one by which their jobs would talk, 10.78.0.1."""
        if not self.pid('net'):
            self.spawn('net', ['unshare', '-n', 'sleep', 'infinity'])
            own, theirs = os.readlink('/proc/self/ns/net'), f"/proc/{self.pid('net')}/ns/net"
            self.until('a network namespace is there', lambda: os.readlink(theirs) != own, 10)
        script = 'ip link set lo up\n'
        for i in (0, 1):
            script += f'ip link add br{i} type bridge 2>/dev/null && ip addr add 10.7{7 + i}.0.1/24 dev br{i}\n'
            script += f'ip link set br{i} up\n'
        for node in nodes:
            for i in (0, 1):
                script += f'ip tuntap add dev {node}.{i} mode tap 2>/dev/null; ip link set {node}.{i} master br{i} up\n'
            script += f'ip addr add {self.machine(node).bmc_address}/32 dev br0 2>/dev/null\n'
        self.inside(['sh', '-c', script])

    def write_conf(self, nodes):
        etc = self.run / 'etc'
        etc.mkdir(exist_ok=True)
        for f in (HERE / 'conf').iterdir():
            text = f.read_text().replace('@ETC@', str(etc)).replace('@RUN@', str(self.run))
            (etc / f.name).write_text(text.replace('@NODES@', f'n[1-{len(nodes)}]'))
        (etc / 'secret').write_text(SECRET + '\n')
        (etc / 'secret').chmod(0o600)
        (etc / 'bmc.conf').write_text(''.join(
            f'Nodes={n} Driver=ipmi Address={self.machine(n).bmc_address} User=admin Cipher=3 PasswordFile={etc}/secret\n'
            for n in nodes))
        (self.run / 'cmdline').write_text(command_line())

    # --- the controller ---

    def fettle(self, *words, **options):
        return subprocess.run([BUILD / 'src/cli/fettle', *words], env={**os.environ, 'FETTLE_CONTROLLER': str(self.socket)},
                              check=False, **options)

    def get(self, path):
        """The answer of the interface."""
        connection = http.client.HTTPConnection('localhost', timeout=20)
        try:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(20)
            connection.sock.connect(str(self.socket))
            connection.request('GET', path)
            response = connection.getresponse()
            answer = response.read()
            if response.status != 200:
                raise OSError(f'GET {path}: {answer.decode()}')
            return json.loads(answer)
        finally:
            connection.close()

    @staticmethod
    def until(what, condition, seconds):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with contextlib.suppress(OSError):
                if condition():
                    return
            time.sleep(0.2)
        raise OSError(f'not within {seconds} s: {what}')

    def wait(self, node, where, seconds=180):
        self.until(f'{node} has {where}', lambda: self.fettle(
            'node', 'list', node, where, '-H', '-o', 'name', capture_output=True).stdout.strip(), float(seconds))


def main(words):
    directory = BUILD / 'vm'
    if words[:1] == ['-d']:
        directory, words = words[1], words[2:]
    lab = Lab(directory)
    match words:
        case ['up', *count]:
            lab.up(*map(int, count))
        case ['down']:
            lab.down()
        case ['wait', *rest]:
            lab.wait(*rest)
        case ['chassis', node, what, value]:
            lab.machine(node).chassis(what, value)
        case ['sh', node, *command]:
            status, output = lab.machine(node).sh(' '.join(command))
            print(output)
            return 124 if status is None else status
        case ['console', node]:
            print(lab.machine(node).console())
        case ['ipmi', node, *rest]:
            print(lab.machine(node).ipmitool(*rest).stdout, end='')
        case ['fettle', *rest]:
            return lab.fettle(*rest).returncode
        case ['faults' | 'fault' | 'heal' as verb, *rest]:
            import faults
            return faults.main(lab, verb, rest)
        case _:
            print(__doc__)
            return 0 if words in ([], ['help'], ['--help']) else 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
