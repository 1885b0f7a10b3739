# SPDX-License-Identifier: Apache-2.0
"""From a finding to the node's return: named, drained, explained, repaired, tested."""
import json
import os
import shutil
import time

from fleet import entries, reboot
from harness import check, contains, equal, holds, main, wait
from ward import (CHECKS, ROOT_MOUNT, SCRATCH, health, incidents, kernel_says, left, mount, repair, step, steps,
                  unmount, wait_health, wait_step, ward)

REMEDY = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is there, and only not mounted" Takes=5s Disturbs=0'
GONE = 'mount /scratch: nothing is mounted at /scratch (check scratch, fatal)'


def test_a_lost_mount_is_named_drained_repaired_and_the_node_is_back(world):
    c, _ = ward(world, ['n1', 'n2'], remedy=REMEDY)
    unmount(world, 'n1')
    wait('it was repaired', lambda: any('back in service' in s for s in steps(c, 'n1')))
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Schedulable=True, Health='ok')
    kinds = [e['what'] for e in c.journal() if e['nodes'] == 'n1']
    contains(' '.join(kinds), 'health.findings', 'what the journal says')
    r = repair(c, 'n1')
    equal(r['step'], 'none', 'the step')
    equal([a['remedy'] for a in r['attempts']], ['mount.scratch'], 'what was tried')
    equal(r['attempts'][0]['done'], True, 'whether it was carried out')
    past = health(c, 'n1')['past']
    equal([f['check'] for i in past for f in i['findings']], ['scratch'], 'what the incident was of')
    equal(c.node('n2')['Lifecycle'], 'available', 'the other one')


def test_without_a_remedy_it_waits_for_a_person_with_the_evidence(world):
    c, _ = ward(world, ['n1'])
    unmount(world, 'n1')
    wait_step(c, 'n1', 'queue')
    c.wait_nodes('it is in the work queue', ['n1'], Lifecycle='work_queue', Schedulable=False)
    queue = json.loads(c.fettle('queue', '--json'))
    equal([q['Node'] for q in queue], ['n1'], 'the queue')
    contains(c.fettle('queue'), '/scratch', 'what is wrong')
    c.fettle('queue', 'take', 'n1')
    c.fettle('queue', 'note', 'n1', '--reason', 'new cable ordered')
    equal(repair(c, 'n1')['taken_by'], 'root', 'who sees to it')
    equal(repair(c, 'n1')['notes'][-1]['text'], 'new cable ordered', 'the note')
    contains(c.fettle('node', 'undrain', 'n1', '--claim', repair(c, 'n1')['id'], status=5), 'human_intervention',
             'undraining it')
    mount(world, 'n1')
    holds('it stays, for a person has it', 2, lambda: step(c, 'n1') == 'queue')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'cable replaced')
    c.wait_nodes('it was tested and is back', ['n1'], Lifecycle='available', Schedulable=True)


def test_work_ends_first_and_nothing_is_done_before(world):
    c, _ = ward(world, ['n1'], remedy=REMEDY.replace('Needs=nothing', 'Needs=idle'))
    job = world.write('n1/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n1'], State='BUSY')
    world.write('remedies.conf', open(world.path('remedies.conf'), encoding='utf-8').read()
                .replace('Needs=nothing', 'Needs=idle'))
    c.fettle('reload')
    unmount(world, 'n1')
    c.wait_nodes('it is draining', ['n1'], State='DRAINING', Schedulable=False)
    holds('the work goes on, nothing is done', 2, lambda: step(c, 'n1') == 'isolate')
    os.remove(job)
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')
    equal(len(repair(c, 'n1')['attempts']), 1, 'attempts')


def test_observing_records_and_does_nothing(world):
    c, _ = ward(world, ['n1'], remedy=REMEDY, Health='observe')
    unmount(world, 'n1')
    wait('the incident is recorded', lambda: incidents(c, 'n1'))
    holds('nothing follows, also for new work', 2, lambda: c.node('n1')['Lifecycle'] == 'available' and
          c.node('n1')['Schedulable'] and repair(c, 'n1') is None)
    equal(c.node('n1')['Why'], f'observed: {GONE}; it would be drained (Health=observe)', 'what would follow')
    mount(world, 'n1')
    wait('it is closed', lambda: not incidents(c, 'n1'))


def test_a_check_that_is_only_observed_isolates_nobody(world):
    c, _ = ward(world, ['n1'], checks=CHECKS.replace('Every=1s', 'Every=1s Observe=yes'), remedy=REMEDY)
    unmount(world, 'n1')
    wait('the incident is recorded', lambda: incidents(c, 'n1'))
    equal(incidents(c, 'n1')[0]['observe'], True, 'observed')
    holds('nothing follows', 2, lambda: c.node('n1')['Lifecycle'] == 'available' and c.node('n1')['Schedulable'])
    equal(c.node('n1')['Why'], f'observed: {GONE}; it would be drained (Observe=yes)', 'what would follow')


def test_a_node_that_is_excepted_is_only_observed(world):
    """The node is excepted by its own record, or by its class."""
    classes = world.write('classes.conf', 'Class=login Nodes=n2 Remediate=no\n')
    c, agents = ward(world, ['n1', 'n2', 'n3'], nodes='Name=n1 Remediate=no\nName=n[2-3]\n', remedy=REMEDY,
                     ClassConf=classes)
    for n in ('n1', 'n2', 'n3'):
        unmount(world, n)
    wait('the third is repaired', lambda: any('back in service' in s for s in steps(c, 'n3')))
    for n in ('n1', 'n2'):
        wait(f'what ails {n} is recorded', lambda n=n: incidents(c, n))
        equal((c.node(n)['Lifecycle'], c.node(n)['Schedulable'], steps(c, n)), ('available', True, []), f'{n}')
        equal(c.node(n)['Why'], f'observed: {GONE}; it would be drained (Remediate=no)', f'what is said of {n}')
        contains(c.fettle('remedy', 'explain', n), 'only observed: Remediate=no', f'what is explained of {n}')
        equal(c.node(n)['Remediate'], False, f'the field of {n}')
    reboot(world, agents['n1'])
    c.wait_nodes('it is in service on another boot', ['n1'], Health='fatal', Lifecycle='available', Schedulable=True)
    equal(steps(c, 'n1'), [], 'its steps')
    world.write('remedies.conf', '')
    c.fettle('reload')
    unmount(world, 'n3')
    wait_step(c, 'n3', 'queue')
    c.fettle('node', 'set', 'n3', 'Remediate=no')
    c.wait_nodes('who is excepted is let go', ['n3'], Lifecycle='available', Schedulable=True, Health='fatal')


DEGRADED = CHECKS.replace('Path=/scratch', 'Path=/scratch Severity=degraded')


def test_a_degraded_node_stays_in_service_until_it_lasts(world):
    c, _ = ward(world, ['n1'], checks=DEGRADED, DegradedFor='6s')
    unmount(world, 'n1')
    wait_health(c, ['n1'], 'degraded')
    equal(c.node('n1')['Why'], f'health: {GONE.replace("fatal", "degraded")}; it is drained when that lasts 6s',
          'what is said of it')
    equal((c.node('n1')['Lifecycle'], c.node('n1')['Schedulable']), ('available', True), 'how it stands meanwhile')
    wait_step(c, 'n1', 'queue')
    c.wait_nodes('it is out, here as there', ['n1'], Lifecycle='work_queue', Schedulable=False)


def test_a_remedy_that_disturbs_nobody_runs_while_the_node_is_in_service(world):
    examined = DEGRADED + 'Check=deep Probe=plugin Run=/bin/true When=extensive\n'
    c, _ = ward(world, ['n1', 'n2'], checks=examined, remedy=REMEDY, DegradedFor='6s')
    os.remove(world.path('n2.mounted'))  # there it does not help
    world.write('n1/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n1'], State='BUSY')
    for n in ['n1', 'n2']:
        unmount(world, n)
    wait('it was repaired', lambda: any('tend -> none: the fault is gone' in s for s in steps(c, 'n1')))
    c.wait_nodes('it is in service, and its work runs', ['n1'], State='BUSY', Schedulable=True, Why='', Health='ok')
    equal([a['remedy'] for a in repair(c, 'n1')['attempts']], ['mount.scratch'], 'what was tried')
    check(all(t.startswith('tend') for t in steps(c, 'n1')[2:]), lambda: f'it was held: {steps(c, "n1")}')
    wait('what is left is drained as it lasts', lambda: any('isolated: ' in e['text'] for e in c.journal()))
    tried = [a['done'] for a in repair(c, 'n2')['attempts']]
    equal(tried, [False, False], 'what was tried before')
    wait_step(c, 'n2', 'queue')


def test_an_xid_of_the_kernel_counts_and_one_of_a_user_does_not(world):
    c, _ = ward(world, ['n1'])
    line = 'NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.'
    kernel_says(world, 'n1', line, facility=1)
    holds('a line of a user means nothing', 2, lambda: not incidents(c, 'n1'))
    kernel_says(world, 'n1', line)
    wait('the incident is recorded', lambda: incidents(c, 'n1'))
    i = incidents(c, 'n1')[0]
    equal((i['severity'], i['group'], i['findings'][0]['code']), ('lost', 'gpu 0000:9b:00', 'xid.79'), 'what it is')
    wait_health(c, ['n1'], 'lost')
    contains(c.fettle('check', 'explain', 'xid.79'), 'bus', 'what it means')
    wait_step(c, 'n1', 'queue')


def xid_31(gpu, pid):
    return f'NVRM: Xid (PCI:0000:{gpu}:00): 31, pid={pid}, name=train, Ch 00000008, intr 00000000. MMU Fault'


def test_counting_says_something_about_a_node_only_where_the_node_is_the_cause(world):
    """24 times within 96 s: a program's errors on three GPUs isolate nobody, a disk's are more than a warning, and a
    GPU that fails alone under work that others do as well is the fault."""
    names = ['n1', 'n2', 'n3']
    c, _ = ward(world, names)
    for pid, gpu in ((70, 0), (71, 1)):
        world.write(f'n3/proc/{pid}/cgroup', '0::/system.slice/slurmstepd.scope/job_7/step_0\n')
        os.makedirs(world.path('n3', f'proc/{pid}/fd'))
        os.symlink(f'/dev/nvidia{gpu}', world.path('n3', f'proc/{pid}/fd/3'))
    world.write('n3/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/cgroup.procs', '70\n71\n')
    c.wait_nodes('its work is known', ['n3'], State='BUSY')
    began = time.monotonic() - 100
    for i in range(24):
        for gpu in ('1b', '3b', '9b'):
            kernel_says(world, 'n1', xid_31(gpu, 4711), at=began + 4 * i)
        kernel_says(world, 'n2', 'I/O error, dev sda, sector 7', at=began + 4 * i)
    for i in range(2):
        kernel_says(world, 'n3', xid_31('3b', 71), at=began + 4 * i)
    wait('the disk is worse than a warning', lambda: [i['severity'] for i in incidents(c, 'n2')] == ['degraded'])
    check(3 <= incidents(c, 'n2')[0]['findings'][0]['times'] <= 24, lambda: f'how often: {incidents(c, "n2")}')
    wait('the GPU is isolated', lambda: step(c, 'n3') == 'isolate')
    f = incidents(c, 'n3')[0]['findings'][0]
    equal((f['work'], f['others']), ('slurm.7', 1), 'the work')
    contains(f['text'], 'under slurm.7 of ', 'the text')
    wait('all three GPUs have it', lambda: len(incidents(c, 'n1')) == 3)
    holds('nothing follows', 3, lambda: step(c, 'n1') == 'none' and c.node('n1')['Schedulable'])
    equal({i['severity'] for i in incidents(c, 'n1')}, {'warn'}, 'how bad they are')


def test_a_fault_that_a_remedy_does_not_help_is_not_over(world):
    """The kernel's finding about a GPU stays, though a mount was repaired meanwhile."""
    c, _ = ward(world, ['n1'], remedy=[
        REMEDY, 'Remedy=gpu.reset Run=node:true Helps=xid.* Confidence=70% Because="it resets it" Takes=10m'])
    c.fettle('brake', 'stop', '--reason', 'until both are found')
    kernel_says(world, 'n1', 'NVRM: Xid (PCI:0000:9b:00): 95, pid=4711, name=python3, Uncontained error')
    unmount(world, 'n1')
    wait('both are found', lambda: len(incidents(c, 'n1')) == 2)
    c.fettle('brake', 'release', '--reason', 'both are found')
    wait('it was repaired', lambda: any('back in service' in s for s in steps(c, 'n1')))
    equal([(a['remedy'], a['done']) for a in repair(c, 'n1')['attempts']],
          [('mount.scratch', True), ('gpu.reset', True)], 'what was done')


def test_a_fault_that_was_cured_stays_cured_when_the_agent_ends(world):
    """The fault stays cured in whatever way the agent ends. A reported finding stands though the line is gone."""
    nodes = ['n1', 'n2', 'n3']
    c, agents = ward(world, nodes, SharedNodes=1000, SurgeNodes=1000, remedy=[
        'Remedy=gpu.reset Run=node:true Helps=xid.* Needs=nothing Confidence=70% Because="it resets it" Takes=1s '
        'Disturbs=0 Settle=1s'])
    for n in nodes[:2]:
        kernel_says(world, n, 'NVRM: Xid (PCI:0000:9b:00): 95, pid=4711, name=python3, Uncontained error')
    wait('they were repaired', lambda: all(any('back in service' in s for s in steps(c, n)) for n in nodes[:2]))
    agents['n1'].process.stop()
    agents['n2'].process.kill()
    c.fettle('brake', 'stop', '--reason', 'only what is found matters here')
    kernel_says(world, 'n3', 'NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.')
    wait('it is told', lambda: incidents(c, 'n3'))
    agents['n3'].process.kill()
    world.write('n3/dev/kmsg', '6,0,1000000,-;it was\n6,1,9000000,-;overwritten\n')
    for n in nodes:
        agents[n].start()
        kernel_says(world, n, 'nfs: server store1 not responding, still trying', at=time.monotonic())
    wait('their logs were read on', lambda: all('nfs.server' in str(health(c, n)['checks']) for n in nodes))
    for n in nodes[:2]:
        check('xid' not in str(health(c, n)['checks'] + incidents(c, n)), lambda n=n: f'{n}: {health(c, n)}')
        equal(len(repair(c, n)['attempts']), 1, f'how often {n} was reset')
    contains(str(health(c, 'n3')['checks']), 'xid.79', 'what was told of n3')


def test_the_last_network_interface(world):
    c, agents = ward(world, ['n1', 'n2'], checks=CHECKS + 'Check=ethlink Probe=ethernet Every=1s Fails=1 Passes=1 '
                'Observe=yes\n')

    def ethlink(node):
        return next(r['verdict'] for r in health(c, node)['checks'] if r['check'] == 'ethlink')
    for file, text in (('type', '1'), ('operstate', 'up'), ('carrier', '1'), ('speed', '1000'),
                       ('carrier_changes', '2')):
        world.write(f'n1/sys/class/net/eth0/{file}', text + '\n')
    os.symlink('../../../devices/card', world.path('n1/sys/class/net/eth0/device'))
    wait('it is seen', lambda: ethlink('n1')['result'] == 'ok')
    shutil.rmtree(world.path('n1/sys/class/net/eth0'))
    wait('that it is gone is fatal', lambda: ethlink('n1')['result'] == 'fatal')
    agents['n1'].process.kill()
    agents['n1'].start()
    c.wait_nodes('its agent is back', ['n1'], Liveness='live')
    holds('it is fatal to the agent of after, too', 3, lambda: ethlink('n1')['result'] == 'fatal')
    reboot(world, agents['n1'])
    wait('on another boot nothing is remembered', lambda: ethlink('n1')['result'] == 'unsupported')
    equal(ethlink('n2')['result'], 'unsupported', 'of a node that never had one')


def test_a_remedy_that_nobody_can_carry_out_is_a_persons(world):
    """The BMC of a node without one is not asked for ever."""
    bmcs = world.write('bmc.conf', 'Nodes=n2 Driver=script Run=/bin/false\n')
    c, _ = ward(world, ['n1'], BmcConf=bmcs,
                remedy='Remedy=cycle Run=power.cycle Helps=* Confidence=80% Because="it does" Takes=1m')
    unmount(world, 'n1')
    wait_step(c, 'n1', 'queue')
    contains(' '.join(steps(c, 'n1')), 'no BMC', 'the steps')


def test_approval_is_asked_for_and_waited_for(world):
    c, _ = ward(world, ['n1', 'n2'], remedy=REMEDY + ' Approval=yes')
    unmount(world, 'n1')
    wait('it waits for approval', lambda: (repair(c, 'n1') or {}).get('approval') == 'wanted')
    holds('it waits', 2, lambda: step(c, 'n1') == 'remedy' and not repair(c, 'n1')['operation'])
    contains(c.fettle('queue'), 'approval', 'the queue')
    c.fettle('approve', 'n1', '--reason', 'go ahead')
    wait('it was repaired', lambda: any('back in service' in s for s in steps(c, 'n1')))
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')
    contains(json.dumps(entries(c, 'repair.approve')), 'go ahead', 'the journal')
    unmount(world, 'n2')
    wait('it waits for approval', lambda: (repair(c, 'n2') or {}).get('approval') == 'wanted')
    c.fettle('refuse', 'n2', '--reason', 'not this week')
    wait_step(c, 'n2', 'queue')


def test_the_stop_switch_stops_remedies(world):
    c, _ = ward(world, ['n1'], remedy=REMEDY)
    c.fettle('brake', 'stop', '--reason', 'something is wrong here')
    contains(c.fettle('brake', 'list'), 'something is wrong here', 'the brakes')
    unmount(world, 'n1')
    wait('the incident is recorded', lambda: incidents(c, 'n1'))
    holds('no remedy is begun', 3, lambda: not (repair(c, 'n1') or {}).get('attempts'))
    c.fettle('brake', 'release', '--reason', 'found it')
    wait('it was repaired', lambda: any('back in service' in s for s in steps(c, 'n1')))
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)


def test_the_choice_is_explained(world):
    c, _ = ward(world, ['n1'], remedy=[
        REMEDY, 'Remedy=again Run="node:false" Helps=scratch Confidence=10% Because="a try" Takes=1h Disturbs=0'])
    c.fettle('brake', 'stop', '--reason', 'to look')
    unmount(world, 'n1')
    wait('the incident is recorded', lambda: incidents(c, 'n1'))
    said = json.loads(c.fettle('remedy', 'explain', 'n1', '--json'))
    equal(said['chosen'], 'mount.scratch', 'the choice')
    equal([k['remedy'] for k in said['candidates']], ['mount.scratch', 'again'], 'the candidates')
    equal(said['candidates'][0]['chance_ppm'], 800000, 'the chance without a record')
    contains(c.fettle('remedy', 'explain', 'n1'), 'it is there, and only not mounted', 'in words')


def test_the_extensive_stage_has_three_outcomes(world):
    """Pass returns the node, fail makes it a hardware problem, and what cannot be said goes to a person."""
    deep = CHECKS + f'Check=deep Probe=plugin Run="sh {world.path()}/$FETTLE_NODE.deep" When=extensive Deadline=10s\n'
    for node, script in (('n1', 'echo fine; exit 0'), ('n2', 'echo "DEEP CRITICAL - 3 links are slow"; exit 2'),
                         ('n3', 'echo "no idea"; exit 3')):
        world.write(f'{node}.deep', f'echo . >>{world.path()}/{node}.ran; {script}\n')
    c, _ = ward(world, ['n1', 'n2', 'n3'], checks=deep, remedy=REMEDY, InconclusiveTries=2)
    for node in ('n1', 'n2', 'n3'):
        unmount(world, node)
    wait('the one that passes is back', lambda: any('back in service' in s for s in steps(c, 'n1')))
    c.wait_nodes('and takes work', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    contains(' '.join(steps(c, 'n1')), 'examine', 'the steps of it')
    wait_step(c, 'n2', 'queue')
    equal(repair(c, 'n2')['problem'], 'hardware_problem', 'what it is, of the one that fails')
    contains(json.dumps(incidents(c, 'n2')), '3 links are slow', 'the evidence')
    wait_step(c, 'n3', 'queue')
    contains(repair(c, 'n3')['why'], 'no answer', 'why, of the one that says nothing')
    with open(world.path('n3.ran'), encoding='utf-8') as f:
        equal(len(f.read().split()), 2, 'how often it was tried')


def test_a_reboot_is_judged_by_the_boot(world):
    """The agent is killed during the reboot, like the node; only the node's return on another boot counts."""
    c, agents = ward(world, ['n1'], remedy='Remedy=boot Run=reboot Helps=* Confidence=60% Because="often" Takes=1m')
    world.write('n1/sbin/reboot', f'#!/bin/sh\ntouch {world.path()}/n1.rebooted\n')
    os.chmod(world.path('n1', 'sbin/reboot'), 0o755)
    unmount(world, 'n1')
    wait('the node was told to reboot', lambda: left(world.path('n1.rebooted')))
    reboot(world, agents['n1'], proc__self__mountinfo=ROOT_MOUNT + SCRATCH)
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    attempt = repair(c, 'n1')['attempts'][-1]
    equal((attempt['remedy'], attempt['done']), ('boot', True), 'the attempt')


def reboots(world, node):
    """How often the node was told to reboot."""
    path = world.path(f'{node}.rebooted')
    return len(open(path, encoding='utf-8').read().split()) if left(path) else 0


def test_maintenance_that_asks_for_a_restart_has_it_once_and_never_under_work(world):
    names = ['n1', 'n2', 'n3']
    c, agents = ward(world, names, remedy='Remedy=boot Run=reboot Helps=nothing.else Confidence=60% Because="often" Takes=1m')
    for n in names:
        world.write(f'{n}/sbin/reboot', f'#!/bin/sh\necho . >>{world.path()}/{n}.rebooted\n')
        os.chmod(world.path(n, 'sbin/reboot'), 0o755)
    world.write('n1/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n1'], State='BUSY')
    c.fettle('node', 'drain', 'n2', '--reason', 'a look')
    c.fettle('repair', 'move', 'maintenance', 'n3', '--reason', 'a new fan')
    contains(c.fettle('repair', 'move', 'restart', 'n3', '--reason', 'new firmware', status=3), 'a new fan', 'while hands are in it')
    c.fettle('repair', 'move', 'restart', 'n[1-2]', '--reason', 'new firmware')
    wait_step(c, 'n1', 'isolate')
    holds('nobody is restarted under work or in somebody\'s hands', 3, lambda: not any(reboots(world, n) for n in names))
    reboot(world, agents['n2'])  # the person does it
    wait('that counts', lambda: not c.node('n2')['Maintenance'])
    os.remove(world.path('n1/run/fettle/work/job.7'))
    wait('it is told to reboot', lambda: reboots(world, 'n1'))
    c.process.kill()
    c.start()
    reboot(world, agents['n1'])
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok', Schedulable=True, Maintenance='')
    c.fettle('node', 'undrain', 'n2')
    c.wait_nodes('it is back', ['n2'], Lifecycle='available', Schedulable=True)
    holds('once', 3, lambda: [reboots(world, n) for n in names] == [1, 0, 0])
    contains(' '.join(steps(c, 'n1')), 'maintenance is over: it was restarted', 'the journal')


def test_a_check_is_run_by_hand(world):
    c, _ = ward(world, ['n1', 'n2'])
    equal([r['Result'] for r in json.loads(c.fettle('check', 'run', 'scratch', 'n[1-2]', '--json'))],
          ['ok', 'ok'], 'both')
    contains(c.fettle('check', 'run', 'scratsh', 'n1', status=4), 'scratch', 'one that there is not')
    contains(c.fettle('check', 'list'), 'fs.mounted', 'the list')


def test_a_check_for_boots_is_not_run_again_by_an_agent_that_was_killed(world):
    once, often = world.path('once'), world.path('often')
    c, agents = ward(world, ['n1'], checks=f'Check=once Probe=plugin Run="echo x >>{once}; echo it was fine" When=boot\n'
                     f'Check=often Probe=plugin Run="echo x >>{often}" Every=1s\n' + CHECKS)
    wait('it is kept', lambda: os.path.exists(agents['n1'].run + '/boot-checks'))
    agents['n1'].process.kill()
    before = os.path.getsize(often)
    agents['n1'].start()
    wait('it looks at the others', lambda: os.path.getsize(often) >= before + 6)
    equal(os.path.getsize(once), 2, 'how much was written in one look')
    contains(c.fettle('check', 'show', 'n1'), 'it was fine', 'what is said of it')


# A required mount that is checked seldom: its result for a boot comes on that boot, and not before.
SELDOM = 'Check=scratch Probe=fs.mounted Path=/scratch Every=1h Fails=1 Passes=1\n'


def test_a_node_that_comes_up_is_held_until_its_checks_passed_and_once_for_each_boot(world):
    names = ['n1', 'n2', 'n3', 'n4']
    c, agents = ward(world, names, checks=SELDOM)
    for n in names:
        contains(steps(c, n)[0], 'provision: it comes for the first time', f'how {n} came')
        contains(steps(c, n)[1], 'in service: every check passed', f'what followed for {n}')
    unmount(world, 'n1')  # as it is on the next boot
    reboot(world, agents['n1'])
    c.wait_nodes('it is provisioned', ['n1'], Lifecycle='provisioning', Schedulable=False)
    wait('what fails there sends it on', lambda: step(c, 'n1') == 'queue')
    check(not any('service' in s for s in steps(c, 'n1')[2:]), lambda: f'it was in service meanwhile: {steps(c, "n1")}')
    equal(c.get('/v1/brakes')['budgets'][0]['out'], 0, 'how many were taken out of service')
    reboot(world, agents['n2'])
    c.wait_nodes('it came up again', ['n2'], Lifecycle='available', Health='ok', Schedulable=True)
    wait('its checks were waited for', lambda: len(steps(c, 'n2')) == 4)
    contains(steps(c, 'n2')[2], 'it came up on another boot', 'why it was held')
    agents['n3'].process.stop()  # on the same boot
    agents['n3'].start()
    c.restart()
    c.wait_nodes('they stay in service', ['n2', 'n3', 'n4'], Liveness='live', Lifecycle='available', Schedulable=True)
    holds('nobody is held again', 3, lambda: [len(steps(c, n)) for n in names[1:]] == [4, 2, 2])


def test_a_class_says_whether_its_nodes_are_waited_for_and_how_long(world):
    mild = SELDOM.replace('Every=1h', 'Every=1h Severity=degraded')
    classes = 'Class=login Nodes=n1 ProvisionNew=no\nClass=batch Nodes=n2 ProvisionDeadline=4s\n'
    c, agents = ward(world, ['n1', 'n2', 'n3'], checks=mild, remedy=REMEDY + ' Classes=default',
                     ClassConf=world.write('classes.conf', classes), DegradedFor=0)
    equal(steps(c, 'n1'), [], 'the steps of one that is not waited for')
    for n in agents:
        unmount(world, n)  # as it is on the next boot
        reboot(world, agents[n])
    wait_step(c, 'n2', 'queue')
    contains(steps(c, 'n2')[-1], 'not in time: scratch degraded', 'why a person is called')
    wait('what is degraded is remedied where that is known', lambda: 'in service' in steps(c, 'n3')[-1])
    contains(steps(c, 'n3')[3], 'scratch is degraded, and mount.scratch may help', 'why it was not waited for')
    equal(steps(c, 'n1'), [], 'its steps')


def test_where_health_is_observed_nobody_is_held(world):
    c, agents = ward(world, ['n1'], Health='observe')
    equal(steps(c, 'n1'), [], 'its steps')
    reboot(world, agents['n1'], proc__self__mountinfo=ROOT_MOUNT)
    wait_health(c, ['n1'], 'fatal')
    c.wait_nodes('it is in service', ['n1'], Lifecycle='available')
    equal(steps(c, 'n1'), [], 'its steps')


main(at_once=3)
