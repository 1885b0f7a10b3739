# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the controller at any instant while nodes drift and are restored: no node is held without a
reason, none that has to be is not, and each drift is found once."""
import random
import re
import time

from fleet import wait_quiet
from harness import CALM, Controller, check, equal, main, swarm, wait

SECONDS = 14  # of change
RIGHT, WRONG, OTHER = 0, 7, 9  # kinds of nodes
NODES = 'Name=n[01-20] Sensitive=yes\nName=n[21-40]\n'
FATES = {'calm': (1, 4), 'drifted': (5, 10), 'restored': (11, 15), 'changed': (16, 20)}  # and 20 more of each


def named(first, last):
    return [f'n{i + more:02}' for more in (0, 20) for i in range(first, last + 1)]


def sensitive(node):
    return int(node[1:]) <= 20


def expand(folded):
    """The names of a folded list like n01,n[03-05,07]."""
    names = []
    for prefix, inside, plain in re.findall(r'(\w+)\[([^]]*)\]|(\w+)', folded):
        for part in inside.split(',') if inside else []:
            low, _, high = part.partition('-')
            names += [f'{prefix}{i:0{len(low)}}' for i in range(int(low), int(high or low) + 1)]
        names += [plain] if plain else []
    return names


def script_of(fates, chance):
    """Which node changes to which state, and when."""
    lines = []
    for fate, (first, then) in {'drifted': (WRONG, None), 'restored': (WRONG, RIGHT), 'changed': (WRONG, OTHER)}.items():
        for node in fates[fate]:
            at = chance.uniform(0, SECONDS - 5)
            lines.append(f'{at * 1000:.0f}ms kind {node} {first}\n')
            if then is not None:
                lines.append(f'{(at + chance.uniform(0.5, 5)) * 1000:.0f}ms kind {node} {then}\n')
    return ''.join(lines)


def story(c):
    """The journal's entries about each node's drift, in order."""
    told = {}
    for e in c.journal():
        if e['what'].startswith('conform.') and e['what'] != 'conform.seen':
            for node in expand(e['nodes']):
                told.setdefault(node, []).append(e['what'].removeprefix('conform.'))
    return told


ALLOWED = {'calm': [[]], 'drifted': [['drift']], 'restored': [[], ['drift', 'restored']],
           'changed': [['drift'], ['drift', 'drift']]}  # the second one says what it has become


def check_end(c, fates):
    told = story(c)
    for fate, nodes in fates.items():
        for node in nodes:
            said = told.get(node, [])
            check(said in ALLOWED[fate], f'the journal says of {node}, which is {fate}: {said}')
            n, claims = c.node(node), c.get(f'/v1/nodes/{node}')['claims']
            held = sensitive(node) and bool(said)
            equal(len(claims), int(held), f'claims on {node}, which is {fate}: {claims}')
            equal(n['State'], 'DRAINED' if held else 'IDLE', f'the state of {node}, which is {fate}')


def test_drift_under_kills(world):
    names = [f'n{i:02}' for i in range(1, 41)]
    fates = {fate: named(*numbers) for fate, numbers in FATES.items()}
    c = Controller(world, NODES, **CALM)
    before = swarm(world, c, 'n[01-40]', kinds=1)
    c.wait_nodes('all are in service', names, State='IDLE')
    wait('one is accepted', lambda: c.fettle('baseline', 'accept', 'n01'))
    c.wait_nodes('all are right', names, Conformance='conformant')
    before.stop()

    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f'seed {seed}')
    swarm(world, c, 'n[01-40]', kinds=1, name='changing', script=script_of(fates, chance))
    until, kills = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.05, 1.6))  # the instant of the kill is what is random here
        c.process.kill()
        c.start()
        kills += 1
    c.wait_nodes('all are heard again', names, Liveness='live')
    c.wait_nodes('who is drifted is found', fates['drifted'] + fates['changed'], Conformance='drifted')
    c.wait_nodes('who is right is found', fates['calm'] + fates['restored'], Conformance='conformant')
    for node in fates['drifted'] + fates['changed']:
        wait(f'the drift of {node} is recorded', lambda n=node: c.node(n)['Drift'])
    wait('what is right again is recorded', lambda: all(
        (c.get(f'/v1/conform/diff/{n}')['drift'] or {'state': 'remedied'})['state'] == 'remedied' for n in fates['restored']))
    wait_quiet(c)
    check_end(c, fates)
    was = c.status()
    c.process.kill()
    c.start()
    now = c.status()
    equal((now['digest'], now['revision']), (was['digest'], was['revision'] + 1), 'digest and revision after a kill')
    c.wait_nodes('all are heard again', names, Liveness='live')
    check_end(c, fates)
    held = [n for n in fates['restored'] if c.get(f'/v1/nodes/{n}')['claims']]
    if held:
        c.wait_nodes('they are right', held, Conformance='conformant')
        c.fettle('conform', 'approve', ','.join(held))
        c.wait_nodes('they are back', held, State='IDLE')
    print(f'{kills} kills; {len(held)} nodes were approved')


main()
