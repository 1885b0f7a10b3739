# SPDX-License-Identifier: Apache-2.0
"""A fettled that runs as an ordinary user controls a real Slurm, whose operator is root, through fettle-exec."""
from harness import USER, check, contains, equal, main, need_root, uid_of
from slurm_ward import is_drained, slurm_ward, wait_drained, wait_released
from ward import unmount

REMEDY = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is only not mounted" Takes=5s Disturbs=0'


def test_nodes_are_drained_and_returned(world):
    need_root()
    l, c, _ = slurm_ward(world, user=USER, remedy=REMEDY)
    equal(uid_of(c.process.pid), {str(USER)}, 'whose fettled is')
    unmount(world, 'c1')
    contains(wait_drained(l, 'c1'), '/scratch', 'what Slurm shows')
    contains(c.exec.log(), f'user {USER}: slurm scontrol update NodeName=c1 Reason=', 'the log of fettle-exec')
    check(not is_drained(l, 'c2'), 'c2 is drained, too')
    wait_released(l, 'c1')
    check('refused' not in c.exec.log(), lambda: f'something was refused: {c.exec.log()}')


main()
