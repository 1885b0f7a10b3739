# SPDX-License-Identifier: Apache-2.0
"""The live streams: events that nobody misses without being told, and what the tool makes of them."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time

from harness import CALM, QUICK, Controller, check, contains, equal, holds, main, program, swarm, wait


def drain(c, i):
    return c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': f'reason {i}'})


def test_resume(world):
    """After a disconnect, Last-Event-ID brings what was missed, once and in order; over a restart of the
    controller it brings a resync."""
    c = Controller(world, 'Name=n01\n', **CALM)
    first = c.events()
    revisions = [drain(c, i)['revision'] for i in range(3)]
    got = [first.wait('node.drain') for _ in range(3)]
    equal([e['revision'] for e in got], revisions, 'revisions of the events')
    contains(got[0]['text'], 'reason 0', 'the text')
    equal(({e['nodes'] for e in got}, {e['actor'] for e in got}), ({'n01'}, {'root'}), 'nodes and actors')
    first.close()
    for i in range(3, 8):
        drain(c, i)
    second = c.events(first.last_id)
    texts = [second.wait('node.drain')['text'].split(' (')[0] for _ in range(5)]
    equal(texts, [f'reason {i}' for i in range(3, 8)], 'what was missed')
    second.close()
    middle = c.events(got[1]['id'])
    contains(middle.next()['text'], 'reason 2', 'the next after an older id')
    middle.close()

    c.restart()
    third = c.events(second.last_id)
    equal(third.next()['name'], 'resync', 'the first event of another controller')
    drain(c, 8)
    contains(third.wait('node.drain')['text'], 'reason 8', 'and then it goes on')
    third.close()
    for odd in ('nonsense', '0.0', second.last_id.split('.')[0] + '.999999'):
        stream = c.events(odd)
        equal(stream.next()['name'], 'resync', f'after the id {odd}')
        stream.close()


def test_more_than_is_kept(world):
    """A client that comes back after too many events is told to read the table."""
    c = Controller(world, 'Name=n01\n', **CALM)
    stream = c.events()
    drain(c, 0)
    stream.wait('node.drain')
    stream.close()
    connection = c.connect()
    for i in range(2200):
        for path, body in (('drain', {'nodes': 'n01', 'reason': 'again'}), ('undrain', {'nodes': 'n01'})):
            connection.request('POST', f'/v1/nodes/{path}', json.dumps(body))
            check(connection.getresponse().read(), 'an empty answer')
    connection.close()
    late = c.events(stream.last_id)
    equal(late.next()['name'], 'resync', 'the first event')
    late.close()


def test_many_subscribers(world):
    """Two hundred at once, and each hears everything."""
    c = Controller(world, 'Name=n01\n', **CALM)
    streams = [c.events() for _ in range(200)]
    for i in range(10):
        drain(c, i)
    for stream in streams:
        texts = [stream.wait('node.drain')['text'].split(' (')[0] for _ in range(10)]
        equal(texts, [f'reason {i}' for i in range(10)], 'what a subscriber heard')
        stream.close()
    wait('they are forgotten', lambda: open_files(c) < 100)


def open_files(c):
    return len(os.listdir(f'/proc/{c.process.pid}/fd'))


def follow(world, c, name, *words):
    """The tool in the background; its output is the process's log."""
    return world.start(name, [program('fettle'), *words], env={'FETTLE_CONTROLLER': c.socket})


def test_watch_scrolls_on_a_terminal(world):
    """A table that is longer than the terminal is scrolled by keys; the terminal is left as it was."""
    c = Controller(world, 'Name=n[01-30]\n', **QUICK)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('4H', 8, 60, 0, 0))
    before = termios.tcgetattr(theirs)

    def start():
        """As in a person's shell: the terminal is the tool's own, so that q and ^C are signals."""
        return subprocess.Popen([program('fettle'), 'watch', '-o', 'name,state', '--timeout', '60s'], stdin=theirs,
                                stdout=theirs, start_new_session=True,
                                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                env={**os.environ, 'FETTLE_CONTROLLER': c.socket, 'TZ': 'UTC'})
    tool = start()
    shown = b''

    def shows(what):
        nonlocal shown
        while select.select([ours], [], [], 0)[0]:
            shown += os.read(ours, 65536)
        return what.encode() in shown
    try:
        wait('the first nodes', lambda: shows('n05'))
        check(not shows('n06'), 'more than fit')
        check(shows(time.strftime('%Y-%m-%d')) and shows('5 of 30, from 1'), f'the line with the time: {shown}')
        os.write(ours, b' ')
        wait('a page further', lambda: shows('n10') and shows('from 6'))
        os.write(ours, b'G')
        wait('the end', lambda: shows('n30') and shows('from 26'))
        os.write(ours, b'\033[A')
        wait('a line back', lambda: shows('from 25'))
        os.write(ours, b'q')
        equal(tool.wait(20), 0, 'the end')
        equal(termios.tcgetattr(theirs), before, 'the terminal')
        for key in (b'q', b'\003'):
            shown = b''
            tool = start()
            wait('the first nodes again', lambda: shows('n05'))
            c.process.pause()
            holds('it waits for an answer', 6, lambda: tool.poll() is None)  # it asks every 5 s
            os.write(ours, key)
            equal(tool.wait(3), 0, f'the end by {key} while the controller hangs')
            equal(termios.tcgetattr(theirs), before, 'the terminal')
            c.process.resume()
    finally:
        tool.kill()
        tool.wait()
        os.close(ours)
        os.close(theirs)


def test_the_tool_follows(world):
    """fettle events and fettle watch go on over a restart of the controller."""
    c = Controller(world, 'Name=n01\nName=n02\n', **QUICK)
    events = follow(world, c, 'events', 'events', '--json')
    watch = follow(world, c, 'watch', 'watch', '-o', 'name,state,reason')
    wait('the first table', lambda: 'n02' in watch.log())

    def heard(reason):
        c.post('/v1/nodes/drain', {'nodes': 'n01', 'reason': reason})
        wait(f'{reason} is told', lambda: reason in events.log())
        wait(f'{reason} is in the table', lambda: reason in watch.log())
    wait('the stream stands', lambda: c.post('/v1/nodes/drain', {'nodes': 'n02', 'reason': 'a sign'}) and
         (c.post('/v1/nodes/undrain', {'nodes': 'n02'})) and 'a sign' in events.log())
    heard('before')
    c.process.kill()
    c.start()
    wait('the gap is told', lambda: 'resync' in events.log())
    heard('after')
    lines = [json.loads(line) for line in events.log().splitlines()]
    check(all('what' in line for line in lines), 'a line without what')
    players = swarm(world, c, 'n02')
    wait('liveness is followed', lambda: 'IDLE' in watch.log())
    players.kill()
    wait('a node that is late is told', lambda: '"node.late"' in events.log())
    wait('a node that is down is told', lambda: '"node.silent"' in events.log())
    for process in (events, watch):
        process.kill()


main()
