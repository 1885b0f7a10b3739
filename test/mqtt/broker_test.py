# SPDX-License-Identifier: Apache-2.0
"""Fettle and a real broker: what comes in, what goes out, and that a broker that is away is no harm."""
import json
import os
import shutil
import socket
import time

from harness import ROOT, Failed, Skipped, check, contains, equal, holds, main, wait
from ports import free_port
from ward import health, incidents, step, ward, wait_step

MQTTPUB = os.environ['FETTLE_MQTTPUB']
PASSWORD = 'pass " word'


class Broker:
    """Debian's mosquitto on the loopback, and clients of it."""

    def __init__(self, world, tls=False, asks=False):
        self.exe = shutil.which('mosquitto', path=os.environ['PATH'] + ':/usr/sbin')
        if not self.exe or not shutil.which('mosquitto_rr'):
            trouble = Failed if os.environ.get('FETTLE_MQTT') == 'required' else Skipped
            raise trouble('mosquitto and mosquitto-clients are not installed')
        self.world, self.port, self.tls, self.asks, self.process = world, free_port(), tls, asks, None
        passwords = world.write('passwords', '')
        os.chmod(passwords, 0o600)
        world.run(['mosquitto_passwd', '-b', passwords, 'fettle', PASSWORD])
        os.chmod(passwords, 0o644)
        lines = [f'listener {self.port} 127.0.0.1', 'allow_anonymous false', f'password_file {passwords}',
                 'persistence false', 'max_queued_messages 100000']
        lines += [] if not ROOT else ['user root']
        if tls:
            self.certify()
            lines += [f'cafile {world.path("ca.crt")}', f'certfile {world.path("broker.crt")}',
                      f'keyfile {world.path("broker.key")}']
        lines += ['require_certificate true'] if asks else []
        world.write('mosquitto.conf', '\n'.join(lines) + '\n')

    def certify(self):
        """An authority, and certificates of localhost and of a client by it."""
        at = self.world.path
        self.world.write('ext', 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
        self.openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', at('ca.key'), '-out', at('ca.crt'),
                     '-subj', '/CN=authority', '-days', '2')
        self.sign('broker', 'localhost', '-extfile', at('ext'))
        self.sign('own', 'fettle')

    def sign(self, name, subject, *options):
        at = self.world.path
        self.openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', at(f'{name}.key'), '-out', at(f'{name}.csr'),
                     '-subj', f'/CN={subject}')
        self.openssl('x509', '-req', '-in', at(f'{name}.csr'), '-CA', at('ca.crt'), '-CAkey', at('ca.key'),
                     '-CAcreateserial', '-out', at(f'{name}.crt'), '-days', '2', *options)

    def openssl(self, *words):
        status, _, said = self.world.run(['openssl', *words])
        equal(status, 0, f'openssl {words[0]}: {said}')

    def start(self):
        self.process = self.world.start(f'mosquitto{time.monotonic_ns()}',
                                        [self.exe, '-c', self.world.path('mosquitto.conf')])
        wait('the broker listens', self.listens)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(('127.0.0.1', self.port)) == 0

    def options(self):
        tls = ['--cafile', self.world.path('ca.crt')] if self.tls else []
        tls += ['--cert', self.world.path('own.crt'), '--key', self.world.path('own.key')] if self.asks else []
        return ['-h', 'localhost' if self.tls else '127.0.0.1', '-p', str(self.port), '-u', 'fettle', '-P', PASSWORD,
                *tls]

    def publish(self, topic, message, *options):
        status, _, said = self.world.run(['mosquitto_pub', *self.options(), '-t', topic, '-m', message, '-q', '1',
                                          *options])
        equal(status, 0, f'mosquitto_pub: {said}')

    def listen(self, topic):
        """What is published there from now on, as a function."""
        p = self.world.start(f'sub{time.monotonic_ns()}', ['stdbuf', '-oL', 'mosquitto_sub', *self.options(), '-t', topic,
                                                           '-q', '1', '-d', '-F', '%t %p'])
        p.stop = lambda: (setattr(p, 'wanted', False), p.popen.terminate(), p.popen.wait())
        wait(f'we are subscribed to {topic}', lambda: 'SUBACK' in p.log())
        return lambda: [line.split(' ', 1) for line in p.log().splitlines() if line.startswith(('fettle/', 'ars/'))]

    def state(self, node):
        """What the broker retains of a node."""
        status, out, _ = self.world.run(['mosquitto_sub', *self.options(), '-t', f'fettle/v1/nodes/{node}/state', '-C',
                                         '1', '-W', '5'])
        return json.loads(out) if status == 0 and out.strip() else None

    def settings(self):
        own = {'MqttCertificate': self.world.path('own.crt'), 'MqttKey': self.world.path('own.key')} if self.asks else {}
        secret = self.world.write('mqtt.secret', PASSWORD + '\n')
        os.chmod(secret, 0o600)
        return {**own, 'MqttBroker': f'localhost:{self.port}', 'MqttUser': 'fettle',
                'MqttPasswordFile': secret,
                'MqttCA': self.world.path('ca.crt') if self.tls else None}


def event(node, status, check='check-ntp', age=0):
    return json.dumps({'timestamp': int(time.time() - age),
                       'entity': {'metadata': {'name': node}, 'system': {'hostname': node}},
                       'check': {'status': status, 'output': 'NTP offset 4 s | offset=4s', 'occurrences': 1,
                                 'executed': int(time.time() - age), 'metadata': {'name': check}}})


def place(world, tls=False, names=('n1', 'n2'), asks=False, **settings):
    b = Broker(world, tls, asks)
    b.start()
    c, _ = ward(world, list(names), **b.settings(), **settings)
    for n in names:
        wait(f'the state of {n} is published', lambda n=n: (b.state(n) or {}).get('state') == 'available')
    return b, c


def found(c, node):
    return [f['check'] for i in incidents(c, node) for f in i['findings']]


def test_an_event_of_sensu_takes_a_node_out_and_the_log_says_so(world):
    b, c = place(world, MqttClusterWare='yes')
    log, theirs = b.listen('fettle/v1/logs/#'), b.listen('ars/v1/logs/state_machine')
    b.publish('fettle/v1/events', event('n1', 2))
    wait_step(c, 'n1', 'queue')
    contains(' '.join(found(c, 'n1')), 'sensu.check-ntp', 'what is wrong')
    equal(c.node('n2')['Lifecycle'], 'available', 'the other one')
    wait('the state says so', lambda: b.state('n1')['state'] == 'work_queue')
    moves = wait('the log says so', lambda: [x for x in map(lambda l: json.loads(l[1]), log())
                                             if x['event'] == 'state.changed' and x['entered'] == 'work_queue'])
    equal(moves[0]['node'], 'n1', 'who entered the work queue')
    path = [(x['left'], x['entered']) for x in map(lambda l: json.loads(l[1]), log())
            if x['event'] == 'state.changed' and x['node'] == 'n1']
    equal(path, [('available', 'draining'), ('draining', 'drained'), ('drained', 'work_queue')],
          'the way of the node')
    steps = [x for x in map(lambda l: json.loads(l[1]), log()) if x['event'] == 'repair.step' and x['node'] == 'n1']
    equal((steps[-1]['from'], steps[-1]['to'], len(steps[-1]['repairs'])), ('isolate', 'queue', 1), 'the fields of its last step')
    wait('so it does where ClusterWare has it', lambda: any('"entered":"work_queue"' in l[1] for l in theirs()))


def test_a_message_that_is_old_retained_strange_or_no_event_does_nothing(world):
    b, c = place(world)
    b.publish('other/events', event('n1', 2), '-r')
    for junk in ('', '{', '[]', event('nobody', 2), 'x' * 100000, json.dumps({'check': 7})):
        b.publish('fettle/v1/events', junk)
    b.publish('fettle/v1/events', event('n2', 1, 'last'))
    wait('what came after them is heard', lambda: found(c, 'n2') == ['sensu.last'])
    equal(c.node('n2')['Lifecycle'], 'available', 'n2')
    c.write(MqttEvents='other/events')
    c.fettle('reload')
    wait('it hears there, too', lambda: b.publish('other/events', event('n2', 1, 'after')) or
         'sensu.after' in found(c, 'n2'))
    said = [x['check'] for x in health(c, 'n1')['checks']]
    equal('sensu.check-ntp' in said, False, f'whether what was retained is believed ({said})')


def test_a_transition_is_carried_out_and_answered(world):
    b, c = place(world, MqttTransitions='yes')
    answers = b.listen('fettle/v1/answers/#')
    b.publish('fettle/v1/transitions', 'n1 manual_drain new fan')
    wait_step(c, 'n1', 'queue')
    entry = [e for e in c.journal() if e['what'] == 'repair.transition'][-1]
    equal(entry['actor'], 'mqtt', 'who did it')
    b.publish('fettle/v1/transitions', json.dumps({'node': 'n1', 'transition': 'human_intervention', 'message': 'done',
                                                   'by': 'ann', 'id': 'a1'}))
    wait('it is answered', lambda: any(l[0] == 'fettle/v1/answers/a1' and json.loads(l[1])['ok'] for l in answers()))
    c.wait_nodes('it is back', ['n1'], Lifecycle='available')
    equal([e for e in c.journal() if e['what'] == 'repair.transition'][-1]['actor'], 'mqtt:ann', 'who did that')


def test_mqttpub(world):
    if not ROOT:
        raise Skipped('only root may')
    b, c = place(world, MqttTransitions='yes')

    def run(*words):
        return world.run([MQTTPUB, '-f', c.conf, *words])

    status, _, said = run('n1', 'manual_drain', 'a "new" fan \\ it\'s')
    equal((status, said), (0, ''), 'the answer')
    wait_step(c, 'n1', 'queue')
    contains([e for e in c.journal() if e['what'] == 'repair.transition'][-1]['text'], 'a "new" fan \\ it\'s', 'why')
    status, _, said = run('n2', 'human_intervention', 'x')
    equal(status, 1, 'the status of what cannot be')
    contains(said, 'human_intervention is for nodes that wait for a person', 'why not')
    contains(run('n2', 'fly_away', 'x')[2], '"fly_away"', 'a transition that there is not, without the escapes of JSON')
    equal(run('n2')[0], 2, 'the status of a wrong use')


def test_transitions_are_refused_unless_they_are_allowed(world):
    b, c = place(world)
    answers = b.listen('fettle/v1/answers')
    b.publish('fettle/v1/transitions', 'n1 manual_drain x')
    wait('it is refused', lambda: any(json.loads(l[1])['ok'] is False for l in answers()))
    holds('nothing is done', 1, lambda: step(c, 'n1') in (None, 'none'))


def test_a_broker_that_goes_and_comes_is_no_harm(world):
    b, c = place(world)
    b.process.stop()
    wait('the alarm is raised', lambda: c.log_lines('alarm.mqtt'))
    c.fettle('node', 'drain', 'n1', '--reason', 'test')
    equal(len(c.log_lines('alarm.mqtt')), 1, 'alarms')
    equal((c.alarms(), c.counterpart('MQTT')['state']), (['mqtt MQTT'], 'trouble'), 'the alarms, and the broker')
    check(c.counterpart('MQTT')['waiting'] >= 0, 'what waits for it')
    b.start()
    wait('the alarm is over', lambda: c.log_lines('alarm.over'))
    equal((c.alarms(), c.counterpart('MQTT')['state']), ([], 'ok'), 'the alarms, and the broker')
    wait('the state is published anew', lambda: (b.state('n1') or {}).get('state') == 'drained')
    equal(b.state('n2')['state'], 'available', 'the other one')


def test_tls(world):
    b, c = place(world, tls=True)
    b.publish('fettle/v1/events', event('n1', 1))
    wait('it is heard', lambda: found(c, 'n1') == ['sensu.check-ntp'])
    for i in range(3):
        b.publish('fettle/v1/events', event('n2', 1, f'c{i}') + ' ' * 100000)  # more than a record of TLS
    wait('all are heard', lambda: sorted(found(c, 'n2')) == ['sensu.c0', 'sensu.c1', 'sensu.c2'])


def test_a_broker_that_asks_for_a_certificate(world):
    b, c = place(world, tls=True, asks=True, MqttTransitions='yes')
    b.publish('fettle/v1/events', event('n1', 1))
    wait('it is heard', lambda: found(c, 'n1') == ['sensu.check-ntp'])
    if ROOT:
        equal(world.run([MQTTPUB, '-f', c.conf, 'n2', 'manual_drain', 'new fan'])[0::2], (0, ''), 'what it answers')
        wait_step(c, 'n2', 'queue')
    b.openssl('rsa', '-in', world.path('own.key'), '-aes128', '-passout', 'pass:secret', '-out', world.path('shut.key'))
    for settings in ({'MqttCertificate': None, 'MqttKey': None}, {'MqttKey': world.path('shut.key')}):
        before = len(c.log_lines('alarm.mqtt'))
        c.write(**settings)
        c.fettle('reload')
        wait(f'the alarm is raised with {settings}', lambda before=before: len(c.log_lines('alarm.mqtt')) > before)
        c.write(**b.settings())
        c.fettle('reload')
        wait('it is there again', lambda before=before: len(c.log_lines('alarm.over')) > before)


def test_a_broker_of_another_authority_is_not_believed(world):
    b = Broker(world, tls=True)
    b.start()
    settings = b.settings()
    b.certify()  # another authority of the same name
    c, _ = ward(world, ['n1'], **{**settings, 'MqttCA': world.path('ca.crt')})
    wait('the alarm is raised', lambda: c.log_lines('alarm.mqtt'))


main()
