# SPDX-License-Identifier: Apache-2.0
"""The kernel's own log, while nobody reads it: the ring turns, and what a user wrote into it does not count. It fills
the log of this machine, so tools/soak runs it and nobody else."""
import ctypes
import os
import sys

from harness import CALM, Agent, Controller, Skipped, equal, main, need_root, wait
from ward import RULES, health, incidents

SIZE_BUFFER = 10  # of klogctl
RING_BYTES_MAX = 16 << 20
XID = 'NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.'


def says(text, facility=1):
    """A record of a user's; one that claims to be the kernel's is made a user's by the kernel. Opened for each, for
    the kernel passes over what comes too fast through one."""
    try:
        with open('/dev/kmsg', 'w', encoding='utf-8') as f:
            f.write(f'<{facility * 8 + 7}>{text}\n')
    except OSError as e:
        raise Skipped(f'/dev/kmsg: {e}') from None


def kernel_says(world):
    """It tells of a process that ended badly: a record of its own."""
    world.run([sys.executable, '-c', 'import ctypes; ctypes.string_at(0)'])


def turn_ring():
    """Writes until nothing is left of what stood there."""
    size = ctypes.CDLL(None).klogctl(SIZE_BUFFER, None, 0)
    if not 0 < size <= RING_BYTES_MAX:
        raise Skipped(f'the ring has {size} bytes')
    for i in range(2 * size // 800):
        says(f'fettle test {i} ' + 'x' * 800)


def kernel(c):
    return next(r['verdict'] for r in health(c, 'n1')['checks'] if r['check'] == 'kernel')


def test_the_ring_turns_while_nobody_reads(world):
    need_root()
    c = Controller(world, 'Name=n1\n', **{**CALM, **RULES, 'HeartBeatTimeout': '10m', 'LateAfter': '9m',
                                          'CheckConf': world.write('checks.conf', 'Check=kernel Probe=kernel.log\n')})
    agent = Agent(world, c, 'n1')
    wait('the log is followed', lambda: kernel(c)['result'] != 'unknown')
    kernel_says(world)
    wait('it is read', lambda: os.path.exists(os.path.join(agent.run, 'kernel-log')))
    before = [i['id'] for i in incidents(c, 'n1')]  # what ails this machine itself
    says(XID)
    says(XID, facility=0)
    agent.process.pause()
    turn_ring()
    says(XID)
    agent.process.resume()
    wait('it says what it missed', lambda: 'were overwritten before' in agent.process.log())
    wait('people are told', lambda: 'were overwritten before' in str(kernel(c)))
    new = [i for i in incidents(c, 'n1') if i['id'] not in before]
    equal([f['code'] for i in new for f in i['findings']], ['kernel.gap'], 'what is wrong, but for what users wrote')
    equal(c.node('n1')['Lifecycle'], 'available', 'the node')
    # It follows on, and says so before the kernel says anything more.
    agent.process.pause()
    turn_ring()
    agent.process.resume()
    wait('it says it again', lambda: agent.process.log().count('were overwritten before') == 2)


main()
