# SPDX-License-Identifier: Apache-2.0
"""doc/first-week.md, typed as it stands there."""
import os

from harness import BUILD, PROGRAMS, main, wait
from ports import free_port
from transcript import Transcript

WEEK = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../doc/first-week.md')


def test_first_week(world):
    top = world.path('week')
    os.mkdir(top)
    path = [os.path.dirname(os.path.join(BUILD, PROGRAMS[name])) for name in ('fettle', 'fettled', 'fettle-agent')]
    env = {'PATH': ':'.join(path + [os.environ['PATH']]), 'FETTLE_CONTROLLER': os.path.join(top, 'fettled.sock')}
    Transcript(world, WEEK, top, env, {'6120': str(free_port()), '/srv/week': top}).play()
    wait('every process has ended', lambda: not world.marked())


main()
