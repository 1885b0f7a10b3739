# SPDX-License-Identifier: Apache-2.0
"""Accidents of the state: a full disk, damage, and a kill right after it was made."""
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess

from harness import CALM, ROOT, Agent, Controller, Failed, check, contains, equal, main, need_root, program, wait


def fill(path):
    """Takes all the space there is."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with contextlib.suppress(OSError):
        while True:
            os.write(fd, b'\0' * 4096)
    os.close(fd)


def small_disk(world, size):
    need_root()
    path = world.path('disk')
    os.mkdir(path)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=700', 'tmpfs', path], check=True)
    world.cleanups.append(lambda: subprocess.run(['umount', path], check=True))
    return path


def claims(c):
    return {x['reason'] for x in c.get('/v1/nodes/n01')['claims']}


def test_full_disk(world):
    """A change is refused in words, reads and heartbeats go on, nothing is half written, and with space
    it works again."""
    disk = small_disk(world, '2m')
    c = Controller(world, 'Name=n01\n', state=os.path.join(disk, 'state'), **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('it is heard', ['n01'], State='IDLE')
    events = c.events()
    acknowledged = set()
    fill(os.path.join(disk, 'ballast'))

    status, answer = 200, None
    for i in range(200):
        status, answer = c.ask('POST', '/v1/nodes/drain', {'nodes': 'n01', 'reason': f'reason {i} ' + 'x' * 900})
        if status != 200:
            break
        acknowledged.add(f'reason {i} ' + 'x' * 900)
        c.post('/v1/nodes/undrain', {'nodes': 'n01'})
        acknowledged.clear()
    if status == 200:
        raise Failed('200 changes found room on a full disk')
    equal((status, answer['error']['code']), (507, 'no_space'), f'the answer {answer}')
    check(len(answer['error']['message']) > 10, f'no words in {answer}')
    contains(c.fettle('node', 'down', 'n01', '--reason', 'y' * 900, status=7), 'no space left', 'what the tool says')
    events.wait('alarm.store')
    equal(c.status()['store']['state'], 'failing', 'the state of the store')
    check('store store' in c.alarms(), f'the alarms: {c.alarms()}')  # the audit log has one, too, when its turn came
    trouble = c.counterpart('store')
    equal(trouble['state'], 'trouble', 'the store among the other systems')
    contains(trouble['text'], 'no space left', 'its trouble in words')
    check(trouble['last_success'] and trouble['last_success'] <= trouble['since'], f'times of {trouble}')
    contains(c.fettle('status'), 'failing', 'fettle status')
    contains(c.fettle('status'), 'ALARM        store store since', 'fettle status')
    equal(c.table()['n01']['Liveness'], 'live', 'liveness while the disk is full')
    before = claims(c)

    os.unlink(os.path.join(disk, 'ballast'))

    def works():
        c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': 'there is space'})
        return True
    wait('it works again', works)
    equal(c.status()['store']['state'], 'ok', 'the state of the store')
    contains(claims(c), 'there is space', 'claims')
    events.wait('alarm.over', alarm='store')
    events.close()
    wait('no alarm stands', lambda: not c.alarms())  # the audit log tries again each second
    equal(c.counterpart('store')['state'], 'ok', 'the store')
    after, digest = claims(c), c.status()['digest']
    equal(after, before | {'there is space'}, 'claims after the trouble')
    c.process.kill()
    c.start()
    equal((claims(c), c.status()['digest']), (after, digest), 'claims and digest after a restart')
    c.wait_nodes('it is heard', ['n01'], Liveness='live')
    equal(c.suspected(), [], 'nodes that were suspected')


def test_full_disk_at_the_first_start(world):
    """A state that cannot be made is not half made."""
    disk = small_disk(world, '64k')
    fill(os.path.join(disk, 'ballast'))
    c = Controller(world, 'Name=n01\n', state=os.path.join(disk, 'state'), start=False)
    c.launch()
    equal(c.process.wait_end(), 1, 'the exit status')
    contains(c.log(), ' error ', 'the log')
    os.unlink(os.path.join(disk, 'ballast'))
    subprocess.run(['mount', '-o', 'remount,size=8m', disk], check=True)
    c.start()
    c.fettle('node', 'drain', 'n01', '--reason', 'x')


def sum_of(*values):
    """The checksum of a row (src/store/row.c): 64-bit FNV-1a."""
    result = 0xcbf29ce484222325
    for value in values:
        for byte in value.encode() + b'\0' if isinstance(value, str) else value.to_bytes(8, 'little', signed=True):
            result = (result ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return result - (1 << 64 if result >> 63 else 0)


def grow_journal(c, entries, at_ns):
    """The state of a controller that was stopped gets an old journal, of a fettled that had no audit log."""
    shutil.rmtree(os.path.join(c.state, 'audit'))
    shutil.rmtree(os.path.join(c.state, 'audit-archive'), ignore_errors=True)
    db = sqlite3.connect(os.path.join(c.state, 'state.db'))
    db.execute('DELETE FROM journal')
    for i in range(1, entries + 1):
        row = (i, 0, at_ns, 'root', 'node.drain', 'n01', f'entry {i}')
        db.execute('INSERT INTO journal(revision, n, at_ns, actor, what, nodes, text, sum) VALUES(?, ?, ?, ?, ?, ?, ?, ?)',
                   (*row, sum_of(*row)))
    (term,) = db.execute('SELECT term FROM meta').fetchone()
    db.execute('UPDATE meta SET revision = ?, sum = ?', (entries, sum_of(term, entries)))
    db.commit()
    db.close()


def test_a_record_of_a_newer_version_is_kept(world):
    """A controller starts on a store with records of a kind that it does not know, says so, and leaves them as they are."""
    c = Controller(world, 'Name=n01\n', **CALM)
    c.process.stop()
    path = os.path.join(c.state, 'state.db')
    row = ('pony/n01', '{"mane":"long"}', 1)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute('INSERT INTO record(key, value, revision, sum) VALUES(?, ?, ?, ?)', (*row, sum_of(*row)))
        db.commit()
    c.start()
    says = '1 record of a kind that this version does not know is kept as it stands: pony'
    contains(c.log(), f'warn  {says}', 'the log')
    contains(c.fettle('status'), says, 'fettle status')
    c.fettle('node', 'drain', 'n01', '--reason', 'works')
    digest = c.get('/v1/status')['digest']
    c.process.kill()
    c.start()
    equal(c.get('/v1/status')['digest'], digest, 'the digest')
    equal(c.get('/v1/status')['warnings'], [says], 'the warnings')
    c.process.stop()
    with contextlib.closing(sqlite3.connect(path)) as db:
        equal(db.execute("SELECT value FROM record WHERE key = 'pony/n01'").fetchone(), (row[1],), 'the record')


def test_the_oldest_entries_are_exported(world):
    """A journal of an older fettled, of two years ago: the newest 10,000 stay, the others are in the file of their day, each
    once, also when the controller is killed on the way; whoever asks for them is told where they are."""
    c = Controller(world, 'Name=n01\n', **CALM)
    c.process.stop()
    grow_journal(c, 12000, 1732276800 * 10 ** 9)
    c.start()
    path = os.path.join(c.state, 'journal-export', 'journal-2024-11-22.jsonl')
    wait('some are exported', lambda: os.path.exists(path))
    c.process.kill()
    c.start()

    def revisions():
        with open(path, encoding='utf-8') as file:
            return [json.loads(line)['revision'] for line in file]
    wait('it is done', lambda: (kept := c.journal()[0]['revision']) > 1700 and revisions()[-1] == kept - 1)
    equal(revisions(), list(range(1, c.journal()[0]['revision'])), 'what is exported')
    wait('the journal is well', lambda: c.counterpart('journal')['state'] == 'ok')
    contains(c.get('/v1/journal')['gone'], os.path.dirname(path), 'what is said of the others')
    contains(c.fettle('journal', '--after', '0', '--limit', '1').splitlines()[0], 'are not kept here any more', 'the tool')
    contains(c.fettle('journal', 'n01', '--tail', '1'), 'node.drain n01 by root: entry 12000', 'the newest')
    c.fettle('node', 'drain', 'n01', '--reason', 'works')


def refused(c, what):
    """The controller does not start, says why, and leaves everything as it was."""
    before = {f: os.stat(os.path.join(c.state, f)).st_size for f in os.listdir(c.state) if f.startswith('state.db')}
    c.launch()
    status = c.process.wait_end()
    check(status not in (0, None) and status > 0, f'{what}: the exit status is {status}')
    line = c.log().strip().splitlines()[-1]
    check(' error ' in line and len(line) > 60, f'{what}: the log ends with {line!r}')
    after = {f: os.stat(os.path.join(c.state, f)).st_size for f in os.listdir(c.state) if f.startswith('state.db')}
    equal({f: n for f, n in after.items() if f in before}, before, f'{what}: sizes of the files')
    return line


def test_damage(world):
    """Flipped bytes, a cut, an empty and a missing file: refused in words, never begun anew."""
    c = Controller(world, 'Name=n[01-20]\n', **CALM)
    for i in range(1, 21):
        c.post('/v1/nodes/drain', {'nodes': f'n{i:02}', 'reason': f'reason {i}'})
    digest = c.status()['digest']
    c.process.stop()
    keep, db = world.path('keep'), os.path.join(c.state, 'state.db')
    shutil.copytree(c.state, keep)
    size = os.path.getsize(db)

    def damage(what, act, word=None):
        shutil.rmtree(c.state)
        shutil.copytree(keep, c.state)
        act()
        line = refused(c, what)
        if word:
            contains(line, word, what)

    def flip(offset, length=1):
        def act():
            with open(db, 'r+b') as f:
                f.seek(offset)
                old = f.read(length)
                f.seek(offset)
                f.write(bytes(b ^ 0xff for b in old))
        return act

    def cut(length):
        return lambda: os.truncate(db, length)

    with open(db, 'rb') as f:
        content = f.read()
    at = content.index(b'reason 7')
    damage('a byte of a claim', flip(at + 7), 'damaged')
    damage('the header', flip(0, 16))
    damage('a page', flip(4096 + 8, 64))
    damage('cut in half', cut(size // 2 // 4096 * 4096))
    damage('cut inside a page', cut(size - 1000))
    damage('empty', cut(0))
    damage('missing', lambda: os.unlink(db))
    damage('a directory', lambda: (os.unlink(db), os.mkdir(db)))
    damage('another program\'s file', lambda: shutil.copy('/bin/true', db))
    damage('no authority\'s key', lambda: os.unlink(os.path.join(c.state, 'ca.key')))

    shutil.rmtree(c.state)
    shutil.copytree(keep, c.state)
    c.start()
    equal(c.status()['digest'], digest, 'the digest with the copy that was kept')


def test_an_older_copy_is_noticed(world):
    """state.db of yesterday beside the mark of today: commits that were acknowledged since are not forgotten in silence."""
    c = Controller(world, 'Name=n01\n', **CALM)
    c.fettle('node', 'drain', 'n01', '--reason', 'first')
    c.process.stop()
    old = world.path('old.db')
    shutil.copy(os.path.join(c.state, 'state.db'), old)
    c.start()
    c.fettle('node', 'drain', 'n01', '--reason', 'second')
    c.process.stop()
    shutil.copy(old, os.path.join(c.state, 'state.db'))
    for side in ('state.db-wal', 'state.db-shm'):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(c.state, side))
    refused(c, 'an older copy')


def test_going_back_to_a_copy(world):
    """fettle-upgrade(7): a whole copy, made while fettled did not run, is taken; who joined since comes back, and what was
    decided since is forgotten."""
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('the first', ['n01'], State='IDLE')
    c.fettle('node', 'drain', 'n01', '--reason', 'first')
    c.process.stop()
    copy = world.path('before')
    shutil.copytree(c.state, copy)
    c.start()
    Agent(world, c, 'n02')
    c.wait_nodes('the second', ['n02'], State='IDLE')
    c.fettle('node', 'drain', 'n01', '--reason', 'second')
    c.process.stop()
    os.rename(c.state, world.path('newer'))
    shutil.copytree(copy, c.state)
    c.start()
    c.wait_nodes('both are heard', ['n01', 'n02'], Liveness='live')
    equal(claims(c), {'first'}, 'claims')


def test_the_state_is_removed_while_it_is_used(world):
    """rm -rf under a running controller: no change is acknowledged from then on, an alarm stands though nobody asks
    for a change, and the next start does not begin anew."""
    c = Controller(world, 'Name=n01\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('it is heard', ['n01'], State='IDLE')
    c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': 'before'})
    events = c.events()
    away = world.path('away')
    os.rename(c.state, away)
    events.wait('alarm.store')
    equal(c.status()['store']['state'], 'failing', 'the state of the store')
    contains(c.fettle('node', 'down', 'n01', '--reason', 'x', status=7), 'was removed', 'what the tool says')
    os.rename(away, c.state)
    events.wait('alarm.over')
    c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': 'moved back'})

    shutil.copytree(c.state, away)
    shutil.rmtree(c.state)
    status, answer = c.ask('POST', '/v1/nodes/drain', {'nodes': 'n01', 'reason': 'after'})
    # "io" when a commit of Fettle's own was under way just then: only a new start shows what became of it
    check(status == 500 and answer['error']['code'] in ('state_removed', 'io'), f'the answer {answer}')
    events.wait('alarm.store')
    events.close()
    equal(claims(c), {'before', 'moved back'}, 'claims, as fettled has them')
    contains(c.fettle('status'), ' removed', 'fettle status')
    c.process.stop()
    c.launch()
    equal(c.process.wait_end(), 1, 'the exit status with nothing left')
    contains(c.log(), 'rm ' + c.state + '-begun/state', 'the log')
    shutil.rmtree(c.state)
    shutil.copytree(away, c.state)
    c.start()
    equal(claims(c), {'before', 'moved back'}, 'claims of the copy')


def test_killed_while_it_is_made(world):
    """kill -9 at any instant of the first start: the next one works."""
    rng = random.Random(1)
    for i in range(12):
        c = Controller(world, 'Name=n01\n', name=f'c{i}', start=False)
        c.launch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            c.process.popen.wait(rng.uniform(0, 0.12))
        c.process.kill()
        c.start()
        c.fettle('node', 'drain', 'n01', '--reason', 'x')
        c.process.kill()
        c.start()
        equal(c.node('n01')['Claims'], 1, 'claims')
        c.process.stop()


def test_keys_and_state_that_others_reach(world):
    """It refuses to start, with the command that mends it; then it starts. So it does with a file of a password, and
    with a directory of the socket that others may write; a reload of such a configuration is refused."""
    c = Controller(world, 'Name=n01\n')
    secret = world.write('secret', 'xyzzy')
    os.chmod(secret, 0o600)
    bmcs = world.write('bmc.conf', f'Nodes=n01 Driver=ipmi Address=127.0.0.1:1 User=a PasswordFile={secret}\n')
    c.write(BmcConf=bmcs)
    c.fettle('reload')
    os.chmod(secret, 0o644)
    contains(c.fettle('reload', status=2), f'mend it with "chmod go-rwx {secret}"', 'what the tool says of a reload')
    c.process.stop()
    spoils = [(secret, 'chmod', '640'), (os.path.join(c.state, 'ca.key'), 'chmod', '640'),
              (os.path.join(c.state, 'state.db'), 'chmod', '646'), (os.path.join(c.state, 'ca.pem'), 'chmod', '666'),
              (c.state, 'chmod', '777'), (c.dir, 'chmod', '777')]
    spoils += [(os.path.join(c.state, 'ca.key'), 'chown', '12345')] if ROOT else []
    os.chmod(secret, 0o600)
    for path, command, what in spoils:
        world.run([command, what, path])
        c.launch()
        equal(c.process.wait_end(), 1, f'{command} {what} {path}: the exit status')
        line = c.log().strip().splitlines()[-1]
        advice = re.search(r'mend it with "((?:chmod|chown) [^"]*)"', line)
        check(advice and path in line, f'{command} {what} {path}: the log ends with {line!r}')
        equal(world.run(['sh', '-c', advice.group(1)])[0], 0, advice.group(1))
    if ROOT:  # a state is somebody's as a whole
        os.chown(c.state, 12345, -1)
        c.launch()
        equal(c.process.wait_end(), 1, "the exit status with another user's state")
        contains(c.log(), f'{c.state} belongs to user 12345; start fettled as that user', 'the log')
        os.chown(c.state, 0, -1)
    c.start()


def test_state_is_private(world):
    """No other user can read the state, and -D of another kind is refused."""
    c = Controller(world, 'Name=n01\n')
    equal(os.stat(c.state).st_mode & 0o077, 0, 'rights of others on the state directory')
    equal(os.stat(os.path.join(c.state, 'ca.key')).st_mode & 0o077, 0, 'rights of others on ca.key')
    status, _, err = world.run([program('fettled'), '-f', c.conf, '-D', c.conf])
    check(status != 0 and err, 'a file as state directory is taken')


if __name__ == '__main__':  # audit.py uses some of it
    main()
