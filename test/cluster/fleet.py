# SPDX-License-Identifier: Apache-2.0
"""What the tests of conformance share: nodes with roots of their own, whose files a test changes, and
questions about what they are."""
import json
import os
import time
import uuid

from harness import CALM, Agent, Controller, contains, fake_root, wait

CLASSES = 'Class=plain Nodes=n[01-09] Major=kernel.* Minor=sysctl.*\n'  # what is written down of nodes n01 ..
SENSITIVE = 'Name=DEFAULT Sensitive=yes\n'
SWAPPINESS, CMDLINE = 'proc/sys/vm/swappiness', 'proc/cmdline'
WRONG = 'quiet mitigations=off\n'  # a kernel's command line that is not whole_root's


def boot_id():
    return str(uuid.uuid4())


def cmdline(name, boot):
    return f'BOOT_IMAGE=/vmlinuz-6.1.0-18 root=UUID={boot} ro quiet hostname={name}\n'


def whole_root(world, name, boot, **changes):
    """A root with enough in it for a fingerprint without unknown components; changes are files by path with
    '__' for '/' ('proc__cmdline')."""
    root = fake_root(world, name, boot)
    files = {
        'proc/sys/kernel/osrelease': '6.1.0-18-amd64\n', 'proc/sys/kernel/version': '#1 SMP Debian 6.1.76-1\n',
        'proc/sys/kernel/arch': 'x86_64\n', 'proc/sys/kernel/ostype': 'Linux\n',
        CMDLINE: cmdline(name, boot), SWAPPINESS: '10\n',
        'proc/cpuinfo': 'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\n'
                        'microcode\t: 0x2b000461\ncpu MHz\t\t: 2000.000\n\n',
        'proc/modules': 'nvme 49152 2 - Live 0x0\nmlx5_core 1970176 1 - Live 0x0\n',
        'sys/module/nvme/version': '1.0\n', 'sys/module/mlx5_core/srcversion': '9ABBE0C3D6C5A8C9E6F0A13\n',
        'proc/sys/vm/overcommit_memory': '0\n', 'proc/sys/vm/nr_hugepages': '0\n',
        'proc/self/mountinfo': '22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n',
        'etc/os-release': 'ID=debian\nVERSION_ID="12"\n',
        'sys/class/dmi/id/bios_vendor': 'Dell Inc.\n', 'sys/class/dmi/id/bios_version': '2.1.5\n',
        'sys/class/dmi/id/bios_date': '03/14/2024\n', 'sys/class/dmi/id/board_vendor': 'Dell Inc.\n',
        'sys/class/dmi/id/board_name': '0HG6PW\n', 'sys/class/dmi/id/board_version': 'A02\n',
        'sys/class/dmi/id/product_name': 'PowerEdge XE9680\n',
        'sys/devices/system/cpu/online': '0\n', 'sys/devices/system/cpu/present': '0\n',
        'sys/devices/system/cpu/cpu0/topology/core_siblings_list': '0\n',
        'sys/devices/system/cpu/cpu0/topology/thread_siblings_list': '0\n',
        'sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never\n',
        'var/lib/dpkg/status': ''.join(f'Package: {p}\nStatus: install ok installed\nArchitecture: amd64\n'
                                       f'Version: {v}\n\n' for p, v in (('libc6', '2.36-9'), ('openssl', '3.0.11-1'))),
        **{k.replace('__', '/'): v for k, v in changes.items()}}
    for path, text in files.items():
        world.write(f'{name}/{path}', text)
    for path in ('sys/class/net', 'sys/class/nvme', 'sys/class/infiniband', 'sys/bus/pci/devices'):
        os.makedirs(os.path.join(root, path), exist_ok=True)
    return root


def fleet(world, names, classes=CLASSES, nodes=None, **settings):
    """A controller, and an agent with a root of its own for each name; all have sent their fingerprints."""
    c = Controller(world, nodes or ''.join(f'Name={n}\n' for n in names),
                   ClassConf=world.write('classes.conf', classes), **{**CALM, **settings})
    agents = {n: Agent(world, c, n, root=whole_root(world, n, boot_id())) for n in names}
    wait_known(c, names)
    return c, agents


def wait_known(c, names):
    """Until these are heard and their components are known."""
    c.wait_nodes('the agents are heard', names, Liveness='live')
    wait('every fingerprint is known', lambda: all(c.table('Name,Cohort')[n]['Cohort'] for n in names))


def alike(c, names):
    """Makes the first node the baseline of its class."""
    accept(c, names[0])
    wait_conformance(c, names, 'conformant')


def change(world, node, path, text):
    """Changes a file of a node at one stroke, as the kernel's files change."""
    world.write(f'{node}/{path}.new', text)
    os.rename(world.path(node, path + '.new'), world.path(node, path))


def fix(world, node, path=CMDLINE):
    """Restores the file."""
    with open(world.path(node, 'proc/sys/kernel/random/boot_id')) as f:
        change(world, node, path, '10\n' if path == SWAPPINESS else cmdline(node, f.read().strip()))


def reboot(world, agent, **files):
    """A new boot of the node, that brings these changes (by path with '__' for '/')."""
    agent.process.stop()
    change(world, agent.name, 'proc/sys/kernel/random/boot_id', boot_id() + '\n')
    for path, text in files.items():
        change(world, agent.name, path.replace('__', '/'), text)
    agent.start()


def diff(c, *nodes):
    return json.loads(c.fettle('conform', 'diff', *nodes, '--json'))


def recorded(c, what, *words):
    """Gives this command about a node's state, as soon as that is recorded."""
    return wait(what, lambda: c.fettle(*words))


def accept(c, node, *words):
    return recorded(c, f'{node} is accepted', 'baseline', 'accept', node, *words)


def wait_conformance(c, names, word):
    c.wait_nodes(f'they are {word}', names, Conformance=word)


def wait_drift(c, node, state):
    wait(f'the drift of {node} is {state}', lambda: (diff(c, node)['drift'] or {}).get('state') == state)


def wait_quiet(c):
    """Waits until nothing is recorded any more: all findings are written down, and all waiting commands are done."""
    def quiet():
        was = c.status()['revision']
        time.sleep(2)  # two sweeps
        return c.status()['revision'] == was
    wait('nothing is recorded any more', quiet)


def entries(c, what, node=None):
    """The journal's entries of this kind, of this one node when it is given."""
    return [e for e in c.journal() if e['what'] == what and node in (None, e['nodes'])]


def certificates(world, c, **roles):
    """Operators by name with their roles: for each what ask_https needs to speak as them."""
    directory = world.path('operators')
    os.makedirs(directory, exist_ok=True)
    for name, role in roles.items():
        contains(c.fettle('cert', 'create', name, '--role', role, cwd=directory), name, f'a certificate for {name}')
    return {n: {'cert': os.path.join(directory, n + '.pem'), 'key': os.path.join(directory, n + '.key')} for n in roles}
