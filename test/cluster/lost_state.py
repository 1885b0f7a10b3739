# SPDX-License-Identifier: Apache-2.0
"""A controller whose state was lost begins its terms and ids anew; agents remember those of the old one. They do what
the new one asks for, and nothing of the old one again."""
import json
import os
import shutil

from harness import check, equal, main, wait
from ward import repair, unmount, ward

# Counts how often it was done, and waits as long as it is to.
MEND = """#!/bin/sh
echo $FETTLE_NODE >> {0}/mended
while test -e {0}/hold; do sleep 0.05; done
cp {0}/$FETTLE_NODE.mounted {0}/$FETTLE_NODE/proc/self/mountinfo
"""
REMEDY = ('Remedy=mend Run=node:{}/mend Helps=scratch Needs=nothing Confidence=80% Because="it is not mounted" '
          'Takes=5s Deadline=2m Disturbs=0')


def clinic(world):
    os.chmod(world.write('mend', MEND.format(world.dir)), 0o755)
    c, agents = ward(world, ['n1', 'n2'], remedy=REMEDY.format(world.dir))
    return c, agents


def mended(world, node):
    with open(world.path('mended'), encoding='utf-8') as f:
        return f.read().split().count(node)


def mend(world, c, node, times):
    unmount(world, node)
    wait(f'{node} was mended, {times} times by now', lambda: os.path.exists(world.path('mended')) and
         mended(world, node) == times)
    c.wait_nodes('it is back', [node], Lifecycle='available', Health='ok')
    equal([a['done'] for a in repair(c, node)['attempts']], [True], 'its attempts, as the controller has them')


def remembered(agent):
    with open(os.path.join(agent.run, 'operations'), encoding='utf-8') as f:
        return json.load(f)


def lose(c, *kept):
    """The directory of state, but for these files; and a person says that it is to begin anew."""
    c.process.stop()
    for name in os.listdir(c.state):
        if name not in kept:
            path = os.path.join(c.state, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
    os.remove(c.state + '-begun/state')


def test_the_state_is_lost_and_the_authority_kept(world):
    c, agents = clinic(world)
    mend(world, c, 'n1', 1)
    c.restart()
    c.restart()
    c.wait_nodes('they come back', ['n1', 'n2'], Liveness='live')
    mend(world, c, 'n2', 1)
    before = {n: remembered(a) for n, a in agents.items()}
    equal((before['n1']['term'], before['n2']['term']), (3, 3), 'the terms')
    lose(c, 'ca.pem', 'ca.key')
    c.start()
    equal(c.status()['term'], 1, 'the term')
    c.wait_nodes('who runs comes back by itself', ['n1', 'n2'], Lifecycle='available', Health='ok')
    for n in ('n1', 'n2'):  # of the same ids as before, and of an older term
        mend(world, c, n, 2)
        now = remembered(agents[n])
        check(now['origin'] != before[n]['origin'], 'the state has its old name')
        equal(now['term'], 1, 'the term that counts')
        equal([o['id'] for o in now['operations']][0], before[n]['operations'][0]['id'], 'what is remembered first')
        equal(len({o['id'] for o in now['operations']}), 2, 'the operations that are remembered')


def test_the_state_is_lost_while_something_is_under_way(world):
    """The operation goes on, is not repeated, and its outcome is only reported to the controller that ordered it."""
    c, agents = clinic(world)
    world.write('hold', '')
    unmount(world, 'n1')
    wait('the remedy is under way', lambda: os.path.exists(world.path('mended')))
    lose(c, 'ca.pem', 'ca.key')
    c.start()
    c.wait_nodes('it comes back', ['n1'], Liveness='live')
    wait('it is to be mended again', lambda: (repair(c, 'n1') or {}).get('attempts'))
    equal(mended(world, 'n1'), 1, 'how often it was begun')
    os.remove(world.path('hold'))
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')
    ids = [o['id'] for o in remembered(agents['n1'])['operations']]
    equal(len(ids), len(set(ids)), 'how often each id was done')
    check(mended(world, 'n1') <= len(ids), 'something was done twice')


def test_everything_is_lost_and_the_nodes_join_again(world):
    c, agents = clinic(world)
    c.restart()
    c.wait_nodes('they come back', ['n1', 'n2'], Liveness='live')
    mend(world, c, 'n1', 1)
    equal(remembered(agents['n1'])['term'], 2, 'the term')
    lose(c)
    c.start()
    for n, agent in agents.items():
        agent.process.stop()
        for file in ('node.pem', 'node.key', 'ca.pem'):
            os.remove(os.path.join(agent.home, file))
        agent.join(c.token(n))
        agent.start()
    c.wait_nodes('they are here', ['n1', 'n2'], Lifecycle='available', Health='ok')
    mend(world, c, 'n1', 2)
    equal(remembered(agents['n1'])['term'], 1, 'the term that counts')


main()
