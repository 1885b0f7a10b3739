# SPDX-License-Identifier: Apache-2.0
"""Repairs in a real Slurm with real jobs: who is drained, when the repair goes on, what a person may do meanwhile."""
import json
import os
import re
import signal
import time

from fleet import SWAPPINESS, alike, change, entries, fix, reboot, wait_conformance
from harness import Controller, check, contains, equal, holds, main, wait
from slurm_ward import (began, calls, cancel, is_drained, job_state, let_exam_end, owner, set_mode, slurm_ward, submit,
                        token, wait_drained, wait_job, wait_released)
from ward import MOUNT, health, incidents, kernel_says, mount, repair, step, unmount, wait_health, wait_step

REMEDY = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is there, and only not mounted" Takes=5s Disturbs=0'
XID = 'NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.'


def idle_remedy(world):
    """mount.scratch, for which the node has to be idle."""
    return REMEDY.replace('MOUNT', MOUNT.format(world.dir, world.dir).replace('Needs=nothing', 'Needs=idle'))


def wait_back(c, l, node):
    c.wait_nodes('it is back', [node], Lifecycle='available', Schedulable=True)
    wait_released(l, node)


def test_work_ends_first_as_both_say(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world))
    jobs = {n: submit(l, n) for n in l.nodes}
    words = {n: world.write(f'{n}/run/fettle/work/job.{jobs[n]}', '') for n in l.nodes}
    for n in l.nodes:
        wait_job(l, jobs[n], 'RUNNING')
    c.wait_nodes('they work', l.nodes, State='BUSY')
    for n in l.nodes:
        unmount(world, n)
    for n in l.nodes:
        reason = wait_drained(l, n)
        check(' [node_problem]' + token(c, repair(c, n)["id"]) in reason, reason)
        contains(reason, '/scratch', 'what Slurm shows')
    holds('the work goes on, nothing is done', 2, lambda: all(
        step(c, n) == 'isolate' and job_state(l, jobs[n]) == 'RUNNING' for n in l.nodes))
    os.remove(words['c1'])  # Slurm's word is left
    cancel(l, jobs['c2'])   # the agent's word is left
    wait_job(l, jobs['c2'], 'CANCELLED')
    holds('one word is not enough', 4, lambda: all(step(c, n) == 'isolate' for n in l.nodes))
    os.remove(words['c2'])
    cancel(l, jobs['c1'])
    for n in l.nodes:
        wait_back(c, l, n)
        equal(len(repair(c, n)['attempts']), 1, 'attempts')


def test_a_lost_node_waits_for_a_job_too(world):
    l, c, _ = slurm_ward(world, remedy='Remedy=reset Run="node:true" Helps=xid.79 Needs=idle Confidence=80% '
                         'Because="it may" Takes=5s Tries=1')
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    kernel_says(world, 'c1', XID)
    wait_drained(l, 'c1')
    holds('nothing is done to it', 4, lambda: step(c, 'c1') == 'isolate' and not repair(c, 'c1')['attempts'])
    equal(job_state(l, job), 'RUNNING', 'the job')
    says_whose(c, 'c1', job)
    cancel(l, job)
    wait_step(c, 'c1', 'queue')
    equal(len(repair(c, 'c1')['attempts']), 1, 'attempts')
    contains(c.fettle('queue'), f'{job} of root', 'the work queue, when the job has ended')


def says_whose(c, node, job):
    """The job and its user stand in the incident, and wherever the node is shown."""
    wait(f'whose job runs on {node}', lambda: c.table('Name,Jobs')[node]['Jobs'] == f'{job} of root')
    equal([i['jobs'] for i in health(c, node)['open']], [[{'job': str(job), 'user': 'root'}]], 'jobs of its incident')
    contains(c.fettle('node', 'show', node), f'{job} of root', 'fettle node show')
    contains(' '.join(e['text'] for e in c.journal() if e['nodes'] == node), 'a job runs under', 'the journal')


def test_the_work_on_a_lost_node_is_ended_where_its_class_says_so(world):
    """Slurm is asked once, the end is waited for, and it is told whose job it was; what is not lost waits."""
    classes = world.write('classes.conf', 'Class=one Nodes=c1 LostWork=requeue\nClass=two Nodes=c2 LostWork=cancel\n'
                          'Class=three Nodes=c3 LostWork=requeue\n')
    l, c, _ = slurm_ward(world, nodes=3, ClassConf=classes, remedy=idle_remedy(world).replace(
        'Helps=scratch', 'Helps=xid.79,scratch'))
    jobs = {n: submit(l, n) for n in l.nodes}
    for n in l.nodes:
        wait_job(l, jobs[n], 'RUNNING')
    unmount(world, 'c3')
    for n in ('c1', 'c2'):
        kernel_says(world, n, XID)
    wait_job(l, jobs['c1'], 'PENDING')
    wait_job(l, jobs['c2'], 'CANCELLED')
    for n, verb in (('c1', 'requeue'), ('c2', 'cancel')):
        wait(f'{n} had its remedy', lambda n=n: repair(c, n)['attempts'])
        told = [e['text'] for e in c.journal() if e['nodes'] == n and 'lost.work' in e['text']]
        contains(' '.join(told), f'lost.work: done: asked Slurm to {verb} {jobs[n]} of root', 'the journal')
        equal(sum('begun' in t for t in told), 1, 'how often Slurm was asked')
    wait('what is not lost waits', lambda: step(c, 'c3') == 'isolate')
    equal(job_state(l, jobs['c3']), 'RUNNING', 'its job')
    says_whose(c, 'c3', jobs['c3'])
    for n in ('c1', 'c3'):
        cancel(l, jobs[n])


def test_a_job_that_began_since_the_last_look_counts(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world), SlurmInterval='20s')
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    unmount(world, 'c1')
    wait_drained(l, 'c1')
    holds('the job goes on, nothing is done', 3, lambda: step(c, 'c1') == 'isolate' and job_state(l, job) == 'RUNNING')
    equal(repair(c, 'c1')['attempts'], [], 'attempts')
    cancel(l, job)
    wait_back(c, l, 'c1')


def test_the_extensive_stage_keeps_other_work_out(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world), exam=True)
    unmount(world, 'c1')
    wait('the extensive check runs', lambda: began(world))
    equal(step(c, 'c1'), 'examine', 'the step')
    wait('it is reserved and not drained', lambda: l.reservations() == [f'suspicious-node-c1.{owner(c)}'] and not is_drained(l, 'c1'))
    job = submit(l, 'c1')
    other = submit(l, 'c2')
    wait_job(l, other, 'RUNNING')
    holds('no other work starts', 3, lambda: job_state(l, job) == 'PENDING')
    cancel(l, other)
    let_exam_end(world)
    wait_job(l, job, 'RUNNING')
    equal(l.reservations(), [], 'reservations')
    check(not is_drained(l, 'c1'), 'c1 is drained')
    c.wait_nodes('it is back', ['c1'], Lifecycle='available')
    cancel(l, job)


def test_a_change_by_fettle_refuses_no_examination(world):
    """The examination begins when the reservation stands and the drain is gone, as read back."""
    l, c, _ = slurm_ward(world, nodes=4, remedy=REMEDY, exam=True, InconclusiveTries=1, RemediesAWeek=32,
                         SurgeNodes=1000, SharedNodes=1000, SlurmInterval='5s')
    let_exam_end(world)
    for n in l.nodes * 2:
        tried = len((repair(c, n) or {}).get('attempts', []))
        unmount(world, n)
        wait(f'{n} was mended', lambda n=n, tried=tried: len((repair(c, n) or {}).get('attempts', [])) > tried)
    for n in l.nodes:
        wait_back(c, l, n)
    equal(began(world), 16, 'examinations before and after each remedy')
    said = [e['text'] for e in c.journal() if e['nodes'] in l.nodes]
    equal([t for t in said if 'refused' in t or 'to queue' in t], [], 'examinations that were refused')


def test_a_failing_extensive_check_is_a_hardware_problem(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world), exam=True)
    let_exam_end(world, '2 the memory is half as fast as it should be')
    unmount(world, 'c1')
    wait_step(c, 'c1', 'queue')
    reason = wait_drained(l, 'c1', 'hardware_problem')
    check(token(c, repair(c, "c1")["id"]) in reason, reason)
    wait('the reservation is gone', lambda: not l.reservations())
    equal(began(world), 1, 'how often it was examined')
    let_exam_end(world)
    mount(world, 'c1')
    c.fettle('queue', 'resolve', 'c1', '--reason', 'new memory')
    wait_back(c, l, 'c1')


def held(c, node):
    return c.node(node)['Held']


def test_a_persons_drain_is_never_overwritten(world):
    l, c, _ = slurm_ward(world, nodes=3, remedy=REMEDY + ' Approval=yes')
    l.scontrol('update', 'NodeName=c1', 'State=DRAIN', 'Reason=new memory, Ann')
    for n in ('c2', 'c3'):
        unmount(world, n)
        wait(f'{n} waits for approval', lambda n=n: (repair(c, n) or {}).get('approval') == 'wanted')
        wait_drained(l, n)
    l.scontrol('update', 'NodeName=c2', 'Reason=mine by now, Bob')
    wait('it is known', lambda: held(c, 'c2') == 'slurm: drained by root: mine by now, Bob')
    c.fettle('approve', 'c2,c3', '--reason', 'go ahead')
    c.wait_nodes('it is well', ['c3'], Lifecycle='available', Health='ok')
    wait('c3 is released', lambda: not is_drained(l, 'c3'))
    unmount(world, 'c1')
    wait_step(c, 'c1', 'isolate')
    holds('nothing is done to them', 3, lambda: step(c, 'c1') == 'isolate' and not repair(c, 'c2')['attempts'])
    equal((l.reason('c1'), l.reason('c2')), ('new memory, Ann', 'mine by now, Bob'), 'the reasons')
    contains(c.fettle('remedy', 'explain', 'c1'), 'slurm: drained by root: new memory, Ann', 'the explanation')
    contains(c.node('c1')['Why'], 'slurm: drained by root: new memory, Ann', 'why no work is placed on it')
    l.scontrol('update', 'NodeName=c2', 'State=UNDRAIN')
    c.wait_nodes('it is repaired when Bob is done', ['c2'], Lifecycle='available', Health='ok')
    equal(calls(world, 'update', 'c1'), [], 'what was written of c1')


def test_hands_off_what_others_hold_in_slurm(world):
    """A remedy that Slurm allows is begun; one on a node that somebody holds in any way is not, until they let go. The
    readings are rare: who holds a node is read right before it is acted on."""
    l, c, _ = slurm_ward(world, nodes=4, remedy=REMEDY, SlurmInterval='60s')
    l.scontrol('update', 'NodeName=c1', 'State=DRAIN', 'Reason=hands in it')
    l.scontrol('update', 'NodeName=c2', 'State=FAIL', 'Reason=fan')
    l.scontrol('create', 'reservation', 'ReservationName=team', 'Nodes=c3', 'StartTime=now', 'Duration=60', 'Users=root',
               'Flags=IGNORE_JOBS')
    for n in l.nodes:
        unmount(world, n)
    c.wait_nodes('the one that nobody holds is repaired', ['c4'], Lifecycle='available', Health='ok')
    wait('it is known who holds the others', lambda: [held(c, n) for n in ('c1', 'c2', 'c3')] == [
        'slurm: drained by root: hands in it', 'slurm: failing by root: fan', 'slurm: reserved: team'])
    holds('nothing is done to them', 3, lambda: all(
        step(c, n) in ('isolate', 'remedy') and not repair(c, n)['attempts'] for n in ('c1', 'c2', 'c3')))
    check(all(incidents(c, n) for n in ('c1', 'c2', 'c3')), 'what is wrong is told')
    c.write(SlurmInterval='1s')
    c.fettle('reload')
    set_mode(world, 'fails')
    wait('that it is not known is said', lambda: 'is not known since' in held(c, 'c4'))
    done = len(entries(c, 'repair.operate', 'c4'))
    unmount(world, 'c4')
    wait('what is wrong is recorded', lambda: incidents(c, 'c4'))
    holds('nothing is done while nobody knows', 3, lambda: len(entries(c, 'repair.operate', 'c4')) == done)
    set_mode(world, 'fine')
    c.wait_nodes('it is repaired when it is known again', ['c4'], Lifecycle='available', Health='ok')
    l.scontrol('update', 'NodeName=c1', 'State=RESUME')
    l.scontrol('delete', 'ReservationName=team')
    mount(world, 'c2')
    c.wait_nodes('they are repaired', ['c1', 'c3'], Lifecycle='available', Health='ok', Schedulable=True)
    wait('one in FAIL leaves its repair when it is cured', lambda: step(c, 'c2') == 'none')
    equal((l.state('c2'), l.reason('c2')), ({'IDLE', 'FAIL'}, 'fan'), 'and is failing as before')
    check('FAIL' in ' '.join(l.state('c2')) and not c.node('c2')['Schedulable'], 'it takes no work')
    l.scontrol('update', 'NodeName=c2', 'State=RESUME')
    c.wait_nodes('it is in service', ['c2'], Lifecycle='available', Schedulable=True)
    equal(calls(world, 'update', 'c2'), [], 'what was written of c2')


def test_a_state_in_slurm_is_shown_and_counts(world):
    """The states are a drain by hand, a slurmd that is gone, a drain of Fettle's, and a slurmctld that does not answer."""
    l, c, _ = slurm_ward(world, nodes=3)
    shown = {'SchedulerState': 'IDLE', 'SchedulerReason': '', 'Elsewhere': 'nobody', 'Schedulable': True, 'Why': ''}
    c.wait_nodes('Slurm was read', l.nodes, **shown)
    l.scontrol('update', 'NodeName=c1', 'State=DRAIN', 'Reason=by admin: bad cable')
    c.wait_nodes('it is known', ['c1'], SchedulerState='IDLE+DRAIN', SchedulerReason='by admin: bad cable',
                 SchedulerUser='root', Elsewhere='held', Schedulable=False, State='IDLE',
                 Why='slurm: drained by root: by admin: bad cable')
    check(abs(c.node('c1')['SchedulerSince'] - time.time()) < 600, lambda: c.node('c1'))
    for select in ('Elsewhere=held', 'SchedulerState~DRAIN', 'SchedulerReason~cable'):
        equal(c.fettle('node', 'list', '-o', 'Name', '--where', select, '--no-header').split(), ['c1'], select)
    contains(c.fettle('node', 'list'), 'SCHEDSTATE', 'the table where there is a scheduler')
    contains(c.fettle('node', 'show', 'c1'), 'IDLE+DRAIN', 'one node')
    contains(c.fettle('status'), 'slurm: 1 held, 1 out', 'the status')
    contains(c.fettle('place', '-N', '3', status=3), '1 held_elsewhere', 'placing on three')
    equal(json.loads(c.fettle('place', '-N', '2', '--json'))['nodes'], 'c[2-3]', 'placing on two')

    l.end('slurmd.c2')
    c.wait_nodes('nobody holds it, and no work lands there', ['c2'], Elsewhere='nobody', Schedulable=False,
                 SchedulerReason='Not responding')
    contains(c.node('c2')['Why'], 'slurm: down', 'why')
    contains(c.fettle('status'), 'slurm: 1 held, 2 out', 'the status')
    l.start_node('c2')
    c.wait_nodes('it is back', ['c2'], **shown)

    c.fettle('node', 'drain', 'c3', '--reason', 'mine')
    c.wait_nodes("Fettle's own is nobody else's", ['c3'], SchedulerState='IDLE+DRAIN', Elsewhere='nobody',
                 Why='drain by root: mine')
    c.fettle('node', 'undrain', 'c3')
    c.wait_nodes('it is back', ['c3'], **shown)

    set_mode(world, 'fails')
    c.wait_nodes('it is not known any more', l.nodes, SchedulerState='unknown', Elsewhere='unknown', SchedulerReason='')
    c.wait_nodes('nothing is made of that', l.nodes, Schedulable=True)
    contains(c.node('c2')['Why'], 'slurm: whether somebody holds it is not known since', 'what is said of it')
    contains(c.fettle('status'), 'slurm: 3 unknown', 'the status')
    wait('for how long is told', lambda: c.node('c2')['SchedulerRead'] >= 2)
    set_mode(world, 'fine')
    l.scontrol('update', 'NodeName=c1', 'State=UNDRAIN')
    c.wait_nodes('it is known again, and everybody takes work', l.nodes, **shown)
    check(c.node('c2')['SchedulerRead'] < 60, lambda: c.node('c2'))


def test_a_node_that_comes_up_is_held_in_slurm_until_its_checks_passed(world):
    """The node is held also where a job runs already. The job ends by itself."""
    l, c, agents = slurm_ward(world, remedy=idle_remedy(world), ProvisionNew='yes')
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    unmount(world, 'c1')
    reboot(world, agents['c1'])
    contains(wait_drained(l, 'c1', 'provision'), 'it came up on another boot', 'why it is drained')
    holds('its job runs on', 2, lambda: job_state(l, job) == 'RUNNING' and c.node('c1')['Lifecycle'] != 'available')
    cancel(l, job)
    wait_back(c, l, 'c1')


def test_a_person_that_resumes_is_right_for_a_while(world):
    l, c, _ = slurm_ward(world, OverrideTime='1h')
    for n in ('c1', 'c2'):
        unmount(world, n)
        wait_step(c, n, 'queue')
        wait_drained(l, n)
    for n in ('c1', 'c2'):
        l.scontrol('update', f'NodeName={n}', 'State=RESUME')
    c.wait_nodes('they are in service, as the person wants it', ['c1', 'c2'], Lifecycle='available')
    holds('they stay in service', 4, lambda: not is_drained(l, 'c1') and not is_drained(l, 'c2'))
    equal(len(entries(c, 'override.set')), 2, 'entries of it in the journal')
    contains(c.node('c1')['Override'], 'somebody (Slurm) for another ', 'what is known of it')
    c.restart()
    c.wait_nodes('it knows them', ['c1', 'c2'], Lifecycle='available', Liveness='live', Health='fatal')
    holds('it has not forgotten', 4, lambda: not is_drained(l, 'c1') and not is_drained(l, 'c2'))
    equal([o['of'] for o in c.get('/v1/overrides')['overrides']],
          2 * [[{'group': 'mount /scratch', 'fault': 'scratch', 'severity': 'fatal'}]], 'what they cover')
    kernel_says(world, 'c1', XID)  # worse than what the person knew of
    wait_drained(l, 'c1')
    check(not is_drained(l, 'c2'), 'c2 was drained for what the person knew of')
    contains(' '.join(e['text'] for e in entries(c, 'health.findings', 'c1')), 'the override by somebody ends: it is worse',
             'what the journal says')
    c.write(OverrideTime='1s')
    c.fettle('reload')
    wait_drained(l, 'c2')  # the time is over
    contains(entries(c, 'override.end', 'c2')[-1]['text'], 'its time is over', 'what the journal says')
    equal(c.get('/v1/overrides')['overrides'], [], 'overrides')
    for n in ('c1', 'c2'):
        equal(len(calls(world, f'NodeName={n} ', 'State=DRAIN')), 2, f'drains of {n}')


def test_a_person_that_deletes_the_reservation_ends_the_examination(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world), exam=True)
    unmount(world, 'c1')
    wait('it is examined', lambda: began(world))
    name = f'suspicious-node-c1.{owner(c)}'
    wait('it is reserved', lambda: l.reservations() == [name] and not is_drained(l, 'c1'))
    wait('that is known', lambda: c.log_lines('Slurm: reserved for Fettle'))
    l.scontrol('delete', f'ReservationName={name}')
    wait_step(c, 'c1', 'queue')
    reason = wait_drained(l, 'c1')
    check(token(c, repair(c, 'c1')['id']) in reason, reason)
    holds('it is not made again', 4, lambda: not l.reservations() and is_drained(l, 'c1') and began(world) == 1)
    contains(repair(c, 'c1')['why'], 'somebody deleted its reservation in Slurm', 'why')
    contains(c.fettle('remedy', 'explain', 'c1'), 'somebody deleted its reservation in Slurm', 'the explanation')
    check(c.log_lines('slurm.overridden', 'deleted its reservation'), 'nobody was told of it')
    mount(world, 'c1')
    wait_health(c, ['c1'], 'ok')
    c.fettle('queue', 'resolve', 'c1', '--reason', 'mounted')
    wait_back(c, l, 'c1')


def test_slurmctld_is_killed_in_the_middle(world):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world), exam=True)

    def kill():
        os.kill(l.pid('slurmctld'), signal.SIGKILL)
        wait('it is noticed', lambda: c.log_lines('alarm.slurm'))
        l.start_controller()
    jobs = {n: submit(l, n) for n in l.nodes}
    for n in l.nodes:
        wait_job(l, jobs[n], 'RUNNING')
    now = time.time()
    wait('slurmctld saved that', lambda: os.stat(f'{l.dir}/state/job_state').st_mtime > now)
    for n in l.nodes:
        unmount(world, n)
        wait_drained(l, n)
    kill()
    for n in l.nodes:
        wait_drained(l, n)
        equal(job_state(l, jobs[n]), 'RUNNING', 'the job')
        cancel(l, jobs[n])
    wait('both are examined', lambda: began(world) == 2)
    wait('they are reserved', lambda: len(l.reservations()) == 2)
    kill()
    wait('they are reserved', lambda: len(l.reservations()) == 2)
    let_exam_end(world)
    for n in ('c1', 'c2'):
        c.wait_nodes('it is back', [n], Lifecycle='available', Schedulable=True)
    wait('nothing is left in Slurm', lambda: not l.reservations() and not is_drained(l, 'c1') and not is_drained(l, 'c2'))
    equal(c.log_lines('overridden'), [], 'what was taken for a person')
    for n in ('c1', 'c2'):
        equal(len(repair(c, n)['attempts']), 1, f'attempts on {n}')


def broken_slurm(world, mode):
    l, c, _ = slurm_ward(world, remedy=idle_remedy(world))
    before = len(calls(world))
    set_mode(world, mode)
    wait('it is noticed', lambda: c.log_lines('alarm.slurm'))
    slurm = c.counterpart('Slurm')
    equal((slurm['state'], c.alarms()), ('trouble', ['slurm Slurm']), 'Slurm, and the alarms')
    check(slurm['text'] and slurm['last_success'] <= slurm['since'], f'words and times of {slurm}')
    contains(c.fettle('status'), 'Slurm        TROUBLE since', 'fettle status')
    unmount(world, 'c1')
    wait('the incident is recorded', lambda: incidents(c, 'c1'))
    wait_step(c, 'c1', 'isolate')
    holds('nothing is done to it', 4, lambda: step(c, 'c1') == 'isolate')
    equal(len(calls(world)) - before, 0, 'what was written')
    check(not is_drained(l, 'c1'), 'drained')
    equal(repair(c, 'c1')['attempts'], [], 'attempts')
    set_mode(world, 'fine')
    wait_back(c, l, 'c1')
    equal(len(repair(c, 'c1')['attempts']), 1, 'attempts')
    wait('Slurm is all right', lambda: c.counterpart('Slurm')['state'] == 'ok' and c.alarms() == [])


def test_scontrol_that_hangs(world):
    broken_slurm(world, 'hangs')


def test_scontrol_that_prints_garbage(world):
    broken_slurm(world, 'noise')


def test_a_word_of_slurm_s_that_is_not_known(world):
    """It is shown, and ends when Slurm says known words again."""
    _, c, _ = slurm_ward(world)
    wait('Slurm is all right', lambda: c.counterpart('Slurm')['state'] == 'ok')
    equal(c.counterpart('MQTT'), None, 'a system that is not configured')
    set_mode(world, 'news')
    wait('it is told', lambda: 'slurm Slurm' in c.alarms())
    contains(c.counterpart('Slurm')['text'], 'which is not known', 'the trouble in words')
    set_mode(world, 'fine')
    wait('it is over', lambda: c.alarms() == [])
    equal(len(c.log_lines(' alarm.over: Slurm answers again')), 1, 'how often that is told')


def test_scontrol_that_stops_half_way(world):
    broken_slurm(world, 'half')


def test_scontrol_that_says_nothing(world):
    broken_slurm(world, 'nothing')


def test_scontrol_that_fails(world):
    broken_slurm(world, 'fails')


def remove_node(l, node):
    """As an administrator does it: out of slurm.conf, and slurmctld anew."""
    with open(f'{l.dir}/slurm.conf', encoding='utf-8') as f:
        lines = [line for line in f if not line.startswith(f'NodeName={node} ')]
    rest = ','.join(n for n in l.nodes if n != node)
    text = ''.join(f'PartitionName=all Nodes={rest} Default=YES MaxTime=INFINITE State=UP\n'
                   if line.startswith('PartitionName') else line for line in lines)
    l.end(f'slurmd.{node}')
    l.end('slurmctld')
    with open(f'{l.dir}/slurm.conf', 'w', encoding='utf-8') as f:
        f.write(text)
    l.start_controller()
    l.nodes.remove(node)


def test_a_node_is_removed_from_slurm(world):
    l, c, _ = slurm_ward(world, nodes=3)
    unmount(world, 'c3')
    wait_step(c, 'c3', 'queue')
    wait_drained(l, 'c3')
    remove_node(l, 'c3')
    unmount(world, 'c1')  # the others are as they were
    wait_drained(l, 'c1')
    mount(world, 'c1')
    mount(world, 'c3')
    wait_health(c, ['c1', 'c3'], 'ok')
    c.fettle('queue', 'resolve', 'c1,c3', '--reason', 'mounted')
    c.wait_nodes('they are back', ['c1', 'c3'], Lifecycle='available')
    wait('c1 is released', lambda: not is_drained(l, 'c1'))
    equal(c.log_lines('overridden'), [], 'what was taken for a person')
    equal(len(calls(world, 'c3')), 1, 'what was written of c3')


def test_a_node_is_removed_from_slurm_before_its_drain_stood_there(world):
    """No scheduler knows it: no work comes from there, and the agent's word decides. But a list that merely lacks the
    node says no such thing."""
    l, c, _ = slurm_ward(world, nodes=3, remedy=idle_remedy(world))
    job = submit(l, 'c3')
    wait_job(l, job, 'RUNNING')
    c.wait_nodes('Slurm says so', ['c3'], Work='busy', AgentWork='idle', SchedulerWork='busy', State='BUSY')
    set_mode(world, 'first')
    unmount(world, 'c3')
    wait_step(c, 'c3', 'isolate')
    c.wait_nodes('nobody knows what runs there', ['c3'], Work='unknown', AgentWork='idle', SchedulerWork='unknown')
    holds('nothing is done', 4, lambda: step(c, 'c3') == 'isolate' and job_state(l, job) == 'RUNNING')
    remove_node(l, 'c3')
    holds('nobody said that it is gone', 3, lambda: step(c, 'c3') == 'isolate')
    set_mode(world, 'fine')
    c.wait_nodes('it is back', ['c3'], Lifecycle='available', Schedulable=True, Work='idle', SchedulerWork='')
    equal(len(repair(c, 'c3')['attempts']), 1, 'attempts')
    equal(calls(world, 'c3'), [], 'what was written of c3')


def test_a_node_is_removed_from_slurm_while_it_is_examined(world):
    l, c, _ = slurm_ward(world, nodes=3, remedy=idle_remedy(world), exam=True)
    unmount(world, 'c3')
    wait('the extensive check runs', lambda: began(world))
    wait('it is reserved', lambda: l.reservations() == [f'suspicious-node-c3.{owner(c)}'])
    remove_node(l, 'c3')
    let_exam_end(world)
    c.wait_nodes('it is back', ['c3'], Lifecycle='available', Schedulable=True)
    unmount(world, 'c1')  # the others are as they were
    c.wait_nodes('it was mended', ['c1'], Lifecycle='available', Health='ok')
    equal(c.log_lines('overridden'), [], 'what was taken for a person')


def test_the_words_of_a_drain_are_edited_in_the_middle_of_a_repair(world):
    """An edited reason is a person's, wherever the words were put: the node stays out until they are taken back."""
    l, c, _ = slurm_ward(world)
    for n in l.nodes:
        unmount(world, n)
        wait_step(c, n, 'queue')
        wait_drained(l, n)
    edited = {'c1': l.reason('c1') + ', ticket "4711": é日', 'c2': f'kept for Ann; {l.reason("c2")}'}
    for n in l.nodes:
        l.scontrol('update', f'NodeName={n}', f'Reason={edited[n]}')
    holds('nothing is written over them', 3, lambda: all(l.reason(n) == edited[n] for n in l.nodes))
    for n in l.nodes:
        mount(world, n)
    wait_health(c, l.nodes, 'ok')
    c.fettle('queue', 'resolve', 'c1,c2', '--reason', 'mounted')
    c.wait_nodes('Fettle is through with them', l.nodes, Lifecycle='available')
    holds('hers stay', 3, lambda: all(is_drained(l, n) and l.reason(n) == edited[n] for n in l.nodes))
    equal(c.log_lines('overridden'), [], 'what was taken back')
    l.scontrol('update', 'NodeName=c1', 'State=UNDRAIN')
    wait_back(c, l, 'c1')


def test_two_fettles_on_one_slurm(world):
    """A drain of one Fettle is a person's to another; a state that was lost with its authority is another Fettle."""
    l, c, _ = slurm_ward(world)
    unmount(world, 'c1')
    wait_step(c, 'c1', 'queue')
    reason = wait_drained(l, 'c1')
    other = Controller(world, 'Name=c1\nName=c2\n', name='other', SlurmScontrol=l.wrapper,
                       SlurmConf=f'{l.dir}/slurm.conf', SlurmInterval='1s')
    other.fettle('node', 'drain', 'c2', '--reason', 'the other one wants it')
    wait('it is drained', lambda: f' [fettle:{owner(other)}:' in l.reason('c2'))
    holds('both stand', 4, lambda: l.reason('c1') == reason and is_drained(l, 'c2'))
    other.fettle('node', 'undrain', 'c2')
    wait('it is taken back', lambda: not is_drained(l, 'c2'))
    holds('the first one stands', 2, lambda: l.reason('c1') == reason)


ODD = '"It\'s \\broken\\" $(reboot) `x` \t\x01 <b> é€日本 %s %n = Reason=x State=RESUME '


def test_odd_words_of_a_plugin_arrive_safely(world):
    plugin = world.write('odd', f'#!/bin/sh\ntest -e {world.dir}/$FETTLE_NODE.odd || exit 0\n'
                                f'cat {world.dir}/odd.text\nexit 2\n')
    os.chmod(plugin, 0o755)
    world.write('odd.text', ODD + 'ü' * 150 + '\nmore\nlines\n')
    l, c, _ = slurm_ward(world, checks=f'Check=odd Probe=plugin Run={plugin} Every=1s\n')
    world.write('c1.odd', '')
    reason = wait_drained(l, 'c1')
    check(' [node_problem]' + token(c, repair(c, "c1")["id"]) in reason, reason)
    check(len(reason.encode()) <= 250 and not set('"\\\n\t\x01') & set(reason), reason)
    contains(reason, 'é€日本', 'the reason')
    contains(l.scontrol('-o', 'show', 'node', 'c1'), 'State=IDLE+DRAIN', 'its state')
    wait_step(c, 'c1', 'queue')
    holds('it is known again, and not written anew', 3, lambda: len(calls(world, 'update')) == 1)
    os.remove(world.path('c1.odd'))
    c.fettle('queue', 'resolve', 'c1', '--reason', 'it says "yes" again: é')
    wait_back(c, l, 'c1')


def test_no_node_is_in_service_before_slurm_agrees(world):
    l, c, _ = slurm_ward(world)
    c.fettle('node', 'drain', 'c1', '--reason', 'new fan')
    wait('it is drained there', lambda: is_drained(l, 'c1'))
    claim = c.get('/v1/nodes/c1')['claims'][0]['id']
    wait('its work has ended', lambda: any(e['what'] == 'node.drained' for e in c.journal()))
    set_mode(world, 'fails')
    wait('it is noticed', lambda: c.log_lines('alarm.slurm'))
    c.fettle('node', 'undrain', 'c1')
    holds('it is not shown in service', 2, lambda: c.node('c1')['Lifecycle'] == 'drained' and not c.node('c1')['Schedulable'])
    contains(c.node('c1')['Why'], "Slurm still has Fettle's drain", 'why')
    c.restart()
    c.wait_nodes('it is heard', ['c1'], Liveness='live')
    holds('nor after a restart', 2, lambda: c.node('c1')['Lifecycle'] == 'drained')
    set_mode(world, 'fine')
    c.wait_nodes('it is in service', ['c1'], Lifecycle='available', Schedulable=True)
    check(not is_drained(l, 'c1'), 'c1 is drained')
    followed = [line.split('  ', 1)[1].split()[0] for line in c.fettle('journal', '--about', claim).splitlines()]
    equal([followed[0], *sorted(set(followed[1:]))], ['node.drain', 'effect.result', 'node.drained', 'node.undrain'],
          f'what is part of the claim: {followed}')


def test_no_job_starts_on_a_drifted_node_of_a_class_that_excludes(world):
    """Its drain is a claim's like any other, in Slurm too, and goes when the node is right again."""
    classes = world.write('classes.conf', 'Class=strict Nodes=c[1-9] Drifted=exclude\n')
    l, c, _ = slurm_ward(world, ClassConf=classes)
    alike(c, ['c1', 'c2'])
    change(world, 'c2', SWAPPINESS, '60\n')
    wait('c2 is drained in Slurm', lambda: is_drained(l, 'c2'))
    claim = c.get('/v1/nodes/c2')['claims'][0]['id']
    contains(l.reason('c2'), f'drift by fettled: drifted from baseline strict 1: sysctl.vm.swappiness{token(c, claim)}',
             'what Slurm shows')
    job, both = submit(l, 'c2'), submit(l, 'c1,c2')
    wait('all that is submitted was looked at', lambda: job_state(l, both) == 'PENDING')
    holds('no work starts there', 3, lambda: job_state(l, job) == job_state(l, both) == 'PENDING')
    fix(world, 'c2', SWAPPINESS)
    wait_job(l, job, 'RUNNING')
    check(not is_drained(l, 'c2'), 'c2 is drained')
    cancel(l, job)
    cancel(l, both)


def shown(l, node):
    """Its weight and its features."""
    said = l.run('scontrol', '-o', 'show', 'node', node)
    return re.search(r' Weight=(\S*)', said).group(1), re.search(r' AvailableFeatures=(\S*)', said).group(1)


def test_slurm_prefers_others_to_a_drifted_node(world):
    """Where its class only avoids it. What people wrote beside it stays, also a weight of theirs."""
    l, c, _ = slurm_ward(world)
    alike(c, ['c1', 'c2'])
    l.scontrol('update', 'NodeName=c2', 'AvailableFeatures=ib,big', 'ActiveFeatures=ib', 'Weight=5')
    set_mode(world, 'fails')  # both wait to be written, and need something else each
    for n in ('c1', 'c2'):
        change(world, n, SWAPPINESS, '60\n')
    wait_conformance(c, ['c1', 'c2'], 'drifted')
    set_mode(world, 'fine')
    wait('Slurm has both weights', lambda: (shown(l, 'c1')[0], shown(l, 'c2')) ==
         ('1001', ('1005', 'ib,big,fettle_avoid_5')))
    check(not is_drained(l, 'c2'), 'c2 is drained')
    l.scontrol('update', 'NodeName=c1', 'Weight=77')
    for n in ('c1', 'c2'):
        fix(world, n, SWAPPINESS)
    wait('all is as it was', lambda: (shown(l, 'c1'), shown(l, 'c2')) == (('77', '(null)'), ('5', 'ib,big')))
    writes = calls(world, 'Weight=') + calls(world, 'AvailableFeatures=')
    holds('nothing more is written', 3, lambda: calls(world, 'Weight=') + calls(world, 'AvailableFeatures=') == writes)


def test_a_persons_drain_in_fettle_is_one_in_slurm(world):
    l, c, _ = slurm_ward(world)
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    c.fettle('node', 'drain', 'c1,c2', '--reason', 'new "memory" for both: é')
    for n in ('c1', 'c2'):
        wait(f'{n} is drained', lambda n=n: is_drained(l, n))
        check(f' [fettle:{owner(c)}:' in l.reason(n), l.reason(n))
        contains(l.reason(n), 'new memory for both: é', 'the reason')
    equal(job_state(l, job), 'RUNNING', 'the job')
    c.fettle('node', 'undrain', 'c1,c2')
    wait('both are back', lambda: not is_drained(l, 'c1') and not is_drained(l, 'c2'))
    equal(job_state(l, job), 'RUNNING', 'the job')
    cancel(l, job)


main(at_once=3)
