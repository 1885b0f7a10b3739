# SPDX-License-Identifier: Apache-2.0
"""A person's power command: refused on a node with work, done with force, in the journal with its end, asked at a
terminal, and done once whatever the controller goes through."""
import os
import pty
import select

from harness import CALM, TIMEOUT, Agent, Controller, check, contains, equal, fake_root, main, program, wait

BOOT = '6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7d1'
POWER = """#!/bin/sh
[ "$1" = status ] || echo "$1 $FETTLE_NODE" >>{dir}/powered
i=0
while [ -e {dir}/hold ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
case $1 in status) echo on ;; *) echo "$1 done" ;; esac
"""


def powered(world):
    path = world.path('powered')
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return f.read().splitlines()


def cluster(world):
    """n1 with work, n2 without, n3 never heard; the power of all is a script's."""
    script = world.write('power.sh', POWER.format(dir=world.dir))
    os.chmod(script, 0o755)
    bmcs = world.write('bmc.conf', f'Nodes=n[1-3] Driver=script Run={script}\n')
    c = Controller(world, 'Name=n[1-4]\n', BmcConf=bmcs, **CALM)
    world.write('n1/run/fettle/work/job.7', '')
    for node in ('n1', 'n2'):
        Agent(world, c, node, root=fake_root(world, node, BOOT))
    heard(c)
    return c


def heard(c):
    wait('the work of both is known', lambda: (c.node('n1')['Work'], c.node('n2')['Work']) == ('busy', 'idle'))


def entries(c, node, what=''):
    return [e for e in c.journal() if e['nodes'] == node and e['what'].startswith(what)]


def test_a_node_with_work_is_refused(world):
    c = cluster(world)
    out = c.fettle('power', 'off', 'n[1-3]', '--reason', 'a fan', status=3)
    contains(out, 'work runs on it: job.7; only a command with force goes through', 'what of n1')
    contains(out, 'it is not known whether work runs on it', 'what of n3')
    equal(powered(world), ['off n2'], 'what was switched')
    contains(c.fettle('power', 'off', 'n4', '--reason', 'x', status=3), 'has no BMC', 'what of n4')
    equal(entries(c, 'n1', 'node.power') + entries(c, 'n3', 'node.power') + entries(c, 'n4', 'node.power'), [],
          'the journal of those')
    said = [(e['what'], e['text']) for e in entries(c, 'n2') if 'power' in e['what'] + e['text']]
    who = entries(c, 'n2', 'node.power')[0]['actor']
    equal(said, [('node.power', 'power off: a fan'), ('effect.result', f'power.off by {who}: begun'),
                 ('effect.result', f'power.off by {who}: done: off done')], 'the journal of n2')
    contains(c.fettle('power', 'status', 'n1'), 'on', 'a question is answered')


def test_force_does_it_and_a_reason_is_needed(world):
    c = cluster(world)
    contains(c.fettle('power', 'cycle', 'n1', status=2), 'needs --reason', 'what is missing')
    status, answer = c.ask('POST', '/v1/power', {'nodes': 'n1', 'do': 'cycle', 'force': True})
    equal(status, 400, answer)
    contains(c.fettle('power', 'cycle', 'n[1,3]', '--force', '--reason', 'it hangs'), 'cycle done', 'the answer')
    equal(sorted(powered(world)), ['cycle n1', 'cycle n3'], 'what was switched')
    equal(entries(c, 'n1', 'node.power')[0]['text'], 'power cycle, whatever runs on it: it hangs', 'the journal')
    contains(c.fettle('power', 'on', 'n1', '--reason', 'x'), 'on done', 'what disturbs no work')
    c.fettle('brake', 'stop', '--reason', 'cooling')
    contains(c.fettle('power', 'off', 'n2', '--force', '--reason', 'x', status=3), 'everything is stopped', 'the brake')


def test_a_dry_run_switches_nothing(world):
    c = cluster(world)
    before = c.status()['revision']
    out = c.fettle('power', 'reset', 'n[1-2]', '--reason', 'a look', '--dry-run', status=3)
    contains(out, 'would change 1 node\nn2: power reset: a look\n', 'what would be done')
    contains(out, 'n1: refused: work runs on it: job.7', 'what would be refused')
    equal((powered(world), c.status()['revision']), ([], before), 'what was done')


def test_killed_between_commit_and_effect(world):
    """Nothing is lost that was committed, and nothing is done twice."""
    c = cluster(world)
    open(world.path('hold'), 'w').close()
    person = world.start('person', [program('fettle'), 'power', 'cycle', 'n2', '--reason', 'x', '--timeout', '5m'],
                         env={'FETTLE_CONTROLLER': c.socket})
    wait('it is done', lambda: powered(world) == ['cycle n2'])
    c.process.kill()
    os.unlink(world.path('hold'))
    c.start()
    person.wait_end()
    wait('its end is known', lambda: entries(c, 'n2', 'effect')[1:])
    contains(entries(c, 'n2', 'effect')[-1]['text'], 'unknown: the controller ended in the middle', 'its end')
    equal(powered(world), ['cycle n2'], 'what was switched')
    for n in range(6):  # at any other moment: done, or known to have begun; never twice
        heard(c)
        done = len(powered(world))
        events = c.events()
        person = world.start(f'person{n}', [program('fettle'), 'power', 'cycle', 'n2', '--reason', f'round {n}'],
                             env={'FETTLE_CONTROLLER': c.socket})
        while events.next()['what'] != 'node.power':
            pass
        events.close()
        c.process.kill()
        c.start()
        person.wait_end()
        wait('it ended', lambda: len(entries(c, 'n2', 'node.power')) == n + 2 and
             not entries(c, 'n2', 'effect')[-1]['text'].endswith('begun') and
             len([e for e in entries(c, 'n2', 'effect') if not e['text'].endswith('begun')]) == n + 2)
        more = len(powered(world)) - done
        check(more <= 1, f'it was done {more} times')
        end = entries(c, 'n2', 'effect')[-1]['text']
        check(more == 1 or 'unknown' in end, f'it was not done, and its end is {end}')


def at_terminal(world, c, said, *words):
    """The tool with a terminal for all three: (exit status, what it showed)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(program('fettle'), [program('fettle'), *words], {**os.environ, 'FETTLE_CONTROLLER': c.socket})
    shown, asked = b'', False
    while select.select([fd], [], [], TIMEOUT)[0]:
        try:
            more = os.read(fd, 4096)
        except OSError:  # its end
            break
        if not more:
            break
        shown += more
        if b'go on? [y/N]' in shown and not asked:
            asked = True
            os.write(fd, said)
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def test_at_a_terminal_it_asks(world):
    c = cluster(world)
    status, shown = at_terminal(world, c, b'n\n', 'power', 'reset', 'n[1-2]', '--force', '--reason', 'a look')
    contains(shown, 'will change 2 nodes', 'what it shows')
    contains(shown, 'nothing was done: there was no yes', 'what no means')
    equal((status, powered(world)), (3, []), 'no')
    status, shown = at_terminal(world, c, b'y\n', 'power', 'reset', 'n[1-2]', '--force', '--reason', 'a look')
    equal((status, sorted(powered(world))), (0, ['reset n1', 'reset n2']), f'yes: {shown}')
    status, shown = at_terminal(world, c, b'', 'power', 'reset', 'n2', '--reason', 'a look')
    contains(shown, 'n2: power reset: a look', 'what it shows of one')
    check('go on?' not in shown, f'of one node it asks: {shown}')
    equal((status, len(powered(world))), (0, 3), 'one')


if __name__ == '__main__':
    main()
