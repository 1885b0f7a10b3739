# SPDX-License-Identifier: Apache-2.0
"""Programs of others that ask a controller: the Python client and the Ansible modules, a client that is made of
doc/openapi.yaml; and the controller's answers, held against that file."""
import contextlib
import json
import os
import shutil
import socket
import sys
import threading

from harness import BUILD, CALM, Agent, Controller, Failed, Skipped, check, contains, equal, main

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PYTHON, OPENAPI = os.path.join(TOP, 'python'), os.path.join(TOP, 'test', 'openapi')
DOCUMENT = os.path.join(TOP, 'doc', 'openapi.yaml')
sys.path[:0] = [PYTHON, OPENAPI]
import fettle
from answers import Answers

NODES = 'Name=DEFAULT Partition=1\nName=n[01-03]\n'


def need(there, what):
    """Some machines lack it; those that run every test do not."""
    if not there:
        raise (Failed if os.environ.get('FETTLE_OPENAPI') == 'required' else Skipped)(f'there is no {what}')


def refused(what, call):
    """The code with which a call is refused."""
    try:
        answer = call()
    except fettle.Error as e:
        return e.code
    raise Failed(f'{what} is answered: {answer}')


# --- the Python client ---------------------------------------------------------------------------


def test_python(world):
    c = Controller(world, NODES, **CALM)
    controller = fettle.Controller(c.socket)
    table = controller.node_list('n[01-02]', 'Name,State')
    equal(table['nodes'], [{'Name': n, 'State': 'DOWN'} for n in ('n01', 'n02')], 'the table')
    events = controller.events()
    would = controller.node_drain('n01', 'bad DIMM', dry_run=True)
    equal((would['changed'], would['dry_run'], would['held']), ('n01', True, []), 'a drain that is only asked about')
    drained = controller.node_drain('n01', 'bad DIMM & "more" é')
    equal(drained['changed'], 'n01', 'the drain')
    equal(controller.node_show('n01')['claims'][0]['reason'], 'bad DIMM & "more" é', 'the claim')
    equal(controller.node_drain('n01', 'bad DIMM & "more" é')['changed'], '', 'the same drain again')
    equal(controller.get('/v1/journal', {'nodes': 'n01', 'tail': 1, 'by': None})['entries'][0]['what'], 'node.drain', 'the journal')
    equal(controller.node_undrain('n01', claim=drained['claim'])['changed'], 'n01', 'undrain')
    equal(controller.status_show()['cluster'], 'localhost', 'the status')
    resumed = controller.events(last_id='0.1')
    equal(next(resumed)['name'], 'resync', 'the first event after an id that nobody gave')
    controller.node_drain('n02', 'x')
    equal(next(resumed)['nodes'], 'n02', 'the next event')
    events.close()
    resumed.close()


def test_python_refusals(world):
    c = Controller(world, NODES, **CALM)
    controller = fettle.Controller('unix:' + c.socket)
    equal(refused('no such node', lambda: controller.node_show('n09')), 'not_found', 'no such node')
    equal(refused('no reason', lambda: controller.node_drain('n01', '')), 'invalid', 'a drain without a reason')
    equal(refused('an odd path', lambda: controller.get('/v1/nodes/n01?x y')), 'not_found', 'an odd path')
    for address in ('here', 'http://localhost:1', 'https://localhost', 'https://localhost:99999', 'https://:1'):
        equal(refused(address, lambda a=address: fettle.Controller(a, ca='x').status_show()), 'invalid', address)
    equal(refused('no authority', lambda: fettle.Controller('https://localhost:1')), 'invalid', 'no authority')
    nobody = fettle.Controller(world.path('nobody.sock'))
    equal(refused('nobody', nobody.status_show), 'unreachable', 'no controller')
    with served(world) as mute:
        equal(refused('mute', fettle.Controller(mute, timeout=0.2).status_show), 'timeout', 'a controller that is silent')
    for said, code in ((b'', 'unreachable'), (b'SSH-2.0-x\r\n', 'protocol'), (b'HTTP/1.1 500 No\r\n\r\nno', 'protocol'),
                       (b'HTTP/1.1 200 OK\r\n\r\n[]', 'protocol'), (b'HTTP/1.1 200 OK\r\n\r\n{"a":\xff', 'protocol'),
                       (b'HTTP/1.1 404 No\r\n\r\n{"error":{"code":1}}', 'protocol')):
        with served(world, said) as path:
            equal(refused(said, fettle.Controller(path).status_show), code, f'a server that says {said}')


@contextlib.contextmanager
def served(world, said=None):
    """A local socket at which one client is heard, told this, and left; None: nobody takes its connection."""
    path = world.path('served.sock')
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(1)

        def serve():
            taken, _ = listening.accept()
            with taken:
                taken.recv(65536)
                taken.sendall(said)
        server = threading.Thread(target=serve, daemon=True)
        if said is not None:
            server.start()
        yield path
        if said is not None:
            server.join()
    os.unlink(path)


def test_python_https(world):
    c = Controller(world, NODES, **CALM)
    for name in ('admin', 'reader'):
        c.fettle('cert', 'create', name, '--role', name)
    address, ca = f'https://localhost:{c.https}', world.path('ca.pem')

    def known_as(name):
        return fettle.Controller(address, world.path(name + '.pem'), world.path(name + '.key'), ca)
    equal(known_as('admin').node_drain('n01', 'x')['held'][0]['owner'], 'admin', 'the owner of the claim')
    equal(known_as('reader').node_show('n01')['node']['Claims'], 1, 'a reader reads')
    equal(refused('a reader', lambda: known_as('reader').node_undrain('n01')), 'forbidden', 'a reader who changes')
    equal(refused('nobody', fettle.Controller(address, ca=ca).status_show), 'unauthenticated', 'no certificate')
    other = fettle.Controller(address, ca=world.path('admin.pem'))
    equal(refused('another authority', other.status_show), 'unreachable', 'a controller that nobody vouches for')
    by_address = fettle.Controller(f'https://127.0.0.1:{c.https}', ca=ca)
    equal(refused('another name', by_address.status_show), 'unreachable', 'a controller by another name than its own')


# --- answers as the document has them ------------------------------------------------------------


def test_answers(world):
    """Every call is answered as doc/openapi.yaml says."""
    c = Controller(world, 'Name=DEFAULT Partition=1\nName=n[01-03]\n', **CALM)
    Agent(world, c, 'n01')
    c.wait_nodes('the agent is heard', ['n01'], State='IDLE')
    answers = Answers(DOCUMENT)

    def ask(method, path, body=None, status=200):
        got, answer = c.ask(method, path, body)
        equal(got, status, f'{method} {path} {body}: {answer}: the status')
        check(not answers.faults(method, path, got, answer), lambda: '\n'.join(answers.faults(method, path, got, answer)))
        return answer
    events = c.events()
    ask('POST', '/v1/nodes/drain', {'nodes': 'n[02-03]', 'reason': 'bad DIMM'})
    drained = events.wait('node.drain', nodes='n[02-03]')
    answers.form('Event').validate({key: value for key, value in drained.items() if key not in ('name', 'id')})
    events.close()
    ask('POST', '/v1/nodes/set', {'nodes': 'n01', 'set': {'TmpDisk': '1'}})
    ask('POST', '/v1/tokens', {'nodes': 'n02'})
    ask('POST', '/v1/reload', {})
    ask('POST', '/v1/checks/run', {'nodes': 'n02', 'check': 'fs.space'}, 404)
    for path in ('/v1/nodes', '/v1/nodes/n01', '/v1/nodes/n02', '/v1/partitions', '/v1/journal', '/v1/journal?tail=5', '/v1/status',
                 '/v1/certificates', '/v1/controllers', '/v1/conform/groups', '/v1/conform/diff/n01', '/v1/conform/history/n01', '/v1/classes',
                 '/v1/place?count=1', '/v1/slurm/features', '/v1/health/n01', '/v1/incidents', '/v1/trials', '/v1/checks',
                 '/v1/remedies', '/v1/remedies/n01', '/v1/explain/fs.space', '/v1/explain/xid.79', '/v1/queue', '/v1/overrides',
                 '/v1/brakes'):
        ask('GET', path)


# --- a client that is made of the document -------------------------------------------------------


def test_generated(world):
    """openapi-typescript makes the types of a client of the document; what does not fit them does not compile."""
    tools = os.path.join(BUILD, 'openapi', 'node_modules')
    need(os.path.isdir(tools), f'{tools}; tools/check installs it with npm')
    c = Controller(world, NODES, **CALM)
    project = world.path('client')
    os.mkdir(project)
    os.symlink(tools, os.path.join(project, 'node_modules'))
    world.write('client/package.json', '{"type": "module"}')
    for name in ('client.ts', 'client.mjs'):
        shutil.copy(os.path.join(OPENAPI, name), project)
    for words in (['openapi-typescript', DOCUMENT, '--output', 'types.ts'],
                  ['tsc', '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', 'client.ts']):
        status, out, err = world.run([os.path.join(tools, '.bin', words[0]), *words[1:]], cwd=project, within=300)
        equal(status, 0, f'{words[0]}: {out}{err}: the exit status')
    status, out, err = world.run(['node', 'client.mjs', c.socket], cwd=project, within=300)
    equal(status, 0, f'client.mjs: {err}: the exit status')
    got = json.loads(out)
    claim = next(e for e in c.journal() if e['what'] == 'node.drain')['text']
    contains(claim, 'bad DIMM', 'the journal')
    check(got.pop('claim'), f'no claim in {got}')
    equal(got, {'names': ['n01', 'n02', 'n03'], 'changed': 'n01', 'state': 'DOWN', 'reasons': ['bad DIMM'], 'released': 'n01',
                'refused': 'not_found', 'schedulable': 0}, 'what the client got')


# --- Ansible -------------------------------------------------------------------------------------


def ansible_run(world, program, *words, status=0):
    """The output of one of Ansible's programs, which finds our modules and client in the source."""
    env = {'PYTHONPATH': PYTHON, 'ANSIBLE_LIBRARY': os.path.join(PYTHON, 'ansible'), 'HOME': world.dir,
           **{f'ANSIBLE_{what}': world.path('ansible') for what in ('HOME', 'LOCAL_TEMP', 'REMOTE_TMP')}}
    got, out, err = world.run([program, *words], env=env, within=300)
    equal(got, status, f'{program} {words}: {out}{err}: the exit status')
    return out


def ansible(world, c, module, check_mode=False, status=0, **arguments):
    """The answer of a module of Fettle's to Ansible."""
    out = ansible_run(world, 'ansible', 'localhost', '--inventory', 'localhost,', '--connection', 'local',
                      '--module-name', module, '--extra-vars', 'ansible_python_interpreter=/usr/bin/python3',
                      *(['--check'] if check_mode else []), '--args', json.dumps({'controller': c.socket, **arguments}),
                      status=status)
    return json.loads(out[out.index('{'):])  # after "localhost | CHANGED => "


def test_ansible(world):
    need(shutil.which('ansible'), "ansible (Debian's ansible-core)")
    c = Controller(world, NODES, **CALM)
    n01 = {'nodes': 'n01', 'state': 'drained', 'reason': 'new memory'}
    would = ansible(world, c, 'fettle_node', check_mode=True, **n01)
    equal((would['changed'], would['nodes']), (True, 'n01'), 'a drain in check mode')
    equal(c.node('n01')['Claims'], 0, 'claims after check mode')
    equal(ansible(world, c, 'fettle_node', **n01)['changed'], True, 'the drain changes something')
    equal(ansible(world, c, 'fettle_node', **n01)['changed'], False, 'the drain again does')
    equal(c.node('n01')['Claims'], 1, 'claims')
    told = ansible(world, c, 'fettle_info', nodes='n[01-02]', fields=['Name', 'Reason'])
    equal([n['Name'] for n in told['nodes']], ['n01', 'n02'], 'the nodes of fettle_info')
    contains(told['nodes'][0]['Reason'], 'new memory', 'fettle_info')
    equal(told['status']['nodes'], c.status()['nodes'], 'the status of fettle_info')
    resumed = ansible(world, c, 'fettle_node', nodes='n01', state='resumed')
    equal((resumed['changed'], resumed['held']), (True, []), 'resumed')
    equal(ansible(world, c, 'fettle_node', nodes='n01', state='resumed')['changed'], False, 'resumed again does')
    failed = ansible(world, c, 'fettle_node', nodes='n09', state='drained', reason='x', status=2)
    equal(failed['code'], 'not_found', f'{failed}: the code')
    missing = ansible(world, c, 'fettle_node', nodes='n01', state='drained', status=2)
    contains(missing['msg'], 'reason', 'a drain without a reason')


def test_ansible_pages(world):
    """The page of each module has the options that it takes, and no others."""
    need(shutil.which('ansible'), "ansible (Debian's ansible-core)")
    c = Controller(world, NODES, **CALM)
    for module, needed in (('fettle_node', {'state': 'resumed'}), ('fettle_info', {})):
        page = json.loads(ansible_run(world, 'ansible-doc', '--json', module))[module]['doc']
        taken = ansible(world, c, module, nodes='n01', unheard_of=1, status=2, **needed)['msg']
        equal(taken.split('include: ')[1].rstrip('.').split(', '), sorted(page['options']), f'{module}: {taken}: the options')


main()
