# SPDX-License-Identifier: Apache-2.0
"""Names, certificates and old heartbeats that are not believed, and people without a right."""
import glob
import json
import os
import random
import select
import shutil
import ssl

from harness import (BUILD, CALM, QUICK, Agent, Controller, Failed, Link, certificate_by_hand, check, contains, equal, fake_root,
                     main, need_root, program, request_by_hand, swarm, wait)

FIRST, SECOND = '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'


def test_two_agents_with_one_name(world):
    """The second is refused and reported; the first stays, and is only followed when it is gone."""
    c = Controller(world, 'Name=n01\n', **CALM)
    first = Agent(world, c, 'n01', root=fake_root(world, 'one', FIRST))
    c.wait_nodes('the first is heard', ['n01'], Boot=FIRST, State='IDLE')
    events = c.events()
    second = Agent(world, c, 'n01', root=fake_root(world, 'two', SECOND), start=False, join=False)
    shutil.copytree(first.home, second.home)  # as an image that was made of a node
    second.start()
    events.wait('node.duplicate', nodes='n01')
    wait('the second is told', lambda: 'another live agent' in second.process.log())
    equal(c.node('n01')['Boot'], FIRST, 'whose boot is shown')
    first.process.kill()
    c.wait_nodes('the second follows', ['n01'], Boot=SECOND, Liveness='live')
    first.start()
    wait('the first is told', lambda: 'another live agent' in first.process.log())
    equal(c.node('n01')['Boot'], SECOND, 'whose boot is shown')
    equal(c.suspected(), [], 'nodes that were suspected')
    events.close()


def test_a_second_holder_of_a_name_does_not_take_it_over(world):
    """The refusal tells nothing that would let it in; a leap in the numbers does not deafen the controller."""
    c = Controller(world, 'Name=n01\n', **QUICK)
    mine = certificate_by_hand(world, c, 'n01', 7200, 1000)
    link = Link(c.port, *mine)  # it asks for the next one, and somebody else has that
    link.hello('n01', '00000000000000a0', once=True)
    link.expect('WELCOME')
    key, request = request_by_hand(world, 'thief')
    with open(request) as f:
        link.send('RENEW', request=f.read())
    theirs = world.write('thief.pem', link.expect('RENEWED')['certificate']), key
    link.close()
    instance, other = '00000000000000a1', '00000000000000e5'
    link = Link(c.port, *mine)
    link.hello('n01', instance)
    link.expect('WELCOME')
    link.heartbeat(instance, 1)
    c.wait_nodes('it is in service', ['n01'], Liveness='live')
    events = c.events()
    for claimed in (other, instance):  # it guesses; or it learnt the instance
        thief = Link(c.port, *theirs)
        thief.hello('n01', claimed)
        kind, body = thief.next()
        equal(kind, 'REFUSE', f'the answer to instance {claimed}')
        check(instance not in json.dumps(body), f'the refusal tells the instance: {body}')
        thief.close()
        link.heartbeat(instance, 2 if claimed == other else 3)
    text = events.wait('node.duplicate', nodes='n01')['text']
    check(instance not in text and other not in text and 'key' in text, f'the report: {text}')
    link.heartbeat(instance, 1 << 62)
    equal(link.next()[0], 'REFUSE', 'the answer to a number that leaps')
    contains(c.log_lines('leaps')[0], 'n01', 'what the log says')
    link = Link(c.port, *mine)
    link.hello('n01', instance)
    link.expect('WELCOME')
    link.heartbeat(instance, 4)
    wait('it goes on', lambda: c.node('n01')['Liveness'] == 'live' and not c.suspected())
    events.close()


def test_old_heartbeats_revive_nobody(world):
    c = Controller(world, 'Name=n01\nName=n02\n', **QUICK)
    cert = Agent(world, c, 'n01', start=False).certificate()
    one, other, wrong = '00000000000000a1', '00000000000000b2', '00000000000000c3'
    link = Link(c.port, *cert)
    link.hello('n01', one)
    link.expect('WELCOME')
    for seq in (1, 2, 3):
        link.heartbeat(one, seq)
    c.wait_nodes('it is in service', ['n01'], Liveness='live', State='IDLE')

    def replayed():
        try:
            link.heartbeat(one, 3)
            link.heartbeat(one, 1)
        except OSError:
            pass  # connected, and not heard: the controller closed it
        return c.node('n01')['State'] == 'DOWN'
    wait('it is down, for all the old heartbeats', replayed)
    equal(len(c.log_lines('connected, and not heard')), 1, 'how often that is said')
    link = Link(c.port, *cert)
    link.hello('n01', one)
    link.expect('WELCOME')
    link.heartbeat(one, 4)
    c.wait_nodes('a new one counts', ['n01'], Liveness='live', State='IDLE')

    link.heartbeat(wrong, 5)
    equal(link.expect('REFUSE')['code'], 'conflict', 'a heartbeat of another instance')
    link = Link(c.port, *cert)
    link.hello('n01', one)
    link.expect('WELCOME')
    link.heartbeat(one, 6, boot=SECOND)
    equal(link.expect('REFUSE')['code'], 'conflict', 'a heartbeat of another boot')

    link = Link(c.port, *cert)
    link.hello('n01', other)
    link.expect('WELCOME')
    link.heartbeat(other, 1)
    ghost = Link(c.port, *cert)
    ghost.hello('n01', one)
    equal(ghost.expect('REFUSE')['code'] in ('forbidden', 'conflict'), True, 'an instance that was replaced')
    for odd in ('', '0' * 16, 'xyz', 7):
        strange = Link(c.port, *cert)
        strange.hello('n01', odd)
        equal(strange.next()[0], 'REFUSE', f'the answer to instance {odd!r}')
        strange.close()
    link.heartbeat(other, 2)
    c.wait_nodes('the live one is not disturbed', ['n01'], Liveness='live')
    for each in (link, ghost):
        each.close()


def test_wrong_names(world):
    """A certificate speaks for its own node only."""
    c = Controller(world, 'Name=n01\nName=n02\n', **CALM)
    cert = Agent(world, c, 'n01', start=False).certificate()
    for name in ('n02', '', 'n01 ', '../n01', 'x' * 300):
        link = Link(c.port, *cert)
        link.hello(name, '00000000000000a1')
        equal(link.expect('REFUSE')['code'], 'forbidden', f'the answer to the name {name[:20]!r}')
        equal(link.next()[0], None, 'after a refusal')
        link.close()
    link = Link(c.port)
    link.hello('n01', '00000000000000a1')
    equal(link.next()[0] in ('REFUSE', None), True, 'HELLO without a certificate')
    link.close()
    for kind in ('HEARTBEAT', 'BATCH', 'RENEW', 'INVENTORY'):
        link = Link(c.port, *cert)
        link.send(kind, boot=FIRST, instance='00000000000000a1', seq=1, heard='n02', request='x')
        equal(link.next()[0], 'REFUSE', f'{kind} before HELLO')
        link.close()
    players = swarm(world, c, 'n01', script='500ms name n01 n02\n')
    wait('it is seen', lambda: len(c.log_lines('says that it is node "n02"')) == 2)
    equal(c.node('n02')['Liveness'], 'unheard', 'the node whose name was taken')
    players.stop()
    equal(set(c.table()), {'n01', 'n02'}, 'nodes in the table')


def test_a_plain_agent_is_no_collector(world):
    """BATCH of a node that does not collect revives nobody, and a collector speaks for its share only."""
    c = Controller(world, 'Name=k1\nName=n01\nName=n02\n', CollectorNodes='k1', **CALM)
    certs = {n: Agent(world, c, n, start=False).certificate() for n in ('k1', 'n01')}
    change = {'name': 'n02', 'boot': FIRST, 'instance': '00000000000000d4', 'seq': 1, 'work': [], 'uptime_s': 1,
              'version': 'x', 'inventory': '0' * 16}
    plain = Link(c.port, *certs['n01'])
    plain.hello('n01', '00000000000000a1')
    plain.expect('WELCOME')
    plain.send('BATCH', epoch=1, seq=1, port=9, heard='n02', changed=[change])
    plain.heartbeat('00000000000000a1', 1)
    c.wait_nodes('the heartbeat behind it is read', ['n01'], Liveness='live')
    equal(c.node('n02')['Liveness'], 'unheard', 'the node that was spoken for')

    keeper = Link(c.port, *certs['k1'])
    keeper.hello('k1', '00000000000000b2')
    keeper.expect('WELCOME')
    share = keeper.expect('SHARE')
    keeper.send('BATCH', epoch=share['epoch'], seq=1, heard='k1,n02', changed=[{**change, 'name': 'guest'}])
    wait('it is seen', lambda: c.log_lines('collector.foreign k1'))
    equal(c.node('n02')['Liveness'], 'unheard', 'a node that was not given to the collector')
    check('guest' not in c.table(), 'a collector brought in a node of its own')
    for each in (plain, keeper):
        each.close()


def test_a_collector_speaks_for_its_share(world):
    """Nodes of another collector's share are not revived by this one."""
    c = Controller(world, 'Name=k[1-2]\nName=n[1-4]\n', CollectorNodes='k[1-2]', **CALM)
    links, shares = {}, {}
    for i in (1, 2):
        links[i] = Link(c.port, *Agent(world, c, f'k{i}', start=False).certificate())
        links[i].hello(f'k{i}', f'00000000000000b{i}')
        links[i].expect('WELCOME')
        links[i].send('BATCH', epoch=links[i].expect('SHARE')['epoch'], seq=1, port=9, heard='', changed=[])
    while not (len(shares) == 2 and all(n == 'n[1-2]' or n == 'n[3-4]' for _, n in shares.values())):
        for i in (1, 2):
            links[i].send('BATCH', epoch=0, seq=2, port=9, heard='', changed=[])
            if select.select([links[i].sock], [], [], 0.5)[0] or links[i].sock.pending():
                kind, body = links[i].next()
                if kind == 'SHARE':
                    shares[i] = body['epoch'], body['nodes']
    change = {'boot': FIRST, 'instance': '00000000000000d4', 'seq': 1, 'work': [], 'uptime_s': 1, 'version': 'x',
              'inventory': '0' * 16}
    mine, theirs = ('n1', 'n3') if shares[1][1] == 'n[1-2]' else ('n3', 'n1')
    links[1].send('BATCH', epoch=shares[1][0], seq=3, port=9, heard=f'{mine},{theirs}',
                  changed=[{**change, 'name': mine}, {**change, 'name': theirs}])
    c.wait_nodes('its own is heard', [mine], Liveness='live', Collector='k1')
    equal(c.node(theirs)['Liveness'], 'unheard', 'a node of the other share')
    equal(len(c.log_lines('collector.foreign k1')), 1, 'reports')
    for link in links.values():
        link.close()


def test_another_authority(world):
    """Certificates that somebody else signed, on both ports, and a controller that is not the agent's."""
    c = Controller(world, 'Name=n01\n', **CALM)
    other = Controller(world, 'Name=n01\n', name='other', **CALM)
    stranger = Agent(world, other, 'n01', start=False)
    link = Link(c.port, *stranger.certificate())
    link.hello('n01', '00000000000000a1')
    equal(link.next()[0], None, 'a node of another authority')
    link.close()
    os.mkdir(world.path('foreign'))
    status, out, err = other.fettle_run('cert', 'create', 'eve', '--role', 'admin', cwd=world.path('foreign'))
    equal(status, 0, f'{out}{err}: the exit status')
    cert = world.path('foreign', 'eve.pem'), world.path('foreign', 'eve.key')
    try:
        got = c.ask_https('GET', '/v1/nodes', cert=cert[0], key=cert[1])
        raise Failed(f'an operator of another authority is answered {got}')
    except (ssl.SSLError, ConnectionError):
        pass
    lost = Agent(world, c, 'n01', '-c', f'127.0.0.1:{other.port}', start=False)
    lost.start()
    wait('the agent does not believe the other controller', lambda: 'certificate' in lost.process.log())
    equal(other.node('n01')['Liveness'], 'unheard', 'at the other controller')
    equal(c.node('n01')['Liveness'], 'unheard', 'at the right controller')


def operator(world, c, name, role, *options):
    c.fettle('cert', 'create', name, '--role', role, *options)
    return {'cert': world.path(f'{name}.pem'), 'key': world.path(f'{name}.key')}


def test_each_role_may_do_its_part_over_https(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    admin, reader = operator(world, c, 'ann', 'admin'), operator(world, c, 'bob', 'reader')
    equal(os.stat(admin['key']).st_mode & 0o777, 0o600, 'mode of the key')
    node = dict(zip(('cert', 'key'), Agent(world, c, 'n01', start=False).certificate()))
    drain = {'nodes': 'n01', 'reason': 'x'}

    def rights(who):
        return (c.ask_https('GET', '/v1/nodes', **who)[0], c.ask_https('POST', '/v1/nodes/drain', drain, **who)[0])
    table = {'nobody': (403, 401), 'certificate': (200, 401), 'anyone': (200, 200)}
    for readers, (as_reader, as_none) in table.items():
        c.write(ApiReaders=readers)
        c.fettle('reload')
        equal(rights(admin), (200, 200), f'ApiReaders {readers}: an admin')
        equal(rights(reader), (as_reader, 403), f'ApiReaders {readers}: a reader')
        equal(rights({}), (as_none, 401), f'ApiReaders {readers}: without a certificate')
        equal(rights(node), (403, 403), f'ApiReaders {readers}: a node')
    equal({x['owner'] for x in c.get('/v1/nodes/n01')['claims']}, {'ann'}, 'owners of claims')
    status, out, err = world.run([program('fettle'), 'node', 'list', '--json', '-C', f'https://127.0.0.1:{c.https}', '--cert',
                                  reader['cert'], '--key', reader['key'], '--ca', world.path('ca.pem')])
    equal(status, 0, f'{out}{err}: the exit status of the tool over HTTPS')
    equal(json.loads(out)[0]['Name'], 'n01', 'the table over HTTPS')
    status, out, err = world.run([program('fettle'), 'node', 'drain', 'n01', '-r', 'x', '-C', f'https://127.0.0.1:{c.https}',
                                  '--cert', reader['cert'], '--key', reader['key'], '--ca', world.path('ca.pem')])
    equal(status, 5, f'{out}{err}: the exit status of a change by a reader')

    short = operator(world, c, 'carl', 'admin', '--valid', '1s')

    def expired():
        try:
            c.ask_https('GET', '/v1/status', **short)
            return False
        except (ssl.SSLError, ConnectionError):
            return True
    wait('a certificate expires', expired)


def test_strangers_do_not_fill_the_log(world):
    """Anybody may try to join; ten refusals a minute have a line of their own."""
    c = Controller(world, 'Name=n01\n', **CALM)
    for _ in range(25):
        link = Link(c.port)
        link.send('JOIN', token='fettle1.guess', name='n01', request='none')
        equal(link.next()[0], 'REFUSE', 'the answer to a wrong token')
        link.close()
    check(0 < len(c.log_lines('may not join')) <= 20, 'lines of refused machines: more than ten a minute')


def test_other_users(world):
    """On the local socket anybody reads, and root changes."""
    need_root()
    checks = world.write('checks.conf', 'Check=deep Probe=plugin Run="/opt/deep --password s3cret" Every=1h\n')
    remedies = world.write('remedies.conf', 'Remedy=mend Run="node:mend --password s3cret" Helps=* Confidence=50% Because=x Takes=1m\n')
    c = Controller(world, 'Name=n01\n', CheckConf=checks, RemedyConf=remedies, **CALM)
    tool = world.path('fettle')
    shutil.copy(program('fettle'), tool)  # where the build may be, others need not get to
    for library in glob.glob(os.path.join(BUILD, 'src/lib/libfettle.so.?')):
        shutil.copy(library, world.dir)

    def as_nobody(*words):
        return world.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', tool, *words],
                         env={'FETTLE_CONTROLLER': c.socket, 'LD_LIBRARY_PATH': world.dir}, cwd='/')
    status, out, err = as_nobody('node', 'list', '--json')
    equal(status, 0, f'{out}{err}: reading')
    equal(json.loads(out)[0]['Name'], 'n01', 'the table')
    for words in (('check', 'list'), ('check', 'explain', 'deep'), ('remedy', 'list')):
        contains(c.fettle(*words, '--json'), 's3cret', f'{words} as root')
        status, out, err = as_nobody(*words, '--json')
        equal(status, 0, f'{words} as nobody: {out}{err}: the exit status')
        check('for administrators' in out and 's3cret' not in out, f'{words} shows nobody the command: {out}')
    for words in (('node', 'drain', 'n01', '-r', 'x'), ('node', 'undrain', 'n01'), ('node', 'set', 'n01', 'CPUs=1'),
                  ('reload',), ('token', 'create', '--nodes', 'n01')):
        status, out, err = as_nobody(*words)
        equal(status, 5, f'{words} as nobody: {out}{err}: the exit status')
        contains(err, 'administrator', f'{words} as nobody')
    equal([e['what'] for e in c.journal()], ['state.made', 'config.revision', 'certificate.create'],
          'the journal')


def privileged_port():
    return random.randrange(600, 1024)


def test_privileged_ports(world):
    """The rule of 2001 exists, and is off until it is wanted."""
    need_root()
    c = Controller(world, 'Name=n01\n', **CALM)
    drain = {'nodes': 'n01', 'reason': 'x'}

    def from_low_port():
        for _ in range(50):
            try:
                return c.ask_https('POST', '/v1/nodes/drain', drain, source=('127.0.0.1', privileged_port()))[0]
            except OSError as e:
                last = e  # the port is taken
        raise last
    equal(from_low_port(), 401, 'a change from a low port, with the rule off')
    c.write(ApiPrivilegedPort='yes')
    c.fettle('reload')
    equal(from_low_port(), 200, 'a change from a low port, with the rule on')
    equal(c.ask_https('POST', '/v1/nodes/drain', drain)[0], 401, 'a change from a high port, with the rule on')


main()
