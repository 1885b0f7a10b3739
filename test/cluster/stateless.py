# SPDX-License-Identifier: Apache-2.0
"""Nodes that keep nothing: an image with a token joins at each boot, by the commands of fettle-stateless(7)."""
import json
import os
import shlex
import shutil
import stat

from harness import CALM, Agent, Controller, check, contains, equal, main, program, wait

PAGE = os.path.join(os.path.dirname(__file__), '../../doc/man/fettle-stateless.7.mdoc')


def command(begins):
    """The page's command that begins so, in words."""
    with open(PAGE) as f:
        (line,) = [line[4:].strip() for line in f if line.startswith('.Dl ' + begins)]
    return shlex.split(line)


def token_of(c, addresses='127.0.0.0/8', nodes='n[01-02]'):
    """As the page makes it, for the nodes and addresses of this test."""
    words = command('fettle token create')[1:]
    words[words.index('--nodes') + 1] = nodes
    words[words.index('--from') + 1] = addresses
    return json.loads(c.fettle(*words, '--json'))['token']


def build_image(world, c, token):
    words = command('fettle-agent join --at-boot')[1:]
    image = world.path('image')
    os.makedirs(image, exist_ok=True)
    words[words.index('--root') + 1] = image
    words[words.index('TOKEN'):] = [token, f'127.0.0.1:{c.port}']
    equal(world.run([program('fettle-agent'), *words])[0], 0, 'the command for the image')
    return image


def boot(world, image, agent, status=0):
    """The work of fettle-agent-join.service, on a machine that has nothing but the image."""
    shutil.rmtree(agent.home, ignore_errors=True)
    shutil.rmtree(agent.runtime, ignore_errors=True)
    got, out, err = world.run([program('fettle-agent'), 'join', '--root', image, '--name', agent.name, '-D', agent.home])
    equal(got, status, f'{agent.name} joins at its boot: {out}{err}: the exit status')
    if status == 0:
        agent.start()
    return err


def wait_reports(agent, times=1):
    wait(f'{agent.name} reports', lambda: agent.process.log().count('reports to controller') == times, 30)


def test_joins_again_at_each_boot(world):
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    image = build_image(world, c, token_of(c))
    agents = [Agent(world, c, name, join=False, start=False) for name in ('n01', 'n02')]
    keys = set()
    for times in range(1, 4):
        for agent in agents:
            boot(world, image, agent)
            wait_reports(agent, times)
            with open(agent.certificate()[1]) as f:
                keys.add(f.read())
        c.wait_nodes('both are there', ['n01', 'n02'], State='IDLE', Liveness='live')
        for agent in agents:
            agent.process.stop()
    equal(len(keys), 6, 'a key of its own for each boot')
    equal(len([e for e in c.journal() if e['what'] == 'token.use']), 6, 'joins in the journal')


def test_a_machine_that_was_not_shut_down(world):
    """The power went: the connection of before is cut off when the node joins again."""
    c = Controller(world, 'Name=n01\n', **CALM)
    image = build_image(world, c, token_of(c))
    before, after = (Agent(world, c, 'n01', join=False, start=False) for _ in range(2))
    boot(world, image, before)
    c.wait_nodes('it is there', ['n01'], State='IDLE', Liveness='live')
    boot(world, image, after)
    wait_reports(after)
    wait('the one before is cut off', lambda: 'revoked' in before.process.log() or 'has ended' in before.process.log(), 20)
    before.process.stop()
    c.wait_nodes('the new one is there', ['n01'], State='IDLE', Liveness='live')


def test_a_token_is_bound(world):
    c = Controller(world, 'Name=n[01-02]\n', **CALM)
    agent = Agent(world, c, 'n01', join=False, start=False)
    contains(boot(world, build_image(world, c, token_of(c, '10.1.0.0/16')), agent, 5), '127.0.0.1', 'another address')
    other = build_image(world, c, token_of(c, nodes='n02'))
    check(boot(world, other, agent, 5) != '', 'another node')
    words = ('token', 'create', '--nodes', 'n01', '--valid', '8d')
    contains(c.fettle(*words, status=2), '"from" or "uuid"', 'a long life without an address')
    c.fettle(*words[:-1], '365d', '--from', '127.0.0.1')
    contains(c.fettle(*words[:-1], '366d', '--from', '127.0.0.1', status=2), '365d', 'longer than a year')


def test_a_token_that_became_known(world):
    """It is ended and what was made with it revoked: nobody joins with the image any more, and a new one serves."""
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01', join=False, start=False)
    image = build_image(world, c, token_of(c))
    boot(world, image, agent)
    wait_reports(agent)
    end, revoke = (command(f'fettle {what}')[1:] for what in ('token end', 'cert revoke'))
    (end[2],) = (t['Token'] for t in json.loads(c.fettle('token', 'list', '-o', 'json')))
    revoke[2] = 'n01'
    c.fettle(*end)
    contains(c.fettle('node', 'list', 'n01', '-o', 'liveness'), 'live', 'the token ends, not the node')
    c.fettle(*revoke)
    wait('the node is cut off', lambda: 'revoked' in agent.process.log() or 'has ended' in agent.process.log(), 20)
    agent.process.stop()
    contains(boot(world, image, agent, 5), 'was used or ended', 'the image that was copied')
    boot(world, build_image(world, c, token_of(c)), agent)
    wait_reports(agent, 2)
    c.wait_nodes('it is there again', ['n01'], Liveness='live')


def test_wrong_images(world):
    c = Controller(world, 'Name=n01\n', **CALM)
    agent = Agent(world, c, 'n01', join=False, start=False)
    image = build_image(world, c, token_of(c))
    file = os.path.join(image, 'etc/fettle/join')
    equal(stat.S_IMODE(os.stat(file).st_mode), 0o600, 'its mode')
    os.chmod(file, 0o644)
    contains(boot(world, image, agent, 5), 'chmod', 'others may read it')
    with open(file, 'w') as f:
        f.write('nonsense\n')
    os.chmod(file, 0o600)
    contains(boot(world, image, agent, 2), 'TOKEN HOST', 'no token')
    os.remove(file)
    contains(boot(world, image, agent, 4), '--at-boot', 'no file')
    for words, status in ((['x', 'head'], 2), ([], 2), (['--root', world.path('none'), token_of(c), 'head'], 4)):
        equal(world.run([program('fettle-agent'), 'join', '--at-boot', '--root', image, *words])[0], status, f'{words}')


main()
