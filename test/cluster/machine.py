# SPDX-License-Identifier: Apache-2.0
"""Another machine under an old name, and machines that somebody is about to work on."""
from fleet import entries, reboot
from harness import contains, equal, holds, main, wait
from ward import incidents, health, mount, repair, step, steps, unmount, wait_step, ward

REMEDY = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is there, and only not mounted" Takes=5s Disturbs=0'


def becomes(world, agent, serial):
    """The machine with this serial number has the node's name from now on."""
    world.write(f'{agent.name}/sys/class/dmi/id/product_serial', '')
    reboot(world, agent, sys__class__dmi__id__product_serial=serial + '\n')


def wait_machine(c, node, name):
    c.wait_nodes(f'{node} is {name}', [node], Machine=name)


def returns(c, node):
    return len([s for s in steps(c, node) if 'back in service' in s])


def test_another_machine_inherits_nothing(world):
    c, agents = ward(world, ['n1', 'n2'], remedy=REMEDY)
    equal(c.node('n1')['Machine'], '', 'the machine of a node whose firmware says nothing')
    for n, agent in agents.items():
        becomes(world, agent, f'SN-{n}')
        wait_machine(c, n, f'serial SN-{n}')
    becomes(world, agents['n2'], 'To Be Filled By O.E.M.')
    c.wait_nodes('they are back', ['n1', 'n2'], Liveness='live', Lifecycle='available')
    before = returns(c, 'n1')
    unmount(world, 'n1')
    wait('it was repaired', lambda: returns(c, 'n1') == before + 1)
    equal(len(repair(c, 'n1')['attempts']), 1, 'what was tried')
    becomes(world, agents['n1'], 'SN-other')
    wait_machine(c, 'n1', 'serial SN-other')
    wait('it passed its checks', lambda: returns(c, 'n1') == before + 2)
    c.wait_nodes('it is in service', ['n1'], Lifecycle='available', Schedulable=True)
    equal((health(c, 'n1')['past'], incidents(c, 'n1'), repair(c, 'n1')), ([], [], None), 'what is known of it')
    said = entries(c, 'node.instance')
    equal([e['nodes'] for e in said], ['n1'], 'who is another machine')
    contains(said[0]['text'], 'serial SN-other, before it serial SN-n1', 'the journal')
    contains(c.fettle('node', 'show', 'n1'), 'serial SN-other', 'node show')
    c.process.kill()
    c.start()
    c.wait_nodes('it is known to another controller', ['n1'], Liveness='live', Machine='serial SN-other')
    equal(c.node('n2')['Machine'], 'serial SN-n2', 'one that says nothing any more')
    holds('nothing follows from it', 2, lambda: len(entries(c, 'node.instance')) == 1)


def test_a_node_that_a_person_has_stays_a_person_s(world):
    c, agents = ward(world, ['n1'])
    becomes(world, agents['n1'], 'SN-1')
    wait_machine(c, 'n1', 'serial SN-1')
    unmount(world, 'n1')
    wait_step(c, 'n1', 'queue')
    c.fettle('queue', 'take', 'n1')
    mount(world, 'n1')
    becomes(world, agents['n1'], 'SN-2')
    wait_machine(c, 'n1', 'serial SN-2')
    equal((step(c, 'n1'), repair(c, 'n1')['taken_by']), ('queue', 'root'), 'where it is, and who has it')
    contains(repair(c, 'n1')['notes'][-1]['text'], 'another machine', 'the note')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'swapped')
    c.wait_nodes('it was tested and is back', ['n1'], Lifecycle='available', Schedulable=True)


def test_a_machine_that_will_be_worked_on_is_drained_and_kept_out(world):
    c, _ = ward(world, ['n1', 'n2'])
    c.fettle('repair', 'move', 'maintenance', 'n1', '--reason', 'new power supply')
    wait_step(c, 'n1', 'queue')
    contains(c.node('n1')['Maintenance'], 'root: new power supply', 'what is known of it')
    c.process.kill()
    c.start()
    c.wait_nodes('another controller knows of it', ['n1'], Liveness='live', Lifecycle='work_queue',
                 Maintenance='root: new power supply')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'too early')
    wait('it comes back to the queue', lambda: [s for s in steps(c, 'n1') if 'isolate -> queue' in s][1:])
    c.fettle('repair', 'move', 'maintenance_over', 'n1', '--reason', 'it is in')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'it is in')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Schedulable=True, Maintenance='')
    equal(steps(c, 'n2')[2:], [], 'what the other one did since it came')


if __name__ == '__main__':
    main()
