# SPDX-License-Identifier: Apache-2.0
"""Clocks that are wrong are named, on both sides and with by how much; and nobody asks for ever."""
import re

from harness import CALM, Agent, Controller, Events, check, contains, equal, holds, main, program, skewed, wait

DAY = 86400


def test_a_controller_whose_clock_was_set_back(world):
    """Its agents' certificates are not valid yet: it lets nobody in, and says so."""
    c = Controller(world, 'Name=n1\n', **CALM)
    agent = Agent(world, c, 'n1')
    c.wait_nodes('it is heard', ['n1'], State='IDLE')
    c.process.stop()
    before = len(agent.process.log())
    c.start(env=skewed(-3 * DAY))
    wait('the controller says so', lambda: c.log_lines('alarm.clock'))
    contains(c.log_lines('alarm.clock')[0], 'its certificate is valid in 2d', 'by how much')
    wait('and the agent', lambda: 'its clock is behind' in agent.process.log()[before:])
    holds('once', 2, lambda: len(c.log_lines('alarm.clock:')) == 1)
    c.process.stop()
    c.start()
    c.wait_nodes('it is heard again', ['n1'], State='IDLE', Liveness='live')


def test_a_node_whose_clock_is_ahead(world):
    """It is let in and named. Its certificate has expired by its own clock alone, and is not asked for anew."""
    c = Controller(world, 'Name=n1\n', CheckConf=world.write('checks.conf', 'Check=time\n'), **CALM)
    agent = Agent(world, c, 'n1', start=False)
    events = Events(c)
    agent.process = world.start('agent', [program('fettle-agent'), '-D', agent.home, '-p', '0'], env=skewed(365 * DAY))
    c.wait_nodes('it is heard', ['n1'], State='IDLE')
    said = events.wait('node.clock', nodes='n1')['text']
    check(re.search('36[45]d[0-9h]* ahead of', said), said)
    wait('it is a fatal finding, for nobody keeps it', lambda: c.node('n1')['Health'] == 'fatal')
    contains(c.fettle('check', 'show', 'n1'), "the controller's, and the kernel says that it is not synchronised", 'why')
    wait('the agent says so', lambda: re.search('36[45]d[0-9h]* ahead of that of the controller', agent.process.log()))
    before = len(c.log_lines('node.clock'))
    with open(agent.certificate()[0], encoding='utf-8') as f:
        certificate = f.read()
    holds('it stays', 5, lambda: c.node('n1')['Liveness'] == 'live' and len(c.log_lines('node.clock')) == before)
    check(before <= 2, lambda: c.log_lines('node.clock'))
    with open(agent.certificate()[0], encoding='utf-8') as f:
        equal(f.read(), certificate, 'the certificate')
    events.close()


main()
