# SPDX-License-Identifier: Apache-2.0
"""Backups of a controller that runs, and what comes back from them."""
import json
import os
import shutil
import threading
import time

from harness import Agent, Controller, check, contains, equal, main, wait

NODES = 'Name=n[1-40] CPUs=1\n'


def controller(world, **settings):
    c = Controller(world, NODES, start=False, **settings)
    c.shelf = os.path.join(c.own, 'backups')
    c.write(BackupDirectory=c.shelf, **({'BackupEvery': '0'} if 'BackupEvery' not in settings else {}))
    c.start()
    return c


def names(c):
    return sorted(n for n in os.listdir(c.shelf) if n.startswith('20')) if os.path.isdir(c.shelf) else []


def verify(c, path, status=0):
    return c.fettle('backup', 'verify', path, status=status)


def restore(c, path, state):
    os.makedirs(state, mode=0o700, exist_ok=True)
    out = c.fettle('backup', 'restore', path, state)
    contains(out, 'has the state of', 'the answer')


def lose(c):
    shutil.rmtree(c.state)
    os.mkdir(c.state, 0o700)


def test_a_backup_of_one_that_works(world):
    """Commands go on while it is made; all that was answered before it is in it; and it comes back."""
    c = controller(world)
    stop, done = threading.Event(), []

    def drain():
        for i in range(10000):
            if stop.is_set():
                return
            c.post('/v1/nodes/drain', {'nodes': f'n{i % 40 + 1}', 'reason': f'r{i}'})
            done.append(i)
    busy = threading.Thread(target=drain)
    busy.start()
    wait('commands go on', lambda: len(done) > 20)
    before = len(done)
    path = c.fettle('backup', 'create').strip()
    stop.set()
    busy.join()
    check(len(done) > before, 'nothing was committed while the backup was made')
    contains(verify(c, path), ': good;', 'the verdict')
    for name in os.listdir(path):
        equal(os.stat(os.path.join(path, name)).st_mode & 0o7777, 0o600, f'the mode of {name}')
    made = [e for e in c.journal() if e['what'] == 'backup.made']
    equal(len(made), 1, 'entries of the journal')
    equal(made[0]['backup']['name'], os.path.basename(path), 'the name in the journal')
    status = c.status()
    equal(status['backup']['last']['name'], os.path.basename(path), 'the name in the status')
    equal(c.counterpart('backup')['state'], 'ok', 'the state of the directory')
    contains(c.fettle('status'), 'ago, revision', 'the status for people')
    contains(c.fettle('backup', 'list'), os.path.basename(path), 'the list')
    revision = made[0]['backup']['revision']
    text = [(e['revision'], e['text']) for e in c.journal() if e['revision'] <= revision]
    c.process.stop()
    lose(c)
    restore(c, path, c.state)
    c.start()
    equal([(e['revision'], e['text']) for e in c.journal() if e['revision'] <= revision], text, 'the journal')
    after = [e for e in c.journal() if e['revision'] == revision + 1]
    equal([e['what'] for e in after], ['state.restored'], 'what comes after it')
    equal(c.status()['restored']['revision'], revision, 'the status')
    contains(c.fettle('status'), 'from a backup of', 'the status for people')
    check(json.loads(open(os.path.join(path, 'manifest.json')).read())['term'] < c.status()['term'], 'the term is an old one')


def test_nodes_come_back_to_a_restored_state(world):
    c = controller(world)
    a = Agent(world, c, 'n1')
    c.wait_nodes('it is heard', ['n1'], Liveness='live')
    c.fettle('node', 'drain', 'n2', '--reason', 'kept')
    path = c.fettle('backup', 'create').strip()
    c.fettle('node', 'drain', 'n3', '--reason', 'lost')
    c.process.kill()
    contains(c.fettle('backup', 'restore', path, c.state, status=3), 'is not empty', 'the refusal')
    lose(c)
    restore(c, path, c.state)
    c.start()
    c.wait_nodes('it comes back', ['n1'], Liveness='live')
    contains(c.fettle('node', 'claims', 'n2'), 'kept', 'the claim of before')
    equal(c.node('n3')['Why'] if 'Why' in c.node('n3') else '', c.node('n4').get('Why', ''), 'what was decided later')
    equal(c.alarms(), [], 'the alarms')
    check(a.process.status() is None, 'the agent ended')


def test_by_the_clock(world):
    """They are made and removed by themselves; when one is not made, an alarm says so until one is."""
    c = controller(world, BackupEvery='1', BackupKeep='3')
    wait('some were made', lambda: sum(e['what'] == 'backup.made' for e in c.journal()) >= 5)
    wait('the oldest went', lambda: len(names(c)) <= 3)
    last = names(c)[-1]
    contains(verify(c, os.path.join(c.shelf, last)) if last in names(c) else ': good;', ': good;', 'the verdict')
    os.chmod(c.shelf, 0o755)
    wait('an alarm', lambda: 'backup backup' in c.alarms())
    contains(c.counterpart('backup')['text'], 'chmod go-rwx', 'what to do')
    os.chmod(c.shelf, 0o700)
    wait('no alarm', lambda: c.alarms() == [])
    c.write(BackupDirectory=None)
    c.fettle('reload')
    contains(c.fettle('backup', 'create', status=4), 'there is no BackupDirectory', 'the refusal')
    equal(c.counterpart('backup'), None, 'the counterpart')


def test_killed_in_the_middle(world):
    """However it ends, what is there is whole, and the next one takes the rest away."""
    c = controller(world)
    for i in range(30):
        c.post('/v1/nodes/drain', {'nodes': 'n[1-40]', 'reason': f'{i}' * 200})
    for i in range(12):
        c.post('/v1/backups', {})
        time.sleep(0.004 * i)
        c.process.kill()
        for name in names(c):
            verify(c, os.path.join(c.shelf, name))
        c.start()
    c.fettle('backup', 'create')
    equal([n for n in os.listdir(c.shelf) if n in ('unfinished', 'discarded')], [], 'what is left')


def test_beside_the_original(world):
    """A restored copy and the original run at the same time: a node that has heard the copy follows it alone, and
    the original says so."""
    c = controller(world)
    path = c.fettle('backup', 'create').strip()
    d = Controller(world, NODES, name='copy', start=False, state=world.path('copied'))
    restore(c, path, d.state)
    a = Agent(world, c, 'n1', '-c', f'127.0.0.1:{c.port}', '-c',
              f'127.0.0.1:{d.settings["MachStatusPort"]}')
    c.wait_nodes('it is heard', ['n1'], Liveness='live')
    d.start()
    equal(c.alarms(), [], 'the alarms')
    c.process.stop()
    d.wait_nodes('it goes to the copy', ['n1'], Liveness='live')
    c.start()
    d.process.stop()
    wait('the original knows', lambda: c.alarms() == ['copy'])
    contains(c.fettle('status'), 'stop one of them', 'the alarm')
    check(c.node('n1')['Liveness'] != 'live', 'the original has the node')
    d.start()
    d.wait_nodes('it goes back to the copy', ['n1'], Liveness='live')
    # The next process of the agent knows it, too.
    refusals = a.process.log().count('leads no more')
    a.process.kill()
    d.process.stop()
    a.start()
    wait('it refuses the original', lambda: a.process.log().count('leads no more') > refusals)
    check(c.node('n1')['Liveness'] != 'live', 'the original has the node')


if __name__ == '__main__':
    main(at_once=5)
