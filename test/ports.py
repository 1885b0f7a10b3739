# SPDX-License-Identifier: Apache-2.0
"""Ports of the loopback for the servers of a test. They lie below the range that the kernel gives to connections, so that a server
which ends and starts again finds its port free."""
import os
import socket

FIRST, LAST = 20000, 31999  # the kernel's own begin at 32768 (net.ipv4.ip_local_port_range)
_cursor = {}  # the next port that this process tries: processes side by side begin at different ones


def is_free(port, kind):
    with socket.socket(socket.AF_INET, kind) as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count, kind=socket.SOCK_STREAM):
    """The first of `count` ports that follow each other and that nobody has."""
    pid = os.getpid()
    start = _cursor.setdefault(pid, FIRST + pid * 37 % (LAST - FIRST))
    for _ in range(LAST - FIRST):
        if start + count > LAST:
            start = FIRST
        if all(is_free(port, kind) for port in range(start, start + count)):
            _cursor[pid] = start + count
            return start
        start += 1
    raise AssertionError("no free ports")


def free_port(kind=socket.SOCK_STREAM):
    return free_ports(1, kind)
