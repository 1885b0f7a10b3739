# SPDX-License-Identifier: Apache-2.0
"""Configurations: every mistake that the document of 2001 has in its lists of tests, its own samples, and
reloads."""
import os
import signal

from harness import CALM, ROOT, Agent, Controller, check, contains, equal, main, program, swarm, wait

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../data/2001')

# A parameter and its value, and what the complaint has to name beside the file, the line and the key.
PARAMETERS = [
    ('HeartBeatInterval', '-1', '-1'), ('HeartBeatInterval', 'abc', 'abc'), ('HeartBeatInterval', '', 'missing'),
    ('HeartBeatInterval', '10 x', '10 x'), ('HeartBeatInterval', '86401', '86401'), ('HeartBeatInterval', '1e3', '1e3'),
    ('HeartBeatTimeout', '0', '0'), ('HeartBeatTimeout', '-600', '-600'), ('HeartBeatTimeout', '1', 'HeartBeatInterval'),
    ('HeartBeatTimeout', '99999999999999999999', '9999'), ('LateAfter', '1s', 'HeartBeatInterval'),
    ('LateAfter', '61s', 'HeartBeatTimeout'), ('SensitiveTimeout', '1s', 'HeartBeatInterval'),
    ('MachStatusPort', '65536', '65536'), ('MachStatusPort', '-1', '-1'), ('MachStatusPort', 'abc', 'abc'),
    ('MachStatusPort', '6.5', '6.5'), ('MachStatusPort', '', ''), ('ApiPort', '70000', '70000'),
    ('MachStatusDebug', 'init,msgg', 'msg'), ('MachStatusDebug', 'everything', 'everything'),
    ('NodeSpecConf', 'nodes.conf', 'nodes.conf'), ('NodeSpecConf', '/nonexistent/nodes.conf', '/nonexistent'),
    ('NodeSpecConf', '/etc/', '/etc/'), ('NodeSpecConf', '/etc', '/etc'), ('NodeSpecConf', '', ''),
    ('PartitionConf', '/nonexistent/partitions.conf', '/nonexistent'), ('PartitionConf', 'p', '"p"'),
    ('MachStatusManager', 'fettled', 'fettled'), ('MachStatusDaemon', './agent', './agent'),
    ('ApiSocket', 'relative.sock', 'relative.sock'),
    ('DefaultPartition', 'nosuch', 'nosuch'), ('DefaultPartition', '32', '32'), ('MaxPartition', '300', '300'),
    ('CollectorNodes', 'lx[01-', 'lx[01-'), ('CollectorNodes', 'lx[3-1]', 'lx[3-1]'),
    ('MaxSilentShare', '0', '0'), ('MaxSilentShare', '101', '101'), ('ApiReaders', 'everybody', 'everybody'),
    ('ApiPrivilegedPort', 'maybe', 'maybe'), ('CertificateLife', '1s', '1s'), ('ControlMachine', 'x' * 256, '256'),
    ('HeartBeatIntervall', '10', 'HeartBeatInterval'), ('ControlMachin', 'x', 'ControlMachine'),
    ('MachStatusAddress', 'y' * 1025, '1024'),
    ('ClassConf', 'classes.conf', 'classes.conf'), ('ClassConf', '/nonexistent/classes.conf', '/nonexistent'),
    ('FingerprintInterval', '1s', '1s'), ('FingerprintStale', '5h', 'FingerprintInterval'),
    ('DriftTimeout', 'never', 'never'), ('MaxDriftShare', '0', '0'), ('OpenChamiSMD', 'smd:27779', 'smd:27779'),
    ('OpenChamiBSS', 'ftp://bss', 'ftp://bss'), ('OpenChamiToken', 'token', 'token'), ('OpenChamiGroup', 'a b', 'a b'),
]
# A line of NodeSpecConf, and what the complaint has to name.
NODES = [
    ('CPUs=2', 'Name'), ('Name=', 'Name'), ('Name=lx05 CPU=2', 'CPUs'), ('Name=lx05 CPUs=two', 'two'),
    ('Name=lx05 CPUs=-1', '-1'), ('Name=lx05 Speed=fast', 'fast'), ('Name=lx01', 'lx01'), ('Name=lx[05,01]', 'lx01'),
    ('Name=lx05 Partition=32', '32'), ('Name=lx05 Partition=1,,2', '""'), ('Name=lx05 CPUs=1 CPUs=2', 'CPUs'),
    ('Name=lx[09-05]', 'lx[09-05]'), ('Name=lx[', 'lx['), ('Name=lx05 loose', 'loose'), ('Name=lx05 State=IDLE', 'State'),
    ('Name=lx05 OS=' + 'z' * 1025, '1024'), ('Name=DEFAULT CPUs=x', 'CPUs'), ('Name=lx05 Sensitive=perhaps', 'perhaps'),
    ('Name=../etc', '../etc'), ('Name=lx[05-06] Xname=x0c0', 'Xname has 1 names, Name has 2'),
    ('Name=lx05 Xname=X0', 'X0'), ('Name=DEFAULT Xname=x0', 'Xname'), ('Name=lx05 Group=65536', '65536'),
]
PARTITIONS = [
    ('Name=x', 'Partition'), ('Partition=32', '32'), ('Partition=one', 'one'), ('Partition=1', 'twice'),
    ('Partition=2 Name=batch', 'twice'), ('Partition=2 Nodes=nosuch', 'nosuch'), ('Partition=2 Node=lx01', 'Nodes'),
    ('Partition=2 Nodes=lx[01', 'lx[01'),
]


def mistakes(c):
    """(what, configuration as keywords for write and texts, file, words of the complaint)"""
    good = dict(c.settings)
    for key, value, word in PARAMETERS:
        yield f'{key} = {value[:30]}', {**good, key: value}, c.nodes, c.partitions, 'fettle.conf:', word
    yield 'HeartBeatInterval twice', good, c.nodes, c.partitions, 'fettle.conf:', 'twice'
    for line, word in NODES:
        yield line[:40], good, c.nodes + line + '\n', c.partitions, 'nodes.conf:3', word
    for line, word in PARTITIONS:
        yield line, good, c.nodes, c.partitions + line + '\n', 'partitions.conf:2', word


def write_mistake(c, settings, nodes, partitions, what):
    saved = c.settings, c.nodes, c.partitions
    c.settings, c.nodes, c.partitions = settings, nodes, partitions
    c.write()
    c.settings, c.nodes, c.partitions = saved
    if what == 'HeartBeatInterval twice':
        with open(c.conf, 'a') as f:
            f.write('HeartBeatInterval = 5\n')


def test_every_mistake(world):
    """fettled -n and a reload complain alike, with file, line and word; a reload changes nothing."""
    c = Controller(world, 'Name=lx[01-04] CPUs=2\nName=lx99\n', **CALM)
    before = c.table('Name,CPUs,Partition,State')
    count, odd = 0, []
    for what, settings, nodes, partitions, file, word in mistakes(c):
        write_mistake(c, settings, nodes, partitions, what)
        status, _, said = world.run([program('fettled'), '-n', '-f', c.conf])
        code, answer = c.ask('POST', '/v1/reload', {})
        reloaded = answer.get('error', {}).get('message', '')
        if status != 1 or said.count('\n') != 1:
            odd.append(f'{what}: fettled -n ended with {status} and said {said!r}')
        if code not in (400, 404):
            odd.append(f'{what}: the reload says {code} {answer}')
        for text in (said, reloaded):
            if not all(part in text for part in (file, word, what.split(' ')[0] if file == 'fettle.conf:' else '')):
                odd.append(f'{what}: {file}, the key or {word!r} is not in {text!r}')
        count += 1
    check(not odd, '\n    '.join(odd))
    equal(c.table('Name,CPUs,Partition,State'), before, 'the table after all rejected reloads')
    equal(len(c.log_lines('the old one stays in force')), count, 'rejected reloads in the log')
    c.process.send(signal.SIGHUP)
    wait('SIGHUP is refused, too', lambda: len(c.log_lines('the old one stays in force')) == count + 1)
    c.process.stop()
    c.launch()
    equal(c.process.wait_end(), 1, 'a start with a mistake')
    c.write()
    contains(world.run([program('fettled'), '-n', '-f', c.conf])[1], '5 nodes', 'a good configuration')
    os.chmod(c.dir, 0o755)
    status, _, err = world.run([program('fettled'), '-n', '-f', c.conf + '.nosuch'])
    equal(status, 1, 'no such file')
    contains(err, 'nosuch', 'no such file')


GOOD = {'nodes.conf': 'Name=lx[01-04] CPUs=4 Group=1\n', 'partitions.conf': 'Partition=1 Name=batch\n', 'checks.conf': '',
        'classes.conf': '', 'meanings.conf': '', 'remedies.conf': '', 'bmc.conf': ''}
FILES = {'NodeSpecConf': 'nodes.conf', 'PartitionConf': 'partitions.conf', 'CheckConf': 'checks.conf',
         'ClassConf': 'classes.conf', 'MeaningConf': 'meanings.conf', 'RemedyConf': 'remedies.conf', 'BmcConf': 'bmc.conf'}


def table_of_mistakes(at):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../data/config/mistakes.txt')) as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                file, text, verdict, words = line.rstrip('\n').split(' | ')
                yield file, text.replace('{}', at).replace('\\n', '\n') + '\n', verdict, words.replace('{}', at)


def test_the_table_of_mistakes(world):
    """Each is refused, or taken with a warning; none is taken without a word."""
    at, odd, count = world.path('conf'), [], 0
    os.mkdir(at)
    for name, mode in (('tool', 0o755), ('plain', 0o644)):
        os.chmod(world.write(f'conf/{name}', '#!/bin/sh\n'), mode)
    main_file = ''.join(f'{k}={at}/{v}\n' for k, v in FILES.items())

    def judge():
        status, _, said = world.run([program('fettled'), '-n', '-f', f'{at}/fettle.conf'])
        return 'refused' if status else 'warned' if said else 'taken', said

    for file, text in {**GOOD, 'fettle.conf': main_file}.items():
        world.write(f'conf/{file}', text)
    equal(judge(), ('taken', ''), 'a good configuration')
    for file, text, verdict, words in table_of_mistakes(at):
        before = {**GOOD, 'fettle.conf': main_file}[file]
        world.write(f'conf/{file}', before + text)
        got, said = judge()
        if got != verdict or words not in said or file not in said:
            odd.append(f'{file}: {text.strip()}: {got}, and not {verdict} with {words!r}: {said!r}')
        world.write(f'conf/{file}', before)
        count += 1
    check(not odd, '\n    '.join(odd))
    check(count >= 80, f'only {count} mistakes')


def test_a_warning_stays_in_status_until_it_is_mended(world):
    c = Controller(world, 'Name=n01\n', SlurmScontrol='/tmp')
    said = f'{c.conf}:9: SlurmScontrol names a directory, not a program: /tmp'
    equal(c.status()['warnings'], [said], 'the warnings')
    contains(c.fettle('status'), f'WARNING      {said}', 'fettle status')
    c.fettle('reload')
    equal(len(c.status()['warnings']), 1, 'the warnings after a reload of the same')
    c.write(SlurmScontrol=None)
    c.fettle('reload')
    equal(c.status()['warnings'], [], 'the warnings when it is mended')


def test_reload(world):
    """All or nothing, and it says what it did: by the tool and by SIGHUP."""
    c = Controller(world, 'Name=n01 CPUs=1\nName=n02\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('it is heard', ['n01'], State='IDLE')
    c.fettle('reload')
    contains(c.fettle('reload'), 'nothing has changed', 'a reload of the same')
    c.write(nodes='Name=n03\nName=n01 CPUs=4096\n', HeartBeatInterval='2s', MaxSilentShare=50)
    out = c.fettle('reload')
    for word in ('HeartBeatInterval', 'MaxSilentShare', 'n02', 'n03', 'n01'):
        contains(out, word, 'what changed')
    equal([n for n, r in c.table('Name,State').items() if r['State'] != 'UNLISTED'], ['n03', 'n01'], 'the order of nodes')
    c.wait_nodes('it has too little', ['n01'], Schedulable=False, State='IDLE')
    events = c.events()
    c.write(nodes='Name=n01\n', MachStatusDebug='beat')
    c.process.send(signal.SIGHUP)
    contains(events.wait('config.reload')['text'], 'MachStatusDebug', 'the event of SIGHUP')
    c.wait_nodes('it has enough', ['n01'], Schedulable=True)
    wait('the debug flag counts', lambda: 'node n01: heartbeat' in c.log())
    c.write(ApiPort=c.https + 1 if c.https < 65535 else 1024)
    contains(c.fettle('reload'), 'starts anew', 'a parameter that is read at start')
    c.write(ApiPort=c.https)
    c.fettle('reload')
    equal(c.suspected(), [], 'nodes that were suspected')
    events.close()


def test_revisions(world):
    """The configuration that decides is committed before it is taken, with a number, a hash and an entry of the journal."""
    c = Controller(world, 'Name=n01\nName=n02\n', **CALM)

    def revision():
        return c.status()['configuration']

    def entries():
        return [e for e in c.journal() if e['what'] == 'config.revision']
    first = revision()
    c.write()
    c.restart()
    c.fettle('reload')
    start = revision()
    c.write(nodes='# a comment\n\n  Name=n01\nName=n02\n', MachStatusDebug='beat')
    contains(c.fettle('reload'), 'MachStatusDebug', 'a parameter of the controller itself')
    equal(revision(), start, 'the revision after a comment')
    equal(first['by'], 'fettled', 'the user of the first revision')
    c.write(nodes='Name=n01\nName=n03\n', MaxOut=7)
    contains(c.fettle('reload'), f"revision {start['revision'] + 1} ", 'the answer to a reload')
    second = revision()
    equal(second['revision'], start['revision'] + 1, 'the revision after a change')
    check(second['hash'] != start['hash'], f'a change has the hash of before: {second}')
    equal(entries()[-1]['actor'], second['by'], 'the user in the journal')
    for word in ('MaxOut', 'n02', 'n03'):
        contains(entries()[-1]['text'], word, 'the entry of the journal')
    c.process.kill()
    c.start()
    equal(revision(), second, 'the revision after kill -9')
    c.process.stop()
    c.write(nodes='Name=n01\n', MaxOut=8)
    c.start()
    equal(revision()['revision'], second['revision'] + 1, 'the revision of a change while the controller was down')
    for word in ('MaxOut "7" -> "8"', 'node n03 removed'):
        contains(entries()[-1]['text'], word, 'the entry of the start')
    c.fettle('reload')
    equal(len(entries()), revision()['revision'], 'each revision has one entry')


def test_shortfall(world):
    """Less than specified is logged with the difference, shown, and takes no work; more is fine."""
    cpus = os.cpu_count()
    c = Controller(world, f'Name=n01 CPUs={cpus + 7}\nName=n02 CPUs=1 RealMemory=1 OS=Linux.2.4.7-10\n'
                   'Name=n03 OS=Linux.999.0 TmpDisk=999999999\n', **CALM)
    for name in ('n01', 'n02', 'n03'):
        Agent(world, c, name)
    c.wait_nodes('they are heard', ['n01', 'n02', 'n03'], Liveness='live', State='IDLE')
    c.wait_nodes('too few', ['n01', 'n03'], Schedulable=False)
    c.wait_nodes('enough', ['n02'], Schedulable=True, Shortfall='')
    for word in ('CPUs', str(cpus), str(cpus + 7)):
        contains(c.node('n01')['Shortfall'], word, 'Shortfall')
    contains(c.node('n01')['Why'], 'CPUs', 'Why')
    for word in ('OS', 'TmpDisk'):
        contains(c.node('n03')['Shortfall'], word, 'Shortfall')
    equal(len(c.log_lines('node.shortfall n01')), 1, 'lines of the log')
    c.fettle('node', 'set', 'n01', f'CPUs={cpus}')
    c.wait_nodes('enough now', ['n01'], Schedulable=True, Shortfall='')
    wait('that is said', lambda: len(c.log_lines('node.sufficient n01')) == 1)
    c.fettle('node', 'set', 'n01', f'CPUs={cpus + 9}')
    wait('what was set is judged at once', lambda: len(c.log_lines('node.shortfall n01')) == 2)
    c.write(nodes=c.nodes.replace('Name=n02 CPUs=1 ', f'Name=n02 CPUs={cpus + 1} '))
    c.fettle('reload')
    c.wait_nodes('what was reloaded is judged at once', ['n02'], Schedulable=False)
    wait('and said', lambda: len(c.log_lines('node.shortfall n02')) == 1)


def test_unlisted(world):
    """A node that is in no file is shown, and touches nothing."""
    c = Controller(world, 'Name=n01\n', MaxSilentShare=1, **{**CALM, 'LateAfter': '2s', 'HeartBeatTimeout': '3s'})
    swarm(world, c, 'n01', name='listed')
    guests = swarm(world, c, 'g[1-5]', name='guests')
    c.wait_nodes('they are shown', [f'g{i}' for i in range(1, 6)], State='UNLISTED', Schedulable=False)
    c.wait_nodes('the listed one is in service', ['n01'], State='IDLE', Schedulable=True)
    status = c.status()
    equal(status['schedulable'], 1, 'schedulable nodes')
    revision = status['revision']
    guests.kill()
    before = c.status()['uptime_s']
    wait('their time is over', lambda: c.status()['uptime_s'] > before + 5)
    equal(c.status()['alarms'], [], 'alarms')
    equal(c.status()['revision'], revision, 'the revision')


def test_nodes_that_a_typo_left_are_gone(world):
    """Nodes that nobody ever heard leave with the file; those that were heard, when they are forgotten."""
    c = Controller(world, 'Name=n01\n', **{**CALM, 'LateAfter': '2s', 'HeartBeatTimeout': '3s'})
    guests = swarm(world, c, 'n01,g1', name='guests')
    c.wait_nodes('the guest', ['g1'], State='UNLISTED')
    c.write(nodes='Name=n01\nName=ghost[0001-5000]\n')
    c.fettle('reload')
    equal(len(c.table('Name')), 5002, 'nodes with a typo')
    c.fettle('node', 'drain', 'ghost0007', '--reason', 'a claim')
    c.write(nodes='Name=n01\n')
    c.fettle('reload')
    equal(sorted(c.table('Name')), ['g1', 'ghost0007', 'n01'], 'nodes without it')
    contains(c.fettle('node', 'show', 'ghost0001', status=4), 'no node "ghost0001"', 'one that is gone')
    contains(c.fettle('node', 'forget', 'n01', status=3), 'configuration file', 'a node in the file')
    contains(c.fettle('node', 'forget', 'g1', status=3), 'is heard', 'a node that is heard')
    contains(c.fettle('node', 'forget', 'ghost0007', status=3), 'claims', 'a node with a claim')
    contains(c.fettle('node', 'forget', 'ghost0007', '--force', '--dry-run'), 'ghost0007', 'a dry run')
    equal(sorted(c.table('Name')), ['g1', 'ghost0007', 'n01'], 'nothing was done')
    c.fettle('node', 'forget', 'ghost0007', '--force')
    guests.kill()
    c.wait_nodes('it is not heard any more', ['g1'], Liveness='silent')
    c.fettle('node', 'forget', 'g1')
    equal(list(c.table('Name')), ['n01'], 'nodes in the end')
    contains(c.fettle('journal', '--what', 'node.forget'), 'g1', 'the journal')
    c.restart()
    equal(list(c.table('Name')), ['n01'], 'nodes after a restart')
    swarm(world, c, 'g1', name='again')
    c.wait_nodes('who comes again', ['g1'], State='UNLISTED', Liveness='live')


def test_samples_of_2001(world):
    """Both files of the document, as they stand."""
    command = [program('fettled'), '-n', '-f', '/usr/local/SLURM/slurm.conf']
    if ROOT and world.run(['unshare', '-m', 'true'])[0] == 0:  # not in a chroot, whose root is no mount
        script = ('mount -t tmpfs tmpfs /usr/local && mkdir /usr/local/SLURM && cp "$0"/* /usr/local/SLURM && '
                  ': >/usr/local/SLURM/PartitionConf && exec "$@"')
        status, out, err = world.run(['unshare', '-m', 'sh', '-c', script, SAMPLES, *command])
        equal(status, 0, f'{out}{err}: the exit status')
        contains(out, '6 nodes', 'the sample')
        contains(out, '2 collectors', 'the sample')
    os.mkdir(world.path('sample'))
    for name in os.listdir(SAMPLES):
        with open(os.path.join(SAMPLES, name)) as f:
            world.write(f'sample/{name}', f.read().replace('/usr/local/SLURM', world.path('sample')))
    world.write('sample/PartitionConf', '')
    status, out, err = world.run([program('fettled'), '-n', '-f', world.path('sample', 'slurm.conf')])
    equal(status, 0, f'{out}{err}: the exit status')
    with open(world.path('sample', 'NodeSpecConf')) as f:
        c = Controller(world, f.read(), CollectorNodes='lx01,lx02', HeartBeatInterval=300, HeartBeatTimeout=600,
                       MachStatusDebug='init,msg')
    table = c.table('Name,CPUs,Speed,RealMemory,Partition,OS')
    equal(list(table), [f'lx0{i}' for i in range(1, 7)], 'the order of nodes')
    equal(table['lx03'], {'Name': 'lx03', 'CPUs': 2, 'Speed': 1.5, 'RealMemory': 3072, 'Partition': [1, 2],
                          'OS': 'Linux.2.4.7-10'}, 'lx03')
    equal((table['lx04']['CPUs'], table['lx04']['Partition']), (1, [1, 3]), 'lx04')


def test_defaults_and_lists(world):
    """DEFAULT records apply to the lines after them and can be reset; lists of every kind."""
    c = Controller(world, '# comment\n\n  \nName=a[1-2]\nName=DEFAULT CPUs=2 Partition=1,3\nName=b[01-03,07]\n'
                   'Name=DEFAULT CPUs=4 Partition= \nName=c\tCPUs=8\nName=r[1-2]n[1-2] Partition=0\n',
                   partitions='Partition=1 Name=one\nPartition=3 Name=three Nodes=c\n', DefaultPartition='three', **CALM)
    table = c.table('Name,CPUs,Partition')
    equal(list(table), ['a1', 'a2', 'b01', 'b02', 'b03', 'b07', 'c', 'r1n1', 'r1n2', 'r2n1', 'r2n2'], 'nodes')
    equal([table[n]['Partition'] for n in ('a1', 'b07', 'c', 'r2n2')], [[0], [1, 3], [3], [0]], 'partitions')
    equal([table[n]['CPUs'] for n in ('b07', 'c', 'r2n2')], [2, 8, 4], 'CPUs')
    parts = {p['Name'] or p['Partition']: p for p in c.get('/v1/partitions')['partitions']}
    equal(parts['three']['Nodes'], 'b[01-03,07],c', 'nodes of a partition')
    equal(parts['three']['Default'], True, 'the default partition')


main()
