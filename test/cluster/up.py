# SPDX-License-Identifier: Apache-2.0
"""make up and make down, in a copy of the tree whose build is up to date."""
import glob
import os
import shutil
import socket

from harness import BUILD, PROGRAMS, Failed, check, contains, equal, main, wait
from transcript import Transcript

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')


def copy_tree(world):
    """The needs of `make up`: the Makefile, tools, and a build that is up to date for ninja."""
    top = world.path('tree')
    os.mkdir(top)
    shutil.copy(os.path.join(TREE, 'Makefile'), top)
    shutil.copytree(os.path.join(TREE, 'tools'), os.path.join(top, 'tools'))
    for path in [p for name, p in PROGRAMS.items() if name != 'swarm'] + \
            [os.path.relpath(p, BUILD) for p in glob.glob(os.path.join(BUILD, 'src/lib/libfettle.so*'))]:
        to = os.path.join(top, 'build', path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.isfile(os.path.join(BUILD, path)):
            shutil.copy(os.path.join(BUILD, path), to)
    with open(os.path.join(top, 'build/build.ninja'), 'w') as f:
        f.write('# nothing to do\n')
    return top


def pids(top):
    found = {}
    for path in glob.glob(os.path.join(top, 'run/*.pid')):
        with open(path) as f:
            found[os.path.basename(path)] = int(f.read())
    return found


def parent(pid):
    """None of one that has ended meanwhile."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            return int(f.read().rsplit(')', 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_up_and_down(world):
    top = copy_tree(world)
    node = socket.gethostname().split('.')[0]

    def make(target):
        status, out, err = world.run(['make', '--no-print-directory', '-C', top, target])
        if status != 0:
            logs = ''.join(open(p).read()[-2000:] for p in glob.glob(os.path.join(top, 'run/*.log')))
            raise Failed(f'make {target} ended with {status}: {out}{err}{logs}')
        return out

    def fettle(*words):
        status, out, err = world.run([os.path.join(top, 'run/fettle'), *words])
        equal(status, 0, f'run/fettle {words}: {out}{err}: the exit status')
        return out

    out = make('up')
    contains(out, node, 'the table')
    contains(out, f'run/fettle node drain {node}', 'what to type next')
    contains(fettle('node', 'list', '-H', '-o', 'name,liveness,state'), 'live', 'the table')
    equal(fettle('node', 'list', '-H', '-o', 'schedulable').strip(), 'yes', 'schedulable')
    running = pids(top)
    equal(sorted(running), ['agent.pid', 'fettled.pid'], 'what runs')
    equal(sorted(p for p in world.marked() if parent(p) not in (None, *running.values())), sorted(running.values()), 'processes')

    contains(make('up'), node, 'the table of a second make up')
    equal(pids(top), running, 'processes after a second make up')
    wait('what the node is, is accepted', lambda: fettle('baseline', 'accept', node))
    with open(os.path.join(top, 'run/etc/gres.conf'), 'a') as f:
        f.write('Name=fpga\n')
    wait('the change is named', lambda: 'run/etc/gres.conf' in fettle('conform', 'diff', node))
    fettle('node', 'drain', node, '--reason', 'bad DIMM')

    os.kill(running['agent.pid'], 9)
    make('up')
    equal(pids(top)['fettled.pid'], running['fettled.pid'], 'the controller, after make up for the agent alone')
    check(pids(top)['agent.pid'] != running['agent.pid'], 'the agent was not started again')

    make('down')
    equal(world.marked(), [], 'processes after make down')
    equal(pids(top), {}, 'pid files after make down')
    check(not os.path.exists(os.path.join(top, 'run/fettled.sock')), 'make down left the socket')
    make('down')

    contains(make('up'), 'DRAIN', 'the table with the drain of before')
    equal(len(fettle('journal', '--after', '0').split('token.create')) - 1, 1, 'tokens that were made')
    make('down')
    equal(world.marked(), [], 'processes after make down')
    equal(sorted(os.listdir(top)), ['Makefile', 'build', 'run', 'tools'], 'files in the tree')



def test_first_node(world):
    """The transcripts of doc/first-node.md show what is printed."""
    top, node = copy_tree(world), socket.gethostname().split('.')[0]
    Transcript(world, os.path.join(TREE, 'doc/first-node.md'), top, names={'lx01': node, '/srv/fettle': top}).play()
    wait('every process has ended', lambda: not world.marked())


main()
