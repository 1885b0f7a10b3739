# SPDX-License-Identifier: Apache-2.0
"""Reboots into the right image through OpenCHAMI's BSS and PCS: when there is a reason, when nobody is hurt,
and once, whoever is killed."""
import os

from fleet import CMDLINE, SWAPPINESS, WRONG, change, entries, fix, reboot, wait_quiet
from harness import contains, equal, holds, main, wait
from stand_in import UNTOUCHED, Killer, Ochami, told_fleet, xname
from ward import repair, unmount, ward

BOOT = ('Class=image Nodes=n[01-09] Reboot=yes Kernel=http://boot/vmlinuz-6.1 Initrd=http://boot/initrd-6.1 '
        'Params="console=ttyS0 quiet"\n')
IMAGE = {'kernel': 'http://boot/vmlinuz-6.1', 'initrd': 'http://boot/initrd-6.1', 'params': 'console=ttyS0 quiet'}


def done(c, node):
    """The remedies that were carried out."""
    return [a for a in (repair(c, node) or {}).get('attempts', []) if a['done']]


def transitions(o):
    return o.requests('POST /pcs/transitions')


def come_back(world, o, c, agent):
    """The reboot that was asked for, into the right image."""
    agent.process.stop()
    fix(world, agent.name)
    reboot(world, agent)
    o.state.finish_transitions('completed', False)
    c.wait_nodes('it is back by itself', [agent.name], State='IDLE', Schedulable=True, Conformance='conformant')
    wait('its drift is over', lambda: not c.node(agent.name)['Drift'])


def test_a_reboot_into_the_right_image(world):
    """Drained, boot parameters, one transition; back by itself when it is right."""
    o, c, agents = told_fleet(world, ['n01', 'n02', 'n03'], classes=BOOT)
    change(world, 'n03', SWAPPINESS, '60\n')  # minor: no reason for a reboot
    change(world, 'n02', CMDLINE, WRONG)
    wait('PCS is asked', lambda: transitions(o))
    equal(c.node('n02')['State'], 'DRAINED', 'its state')
    equal(o.state.parameters, {xname('n02'): IMAGE}, 'boot parameters')
    contains(transitions(o)[0], xname('n02'), 'the transition')
    come_back(world, o, c, agents['n02'])
    wait_quiet(c)
    equal(len(transitions(o)), 1, f'transitions: {transitions(o)}')
    o.wait_stands(n02=UNTOUCHED)
    equal(c.node('n03')['State'], 'IDLE', 'the node with a minor drift')


def test_a_reboot_once_whoever_is_killed(world):
    """kill -9 after the parameters and after the transition, before anybody is answered."""
    o, c, agents = told_fleet(world, ['n01', 'n02'], classes=BOOT)
    killer = Killer(o, c, lambda line: 'PUT /bss' in line or 'POST /pcs' in line)
    change(world, 'n02', CMDLINE, WRONG)
    wait('PCS is asked', lambda: killer.revive() and transitions(o))
    wait('both have killed it', lambda: killer.revive() and killer.kills == 2)
    killer.rest()
    wait('the transition is found again', lambda: o.requests('GET /pcs/transitions/'))
    equal(o.state.parameters, {xname('n02'): IMAGE}, 'boot parameters')
    come_back(world, o, c, agents['n02'])
    wait_quiet(c)
    equal(len(transitions(o)), 1, f'transitions: {transitions(o)}')
    equal(len(o.requests('PUT /bss')), 1, 'times that the boot parameters were put')


def test_nothing_is_rebooted_while_work_runs(world):
    o, c, agents = told_fleet(world, ['n01', 'n02'], classes=BOOT)
    job = world.write('n02/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n02'], State='BUSY')
    change(world, 'n02', CMDLINE, WRONG)
    c.wait_nodes('it takes no new work', ['n02'], State='DRAINING', Schedulable=False)
    wait('SMD is told', lambda: o.is_told('n02'))
    holds('nobody speaks to BSS and PCS', 4, lambda: not o.requests('/bss/') and not o.requests('/pcs/'))
    equal(entries(c, 'conform.reboot'), [], 'reboots that were decided')
    os.remove(job)
    wait('PCS is asked when it is drained', lambda: transitions(o))
    come_back(world, o, c, agents['n02'])
    equal(len(transitions(o)), 1, f'transitions: {transitions(o)}')


def test_nothing_is_done_to_a_node_that_somebody_holds_in_ochami(world):
    """Locked, disabled or reserved in the State Manager: findings are reported, and no remedy begins."""
    holds_of = {'n1': ('locked', {'Locked': True}), 'n2': ('disabled', {'Enabled': False}), 'n3': ('reserved', {'Reserved': True})}
    o = Ochami(world, [*holds_of, 'n4'])
    c, _ = ward(world, [*holds_of, 'n4'], remedy='Remedy=mount.scratch MOUNT Confidence=80% Because="it is there" Takes=5s',
                nodes=''.join(f'Name={n} Xname={xname(n)}\n' for n in [*holds_of, 'n4']), **o.settings())
    for n, (_, how) in holds_of.items():
        o.state.components[xname(n)].update(how)
    holds('what was read before is too old to act on, after two seconds', 3, lambda: not any(done(c, n) for n in holds_of))
    for n in (*holds_of, 'n4'):
        unmount(world, n)
    wait('the one that nobody holds is mended', lambda: done(c, 'n4'))
    for n, (word, _) in holds_of.items():
        wait(f'{n} is {word}', lambda n=n, word=word: c.node(n)['Held'] == f'ochami: {word}')
    holds('nothing is begun', 3, lambda: not any(done(c, n) for n in holds_of))
    o.stop()
    o.state.components[xname('n1')].update({'Locked': False})
    wait('nobody knows while it is away', lambda: 'is not known' in c.node('n1')['Held'])
    holds('that permits nothing', 2, lambda: not done(c, 'n1'))
    o.start()
    for n in ('n2', 'n3'):
        o.state.components[xname(n)].update({'Enabled': True, 'Reserved': False})
    for n in holds_of:
        wait(f'{n} is mended', lambda n=n: done(c, n))


def test_a_holder_of_a_node_in_ochami_is_shown_though_nothing_is_to_be_done(world):
    """A node that somebody disabled takes no work; a lock is about its power."""
    o = Ochami(world, ['n1', 'n2'])
    c, _ = ward(world, ['n1', 'n2'], nodes=''.join(f'Name={n} Xname={xname(n)}\n' for n in ('n1', 'n2')), **o.settings())
    o.state.components[xname('n1')].update({'Enabled': False})
    o.state.components[xname('n2')].update({'Locked': True})
    c.wait_nodes('it is out', ['n1'], within=120, Elsewhere='held', Held='ochami: disabled', Schedulable=False,
                 Why='ochami: disabled')
    c.wait_nodes('it is held', ['n2'], within=120, Elsewhere='held', Held='ochami: locked', Schedulable=True, Why='')
    contains(c.fettle('status'), 'ochami: 2 held, 1 out', 'the status')
    for n in ('n1', 'n2'):
        o.state.components[xname(n)].update({'Enabled': True, 'Locked': False})
    c.wait_nodes('nobody holds them', ['n1', 'n2'], Elsewhere='nobody', Held='', Schedulable=True)


main()
