# SPDX-License-Identifier: Apache-2.0
"""Machines of a test on this host: each has a network and, if it is to, a disk of its own. A machine can be cut off, or
from another one in one direction alone; its disk can be full. Nobody but this process and those that it starts sees any
of it, and it is gone when they are."""
import ctypes
import os
import shutil
import subprocess

from fuse import MNT_DETACH, call, libc, own_mounts
from harness import Failed, Skipped, need_root

CLONE_NEWNET = 0x40000000
NOBODY = '02:00:00:00:ff:ff'  # the address of no machine: what goes there is lost


def ip(*words, fd=None):
    enter = [] if fd is None else ['nsenter', f'--net=/proc/self/fd/{fd}']
    p = subprocess.run([*enter, 'ip', *words], pass_fds=[] if fd is None else [fd], capture_output=True, text=True)
    if p.returncode:
        raise Failed(f'ip {" ".join(words)}: {p.stderr.strip()}')


class Network:
    """A bridge in a network of this process's own, and machines at it. This process has an address there, too."""

    def __init__(self, world):
        need_root()
        for tool in ('ip', 'nsenter'):
            if not shutil.which(tool):
                raise Skipped(f'needs {tool}')
        own_mounts()
        call('unshare', CLONE_NEWNET)
        self.world, self.machines, self.address = world, [], '10.99.0.254'
        ip('link', 'set', 'lo', 'up')
        try:
            ip('link', 'add', 'middle', 'type', 'bridge')
            ip('link', 'add', 'try', 'type', 'veth', 'peer', 'name', 'again')
        except Failed as e:
            raise Skipped(f'this kernel has no bridge, or no veth: {e}') from None
        ip('link', 'delete', 'try')
        ip('address', 'add', f'{self.address}/24', 'dev', 'middle')
        ip('link', 'set', 'middle', 'up')

    def machine(self, name):
        m = Machine(self, name, len(self.machines) + 1)
        for other in self.machines:
            m.reach(other)
            other.reach(m)
        self.machines.append(m)
        return m


class Machine:
    def __init__(self, network, name, number):
        self.network, self.name, self.number = network, name, number
        self.address, self.mac, self.port = f'10.99.0.{number}', f'02:00:00:00:00:{number:02x}', f'port{number}'
        self.disk = None
        self.fd = self.open_network()
        network.world.cleanups.append(self.close)
        ip('link', 'set', 'lo', 'up', fd=self.fd)
        ip('link', 'set', 'eth0', 'address', self.mac, fd=self.fd)
        ip('address', 'add', f'{self.address}/24', 'dev', 'eth0', fd=self.fd)
        ip('link', 'set', 'eth0', 'up', fd=self.fd)
        ip('link', 'set', self.port, 'master', 'middle')
        ip('link', 'set', self.port, 'up')

    def open_network(self):
        """Makes the network with its link, and keeps it by an open file."""
        p = subprocess.Popen(['unshare', '-n', 'sh', '-c', 'echo; read end'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with p:
            if not p.stdout.readline():
                raise Skipped('unshare -n is not allowed here')
            ip('link', 'add', self.port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', str(p.pid))
            return os.open(f'/proc/{p.pid}/ns/net', os.O_RDONLY | os.O_CLOEXEC)

    def enter(self):
        """In a child, before it becomes a program of this machine."""
        if libc.setns(self.fd, CLONE_NEWNET) < 0:
            raise OSError(ctypes.get_errno(), 'setns')

    def cut_off(self, is_off=True):
        """From all others, and silently, as by a switch that has lost its power."""
        ip('link', 'set', self.port, 'down' if is_off else 'up')

    def lose(self, other):
        """What it sends to the other machine is lost; what the other sends arrives."""
        ip('neigh', 'replace', other.address, 'lladdr', NOBODY, 'nud', 'permanent', 'dev', 'eth0', fd=self.fd)

    def reach(self, other):
        ip('neigh', 'replace', other.address, 'lladdr', other.mac, 'nud', 'permanent', 'dev', 'eth0', fd=self.fd)

    def mount_disk(self, path, mebibytes):
        os.makedirs(path, mode=0o700)
        call('mount', b'disk', path.encode(), b'tmpfs', 0, f'size={mebibytes}m,mode=700'.encode())
        self.disk = path

    def fill(self):
        """Until there is no room for another byte."""
        with open(os.path.join(self.disk, 'full'), 'ab', buffering=0) as f:
            try:
                while True:
                    f.write(bytes(1 << 16))
            except OSError:
                pass

    def clear(self):
        """There is room again."""
        path = os.path.join(self.disk, 'full')
        if os.path.exists(path):
            os.unlink(path)

    def close(self):
        os.close(self.fd)
        if self.disk:
            libc.umount2(self.disk.encode(), MNT_DETACH)
