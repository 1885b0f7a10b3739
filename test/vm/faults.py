# SPDX-License-Identifier: Apache-2.0
"""What QEMU, a BMC or the node's own kernel can really break. Each fault names what breaks it, and what mends it by hand
where that is possible. Where no reboot, power cycle or new image can mend it, it says so (`outside`)."""
import dataclasses
import os
import signal
import sys
import typing


@dataclasses.dataclass
class Fault:
    what: str
    begin: typing.Callable
    end: typing.Callable | None = None
    outside: bool = False
    unseen: str = ''  # why nothing is found within the time of a trial, where that is right
    recurs: bool = False  # with each boot: a node that is well for a moment is not back


def shell(command):
    """A command on the node itself; the caller judges a status other than 0."""
    return lambda m: m.sh(command, 30)


def later(command):
    return lambda m: m.later(command)


def monitor(line):
    return lambda m: m.monitor(line)


def link(nic, up):
    return lambda m: m.qmp('set_link', name=nic, up=up)


def bmc(which):
    return lambda m: os.kill(m.lab.pid(f'{m.name}/bmc'), which)


def disk_fails(disk, touch=None, sector=None):
    def begin(m):
        m.disk_fails(disk, sector)
        if touch:
            m.sh(touch, 30)
    return begin


def disk_works(disk):
    return lambda m: m.disk_works(disk)


def disk_hangs(disk, hangs):
    return lambda m: m.disk_hangs(disk, hangs)


def reboots(order, delay_s):
    """A service that reboots the node in each boot."""
    unit = '/etc/systemd/system/vm-loop.service'
    return later(f"printf '[Unit]\\n{order}\\n[Service]\\nExecStart=/bin/sh -c \"sleep {delay_s}; systemctl --no-block reboot\"\\n' "
                 f'>{unit}; ln -sf {unit} /etc/systemd/system/multi-user.target.wants/; sync; systemctl --no-block reboot')


def corrected_error(m):
    m.sh('echo 2 >/sys/devices/system/machinecheck/machinecheck0/check_interval')
    m.monitor('mce 0 5 0x9c00000000000090 0 0x12345000 0x8c')


def write(path):
    return f'dd if=/dev/zero of={path} bs=64k count=4 conv=fsync'


FAULTS = {
    'service': Fault('a service is killed', shell('systemctl kill -s KILL vm-service'), shell('systemctl start vm-service')),
    'program': Fault('a program on the root disk is gone', shell('rm /usr/local/bin/vm-program'),
                     shell('cp /bin/true /usr/local/bin/vm-program')),
    'agent': Fault('the agent is killed', shell('systemctl kill -s KILL --kill-whom=main fettle-agent'),
                   unseen='systemd starts it again at once'),
    'agent-hangs': Fault('the agent hangs (SIGSTOP)', shell('systemctl kill -s STOP --kill-whom=main fettle-agent'),
                         shell('systemctl kill -s CONT --kill-whom=main fettle-agent')),
    'full': Fault('the root disk is full', shell("fallocate -l $(($(stat -f -c '%a*%S' /)-1000000)) /var/tmp/fill"),
                  shell('rm -f /var/tmp/fill')),
    'read-only': Fault('a file system turns read-only', shell('mount -o remount,ro /scratch'), shell('mount -o remount,rw /scratch')),
    'nvme-error': Fault('every request of the NVMe fails', disk_fails('scratch', write('/scratch/x')), disk_works('scratch')),
    'scsi-error': Fault('every request of the SCSI disk fails', disk_fails('data', write('/data/x')), disk_works('data')),
    'root-error': Fault('every request of the root disk fails', disk_fails('root'), disk_works('root')),
    'sector': Fault('one sector of the NVMe cannot be read', disk_fails(
        'scratch', 'dd if=/dev/nvme0n1 of=/dev/null bs=512 skip=300000 count=1 iflag=direct', 300000), disk_works('scratch')),
    'nvme-hang': Fault('the NVMe answers no request', disk_hangs('scratch', True), disk_hangs('scratch', False)),
    'root-hang': Fault('the root disk answers no request', disk_hangs('root', True), disk_hangs('root', False)),
    'nvme-gone': Fault('the NVMe is pulled out', lambda m: m.qmp('device_del', id='scratch-dev'),
                       lambda m: m.qmp('device_add', driver='nvme', id='scratch-dev', drive='scratch', serial='scratch')),
    'link': Fault('the jobs\' network interface loses its link', link('nic1', False), link('nic1', True), outside=True),
    'mgmt-link': Fault('the management interface loses its link', link('nic0', False), link('nic0', True), outside=True),
    'loss': Fault('40 % of the packets of the jobs\' network are lost', shell('modprobe sch_netem; tc qdisc replace dev eth1 root netem loss 40%'),
                  shell('tc qdisc del dev eth1 root')),
    'mgmt-loss': Fault('40 % of the packets of the management network are lost',
                       shell('modprobe sch_netem; tc qdisc replace dev eth0 root netem loss 40%'), shell('tc qdisc del dev eth0 root')),
    'mce-corrected': Fault('a corrected machine check', corrected_error),
    'mce-memory': Fault('a memory error that needs no action at once', monitor('mce -b 0 9 0xbd000000000000c0 0xd 0x10000000 0x8c')),
    'mce-fatal': Fault('an uncorrected machine check: the kernel panics', monitor('mce 0 4 0xbe00000000070f0f 0x4 0x12345000 0x8c')),
    'poison': Fault('a page of memory is bad and is taken out of use', shell('echo 0x8000000 >/sys/devices/system/memory/hard_offline_page')),
    'nmi': Fault('an NMI that nobody explains', lambda m: m.qmp('inject-nmi')),
    'panic': Fault('the kernel panics, and stays there', later('echo c >/proc/sysrq-trigger')),
    'freeze': Fault('all processors stand still', lambda m: m.qmp('stop'), lambda m: m.qmp('cont')),
    'stall': Fault('a real-time process takes the only processor', later(
        "sysctl -qw kernel.sched_rt_runtime_us=-1; chrt -f 90 timeout -s KILL 90 sh -c 'while :; do :; done'")),
    'hung': Fault('a process hangs in the kernel on a frozen file system', later('fsfreeze -f /scratch; touch /scratch/x'),
                  shell('fsfreeze -u /scratch')),
    'oom': Fault('memory runs out, three times', later('echo 200 >/proc/self/oom_score_adj; for i in 1 2 3; do tail /dev/zero; done')),
    'clock': Fault('the clock is an hour wrong and nobody corrects it', shell("systemctl stop systemd-timesyncd; date -s '+1 hour'"),
                   shell('systemctl start systemd-timesyncd')),
    'clock-step': Fault('the clock steps by an hour', shell("date -s '+1 hour'"),
                        unseen='its time service puts it right within seconds'),
    'watchdog': Fault('nobody feeds the hardware watchdog', later(
        'modprobe -r i6300esb; modprobe i6300esb heartbeat=10; exec 3>/dev/watchdog0; echo x >&3; sleep 1d')),
    'loop': Fault('the node reboots before its agent starts, in each boot (the lab allows 20 tries; 2 are the default)', reboots('Before=fettle-agent.service', 0), recurs=True),
    'loop-late': Fault('the node reboots 30 s after the start of each boot', reboots('DefaultDependencies=no', 30), recurs=True),
    'bmc': Fault('the BMC does not answer', bmc(signal.SIGSTOP), bmc(signal.SIGCONT), outside=True,
                 unseen='asked once a day, after a boot, and when it is needed; then it is the alarm `bmc`'),
    'sel': Fault('the BMC logs an uncorrectable memory error', shell(
        'ipmitool raw 0x0a 0x44 0 0 2 0 0 0 0 0x20 0 4 0x0c 1 0x6f 1 0xff 0xff')),
    'poweroff': Fault('somebody switches the node off', later('systemctl poweroff'), lambda m: m.power_on()),
}


def main(lab, verb, words):
    if verb == 'faults':
        for name, f in FAULTS.items():
            print(f'{name:14} {f.what}' + ('' if f.end else ' (nothing mends it by hand)'))
        return 0
    name, node = words
    if name not in FAULTS:
        sys.exit(f'there is no fault "{name}": lab.py faults lists them')
    act = FAULTS[name].begin if verb == 'fault' else FAULTS[name].end
    if not act:
        sys.exit(f'{name}: nothing mends it by hand')
    act(lab.machine(node))
    return 0
