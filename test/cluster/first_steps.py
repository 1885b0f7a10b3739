# SPDX-License-Identifier: Apache-2.0
"""A controller, an agent that joins by a token, and what a person does next with the tool."""
import csv
import datetime
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import termios
import time

import yaml

from harness import CALM, Agent, Controller, check, contains, equal, main, program, wait


def read(path):
    with open(path) as f:
        return f.read().strip()


def test_real_inventory(world):
    """The table shows the values that this machine has by /proc and uname."""
    c = Controller(world, 'Name=n01\n', **CALM)
    equal(c.table()['n01']['State'], 'DOWN', 'before it was heard, the state')
    Agent(world, c, 'n01')
    c.wait_nodes('the agent is heard', ['n01'], Liveness='live', State='IDLE')
    wait('its inventory is there', lambda: c.node('n01')['RealMemory'])
    node = c.node('n01')
    uname = os.uname()
    memory_kb = int(read('/proc/meminfo').split('MemTotal:')[1].split()[0])
    equal(node['OS'], f'{uname.sysname}.{uname.release}'.replace(' ', '.'), 'OS')
    equal(node['CPUs'], os.cpu_count(), 'CPUs')
    equal(node['RealMemory'], memory_kb // 1024, 'RealMemory')
    equal(node['Boot'], read('/proc/sys/kernel/random/boot_id'), 'Boot')
    equal(node['Arch'], uname.machine, 'Arch')
    equal(node['Schedulable'], True, 'Schedulable')
    check(abs(node['Uptime'] - float(read('/proc/uptime').split()[0])) < 10, 'Uptime is not the machine\'s')
    statvfs = os.statvfs('/tmp')
    equal(node['TmpDisk'], statvfs.f_blocks * statvfs.f_frsize >> 20, 'TmpDisk')
    show = c.fettle('node', 'show', 'n01')
    for word in (node['OS'], node['Boot'], 'Inventory'):
        contains(show, word, 'fettle node show')
    inventory = json.loads(c.fettle('node', 'show', 'n01', '--json'))['inventory']
    equal(inventory['CPUs'], os.cpu_count(), 'CPUs in the inventory')


def on_terminal(c, *words, size=(0, 0), **env):
    """The tool's output on a terminal; size in lines and columns, 0 for a terminal that does not tell."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('4H', *size, 0, 0))
    subprocess.run([program('fettle'), *words], stdout=theirs, check=True,
                   env={**os.environ, 'FETTLE_CONTROLLER': c.socket, **env})
    printed = os.read(ours, 65536).decode()
    os.close(theirs)
    os.close(ours)
    return printed


def test_a_person_drains_sets_and_undrains(world):
    """The commands drain, undrain, down, up and set have exit statuses that scripts can use."""
    c = Controller(world, 'Name=DEFAULT Partition=1\nName=n01\nName=n02\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('the agent is heard', ['n01'], State='IDLE')

    out = c.fettle('node', 'drain', 'n01', '--reason', 'bad', 'DIMM')
    contains(out, 'n01: drained by claim', 'drain')
    c.wait_nodes('it is drained', ['n01'], State='DRAINED', Schedulable=False)
    contains(c.node('n01')['Why'], 'bad DIMM', 'Why')
    contains(c.fettle('node', 'drain', 'n01', '--reason', 'bad DIMM'), 'nothing had to change', 'the same drain again')
    equal(c.node('n01')['Claims'], 1, 'claims after the same drain again')
    row = json.loads(c.fettle('node', 'claims', 'n01', '-o', 'json'))
    equal([(x['Kind'], x['Owner'], x['Reason']) for x in row], [('drain', 'root', 'bad DIMM')], 'its claims')

    c.fettle('node', 'drain', 'n01', '--reason', 'new kernel')
    claims = {x['reason']: x['id'] for x in c.get('/v1/nodes/n01')['claims']}
    out = c.fettle('node', 'undrain', 'n01', '--claim', claims['bad DIMM'])
    contains(out, 'held: drain', 'what still holds it')
    contains(out, 'new kernel', 'what still holds it')
    equal(c.node('n01')['State'], 'DRAINED', 'State while one claim rests')
    c.fettle('node', 'undrain', 'n01')
    c.wait_nodes('it is free', ['n01'], State='IDLE', Schedulable=True)
    contains(c.fettle('node', 'undrain', 'n01', status=3), 'nothing of yours', 'undrain without a claim')
    c.fettle('node', 'undrain', 'n01', '--claim', '99.99', status=4)

    c.fettle('node', 'down', 'n01', '--reason', 'moved')
    c.wait_nodes('it is down', ['n01'], State='DOWN', Liveness='live')
    c.fettle('node', 'up', 'n01')
    c.wait_nodes('it is up', ['n01'], State='IDLE')

    c.fettle('node', 'set', 'n01', f'CPUs={os.cpu_count() + 1}')
    c.wait_nodes('too few CPUs', ['n01'], Schedulable=False)
    contains(c.node('n01')['Shortfall'], 'CPUs', 'Shortfall')
    c.fettle('node', 'set', 'n01', '--unset', 'CPUs')
    c.wait_nodes('enough CPUs', ['n01'], Schedulable=True, Shortfall='')

    c.fettle('node', 'drain', 'n09', '--reason', 'x', status=4)
    c.fettle('node', 'drain', 'n01', status=2)
    c.fettle('node', 'set', 'n01', 'CPUs=many', status=2)
    contains(c.fettle('node', 'set', 'n01', 'CPU=2', status=2), 'CPUs', 'the nearest field')
    contains(c.fettle('node', 'lsit', status=2), 'list', 'the commands there are')
    got, _, err = c.fettle_run('node', 'list', env={'FETTLE_CONTROLLER': world.path('nobody.sock')})
    equal(got, 6, f'no controller: {err}: the exit status')
    whats = [e['what'] for e in c.journal()]
    equal(whats.count('node.drain'), 2, f'drains in {whats}')
    contains(c.fettle('journal'), 'bad DIMM', 'fettle journal')
    about = c.fettle('journal', 'n01', '--what', 'node', '--since', '1h').splitlines()
    words = [line.split('  ', 1)[1].split()[0] for line in about]
    equal(words[:2] + words[-1:], ['node.admitted', 'node.drain', 'node.set'], f'the journal of n01, oldest first: {about}')
    contains(about[1], ' node.drain n01 by ', 'a line of the journal')
    equal(c.fettle('journal', 'n01', '--what', 'node', '--tail', '1').splitlines(), about[-1:], 'the newest')
    equal(c.fettle('journal', 'n01', '--by', 'nobody'), '', 'what nobody did')
    equal(c.fettle('journal', '--until', '1h'), '', 'what was done an hour ago')
    at = about[-1].split()[0]
    here = datetime.datetime.fromisoformat(at.replace('Z', '+00:00')) + datetime.timedelta(hours=2)
    shown = on_terminal(c, 'journal', 'n01', '--what', 'node', '--tail', '1', TZ='CEST-2')
    equal(shown.split('  ')[0], here.strftime('%Y-%m-%d %H:%M:%S'), 'the time on a terminal')
    contains(on_terminal(c, 'journal', 'n01', '--utc', TZ='CEST-2'), at, 'the same with --utc')


def test_nodes_that_pass(world):
    """A command on nodes acts on those that pass a filter."""
    c = Controller(world, 'Name=n01\nName=n02\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('the agent is heard', ['n01'], State='IDLE')
    contains(c.fettle('node', 'drain', '--where', 'Liveness=live', '--reason', 'all that live'), 'n01: drained', 'those that pass')
    contains(c.fettle('node', 'undrain', '--where', 'Why~all that live', '--dry-run'), '1 node', 'what would be')
    equal(c.fettle('node', 'undrain', '--where', 'Why~all that live', '-q'), '', 'what a quiet one prints')
    c.fettle('node', 'undrain', '--where', 'Why~all that live', status=4)


def test_output(world):
    """Every form of output can be read by the program that it is for."""
    c = Controller(world, 'Name=DEFAULT Partition=1\nName=lx[01-20] CPUs=2\nName=lx[21-24] CPUs=4 Partition=1,2\n',
                   partitions='Partition=1 Name=batch\nPartition=2 Name=big\n', DefaultPartition='batch', **CALM)
    c.fettle('node', 'drain', 'lx03', '--reason', 'a "quoted", word\u00e9')
    rows = json.loads(c.fettle('node', 'list', '--json', '-o', 'name,state,cpus,partition,partitions,reason'))
    equal(len(rows), 24, 'rows of JSON')
    equal((rows[23]['Name'], rows[23]['CPUs'], rows[23]['Partition']), ('lx24', 4, [1, 2]), 'the last row of JSON')
    equal(rows[23]['Partitions'], ['batch', 'big'], 'its partitions by name')
    equal(c.fettle('node', 'list', '--where', 'Partitions=big', '-o', 'name', '--fold').strip(), 'lx[21-24]', 'chosen by name')
    written = yaml.safe_load(c.fettle('node', 'list', '-o', 'yaml,name,state,cpus,partition,partitions,reason'))
    equal(written, rows, 'the rows as YAML')
    equal(yaml.safe_load(c.fettle('status', '-o', 'yaml'))['nodes'], {'DOWN': 24}, 'status as YAML')
    lines = on_terminal(c, 'node', 'list', '-o', 'name,why,os', 'lx03', size=(50, 40)).splitlines()
    check(all(len(line) <= 40 for line in lines) and any('\u2026' in line for line in lines), f'a narrow terminal: {lines}')
    shown = on_terminal(c, 'node', 'list', '-o', 'name', size=(10, 80), PAGER='sed "s/^/paged /"')
    contains(shown, 'paged lx24', 'a list that is longer than the terminal')
    for more in ({'size': (40, 80)}, {'size': (10, 80), 'PAGER': 'cat'}, {'size': (10, 80), 'PAGER': '/nowhere/less'}):
        shown = on_terminal(c, 'node', 'list', '-o', 'name', **{'PAGER': 'sed s/lx/paged/', **more})
        check('lx24' in shown and 'paged' not in shown, f'{more}: {shown}')
    with open('/dev/full', 'w') as full:
        equal(subprocess.run([program('fettle'), 'node', 'list'], stdout=full, stderr=subprocess.DEVNULL, check=False,
                             env={**os.environ, 'FETTLE_CONTROLLER': c.socket}).returncode, 7, 'a disk that is full')
    table = list(csv.reader(io.StringIO(c.fettle('node', 'list', '--csv', '-o', 'name,cpus,reason'), newline='')))
    equal(len(table), 25, 'lines of CSV')
    equal([r for r in table if r[0] == 'lx03'][0][2].count('"quoted", word\u00e9'), 1, 'the quoted reason in CSV')
    fold = c.fettle('node', 'list', '--fold', '-o', 'cpus').splitlines()
    equal(len(fold), 2, 'lines of the folded list')
    contains(fold[0], 'lx[01-20]', 'folded')
    contains(fold[1], 'lx[21-24]', 'folded')
    names = c.fettle('node', 'list', '-H', '-o', 'name', '-w', 'CPUs>=4', '-s', '-name').split()
    equal(names, ['lx24', 'lx23', 'lx22', 'lx21'], 'filtered and sorted')
    equal(c.fettle('node', 'list', '-H', '-o', 'name', 'lx[02,04]', 'CPUs=2').split(), ['lx02', 'lx04'], 'chosen')
    check('\033' not in c.fettle('node', 'list'), 'colours without a terminal')
    parts = json.loads(c.fettle('partition', 'list', '--json'))
    equal([(p['Partition'], p['Name'], p['Default'], p['Nodes']) for p in parts],
          [(1, 'batch', True, 'lx[01-24]'), (2, 'big', False, 'lx[21-24]')], 'partitions')
    status = json.loads(c.fettle('status', '--json'))
    equal(sum(status['nodes'].values()), 24, 'nodes in the status')
    contains(c.fettle('status'), 'Revision', 'fettle status')
    contains(c.fettle('status'), 'Longest turn', 'fettle status')
    turns = status['turns']
    equal([t['us'] for t in turns['longest']], sorted((t['us'] for t in turns['longest']), reverse=True), 'the longest turn first')
    check(any(t['did'] for t in turns['longest']), f'nobody knows what the turns did: {turns}')
    check(all(t['us'] >= sum(d['us'] for d in t['did']) for t in turns['longest']), f'a part is longer than its turn: {turns}')
    for counts in turns['us'], turns['cpu_us']:
        check(sum(n for _, n in counts) > 10, f'few turns are counted: {counts}')
        equal(counts, sorted(counts), 'counts by length')
    c.fettle('version')
    contains(c.fettle('help', 'node', 'drain'), '--reason', 'help')


def test_tokens(world):
    """A token serves once, in its time, for the nodes that it names."""
    c = Controller(world, 'Name=n[01-03]\n', **CALM)
    first, second, third = (Agent(world, c, f'n0{i}', join=False, start=False) for i in (1, 2, 3))
    token = c.token('n01')
    contains(second.join(token, 5), 'n02', 'a token for another node')
    first.join(token)
    equal(os.stat(first.certificate()[1]).st_mode & 0o777, 0o600, 'mode of the key')
    other_home = Agent(world, c, 'n01', join=False, start=False)
    contains(other_home.join(token, 5), 'used', 'a token that was used')
    contains(first.join(c.token('n01'), 3), '--again', 'joining with an identity')
    contains(first.join(c.token('n01'), 3, '--again'), 'made with --again', 'a second certificate')
    first.join(c.token('n01', again=True), 0, '--again')

    short = c.token('n02', valid='1s')
    made = time.time()
    wait('the token has expired', lambda: time.time() > made + 1.1)
    contains(second.join(short, 5), 'expired', 'an expired token')

    forged = c.token('n03')[:-4] + 'ffff'
    third.join(forged, 5)
    third.join('fettle1.nonsense', 2)
    foreign = c.token('n03').split('.')
    foreign[1] = '0' * 64
    third.join('.'.join(foreign), 5)
    for agent in (second, third):
        check(not os.path.exists(agent.certificate()[0]), f'{agent.name} got an identity by a wrong token')
    third.join(c.token('n[01-03]'))

    token = c.token('n02')
    c.restart()
    second.join(token)
    c.process.kill()
    c.start()
    contains(Agent(world, c, 'n02', join=False, start=False).join(token, 5), 'used', 'a used token after kill -9')


def test_second_machine(world):
    """One command on the new machine, and it is in the table; a name in no file touches nothing."""
    c = Controller(world, 'Name=n01\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('the first', ['n01'], State='IDLE')
    command = json.loads(c.fettle('token', 'create', '--nodes', 'guest', '--json'))['command'].split()
    equal(command[:2], ['fettle-agent', 'join'], 'the command to type')
    guest = Agent(world, c, 'guest', join=False, start=False)
    status, out, err = world.run([program('fettle-agent'), *command[1:], '--name', 'guest', '-D', guest.home])
    equal(status, 0, f'{out}{err}: the exit status')
    guest.start()
    c.wait_nodes('the guest', ['guest'], State='UNLISTED', Liveness='live', Schedulable=False)
    c.fettle('node', 'drain', 'guest', '--reason', 'x', status=4)
    equal(json.loads(c.fettle('partition', 'list', '--json'))[0]['Nodes'], 'n01', 'nodes of partition 0')
    c.write(nodes='Name=n01\nName=guest\n')
    contains(c.fettle('reload'), 'guest', 'what the reload changed')
    c.wait_nodes('the guest is listed', ['guest'], State='IDLE', Schedulable=True)


main()
