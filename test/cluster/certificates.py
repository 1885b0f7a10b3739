# SPDX-License-Identifier: Apache-2.0
"""Certificates: each is written down, renewed when it is time, and revoked; tokens are for named nodes."""
import contextlib
import http.client
import json
import os
import re
import sqlite3
import ssl
import subprocess

from harness import (CALM, Agent, Controller, Link, certificate_by_hand, check, contains, equal, main, program,
                     request_by_hand, wait)

INSTANCE = '0123456789abcdef'


def hello(c, name, cert, key):
    """A node by hand; None when it is not let in."""
    try:
        link = Link(c.port, cert, key)
        link.hello(name, INSTANCE)
    except (ssl.SSLError, ConnectionError):
        return None
    return link if link.next()[0] == 'WELCOME' else None


def closed(link):
    return lambda: link.next()[0] is None


def entries(c, what):
    return [e for e in c.journal() if e['what'] == what]


def listed(c, holder):
    return [x for x in c.get('/v1/certificates')['certificates'] if x['holder'] == holder]


def test_each_is_written_down(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    Agent(world, c, 'n01', start=False)
    c.fettle('cert', 'create', 'ann', '--role', 'admin')
    texts = [e['text'] for e in c.journal() if e['what'] in ('certificate.create', 'token.use')]
    for holder, text in zip(('controller:localhost', 'node:n01', 'operator:ann'), texts):
        (made,) = listed(c, holder)
        equal(made['state'], 'good', f'{holder}: the state')
        contains(text, f"certificate {made['serial']} for {holder}, with the key {made['key']}", 'the journal')
    for name, pem in (('node:n01', c.world.agents[0].certificate()[0]), ('operator:ann', world.path('ann.pem'))):
        serial = subprocess.run(['openssl', 'x509', '-noout', '-serial', '-in', pem], check=True, capture_output=True, text=True).stdout
        equal(int(serial.split('=')[1], 16), int(listed(c, name)[0]['serial'], 16), f'the number of {name}')
    before = listed(c, 'controller:localhost')
    c.restart()
    after = listed(c, 'controller:localhost')
    check(len(after) == 1 and int(after[0]['serial'], 16) > int(before[0]['serial'], 16), f'{after} after {before}')
    contains(c.fettle('cert', 'list'), 'operator:ann', 'fettle cert list')


def test_revoked_is_cut_off(world):
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    agent, other = Agent(world, c, 'n01'), Agent(world, c, 'n02')
    c.wait_nodes('both', ['n01', 'n02'], State='IDLE')
    for name in ('ann', 'bob'):
        c.fettle('cert', 'create', name, '--role', 'admin')
    ann = c.https_connection(world.path('ann.pem'), world.path('ann.key'))
    ann.request('GET', '/v1/status')
    equal(ann.getresponse().read() and True, True, 'an answer')

    c.fettle('cert', 'revoke', 'operator:ann', '--reason', 'left')
    c.fettle('cert', 'revoke', 'n01', '--reason', 'its disk was stolen')
    wait('the node is cut off', lambda: 'certificate here was revoked' in agent.process.log(), 10)
    wait('and not heard', lambda: c.node('n01')['Liveness'] != 'live' or c.status()['agents'] == 1, 10)

    def refused(**who):
        try:
            c.ask_https('GET', '/v1/status', **who)
            return False
        except (ssl.SSLError, ConnectionError, http.client.HTTPException):
            return True
    try:
        ann.request('GET', '/v1/status')
        status = ann.getresponse().status
    except (ssl.SSLError, ConnectionError, http.client.HTTPException):
        status = None
    equal(status, None, "the operator's connection that was open")
    check(refused(cert=world.path('ann.pem'), key=world.path('ann.key')), 'a new connection of the operator')
    check(not refused(cert=world.path('bob.pem'), key=world.path('bob.key')), 'another operator')
    equal([x['why'] for x in listed(c, 'node:n01')], ['root: its disk was stolen'], 'the list')
    equal(entries(c, 'certificate.revoke')[1]['nodes'], 'n01', 'the journal')
    contains(c.fettle('cert', 'revoke', 'operator:zoe', '--reason', 'x', status=4), 'zoe', 'nobody of that name')

    c.restart()
    check(refused(cert=world.path('ann.pem'), key=world.path('ann.key')), 'the operator after a restart')
    equal(hello(c, 'n01', *agent.certificate()), None, 'the node after a restart')
    agent.process.stop()
    agent.join(c.token('n01'), 0, '--again')  # nothing of it is valid: no --again
    agent.start()
    c.wait_nodes('it is back', ['n01', 'n02'], State='IDLE', Liveness='live')
    equal(other.process.status(), None, 'the other agent')


def test_a_token_is_for_named_nodes(world):
    c = Controller(world, 'Name=n[01-03]\n', **CALM)
    contains(c.fettle('token', 'create', status=2), '--nodes', 'a token for any node')
    first = Agent(world, c, 'n01', start=False)
    link = hello(c, 'n01', *first.certificate())
    thief = Agent(world, c, 'n01', join=False, start=False)
    contains(thief.join(c.token('n01'), 3), 'has a certificate that is valid', 'a name that is taken')
    thief.join(c.token('n01', again=True))
    wait('the certificate before has ended', closed(link), 10)
    equal(hello(c, 'n01', *first.certificate()), None, 'the certificate before')
    check(hello(c, 'n01', *thief.certificate()), 'the new one is good')

    token = c.token('n[02-03]', options=('--count', '2'))
    for name in ('n02', 'n03'):
        Agent(world, c, name, join=False, start=False).join(token)
    contains(Agent(world, c, 'n03', join=False, start=False).join(token, 5), 'used', 'a third time')
    ended = c.token('n01', again=True)
    row = json.loads(c.fettle('token', 'list', '-o', 'json', '--where', 'nodes=n01', '--where', 'again=yes'))[0]
    equal((row['Count'], row['State'], row['By']), (1, 'good', 'root'), 'a token in the list')
    c.fettle('token', 'end', row['Token'], status=2)
    contains(c.fettle('token', 'end', row['Token'], '--reason', 'leaked', '--dry-run'), 'leaked', 'a dry run')
    contains(c.fettle('token', 'end', row['Token'], '--reason', 'leaked'), 'ended', 'the end of a token')
    contains(thief.join(ended, 5, '--again'), 'ended', 'a token that was ended')
    c.fettle('token', 'end', row['Token'], '--reason', 'leaked', status=4)
    contains(entries(c, 'token.end')[0]['text'], 'leaked', 'the journal')
    far = c.token('n01', again=True, options=('--from', '10.0.0.0/8,fd00::/8'))
    contains(thief.join(far, 5, '--again'), '127.0.0.1', 'another address')
    thief.join(c.token('n01', again=True, options=('--from', '127.0.0.0/8')), 0, '--again')
    uuid = c.token('n01', again=True, options=('--uuid', '4c4c4544-0039-3510-8052-b4c04f4e3332'))
    contains(thief.join(uuid, 5, '--again'), 'another machine', 'another UUID')


def test_a_token_need_not_stand_in_the_words(world):
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    at = f'127.0.0.1:{c.port}'
    file = world.write('token', c.token('n01') + '\n')
    home = world.path('by-file')
    equal(world.run([program('fettle-agent'), 'join', '--token-file', file, at, '--name', 'n01', '-D', home])[0], 0, 'by a file')
    equal(world.run([program('fettle-agent'), 'join', '-', at, '--name', 'n02', '-D', world.path('by-input')],
                    text_in=c.token('n02'))[0], 0, 'by standard input')
    status, _, err = world.run([program('fettle-agent'), 'join', '--token-file', world.path('none'), at, '-D', home])
    check(status != 0 and 'none' in err, f'a file that is not there: {status} {err}')
    equal(world.run([program('fettle-agent'), 'join', '--token-file', file, 'x', at, '-D', home])[0], 2, 'too many words')


def renew(world, link, name):
    with open(request_by_hand(world, name)[1]) as f:
        link.send('RENEW', request=f.read())
    kind, body = link.next()
    while kind not in ('RENEWED', 'REFUSE', None):
        kind, body = link.next()
    return kind, body


def test_a_stolen_key_dies(world):
    """Renewal at any age, for any key, without a limit made 4,401 certificates in eight seconds."""
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    young = Agent(world, c, 'n02', start=False).certificate()
    kind, body = renew(world, hello(c, 'n02', *young), 'n02')
    equal(kind, 'REFUSE', 'the answer to one that is young')
    contains(body['message'], 'last third', 'why')
    kind, body = renew(world, hello(c, 'guest', *certificate_by_hand(world, c, 'guest', 7200, 1000)), 'guest')
    equal(kind, 'REFUSE', 'the answer to one that no file names')
    contains(body['message'], 'no configuration file', 'why')

    old = certificate_by_hand(world, c, 'n01', 7200, 1000)
    link = hello(c, 'n01', *old)
    equal([x['by'] for x in listed(c, 'node:n01')], ['before'], 'a certificate without a record')
    kind, body = renew(world, link, 'n01')
    equal(kind, 'RENEWED', f'{body}: the answer to one that is due')
    equal(renew(world, link, 'n01')[0], 'REFUSE', 'the answer to a second one')
    equal([x['state'] for x in listed(c, 'node:n01')], ['good', 'next'], 'the list')
    check(hello(c, 'n01', *old), 'the old one is good until the new one is used')
    new = world.write('n01.new.pem', body['certificate']), old[1]
    check(hello(c, 'n01', *new), 'the new one is good')
    wait('it is in use', lambda: entries(c, 'certificate.used'), 10)
    equal(hello(c, 'n01', *old), None, 'the old one, after the new one was used')
    equal(len(entries(c, 'certificate.renew')), 1, 'entries of renewals')


def test_an_agent_renews(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01', start=False)
    cert, key = agent.certificate()
    before, before_key = certificate_by_hand(world, c, 'n01', 7200, 1000)
    for source, target in ((before, cert), (before_key, key)):
        with open(source) as f, open(target, 'w') as out:
            out.write(f.read())
    # The certificate of before has ended with the one by the token: its record goes as in a store of before.
    equal(hello(c, 'n01', before, before_key), None, 'one of before, after a token')
    c.process.stop()
    with contextlib.closing(sqlite3.connect(os.path.join(c.state, 'state.db'))) as db:
        db.execute("delete from record where key = 'certificate/node:n01'")
        db.commit()
    c.start()
    agent.start()
    wait('it has a new one', lambda: entries(c, 'certificate.used'), 30)
    c.wait_nodes('it is here', ['n01'], State='IDLE', Liveness='live')
    equal(hello(c, 'n01', before, before_key), None, 'the old one')
    contains(agent.process.log(), 'the certificate was renewed', 'the log')


def test_a_collector_follows(world):
    c = Controller(world, 'Name=k1\nName=n[01-02]\n', CollectorNodes='k1', **CALM)
    collector, first, second = (Agent(world, c, n) for n in ('k1', 'n01', 'n02'))
    c.wait_nodes('behind the collector', ['n01', 'n02'], Collector='k1', Liveness='live', within=120)
    port = int(re.search(r'collects on port (\d+)', collector.process.log()).group(1))
    thief = Link(port, *first.certificate())  # a copy of its key is as good as the key
    thief.hello('n01', INSTANCE)
    check(thief.next()[0] in ('WELCOME', 'REFUSE'), 'it is heard by the collector')
    c.fettle('cert', 'revoke', 'n01', '--reason', 'stolen')
    wait('the node is cut off', lambda: 'certificate here was revoked' in first.process.log(), 20)
    wait('the copy, too', closed(thief), 20)
    try:
        again = Link(port, *first.certificate())
        again.hello('n01', INSTANCE)
        equal(again.next()[0], None, 'the answer to a copy that comes again')
    except (ssl.SSLError, ConnectionError):
        pass
    equal(c.node('n02')['Collector'], 'k1', 'the other node stays')
    equal(second.process.status(), None, 'its agent')
    first.process.stop()
    first.join(c.token('n01'), 0, '--again')
    first.start()
    c.wait_nodes('it is back behind the collector', ['n01'], Collector='k1', Liveness='live', within=120)
    c.restart()  # what was revoked is told again
    c.wait_nodes('all of them', ['k1', 'n01', 'n02'], Liveness='live', within=120)


main()
