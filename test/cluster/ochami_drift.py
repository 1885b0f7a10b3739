# SPDX-License-Identifier: Apache-2.0
"""What a real controller tells OpenCHAMI's State Manager about drift, whichever process is away or killed."""
import random

from fleet import CMDLINE, SWAPPINESS, WRONG, change, fix, wait_conformance, wait_drift, wait_quiet
from harness import check, contains, equal, main, wait
from stand_in import UNTOUCHED, Killer, told_fleet, xname


def test_drift_is_told_and_taken_back(world):
    o, c, _ = told_fleet(world, ['n01', 'n02'])
    change(world, 'n02', CMDLINE, WRONG)
    wait('SMD is told', lambda: o.is_told('n02'))
    equal(o.stands('n02')[1][:12], 'drift:major:', 'the status')
    contains('\n'.join(o.requests('FlagOnly')), 'kernel.cmdline', 'the message')
    contains('\n'.join(o.requests('FlagOnly')), 'conformance_drift', 'the message')
    equal(o.stands('n01'), UNTOUCHED, 'what SMD has of a node that is right')
    fix(world, 'n02')
    o.wait_stands(n01=UNTOUCHED, n02=UNTOUCHED)
    wait_quiet(c)
    methods = [r.split(' ')[0] for r in o.changes('n02')]
    equal((methods.count('PATCH'), methods.count('DELETE')), (4, 1), f'flag and status twice, the group left once: {methods}')
    equal(o.changes('n01'), [], 'requests about a node that is right')


def test_marks_of_others_stay(world):
    """Flags, states and members that somebody else set are left alone, also when the drift is gone."""
    o, c, _ = told_fleet(world, ['n01', 'n02', 'n03', 'n04'], MaxDriftShare=100)
    o.state.test('PUT', f'/component/{xname("n02")}', {'Flag': 'Alert', 'SoftwareStatus': 'theirs'})
    for n in ('n02', 'n03'):
        change(world, n, SWAPPINESS, '60\n')
    wait('SMD is told', lambda: o.is_told('n03') and o.stands('n02')[2])
    equal(o.stands('n02'), ('Alert', 'theirs', True), 'what SMD has of the node with an alert')
    o.state.test('PUT', f'/component/{xname("n03")}', {'Flag': 'Alert'})  # while ours stands
    for n in ('n02', 'n03'):
        fix(world, n, SWAPPINESS)
    o.wait_stands(n02=('Alert', 'theirs', False), n03=('Alert', '', False))
    with o.state.lock:  # somebody puts it there before Fettle would
        o.state.groups['drifted']['ids'].append(xname('n04'))
    change(world, 'n04', SWAPPINESS, '60\n')
    wait('SMD is told', lambda: o.is_told('n04'))
    fix(world, 'n04', SWAPPINESS)
    o.wait_stands(n04=('OK', '', True))
    wait_quiet(c)
    equal([r for r in o.requests() if 'PATCH' in r and xname('n02') in r], [], 'changes of what is another\'s')


def away_while_much_happens(world, o, c):
    """n01 and n02 drift, n03 drifts and is right again, n04 is restored: all while the State Manager is away."""
    change(world, 'n04', SWAPPINESS, '60\n')
    wait('SMD is told', lambda: o.is_told('n04'))
    wait_quiet(c)
    already = len(o.changes('n04'))
    o.stop()
    for n in ('n01', 'n02', 'n03'):
        change(world, n, SWAPPINESS, '60\n')
        wait_drift(c, n, 'open')
    for n in ('n03', 'n04'):
        fix(world, n, SWAPPINESS)
    wait_conformance(c, ['n03', 'n04'], 'conformant')
    wait('their drift is over', lambda: not c.node('n03')['Drift'] and not c.node('n04')['Drift'])
    return already


def check_told_once(o, c, already):
    wait('SMD is told when it is back', lambda: o.is_told('n01') and o.is_told('n02'))
    o.wait_stands(n03=UNTOUCHED, n04=UNTOUCHED, n05=UNTOUCHED)
    wait_quiet(c)
    for n in ('n01', 'n02'):
        equal(len(o.changes(n)), len(set(o.changes(n))), f'changes and of them different: {o.changes(n)}')
        check(len(o.changes(n)) <= 3, f'more than flag, status and group: {o.changes(n)}')
    equal(o.changes('n03'), [], 'changes of a node that was right again before anybody could be told')
    equal(len(o.changes('n04')) - already, 3, f'changes that took back flag, status and group: {o.changes("n04")[already:]}')


def test_the_server_away(world):
    """Nothing is lost and nothing said twice."""
    o, c, _ = told_fleet(world, [f'n{i:02}' for i in range(1, 6)], MaxDriftShare=100)
    already = away_while_much_happens(world, o, c)
    wait('an alarm says it', lambda: c.log_lines(' alarm.openchami: '))
    o.start()
    check_told_once(o, c, already)
    check(c.log_lines(' alarm.over: '), 'nobody is told that it is back')


def test_the_server_away_and_the_controller_killed(world):
    o, c, _ = told_fleet(world, [f'n{i:02}' for i in range(1, 6)], MaxDriftShare=100)
    already = away_while_much_happens(world, o, c)
    c.process.kill()
    o.start()
    c.start()
    check_told_once(o, c, already)


def alternate(said, first, second):
    """Each of these requests was made once: one kind follows the other."""
    kinds = [r for r in said if first(r) or second(r)]
    return all(first(r) == (i % 2 == 0) for i, r in enumerate(kinds))


def test_killed_by_requests(world):
    """The controller is killed while its requests are under way, again and again: each is made once."""
    names = [f'n{i:02}' for i in range(1, 7)]
    o, c, _ = told_fleet(world, names, MaxDriftShare=100)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f'seed {seed}')
    killer = Killer(o, c, lambda line: not line.startswith('GET ') and chance.random() < 0.4)
    for n in names:
        change(world, n, SWAPPINESS, '60\n')
    wait('all are told of', lambda: killer.revive() and all(o.is_told(n) for n in names))
    for n in names[:4]:
        fix(world, n, SWAPPINESS)
    wait('four are taken back', lambda: killer.revive() and all(o.stands(n) == UNTOUCHED for n in names[:4]))
    killer.rest()
    wait_quiet(c)
    check(killer.kills >= 2, f'only {killer.kills} kills')
    for n in names:
        equal(o.is_told(n), n in names[4:], f'whether SMD is told of {n}')
        said = o.changes(n)
        check(alternate(said, lambda r: '"Flag":"Warning"' in r, lambda r: '"Flag":"OK"' in r) and
              alternate(said, lambda r: '"SoftwareStatus":"drift' in r, lambda r: '"SoftwareStatus":""' in r) and
              alternate(said, lambda r: r.startswith('POST'), lambda r: r.startswith('DELETE')),
              f'something was done twice: {said}')
    print(f'{killer.kills} kills')


main()
