# SPDX-License-Identifier: Apache-2.0
"""Every ready-made record that runs a tool, with what its real tool printed (test/data/records), as far as the incident
that an administrator reads. Each node has the tools of some cases and lacks all others."""
import json
import os
import re
import shutil

from fleet import boot_id, whole_root
from harness import CALM, Agent, Controller, contains, equal, main, wait
from ward import RULES, health, incidents, repair, wait_step

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, '..', 'data', 'records')
SETS = os.path.join(HERE, '..', '..', 'src', 'health', 'set.tbl')
NODES = [f'n{i:02}' for i in range(1, 13)]
# Which of the records that start the same program this is, as its program can tell.
IS = {'all-reduce': '[ -z "$NCCL_ALGO" ]', 'all-reduce-ib': '[ -n "$NCCL_ALGO" ]', 'dcgm-1': '[ "$3" = 1 ]',
      'dcgm-2': '[ "$3" = 2 ]'}
CONTAINERS = 'case $1 in image) exit 0;; list) echo nccl-tests; exit 0;; esac\n'
SERVER = f'case "$*" in *localhost|*n[0-9][0-9]) ;; *) cat {DATA}/perftest/server.txt; exit 0;; esac\n'
GPUS = 'printf "0\\n1\\n2\\n3\\n"\n'


class Case:
    def __init__(self, line):
        record, self.which, self.program, file, self.status, said = line.rstrip('\n').split(' | ')
        self.record, _, self.key = record.partition(' ')
        self.prints = f'cat {DATA}/{file}.txt; ' if file != 'nothing' else ''
        self.result, _, self.text = said.removeprefix('fatal : ').partition(' ')
        if said.startswith('fatal : '):
            self.result, self.text = 'fatal', said.removeprefix('fatal : ')

    def ends(self):
        return f'{self.prints}exit {self.status}'


def read_cases():
    with open(os.path.join(DATA, 'cases.txt'), encoding='utf-8') as f:
        return [Case(line) for line in f if line.strip() and not line.startswith('#')]


def read_records():
    """The records of the sets that run a tool, by name."""
    with open(SETS, encoding='utf-8') as f:
        lines = re.findall(r'^READY\("\w+", ("(?:[^"\\]|\\.)*"),', f.read(), re.M)
    records = {r.split()[0].removeprefix('Check='): r for r in map(json.loads, lines)}
    return {name: r for name, r in records.items() if ' Probe=tool ' in r}


def by_node(cases):
    """Cases by node, of a record on one node after another, so that no node has more than an incident has room for. Where
    a GPU is lost no test of NCCL begins; the last node has nothing."""
    nodes = {n: [] for n in NODES}
    *usual, lost, _ = NODES
    for at, record in enumerate({c.record: None for c in cases}):
        here = [c for c in cases if c.record == record]
        for k, c in enumerate(c for c in here if c.program != 'nvidia-smi'):
            nodes[usual[(3 * at + k) % len(usual)]].append(c)
        nodes[lost] += [c for c in here if c.program == 'nvidia-smi']
    return nodes


def add_program(world, node, name, body):
    os.chmod(world.write(f'{node}/bin/{name}', '#!/bin/sh\n' + body), 0o755)


def install(world, node, cases):
    """The records that the cases of a node need, and no others."""
    os.makedirs(world.path(node, 'bin'))
    for tool in ('cat', 'printf'):
        os.symlink(shutil.which(tool), world.path(node, 'bin', tool))
    for name in ('sleep', 'all_reduce_perf'):
        if name == 'sleep' or any(c.program == 'nvidia-smi' for c in cases):
            add_program(world, node, name, 'exit 0\n')
    add_program(world, node, 'nvidia-smi', GPUS)
    for program in {c.program: None for c in cases}:
        begins = CONTAINERS if program in ('podman', 'enroot') else SERVER if program == 'ib_write_bw' else ''
        add_program(world, node, program, begins + ''.join(
            f'if {IS.get(c.record, "true")}; then {c.ends()}; fi\n' for c in cases if c.program == program) + 'exit 127\n')


def start(world, checks, **settings):
    """A controller with an agent for each node, which finds the node's tools only."""
    c = Controller(world, ''.join(f'Name={n}\n' for n in NODES),
                   **{**CALM, **RULES, 'CheckConf': world.write('checks.conf', checks), **settings})
    path = world.env.get('PATH')
    for n in NODES:
        world.env['PATH'] = world.path(n, 'bin')
        Agent(world, c, n, root=whole_root(world, n, boot_id()))
    world.env['PATH'] = path
    c.wait_nodes('the agents are heard', NODES, Liveness='live', Lifecycle='available')
    return c


def said_on(c, node):
    return {r['check']: r['verdict'] for r in health(c, node)['checks'] if r['looked_s'] is not None}


def found_on(c, node):
    return {f['check']: (f['result'], f['text']) for i in incidents(c, node) for f in i['findings']}


def whole(said, records):
    return said if set(said) >= set(records) else None


def lines(cases, records, world):
    """The records of these cases, as they are, with what their cases add."""
    keys = {name: ' '.join({c.key: None for c in cases if c.record == name}) for name in records}
    return ''.join(f'{r.replace("/etc/fettle/hpl", world.dir)} {keys[name]}\n' for name, r in records.items())


def alone(c, nodes, records):
    """The results of nodes that run the checks by themselves, and what follows."""
    for n in NODES:
        wanted = {x.record: (x.result, x.text) for x in nodes[n]}
        fatal = {name: w for name, w in wanted.items() if w[0] == 'fatal'}
        said = wait(f'{n} has said what each comes to', lambda n=n: whole(said_on(c, n), records))
        for name in records:
            verdict = said[name]
            if name not in wanted:
                equal(verdict['result'], 'unsupported', f'{name} on {n}, which lacks its tool')
            elif name not in fatal:
                equal((verdict['result'], verdict['text']), wanted[name], f'{name} on {n}')
        wait(f'{n} has its incidents', lambda n=n, fatal=fatal: equal(found_on(c, n), fatal, 'what was found') is None)


# The nodes that are bad for a record. Four are good for both, and can tell.
BAD = {'all-reduce-pair': ['n01', 'n03', 'n05', 'n07'], 'ib-write-pair': ['n02', 'n04', 'n06', 'n08']}


def install_pair(world, record, cases):
    """A node with a bad output has it with any partner; two good nodes have the good one."""
    good, *bad = sorted(cases, key=lambda c: c.which != 'good')
    equal(len(bad), len(BAD[record]), f'the bad outputs of {record}')
    by_name = dict(zip(BAD[record], bad))
    body = 'case ,$FETTLE_NODES, in\n' + ''.join(f'*,{n},*) {c.ends()};;\n' for n, c in by_name.items()) + f'*) {good.ends()};;\nesac\n'
    for n in NODES:
        add_program(world, n, 'all_reduce_perf', 'exit 0\n')
        add_program(world, n, 'nvidia-smi', GPUS)
        add_program(world, n, good.program, (SERVER if good.program == 'ib_write_bw' else '') + body)
    return by_name


def together(c, bad):
    """The bad node is named with the words of the tool, whichever of the two ran it, and no other node."""
    for n, case in bad.items():
        wait_step(c, n, 'queue')
        equal(repair(c, n)['problem'], 'hardware_problem', f'what {n} is')
        found = found_on(c, n)[case.record]
        equal(found[0], 'fatal', f'how bad {case.record} is on {n}')
        contains(found[1], 'which passed with others: ' + case.text[:120], f'the evidence of {case.record} on {n}')
    equal([n for n in NODES if n not in bad and case.record in found_on(c, n)], [], 'who else is blamed')


def test_each_output_of_each_tool_comes_to_the_incident_that_it_means(world):
    cases, records = read_cases(), read_records()
    equal(set(records), {c.record for c in cases}, 'the records that have cases')
    singles = {name: re.sub(r'When=\S+ Every=\S+', 'When=boot Observe=yes', r) for name, r in records.items() if name not in BAD}
    nodes = by_node([c for c in cases if c.record in singles])
    for n in NODES:
        install(world, n, nodes[n])
    c = start(world, lines(cases, singles, world), MaxTrials=100)
    alone(c, nodes, singles)
    for record in BAD:
        bad = install_pair(world, record, [c for c in cases if c.record == record])
        world.write('checks.conf', lines(cases, {record: records[record]}, world))
        c.fettle('reload')
        together(c, bad)


main()
