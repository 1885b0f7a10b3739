# SPDX-License-Identifier: Apache-2.0
"""The root disk of a node hangs for an hour. The agent is heard with every beat, says what hangs, hears the kernel and
runs its checks, with no more processes and memory than at the beginning. tools/soak runs it, and nobody else.
FETTLE_HANG_S is how many seconds it hangs (3600)."""
import contextlib
import os
import time

from fuse import Hanging, HangingFiles, own_mounts
from harness import check, contains, equal, main, need_root, process_state, wait
from ward import CHECKS, health, kernel_says, ward

HANG_S = int(os.environ.get('FETTLE_HANG_S', '3600'))
PULSE = 'Check=pulse Probe=plugin Run="echo . >>{}/pulse" Every=1s\n'
SPACE = 'Check=space Probe=fs.space Path=/etc/fettle Every=1s Deadline=1s Fails=1 Passes=1\n'
LOOK_S, KERNEL_S = 5, 60
STUCK_MAX = 5  # processes that wait for what hangs: one for each directory and use of it
PROCESSES_MAX = 10  # beside the agent and the controller: those, and the checks that run just now
GROWTH_KIB_MAX = 1024


def said(c, name):
    return next(r['verdict'] for r in health(c, 'n1')['checks'] if r['check'] == name)


def status(pid, key):
    """A number of /proc/PID/status."""
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key + ':'))


def waits_for_disk(pid):
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return process_state(pid) == 'D'
    return False


class Seen:
    """The worst of what was seen while it hangs."""

    def __init__(self, world, c, agent):
        self.world, self.c, self.pid, self.path = world, c, agent.process.popen.pid, world.path('pulse')
        self.daemons = {agent.process.popen.pid, c.process.popen.pid}
        self.looks = self.silent_s = self.processes = self.stuck = self.threads = self.rss_kib = 0
        self.first_kib = status(self.pid, 'VmRSS')
        self.pulses = os.stat(self.path).st_size // 2

    def look(self):
        self.looks += 1
        self.silent_s = max(self.silent_s, self.c.node('n1')['Silent'])
        others = [p for p in self.world.marked() if p not in self.daemons]
        self.processes = max(self.processes, len(others))
        self.stuck = max(self.stuck, sum(waits_for_disk(p) for p in others))
        self.threads = max(self.threads, status(self.pid, 'Threads'))
        self.rss_kib = max(self.rss_kib, status(self.pid, 'VmRSS'))
        contains(said(self.c, 'space').get('text', ''), 'probe.stuck', 'what is said of what hangs')

    def words(self, seconds):
        pulses = os.stat(self.path).st_size // 2 - self.pulses
        return (f'{seconds:.0f} s: looked {self.looks} times; not heard for {self.silent_s} s at most; {self.processes} processes '
                f'beside the agent at most, {self.stuck} of them waiting for the disk; {self.threads} threads; '
                f'{self.first_kib} KiB resident at first, {self.rss_kib} at most; {pulses} runs of the check of each second')


def test_the_root_disk_hangs_for_long(world):
    need_root()
    own_mounts()
    disk = HangingFiles(world, world.path('agent-n1-0'))  # its directory of state
    etc = Hanging(world, world.path('n1', 'etc', 'fettle'))
    c, agents = ward(world, ['n1'], checks=CHECKS + PULSE.format(world.dir) + SPACE)
    disk.hang()
    etc.hang()
    wait('it is said what hangs', lambda: 'probe.stuck' in said(c, 'space').get('text', ''))
    kernel_says(world, 'n1', 'usb 1-1: a line that means nothing')  # which is written down
    seen, began, lines = Seen(world, c, agents['n1']), time.monotonic(), 0
    while (passed := time.monotonic() - began) < HANG_S:
        seen.look()
        if passed > (lines + 1) * KERNEL_S:
            lines += 1
            kernel_says(world, 'n1', f'mce: [Hardware Error]: Machine check events logged {lines}')
        if seen.looks % 60 == 0:
            print(seen.words(passed), flush=True)
        time.sleep(LOOK_S)
    print(seen.words(passed), flush=True)
    equal(c.suspected(), [], 'nodes that were suspected')
    check(seen.stuck <= STUCK_MAX, lambda: f'{seen.stuck} processes wait for the disk')
    check(seen.processes <= PROCESSES_MAX, lambda: f'{seen.processes} processes')
    equal(seen.threads, 1, 'threads of the agent')
    check(seen.rss_kib - seen.first_kib <= GROWTH_KIB_MAX, lambda: f'{seen.first_kib} KiB became {seen.rss_kib}')
    kernel_says(world, 'n1', 'EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm bash: reading directory')
    wait('the kernel is still heard', lambda: said(c, 'kernel')['result'] not in ('ok', 'unknown'))
    disk.end()
    etc.end()


main()
