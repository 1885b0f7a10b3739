# SPDX-License-Identifier: Apache-2.0
"""None, one and many collectors, and what happens when they go and come."""
from harness import Agent, Controller, check, equal, main, swarm, wait

# Long enough for a node to try its dead collector three times before it turns to the controller.
PATIENT = {'HeartBeatInterval': '1s', 'LateAfter': '25s', 'HeartBeatTimeout': '50s'}


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
        """Nobody but the dead was ever suspected, and no collector spoke for nodes of another."""
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


main()
