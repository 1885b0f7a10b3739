# SPDX-License-Identifier: Apache-2.0
"""A file system that hangs when it is told to, as that of a server that is gone does: whoever asks it for something
waits uninterruptibly, and kill -9 does not end the wait. It is mounted where nobody but this process and those that
it starts see it, and lets go of all who wait when this process ends, however it ends."""
import contextlib
import ctypes
import errno
import os
import select
import struct
import threading

from harness import Skipped

CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_FORCE, MNT_DETACH = 0x20000, 0x4000, 0x40000, 1, 2
# linux/fuse.h
LOOKUP, GETATTR, STATFS, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, FORGET, BATCH_FORGET, IOCTL = (
    1, 3, 17, 26, 27, 28, 29, 36, 2, 42, 39)
SETATTR, UNLINK, RENAME, OPEN, READ, WRITE, RELEASE, FSYNC, FLUSH, FSYNCDIR, CREATE, RENAME2 = (
    4, 10, 12, 14, 15, 16, 18, 20, 25, 30, 35, 45)
SILENT = (INTERRUPT, FORGET, BATCH_FORGET)  # are not answered
ATTRIBUTES = struct.pack('<QIIQQQQQQIIIIIIIIII', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
ANSWERS = {INIT: struct.pack('<IIIIHHIIHH32x', 7, 31, 0, 0, 16, 12, 4096, 1, 1, 0), GETATTR: ATTRIBUTES,
           OPENDIR: bytes(16), STATFS: struct.pack('<QQQQQIIII24x', 1000, 900, 900, 100, 90, 4096, 255, 4096, 0)}

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    if getattr(libc, name)(*args) < 0:
        code = ctypes.get_errno()
        raise Skipped(f'{name} is not allowed here: {os.strerror(code)}')


def own_mounts():
    """From now on only this process and its children see the mounts that are made here."""
    call('unshare', CLONE_NEWNS)
    call('mount', None, b'/', None, MS_REC | MS_PRIVATE, None)


class Hanging:
    """Mounted at path, and answering until hang() is called."""

    def __init__(self, world, path):
        self.path, self.answers, self.waiting, self.held = path, True, 0, []
        try:
            self.fd = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as e:
            raise Skipped(f'/dev/fuse: {e}') from None
        world.releases.append(self.end)
        os.makedirs(path, exist_ok=True)
        options = f'fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other'
        call('mount', b'hanging', path.encode(), b'fuse', 0, options.encode())
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def hang(self):
        self.answers = False

    def resume(self):
        """Answers the processes that wait."""
        self.answers = True

    def end(self):
        """Releases the processes that wait; nothing is mounted any more."""
        libc.umount2(self.path.encode(), MNT_FORCE | MNT_DETACH)
        if self.fd >= 0:
            self.thread.join()
            os.close(self.fd)
            self.fd = -1

    def serve(self):
        with contextlib.suppress(OSError):  # it ended
            while True:
                select.select([self.fd], [], [], 0.1)
                while self.answers and self.held:
                    self.take(self.held.pop(0))
                with contextlib.suppress(BlockingIOError):
                    self.take(os.read(self.fd, 1 << 17))

    def take(self, request):
        _, opcode, unique = struct.unpack_from('<IIQ', request)
        if opcode in SILENT:
            return
        if not self.answers:
            self.waiting += 1  # it was sent: from now on nothing but an answer, or our end, wakes who asked
            self.held.append(request)
            return
        error, body = self.answer(opcode, request)
        os.write(self.fd, struct.pack('<IiQ', 16 + len(body), -error, unique) + body)

    def answer(self, opcode, request):
        body = ANSWERS.get(opcode, b'')
        if body or opcode in (RELEASEDIR, READDIR):
            return 0, body
        return errno.ENOTTY if opcode == IOCTL else errno.ENOENT, b''


class File:
    def __init__(self, number, mode):
        self.number, self.mode, self.bytes = number, mode, bytearray()


class HangingFiles(Hanging):
    """The same, with files in it: as much of a file system as a directory of state needs."""

    def __init__(self, world, path):
        self.files, self.numbers = {}, {1: File(1, 0o40700)}
        super().__init__(world, path)

    def attributes(self, f):
        return struct.pack('<QQQQQQIIIIIIIIII', f.number, len(f.bytes), 0, 0, 0, 0, 0, 0, 0, f.mode, 1, 0, 0, 0, 4096, 0)

    def entry(self, f):
        return struct.pack('<QQQQII', f.number, 0, 0, 0, 0, 0) + self.attributes(f)

    def create(self, name, mode):
        f = File(len(self.numbers) + 1, mode)
        self.files[name] = self.numbers[f.number] = f
        return f

    def listing(self):
        out = b''
        for i, (name, f) in enumerate(list(self.files.items())):
            out += struct.pack('<QQII', f.number, i + 1, len(name), 8) + name + bytes(-len(name) % 8)
        return out

    def answer(self, opcode, request):
        node, = struct.unpack_from('<Q', request, 16)
        body, f = request[40:], self.numbers.get(node)
        name = body.split(b'\0')[0]
        if opcode == LOOKUP:
            return (0, self.entry(self.files[name])) if name in self.files else (errno.ENOENT, b'')
        if opcode == SETATTR:
            valid, = struct.unpack_from('<I', body)
            if valid & 8:
                size, = struct.unpack_from('<Q', body, 16)
                f.bytes = f.bytes[:size].ljust(size, b'\0')
            if valid & 1:
                f.mode, = struct.unpack_from('<I', body, 68)
        if opcode in (GETATTR, SETATTR):
            return 0, struct.pack('<QII', 0, 0, 0) + self.attributes(f)
        if opcode == CREATE:
            return 0, self.entry(self.create(body[16:].split(b'\0')[0], struct.unpack_from('<I', body, 4)[0])) + bytes(16)
        if opcode == WRITE:
            _, offset, size = struct.unpack_from('<QQI', body)
            f.bytes[offset:offset + size] = body[40:40 + size]
            return 0, struct.pack('<II', size, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from('<QQI', body)
            return 0, bytes(f.bytes[offset:offset + size])
        if opcode == READDIR:
            _, offset, _ = struct.unpack_from('<QQI', body)
            return 0, b'' if offset else self.listing()
        if opcode in (RENAME, RENAME2):
            old, new = body[8 if opcode == RENAME else 16:].split(b'\0')[:2]
            self.files[new] = self.files.pop(old)
            return 0, b''
        if opcode == UNLINK:
            return (0, b'') if self.files.pop(name, None) else (errno.ENOENT, b'')
        if opcode in (OPEN, OPENDIR):
            return 0, bytes(16)
        if opcode in (RELEASE, RELEASEDIR, FLUSH, FSYNC, FSYNCDIR):
            return 0, b''
        return (0, ANSWERS[opcode]) if opcode in (INIT, STATFS) else (errno.ENOSYS, b'')


class FailingFiles(HangingFiles):
    """The same, of which the kernel keeps what it has read. From fail() on nothing can be read anew, or written."""

    def __init__(self, world, path):
        self.fails = False
        super().__init__(world, path)

    def fail(self):
        self.fails = True

    def answer(self, opcode, request):
        if self.fails and opcode in (READ, WRITE, FSYNC):
            return errno.EIO, b''
        if opcode == OPEN:
            return 0, struct.pack('<QII', 0, 2, 0)  # FOPEN_KEEP_CACHE
        return super().answer(opcode, request)
