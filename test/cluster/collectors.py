# SPDX-License-Identifier: Apache-2.0
"""None, one and many collectors, and what happens when they go and come."""
import datetime
import os
import selectors
import socket
import threading
import time

from harness import Agent, Controller, check, equal, main, program, swarm, wait

PATIENT = {'HeartBeatInterval': '1s', 'LateAfter': '25s', 'HeartBeatTimeout': '50s'}
# Less than the 20 s and ten minutes that agents and collectors wait where nobody tells them.
SHORT = {'HeartBeatInterval': '1s', 'LateAfter': '8s', 'HeartBeatTimeout': '9s', 'MaxSilentShare': 100}


class Cluster:
    """Collectors k1.., real agents a1.. and players p01.., all on one controller."""

    def __init__(self, world, collectors, agents, players):
        self.keepers = [f'k{i + 1}' for i in range(collectors)]
        self.agents = [f'a{i + 1}' for i in range(agents)]
        self.players = [f'p{i + 1:02}' for i in range(players)]
        nodes = ''.join(f'Name={n}\n' for n in self.keepers + self.agents + self.players)
        self.c = Controller(world, nodes, CollectorNodes=','.join(self.keepers) or 'none', **PATIENT)
        self.real = {name: Agent(world, self.c, name) for name in self.keepers + self.agents}
        if players:
            swarm(world, self.c, f'p[01-{players:02}]')
        self.plain = self.agents + self.players

    def shares(self):
        return {k['name']: (k['responds'], k['nodes']) for k in self.c.status()['collectors']}

    def wait_balanced(self, what, keepers):
        """All plain nodes live, each at one of these collectors, with shares that differ by one at most."""
        def ready():
            shares = self.shares()
            check(all(shares[k][0] == (k in keepers) for k in self.keepers), f'responding: {shares}')
            table = self.c.table()
            by = {k: sum(table[n]['Collector'] == k for n in self.plain) for k in keepers}
            check(sum(by.values()) == len(self.plain), f'{by} of {len(self.plain)}')
            check(max(by.values()) - min(by.values()) <= 1, f'{by} is not balanced')
            odd = [n for n in self.plain + list(keepers) if table[n]['Liveness'] != 'live']
            check(not odd, f'not live: {odd}')
            return True
        wait(what, ready)

    def check_undisturbed(self, *dead):
        """Only the dead nodes were ever suspected, and no collector spoke for nodes of another."""
        blamed = [line for line in self.c.suspected() if not any(f' {d} ' in line or f' {d}:' in line for d in dead)]
        equal(blamed, [], 'nodes that were suspected')
        equal(self.c.log_lines('node.duplicate', 'collector.foreign'), [], 'two who speak for one node')


def test_none(world):
    k = Cluster(world, 0, 2, 4)
    k.c.wait_nodes('all are heard', k.plain, State='IDLE', Liveness='live', Collector='')
    equal(k.c.status()['collectors'], [], 'collectors')


def test_one(world):
    k = Cluster(world, 1, 2, 4)
    k.wait_balanced('one collector has all', ['k1'])
    k.c.wait_nodes('all are in service', k.plain + ['k1'], State='IDLE')
    wait('inventories came through it', lambda: all(k.c.node(n)['RealMemory'] for n in k.plain))
    k.c.fettle('node', 'drain', 'a1', '--reason', 'through a collector')
    k.c.wait_nodes('work was reported through it', ['a1'], State='DRAINED')
    k.real['k1'].process.kill()
    k.c.wait_nodes('without it they report to the controller', k.plain, Collector='', Liveness='live')
    k.c.write(CollectorNodes='none')
    k.c.fettle('reload')
    k.c.wait_nodes('it is only a node', k.plain, Collector='', Liveness='live')
    equal(k.c.status()['collectors'], [], 'collectors')
    k.check_undisturbed('k1')


def test_many_that_go_and_come(world):
    k = Cluster(world, 3, 6, 12)
    k.wait_balanced('three have six each', k.keepers)
    k.real['k2'].process.kill()
    k.wait_balanced('the nodes of the dead one have moved', ['k1', 'k3'])
    k.real['k2'].start()
    k.wait_balanced('shares are balanced again', k.keepers)
    k.check_undisturbed('k2')


def test_dies_while_it_takes_over(world):
    k = Cluster(world, 3, 3, 9)
    k.wait_balanced('three have four each', k.keepers)
    events = k.c.events()
    k.real['k1'].process.kill()
    events.wait('collector.lost', nodes='k1')
    wait('the others were given its nodes', lambda: k.shares()['k1'][1] == 0)
    k.real['k2'].process.kill()
    events.wait('collector.lost', nodes='k2')
    events.close()
    k.wait_balanced('the last one has all', ['k3'])
    k.check_undisturbed('k1', 'k2')


def test_restart_of_the_controller(world):
    """Collectors come back with the nodes that they hold, and none moves."""
    k = Cluster(world, 2, 2, 8)
    k.wait_balanced('two have five each', k.keepers)
    before = {n: r['Collector'] for n, r in k.c.table().items()}
    k.c.process.kill()
    k.c.start()
    k.wait_balanced('two have five each again', k.keepers)
    equal({n: r['Collector'] for n, r in k.c.table().items()}, before, 'who reports to whom')
    k.check_undisturbed()


def test_stands_still(world):
    """A collector that is stopped and lives is lost like a dead one; when it goes on, it is one again."""
    k = Cluster(world, 2, 6, 0)
    k.wait_balanced('two have three each', k.keepers)
    k.real['k1'].process.pause()
    k.wait_balanced('its nodes have moved', ['k2'])
    k.real['k1'].process.resume()
    k.wait_balanced('shares are balanced again', k.keepers)
    k.check_undisturbed('k1')


class Relay:
    """Passes bytes to a port until it is cut: then the connections stand, and nothing comes through."""

    def __init__(self, port):
        self.to, self.cut, self.ends = port, False, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.listener.accept()[0]
            self.ends.append(near)
            if self.cut:
                continue
            try:
                far = socket.create_connection(('127.0.0.1', self.to))
            except OSError:
                near.close()
                continue
            self.ends.append(far)
            threading.Thread(target=self.copy, args=(near, far), daemon=True).start()

    def copy(self, near, far):
        other = {near: far, far: near}
        watched = selectors.DefaultSelector()
        for s in other:
            watched.register(s, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in watched.select(0.1):
                    while self.cut:
                        time.sleep(0.1)
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    other[key.fileobj].sendall(data)
        except OSError:
            pass
        finally:
            near.close()
            far.close()

    def mend(self):
        for s in self.ends:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.ends, self.cut = [], False


class Impatient:
    """A collector behind a relay and four nodes of it, with timeouts that are shorter than what agents and
    collectors wait by themselves."""

    def __init__(self, world):
        self.plain = [f'a{i}' for i in range(4)]
        self.c = Controller(world, ''.join(f'Name={n}\n' for n in ['k1'] + self.plain), CollectorNodes='k1', **SHORT)
        self.relay = Relay(self.c.port)
        self.keeper = Agent(world, self.c, 'k1', start=False)
        self.keeper.options += ['-c', f'127.0.0.1:{self.relay.port}']
        self.keeper.start()
        self.c.wait_nodes('the collector is there', ['k1'], State='IDLE')
        self.real = [Agent(world, self.c, n) for n in self.plain]
        self.wait_collected('the collector has all')

    def wait_collected(self, what):
        self.c.wait_nodes(what, self.plain, Liveness='live', Collector='k1', State='IDLE')

    def check_none_down(self):
        down = [line for line in self.c.log_lines(' node.silent ') if ' k1' not in line]
        equal(down, [], 'live nodes that were taken down')


def test_hangs_for_longer_than_the_timeout(world):
    k = Impatient(world)
    k.keeper.process.pause()
    k.c.wait_nodes('its nodes report to the controller', k.plain, Liveness='live', Collector='')
    k.keeper.process.resume()
    k.wait_collected('they are back')
    k.check_none_down()


def test_cannot_reach_its_controller(world):
    """It lets its nodes go in time, and has them again when it can."""
    k = Impatient(world)
    k.relay.cut = True
    k.c.wait_nodes('its nodes report to the controller', k.plain, Liveness='live', Collector='')
    check('sent to look for one' in k.keeper.process.log(), k.keeper.process.log())
    k.relay.mend()
    k.wait_collected('they are back')
    k.check_none_down()


def test_no_controller_for_longer_than_the_timeout(world):
    """The nodes that look for one in vain are at their collector when it comes, and not at its door."""
    k = Impatient(world)
    k.c.process.kill()
    wait('they were sent to look for one, twice', lambda: k.keeper.process.log().count('sent to look for one') == 2)
    k.c.start()
    k.wait_collected('they are at their collector')
    k.check_none_down()


def test_down_when_its_time_is_over(world):
    """The timeout counts from the last heartbeat, which its collector heard, and not from a batch, and nothing waits for
    a sweep. On a busy machine one try may be late."""
    c = Controller(world, 'Name=k1\nName=a1\nName=a2\n', CollectorNodes='k1', HeartBeatInterval='1s', LateAfter='2s',
                   HeartBeatTimeout='3s', MaxSilentShare=100)
    agents = {n: Agent(world, c, n).process for n in ('k1', 'a1', 'a2')}
    took = []
    for _ in range(5):
        c.wait_nodes('the collector has them', ['a1', 'a2'], Liveness='live', Collector='k1', State='IDLE')
        events = c.events()
        at = time.time()
        agents['a1'].pause()
        events.wait('node.silent', nodes='a1')
        down = max(e['at'] for e in c.journal() if e['what'] == 'node.silent')
        took.append(datetime.datetime.fromisoformat(down.replace('Z', '+00:00')).timestamp() - at)
        agents['a1'].resume()
        events.close()
        if len([t for t in took if t < 3.6]) == 2:
            break
    check(len([t for t in took if t < 3.6]) == 2 and min(took) > 1.9, f'seconds until it was down: {took}')
    equal([line for line in c.log_lines(' node.silent ') if ' a1' not in line], [], 'others that were taken down')


def test_settings_that_cannot_hold(world):
    c = Controller(world, 'Name=k1\nName=a1\n', CollectorNodes='k1', HeartBeatInterval='4s', LateAfter='5s',
                   HeartBeatTimeout='7s', start=False)
    status, out, err = c.world.run([program('fettled'), '-f', c.conf, '-D', c.state])
    check(status != 0 and 'HeartBeatTimeout (7s) is too short for nodes behind collectors' in out + err, out + err)


def test_orders(world):
    """What is to be checked and done is told through a real collector, before and after the controller has a new
    certificate, which each start gives it."""
    looks, mended = world.path('looks'), world.path('mended')

    checks = world.write('mark.conf', f'Check=mark Probe=plugin Run="echo $FETTLE_NODE >>{looks}" Every=1d\n')
    remedies = world.write('remedies.conf', f'Remedy=mend Run="node:touch {mended}" Helps=file Needs=nothing '
                           'Confidence=80% Because="it is only missing" Takes=5s Disturbs=0\n')
    c = Controller(world, 'Name=k1\nName=a1\n', CollectorNodes='k1', CheckConf=checks, RemedyConf=remedies, Health='act',
                   MaxOut=100, MaxOutClass=100, MaxOutPartition=100, MaxOutGroup=100, **PATIENT)
    real = {name: Agent(world, c, name) for name in ('k1', 'a1')}

    def looked():
        with open(looks) as f:
            return f.read().split().count('a1')

    def run_here(what):
        c.wait_nodes(what, ['a1'], Collector='k1', Liveness='live', Health='ok')
        before = looked()
        wait('a1 runs its check', lambda: c.fettle_run('check', 'run', 'mark', 'a1')[0] == 0 and looked() > before)
    run_here('a1 reports to its collector')
    c.restart()
    run_here('the controller has a new certificate')
    world.write('mark.conf', f'Check=file Probe=plugin Run="test -f {mended} || exit 2" Every=1s Fails=1 Passes=1 '
                'Nodes=a1\n')
    c.fettle('reload')
    wait('what is missing there is mended through the collector', lambda: os.path.exists(mended))
    c.wait_nodes('it is well again', ['a1'], Collector='k1', Health='ok', Lifecycle='available')
    real['a1'].process.kill()
    real['a1'].start()
    wait('it comes back', lambda: real['a1'].process.log().count('reports to collector') == 2)
    c.wait_nodes('it is well', ['a1'], Collector='k1', Liveness='live', Health='ok')
    for agent in real.values():
        check('is not believed' not in agent.process.log(), agent.process.log())


main()
