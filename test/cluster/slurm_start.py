# SPDX-License-Identifier: Apache-2.0
"""A controller that begins while Slurm does not answer: nobody knows what runs, and nothing is done."""
from harness import equal, holds, main, wait
from slurm_ward import cancel, job_state, set_mode, slurm_ward, submit, wait_job
from ward import MOUNT, incidents, repair, step, unmount


def idle_remedy(world):
    return ('Remedy=mount.scratch ' + MOUNT.format(world.dir, world.dir).replace('Needs=nothing', 'Needs=idle') +
            ' Confidence=80% Because="it is only not mounted" Takes=5s Disturbs=0')


def test_no_word_of_slurm_since_the_start_is_no_idle_node(world):
    l, c, agents = slurm_ward(world, remedy=idle_remedy(world))
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    set_mode(world, 'hangs')
    c.process.kill()
    agents['c1'].process.stop()
    c.start()
    agents['c1'].start()
    unmount(world, 'c1')
    wait('the incident is recorded', lambda: incidents(c, 'c1'))
    holds('nothing is done', 5, lambda: step(c, 'c1') in ('none', 'isolate') and job_state(l, job) == 'RUNNING')
    equal((repair(c, 'c1') or {}).get('attempts', []), [], 'attempts')
    cancel(l, job)


main()
