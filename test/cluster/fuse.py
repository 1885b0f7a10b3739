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
    """From now on what is mounted here is seen by this process and its children alone."""
    call('unshare', CLONE_NEWNS)
    call('mount', None, b'/', None, MS_REC | MS_PRIVATE, None)


class Hanging:
    """Mounted at path, and answering until hang() is called."""

    def __init__(self, world, path):
        self.path, self.answers, self.waiting = path, True, 0
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

    def end(self):
        """Whoever waits is let go; nothing is mounted any more."""
        libc.umount2(self.path.encode(), MNT_FORCE | MNT_DETACH)
        if self.fd >= 0:
            self.thread.join()
            os.close(self.fd)
            self.fd = -1

    def serve(self):
        with contextlib.suppress(OSError):  # it ended
            while True:
                select.select([self.fd], [], [], 1)
                with contextlib.suppress(BlockingIOError):
                    self.take(os.read(self.fd, 1 << 17))

    def take(self, request):
        _, opcode, unique = struct.unpack_from('<IIQ', request)
        if opcode in SILENT:
            return
        if not self.answers:
            self.waiting += 1  # it was sent: from now on nothing but an answer, or our end, wakes who asked
            return
        body = ANSWERS.get(opcode, b'')
        no = errno.ENOTTY if opcode == IOCTL else errno.ENOENT
        error = 0 if body or opcode in (RELEASEDIR, READDIR) else -no
        os.write(self.fd, struct.pack('<IiQ', 16 + len(body), error, unique) + body)
