# SPDX-License-Identifier: Apache-2.0
"""The audit log of a real controller: read by a second implementation, killed while it grows, and tampered with. The second one
reads c2sp.org/tlog-tiles as it is written there, and has openssl verify signatures."""
import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct

from harness import CALM, Controller, check, contains, equal, main, wait
from store import refused, sum_of


# --- the second implementation ------------------------------------------------------------------------

def joined(left, right):
    return hashlib.sha256(b'\1' + left + right).digest()


def tree_root(hashes):
    """MTH of RFC 6962."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256(b'').digest()
    k = 1 << (len(hashes) - 1).bit_length() - 1
    return joined(tree_root(hashes[:k]), tree_root(hashes[k:]))


def number_path(n):
    parts = [f'{n % 1000:03}']
    while n >= 1000:
        n //= 1000
        parts.insert(0, f'x{n % 1000:03}')
    return '/'.join(parts)


def tile_path(kind, index, width):
    return f'tile/{kind}/{number_path(index)}' + (f'.p/{width}' if width < 256 else '')


def signed(world, note, vkey):
    """The text of a note that this key signed."""
    name, key_id, key = vkey.split('+', 2)
    text, _, signatures = note.rpartition(b'\n\n')
    text += b'\n'
    public = base64.b64decode(key)[1:]
    equal(hashlib.sha256(name.encode() + b'\n\1' + public).hexdigest()[:8], key_id, "the key's id")
    (line,) = [s for s in signatures.decode().splitlines() if s.startswith(f'\u2014 {name} ')]
    signature = base64.b64decode(line.rsplit(' ', 1)[1])
    equal(signature[:4].hex(), key_id, "the signature's key")
    der = bytes.fromhex('302a300506032b6570032100') + public  # SubjectPublicKeyInfo of Ed25519
    for file, content in (('text', text), ('signature', signature[4:]), ('key.der', der)):
        with open(world.path(file), 'wb') as f:
            f.write(content)
    status, out, err = world.run(['openssl', 'pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', world.path('key.der'),
                                  '-rawin', '-in', world.path('text'), '-sigfile', world.path('signature')])
    equal(status, 0, f'openssl: {out}{err}')
    return text.decode()


def read_log(world, get, vkey):
    """All entries of a log whose files get() gives, each verified."""
    origin, size, root, *_ = signed(world, get('checkpoint'), vkey).split('\n')
    equal(origin, vkey.split('+')[0], 'the origin')
    entries, leaves, size = [], [], int(size)
    for index in range((size + 255) // 256):
        width = min(256, size - 256 * index)
        bundle, at = get(tile_path('entries', index, width)), 0
        for _ in range(width):
            (length,) = struct.unpack_from('>H', bundle, at)
            entries.append(bundle[at + 2:at + 2 + length])
            leaves.append(hashlib.sha256(b'\0' + entries[-1]).digest())
            at += 2 + length
        equal(at, len(bundle), 'the length of the bundle')
        equal(get(tile_path(0, index, width)), b''.join(leaves[256 * index:]), 'the tile')
    for index in range((size // 256 + 255) // 256):
        nodes = [tree_root(leaves[256 * i:256 * i + 256]) for i in range(256 * index, min(256 * index + 256, size // 256))]
        equal(get(tile_path(1, index, len(nodes))), b''.join(nodes), 'the tile above')
    equal(base64.b64encode(tree_root(leaves)).decode(), root, 'the root')
    return [json.loads(e) for e in entries]


def of_files(directory):
    def get(path):
        with open(os.path.join(directory, path), 'rb') as f:
            return f.read()
    return get


def of_controller(c):
    def get(path):
        connection = c.connect()
        with contextlib.closing(connection):
            connection.request('GET', f'/v1/audit/{path}')
            answer = connection.getresponse()
            body = answer.read()
        equal(answer.status, 200, f'{path}: {body}')
        return body
    return get


def key_of(c):
    return c.get('/v1/audit')['key']


def fill(c, entries):
    """So many entries, or one more: a drain and its end, by turns."""
    for i in range(0, entries, 2):
        c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': f'entry {i}'})
        c.post('/v1/nodes/undrain', {'nodes': 'n01'})


def same_as_journal(c, logged):
    """The log has the journal's entries, and the journal the log's."""
    entries = c.journal()
    equal([(e['revision'], e['n'], e['what'], e['nodes'], e['text']) for e in logged],
          [(e['revision'], e['n'], e['what'], e['nodes'], e['text']) for e in entries[:len(logged)]], 'the entries')


# --- tests --------------------------------------------------------------------------------------------

def test_an_auditor_reads_it_with_tools_of_his_own(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    fill(c, 300)
    logged = read_log(world, of_controller(c), key_of(c))
    equal(len(logged), len(c.journal()), 'the number of entries')
    same_as_journal(c, logged)
    export = world.path('export')
    contains(c.fettle('audit', 'export', export), 'good', 'the export')
    equal(read_log(world, of_files(export), key_of(c)), logged, 'the export')
    wait('the archive has the first bundle', lambda: c.get('/v1/audit')['archived'] == 256)
    c.process.stop()
    contains(c.fettle('audit', 'verify', export, '--log-key', open(os.path.join(export, 'log.vkey')).read().strip()), 'good',
             'the verification, without a controller')
    read_log(world, of_files(os.path.join(c.state, 'audit-archive')), open(os.path.join(export, 'log.vkey')).read().strip())


def test_an_entry_is_proven(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    c.fettle('node', 'drain', 'n01', '--reason', 'bad DIMM')
    key, old = key_of(c), world.path('old')
    number = re.search(r'^(\d+\.0) .*bad DIMM', c.fettle('audit', 'list', 'n01'), re.MULTILINE)[1]
    proof = world.write('p.tlog-proof', c.fettle('audit', 'prove', number))
    with open(old, 'wb') as f:
        f.write(of_controller(c)('checkpoint'))
    fill(c, 4)
    grown = world.write('grown', c.fettle('audit', 'prove', '--old', old))
    contains(c.fettle('audit', 'prove', '999.0', status=4), 'no entry 999.0', 'what is not in it')
    c.process.stop()
    contains(c.fettle('audit', 'verify', proof, '--log-key', key), 'bad DIMM', 'the proof')
    contains(c.fettle('audit', 'verify', grown, '--log-key', key, '--old', old), 'good', 'the growth')
    other = key[:-4] + ('AAAA' if key[-4:] != 'AAAA' else 'BBBB')
    check(c.fettle_run('audit', 'verify', proof, '--log-key', other)[0] != 0, 'another key verifies')


def test_killed_while_it_grows(world):
    """Whatever was answered is in the log, once, and each earlier head is its beginning."""
    c = Controller(world, 'Name=n01\n', **CALM)
    export = world.path('export')
    for times in range(4):
        fill(c, 20 + 7 * times)
        c.process.kill()
        c.start()
        c.fettle('audit', 'export', export)
    same_as_journal(c, read_log(world, of_controller(c), key_of(c)))
    equal(len(read_log(world, of_files(export), key_of(c))), len(c.journal()), 'the number of entries')


def test_an_edited_journal_is_found(world):
    """Whoever edits an entry, with its sum, is found by the next start; and by whoever reads the entry."""
    c = Controller(world, 'Name=n01\n', **CALM)
    c.fettle('node', 'drain', 'n01', '--reason', 'bad DIMM')
    key_of(c)
    c.process.stop()
    with contextlib.closing(sqlite3.connect(os.path.join(c.state, 'state.db'))) as db:
        columns = 'revision, n, at_ns, actor, what, nodes, text, about, fields'
        row = list(db.execute(f"SELECT {columns} FROM journal WHERE what = 'node.drain'").fetchone())
        row[3] = 'mallory'
        db.execute('UPDATE journal SET actor = ?, sum = ? WHERE revision = ? AND n = ?', (row[3], sum_of(*row), row[0], row[1]))
        db.commit()
    contains(refused(c, 'an edited journal'), f'entry {row[0]}.{row[1]} of the journal is not what was logged', 'the refusal')


def test_an_older_state_is_found(world):
    """The state and its mark of yesterday, beside the audit log of today."""
    c = Controller(world, 'Name=n01\n', **CALM)
    c.process.stop()
    copy = world.path('copy')
    shutil.copytree(c.state, copy)
    c.start()
    fill(c, 2)
    key_of(c)
    c.process.stop()
    for name in os.listdir(c.state):
        if name.startswith('state.'):
            os.unlink(os.path.join(c.state, name))
    for name in os.listdir(copy):
        if name.startswith('state.'):
            shutil.copy(os.path.join(copy, name), os.path.join(c.state, name))
    contains(refused(c, 'an older state'), 'it was restored from an older copy', 'the refusal')
    shutil.move(os.path.join(c.state, 'audit'), world.path('audit-of-today'))
    c.start()
    fill(c, 2)
    same_as_journal(c, read_log(world, of_controller(c), key_of(c)))


def test_the_archive_cannot_be_written(world):
    """An alarm stands as long as it lasts, and the log goes on."""
    place = world.write('file', 'x')
    c = Controller(world, 'Name=n01\n', AuditArchive=place, **CALM)
    fill(c, 10)
    wait('the alarm', lambda: 'audit audit' in c.alarms())
    same_as_journal(c, read_log(world, of_controller(c), key_of(c)))
    os.unlink(place)
    fill(c, 2)
    wait('the end of the alarm', lambda: 'audit audit' not in c.alarms())


if __name__ == '__main__':
    main(at_once=3)
