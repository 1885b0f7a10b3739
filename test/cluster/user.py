# SPDX-License-Identifier: Apache-2.0
"""A fettled that is an ordinary user, and fettle-exec, which is root and runs for it what the configuration names."""
import array
import os
import socket

from harness import (CALM, TIMEOUT, USER, Controller, Failed, check, contains, equal, main, need_root, program, uid_of,
                     wait)
from ward import repair, unmount, wait_health, ward

POWER = """#!/bin/sh
echo "$(id -u) $FETTLE_NODE $@" >> {dir}/powered
case $1 in status) echo on ;; off) sleep 600 & sleep 600 ;; *) echo "$1 done" ;; esac
"""


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return f.read().splitlines()


def powered(world, **settings):
    """A controller whose nodes' power is a script's."""
    need_root()
    script = world.write('power.sh', POWER.format(dir=world.dir))
    os.chmod(script, 0o700)  # root's alone
    bmcs = world.write('bmc.conf', f'Nodes=n[1-2] Driver=script Run={script}\n')
    return Controller(world, 'Name=n[1-3]\n', user=USER, BmcConf=bmcs, **{**CALM, **settings})


def test_a_power_script_is_run_by_root_and_by_name(world):
    c = powered(world)
    equal(uid_of(c.process.pid), {str(USER)}, 'whose fettled is')
    contains(c.fettle('power', 'status', 'n1'), 'on', 'what the script says')
    contains(c.fettle('power', 'cycle', 'n2', '--force', '--reason', 'a test'), 'cycle done', 'what the script says')
    equal(lines(world.path('powered')), ['0 n1 status n1', '0 n2 cycle n2'], 'what was run')
    contains(c.exec.log(), f'user {USER}: power cycle n2\n', 'its log')
    contains(c.exec.log(), f'user {USER}: power cycle n2: ended with 0 after', 'its log')
    check('power status' not in c.exec.log(), 'the log has what only looks')
    status, out, err = c.fettle_run('power', 'status', 'n3')
    check(status != 0 and 'n3' in out + err, f'a node without a BMC: {out}{err}')


def test_a_program_for_which_its_caller_does_not_wait_is_killed(world):
    c = powered(world)
    person = world.start('person', [program('fettle'), 'power', 'off', 'n1', '--force', '--reason', 'a test'],
                         env={'FETTLE_CONTROLLER': c.socket})
    wait('the script runs', lambda: '0 n1 off n1' in lines(world.path('powered')))
    c.process.kill()  # -9: nobody could tell fettle-exec
    person.wait_end()
    wait('it is killed', lambda: 'killed, for its caller is gone' in c.exec.log())
    wait('nothing of it is left', lambda: len(world.marked()) <= 2)
    c.start()
    contains(c.fettle('power', 'status', 'n1'), 'on', 'fettle-exec goes on')


def test_a_file_that_others_can_write_stops_it(world):
    c = powered(world)
    os.chmod(world.path('bmc.conf'), 0o666)
    status, out, err = c.fettle_run('power', 'cycle', 'n1', '--force', '--reason', 'a test')
    check(status != 0, f'it was done: {out}')
    contains(out + err, 'others than its owner may write ' + world.path('bmc.conf'), 'why not')
    contains(c.exec.log(), 'refused: nothing is run by the word of a file that others can change', 'its log')
    equal(lines(world.path('powered')), [], 'what was run')


def test_its_user_is_no_administrator(world):
    c = powered(world)
    run = [program('fettle'), 'node', 'drain', 'n1', '--reason', 'x']
    env = {'FETTLE_CONTROLLER': c.socket}
    person = world.start('service', run, env=env, limits=c.become)
    equal(person.wait_end(), 5, 'the exit status of fettle as its user')
    contains(person.log(), 'has the role viewer; this needs the role operator or administrator', 'what it says')
    equal([e for e in c.journal() if e['what'] == 'node.drain'], [], 'what was drained')
    c.fettle('node', 'drain', 'n1', '--reason', 'x')


def test_a_remedys_script_is_root(world):
    need_root()
    mend = world.write('mend', f'#!/bin/sh\necho "$(id -u) $FETTLE_NODE $FETTLE_OPERATION" >> {world.dir}/mended\n'
                       f'cp {world.dir}/$FETTLE_NODE.mounted {world.dir}/$FETTLE_NODE/proc/self/mountinfo\n')
    os.chmod(mend, 0o700)
    c, _ = ward(world, ['n1'], user=USER, remedy=f'Remedy=mend Run="script:{mend}; true" Helps=scratch Needs=nothing '
                'Confidence=80% Because="it is there" Takes=5s Disturbs=0 Settle=1s')
    unmount(world, 'n1')
    wait('it was mended', lambda: lines(world.path('mended')))
    wait_health(c, ['n1'], 'ok')
    wait('it is judged', lambda: [a['verdict'] for a in (repair(c, 'n1') or {}).get('attempts', [])] == ['helped'])
    uid, node, operation = lines(world.path('mended'))[0].split()
    equal((uid, node), ('0', 'n1'), 'who mended what')
    contains(c.exec.log(), f'script script:{mend}; true n1 {operation}: ended with 0', 'its log')


def test_without_fettle_exec_it_is_said(world):
    c = powered(world)
    c.exec.process.stop()
    status, out, err = c.fettle_run('power', 'status', 'n1')
    check(status != 0, f'it was done: {out}')
    contains(out + err, f'fettle-exec does not hear at {c.exec.path}: Connection refused', 'why not')
    equal(lines(world.path('powered')), [], 'what was run')


def missing(c, state=None, **env):
    """The output of fettled -n for root."""
    status, _, said = c.world.run([program('fettled'), '-n', '-f', c.conf, '-D', state or c.state], env=env)
    equal(status, 1 if said else 0, f'the exit status of fettled -n, which says {said!r}')
    return said


def test_a_right_that_the_user_lacks_is_said(world):
    c = powered(world, start=False)
    exec_at = {'FETTLE_EXEC': c.exec.path}
    equal(missing(c, **exec_at), '', 'what is missing before there is a state')
    c.start()
    equal(missing(c, **exec_at), '', 'what is missing when it runs')
    contains(missing(c), 'the part that needs root: fettle-exec does not hear at /run/fettle-exec/socket', 'without a socket')
    bmcs = world.path('bmc.conf')
    os.chmod(bmcs, 0o600)
    equal(missing(c, **exec_at), f'BmcConf: user {USER} may not read {bmcs}, which belongs to root\n', 'a file')
    os.chmod(bmcs, 0o644)
    odd = os.path.join(c.state, 'last-heard')
    with open(odd, 'w', encoding='utf-8'):
        pass
    os.chown(odd, 0, 0)
    equal(missing(c, **exec_at), f'the state: user {USER} may not change {odd}, which belongs to root\n', 'a file')
    os.chown(odd, USER, USER)
    os.chown(c.own, 0, 0)
    equal(missing(c, **exec_at), f'ApiSocket: user {USER} may not write {c.own}, which belongs to root\n', 'a socket')
    os.chown(c.own, USER, USER)
    status, _, said = c.world.run([program('fettled'), '-n', '-f', c.conf, '-D', c.state], env=exec_at, limits=c.become)
    equal((status, said), (0, ''), 'what it says to its user')


def refused_state(c, why, **options):
    """fettled does not start, and says why."""
    p = c.world.start('refused', [program('fettled'), '-f', c.conf, '-D', c.state], **options)
    equal(p.wait_end(), 1, 'the exit status of a fettled whose state is another user\'s')
    contains(p.log(), why, 'what it says')


def test_a_state_has_one_user(world):
    """The state is moved from root to the user, and nothing is lost."""
    c = powered(world, start=False)
    conf = c.settings['ApiSocket']
    c.write(ApiSocket=world.path('root.sock'))
    root = world.start('root', [program('fettled'), '-f', c.conf, '-D', c.state])
    fettle = {'FETTLE_CONTROLLER': world.path('root.sock')}
    wait('root\'s answers', lambda: world.run([program('fettle'), 'status'], env=fettle)[0] == 0)
    equal(world.run([program('fettle'), 'node', 'drain', 'n1', '--reason', 'of before'], env=fettle)[0], 0, 'a drain')
    root.stop()
    c.write(ApiSocket=conf)
    refused_state(c, f'{c.state} belongs to user 0, and this is user {USER}', limits=c.become)
    for top in (c.state, c.state + '-begun'):
        for path, folders, files in os.walk(top):
            for one in [path] + [os.path.join(path, name) for name in folders + files]:
                os.lchown(one, USER, USER)
    c.start()
    contains(str(c.node('n1')), 'of before', 'the node')
    c.process.stop()
    c.write(ApiSocket=world.path('root.sock'))
    refused_state(c, f'{c.state} belongs to user {USER}; start fettled as that user')


# --- hostile requests ----------------------------------------------------------------------------


class Caller:
    """A connection to fettle-exec, by hand."""

    def __init__(self, c):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(c.exec.path)

    def send(self, packet, files=2):
        pipes = [os.pipe() for _ in range(files)]
        sent = array.array('i', [w for _, w in pipes])
        try:
            self.sock.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)] if files else [])
        finally:
            for r, w in pipes:
                os.close(r)
                os.close(w)

    def answer(self):
        return self.sock.recv(4096).decode().split('\0')[:-1]

    def close(self):
        self.sock.close()


def words(*all_words, version='fettle-exec 1', seconds='10'):
    return b''.join(w.encode() + b'\0' for w in (version, seconds, *all_words))


def refused(c, packet, why, files=2):
    caller = Caller(c)
    caller.send(packet, files)
    answer = caller.answer()
    caller.close()
    equal(answer[0], 'refused', f'the answer to {packet[:60]!r}: {answer}: its kind')
    contains(answer[1], why, f'the answer to {packet[:60]!r}')
    contains(c.exec.log(), why, 'its log')


def test_requests_that_it_refuses(world):
    c = powered(world)
    refused(c, words('shell', 'id'), 'there is no action "shell"')
    refused(c, words('power', 'status', '../n1'), '"../n1" is not the name of a node')
    refused(c, words('power', 'status', 'n1;id'), '"n1;id" is not the name of a node')
    refused(c, words('power', 'status', 'n9'), 'node "n9" has no script in bmc.conf')
    refused(c, words('power', 'status', 'n1\nn2'), 'the request has a control character at byte 33')
    refused(c, words('power', '-x', 'n1'), '"-x" is none of status, on, off')
    refused(c, words('power', 'status', 'n1', 'n2'), 'power takes other arguments: VERB NODE')
    refused(c, words('power', 'status', 'n1')[:-1], 'the request is not whole')
    refused(c, words('hello', version='fettle-exec 2'), 'the request does not begin with "fettle-exec 1"')
    refused(c, words('hello', seconds='-1'), 'seconds: "-1" is not a number')
    refused(c, words('script', 'script:id', 'n1', 'x'), 'has no RemedyConf')
    refused(c, words('slurm', 'scontrol', 'shutdown'), 'no call of Slurm has "shutdown" as word 2')
    refused(c, words('slurm', 'scancel', '12'), 'has no SlurmScontrol')
    refused(c, words('power', *['x'] * 17), 'the request has more than 16 arguments')
    refused(c, words('power', 'status', 'n' * (129 << 10)), 'the request is longer than 131072 bytes')
    refused(c, words('power', 'status', 'n1'), 'two pipes come with a request', files=0)
    refused(c, words('power', 'status', 'n1'), 'two pipes come with a request', files=1)
    refused(c, words('power', 'status', 'n1'), 'two pipes come with a request', files=5)
    equal(lines(world.path('powered')), [], 'what was run')
    silent = Caller(c)
    equal(silent.answer()[:1], ['refused'], 'the answer to one who says nothing')
    contains(c.exec.log(), 'no request came within 5 s', 'its log')
    silent.close()
    contains(c.fettle('power', 'status', 'n1'), 'on', 'it goes on')


def test_a_megabyte_does_not_get_in(world):
    c = powered(world)
    caller = Caller(c)
    try:
        caller.send(words('power', 'status', 'n' * (1 << 20)))
    except OSError as e:
        contains(str(e), 'Message too long', 'a megabyte')
    else:
        raise Failed('a megabyte in one packet was sent')
    caller.close()
    contains(c.fettle('power', 'status', 'n1'), 'on', 'it goes on')


def test_many_at_once(world):
    c = powered(world)
    callers = []
    while True:
        try:
            callers.append(Caller(c))
        except BlockingIOError:  # so many are not taken yet
            continue
        if len(callers) > 256:
            break
    equal(callers[-1].answer(), ['refused', '256 calls are under way'], 'the answer to the last of many')
    contains(c.exec.log(), 'refused: 256 calls are under way', 'its log')
    for caller in callers:
        caller.close()
    wait('it goes on', lambda: 'on' in c.fettle_run('power', 'status', 'n1')[1])


def test_others_do_not_get_in(world):
    c = powered(world)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setuid(USER + 1)
            Caller(c)
        except PermissionError:
            status = 0
        finally:
            os._exit(status)
    equal(os.waitpid(pid, 0)[1], 0, 'whether another user is kept out')


main()
