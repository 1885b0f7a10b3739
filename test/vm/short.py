# SPDX-License-Identifier: Apache-2.0
"""The short run: two nodes that really boot, join, drift, fall ill, are rebooted by their agent, power-cycled after a
panic and imaged anew by the network, and are back in service each time. What was done is told by the machines: by the
boot that they are in, by what their BMC was told, and by the image on their disk."""
import os
import sys

from harness import Failed, check, equal, main, wait

from lab import Lab, missing

TIMEOUT = 600  # seconds that a boot may take: 15 on a free processor, and it gets a twentieth of a busy one


# On a busy processor a reboot outlasts what it takes elsewhere, and a node that does not come back in that time is
# power-cycled. So it has as long as a boot may take; and since that makes it dear, a power cycle is for lost nodes alone.
SLOW = {'Run=reboot': {'Takes=2m': f'Takes={TIMEOUT}s', 'Deadline=6m': f'Deadline={TIMEOUT}s'},
        'Run=power.cycle': {'Helps=*,!program,!reboot.*': 'Helps=node.lost'}}


class SlowLab(Lab):
    def write_conf(self, nodes):
        super().write_conf(nodes)
        path = self.run / 'etc/remedies.conf'
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            for old, new in next((words for run, words in SLOW.items() if run in line), {}).items():
                check(old in line, f'no {old} in {line}')
                lines[i] = lines[i].replace(old, new)
        path.write_text('\n'.join(lines) + '\n')


class Node:
    def __init__(self, lab, machine):
        self.lab, self.machine, self.name = lab, machine, machine.name

    def field(self, name):
        return self.lab.get(f'/v1/nodes/{self.name}')['node'][name]

    def wait(self, what, within=TIMEOUT, **members):
        def ready():
            node = self.lab.get(f'/v1/nodes/{self.name}')['node']
            odd = {k: node[k] for k, v in members.items() if node[k] != v}
            check(not odd, f"still {odd}, because {node['Why']}")
            return True
        wait(f'{self.name}: {what}: {members}', ready, within)

    def wait_back(self, what):
        self.wait(what, State='IDLE', Lifecycle='available', Liveness='live', Health='ok')

    def sh(self, command):
        status, output = self.machine.sh(command)
        equal(status, 0, f'{self.name}: {command}: {output}: the status')
        return output


def open_faults(lab, node):
    return {f['check'] for i in lab.get(f'/v1/health/{node}')['open'] for f in i['findings']}


def test_nodes_that_boot(world):
    os.environ.update(world.env)  # its mark, so that a process that is left is found
    lab = SlowLab(world.path('vm'))
    world.cleanups.append(lab.down)
    try:
        live_and_return(lab)
    except Failed:
        lab.fettle('node', 'list')
        lab.fettle('journal')
        for m in lab.machines():
            print(m.name, m.switched(), *m.console().splitlines()[-10:], sep='\n    ')
        raise
    lab.down()
    check('Sanitizer' not in (lab.run / 'fettled.log').read_text(), 'a sanitizer complained of fettled')


def live_and_return(lab):
    a, b = (Node(lab, m) for m in lab.up(2))

    for n in (a, b):
        n.wait_back('it booted, joined and is in service')
    equal(a.sh('cat /etc/vm-image'), 'first', 'the image of n1')

    print('drift')
    wait('what n1 is is recorded', lambda: lab.fettle('baseline', 'accept', 'n1', capture_output=True).returncode == 0)
    for n in (a, b):
        n.wait('it is what n1 was', Conformance='conformant')
    a.sh('sysctl -qw vm.swappiness=1')
    a.wait('it drifted', Conformance='drifted')
    equal([d['component'] for d in lab.get('/v1/conform/diff/n1')['differences']], ['sysctl.vm.swappiness'], 'what is different')
    a.sh('sysctl -qw vm.swappiness=60')
    a.wait('it is put right', Conformance='conformant')

    print('panic')
    boot = {n: n.field('Boot') for n in (a, b)}
    b.machine.later('echo c >/proc/sysrq-trigger')

    print('a service that is killed')
    a.sh('systemctl kill -s KILL vm-service')
    wait('it is found', lambda: 'service' in open_faults(lab, 'n1'))
    a.wait_back('the service was started again')
    equal(a.field('Boot'), boot[a], 'the boot that it is in')

    print('reboot by the agent')
    a.sh('mount -o remount,ro /scratch')
    wait('it is found', lambda: {'scratch-ro', 'scratch-write'} & set(open_faults(lab, 'n1')))  # whichever comes first
    wait('it rebooted', lambda: a.field('Boot') != boot[a], TIMEOUT)
    a.wait_back('the reboot helped')
    equal(a.machine.switched(), [], 'what its BMC was told')

    print('power cycle of a node that is lost')
    b.wait_back('the power cycle helped')
    check(b.field('Boot') != boot[b], 'it is in the boot that panicked')
    equal(b.machine.switched(), ['power 0', 'power 1'], 'what its BMC was told')
    why = 'Kernel panic - not syncing: sysrq triggered crash'
    equal(b.field('LastBoot'), f'panic: {why}', 'how the boot before ended')
    found = [(f['check'], f['code'], f['text']) for i in lab.get('/v1/health/n2')['past'] for f in i['findings']]
    check(('node.boot', 'boot.panic', f'its kernel panicked: {why}') in found, f'why it was lost is not among {found}')
    equal(b.sh('cat /etc/vm-image'), 'first', 'the image of n2')

    print('reimage by the network')
    a.sh('rm /usr/local/bin/vm-program')
    wait('it is found', lambda: 'program' in open_faults(lab, 'n1'))
    wait('a new image is on its disk', lambda: a.machine.sh('cat /etc/vm-image', 5) == (0, 'netboot'), TIMEOUT)
    a.wait_back('the image helped')

    for n in (a, b):
        check('Sanitizer' not in n.sh('journalctl -q -o cat -u fettle-agent'), f'{n.name}: a sanitizer complained of its agent')


if lacking := missing():
    print(f'skipped: this needs {lacking}')
    sys.exit(1 if os.environ.get('FETTLE_VM') == 'required' else 77)
main()
