# SPDX-License-Identifier: Apache-2.0
"""One node of the lab: a virtual machine without KVM, and its BMC, which Debian's ipmi_sim plays.

The BMC switches the machine: ipmi_sim calls the script `chassis` in the node's directory, which starts and ends QEMU.
Both speak to the same ipmi_sim, the network by LAN and the machine by its KCS interface (/dev/ipmi0), so that there is
one event log. After `chassis bootdev pxe` QEMU starts without a kernel: SeaBIOS, iPXE, DHCP, HTTP, and a new image.

Each disk is a file, qcow2 over the image, and a throttle. A fault puts something between the last two that fails, or
lets nothing through the throttle. A reboot leaves it there; a new QEMU, which a power cycle starts, does not have it,
as with many real disks.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SECRET = 's3cret'
MEMORY_MB = 384
DISKS = {'root': 'virtio-blk-pci,id=root-dev,drive=root,serial=root',
         'scratch': 'nvme,id=scratch-dev,drive=scratch,serial=scratch',
         'data': 'scsi-hd,id=data-dev,bus=scsi.0,drive=data,serial=data'}

# ipmi_sim calls: chassis MC get|set|check NAME [VALUE]...  It hears nobody until the script ends, so what takes longer
# goes on behind it, in turn.
CHASSIS = """#!/bin/sh
cd {home}
shift
op=$1
shift
while [ $# -gt 0 ]; do
    case $op:$1 in
    get:power) read -r pid started <vm.pid && [ -e "/proc/$pid/exe" ] && echo power:1 || echo power:0 ;;
    get:boot) if [ -f boot ]; then read -r b <boot; echo "boot:$b"; else echo boot:none; fi ;;
    get:*) echo "$1:0" ;;
    set:boot) [ "$2" = none ] && rm -f boot || echo "$2" >boot; shift ;;
    set:*) flock chassis.lock {python} -B {here}/lab.py -d {lab} chassis {node} "$1" "$2" >>vm.log 2>&1 </dev/null & shift ;;
    esac
    shift
done
"""
BMC = """name "{node}"
set_working_mc 0x20
  startlan 1
    addr {address} 623
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa1234567890000{number:02x}
  endlan
  chassis_control "{home}/chassis 0x20"
  serial kcs 127.0.0.1 {port} codec VM ipmb 0x20
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "admin" "{secret}" admin 10 none md2 md5 straight
"""
BMC_COMMANDS = """mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
sensor_add 0x20 0 0 35 0x6f event-only
mc_enable 0x20
"""


def command_line():
    """The kernel's parameters. An emulated processor has this one's counter, and a busy host measures it wrongly."""
    line = ('console=ttyS0 loglevel=6 mitigations=off nokaslr no_timer_check tsc=reliable random.trust_cpu=on audit=0 '
            'selinux=0 apparmor=0 net.ifnames=0')
    with open('/proc/cpuinfo', encoding='ascii') as f:
        mhz = next((x.split(':')[1] for x in f if x.startswith('cpu MHz')), None)
    return line + (f' tsc_early_khz={round(float(mhz) * 1000)}' if mhz else '')


class Machine:
    def __init__(self, lab, name):
        self.lab, self.name, self.number = lab, name, int(name[1:])
        self.home = lab.run / name
        self.bmc_address = f'10.77.0.{100 + self.number}'

    # --- power ---

    def start(self):
        """Its BMC and, as if that had switched it on, the machine."""
        self.home.mkdir(parents=True, exist_ok=True)
        for disk in DISKS:
            if not (self.home / f'{disk}.qcow2').exists():
                subprocess.run(['qemu-img', 'create', '-q', '-f', 'qcow2', '-b', self.lab.image / f'{disk}.ext4', '-F', 'raw',
                                self.home / f'{disk}.qcow2'], check=True)
        (self.home / 'chassis').write_text(CHASSIS.format(home=self.home, here=HERE, lab=self.lab.dir, node=self.name,
                                                          python=sys.executable))
        (self.home / 'chassis').chmod(0o755)
        (self.home / 'lan.conf').write_text(BMC.format(node=self.name, address=self.bmc_address, number=self.number,
                                                       home=self.home, port=9100 + self.number, secret=SECRET))
        (self.home / 'bmc.emu').write_text(BMC_COMMANDS)
        (self.home / 'bmc').mkdir(exist_ok=True)
        self.lab.spawn(f'{self.name}/bmc', ['ipmi_sim', '-n', '-c', self.home / 'lan.conf', '-f', self.home / 'bmc.emu', '-s',
                                            self.home / 'bmc'])
        self.power_on()

    def stop(self):
        self.power_off()
        self.lab.end(f'{self.name}/bmc')

    def power_on(self):
        boot = self.home / 'boot'
        netboot = boot.exists() and boot.read_text().strip() == 'pxe'
        boot.unlink(missing_ok=True)
        if netboot:
            (self.home / 'wanted-image').touch()  # until the initrd says that it was written
        self.lab.spawn(f'{self.name}/vm', self.qemu(netboot))

    def power_off(self):
        self.lab.end(f'{self.name}/vm')

    def chassis(self, what, value):
        """Gives the BMC one command."""
        with open(self.home / 'chassis.log', 'a', encoding='utf-8') as log:
            log.write(f'{time.time():.1f} {what} {value}\n')
        if what == 'power' and value == '1':
            self.power_on()
        elif what == 'power':
            self.power_off()
        elif what == 'reset' and (self.home / 'boot').exists():  # another boot device takes another QEMU
            self.power_off()
            self.power_on()
        elif what == 'reset':
            self.qmp('system_reset')
        elif what == 'shutdown':
            self.qmp('system_powerdown')

    def switched(self):
        """The commands that its BMC has got so far."""
        log = self.home / 'chassis.log'
        return [x.split(' ', 1)[1] for x in log.read_text().splitlines()] if log.exists() else []

    def qemu(self, netboot):
        words = ['qemu-system-x86_64', '-name', self.name, '-nodefaults', '-no-user-config', '-display', 'none',
                 '-machine', 'pc', '-accel', 'tcg,thread=multi,tb-size=128', '-cpu', 'qemu64', '-smp', '1', '-m', str(MEMORY_MB),
                 '-chardev', f'file,id=con,path={self.home}/console,append=on', '-serial', 'chardev:con',
                 '-chardev', f'socket,id=sh,path={self.home}/shell,server=on,wait=off', '-serial', 'chardev:sh',
                 '-qmp', f'unix:{self.home}/qmp,server=on,wait=off',
                 '-smbios', f'type=1,manufacturer=Fettle,product=vm,serial={self.name},'
                            f'uuid=00000000-0000-4000-8000-0000000000{self.number:02x}',
                 '-chardev', f'socket,id=ipmi,host=127.0.0.1,port={9100 + self.number},reconnect=1',
                 '-device', 'ipmi-bmc-extern,id=bmc,chardev=ipmi', '-device', 'isa-ipmi-kcs,bmc=bmc',
                 # The store that keeps the last messages of a kernel that panics over a power cycle.
                 '-object', f'memory-backend-file,id=erst,mem-path={self.home}/erst,size=64K,share=on',
                 '-device', 'acpi-erst,memdev=erst',
                 '-device', 'i6300esb,id=wdt', '-action', 'watchdog=reset', '-rtc', 'base=utc,clock=host',
                 '-device', 'virtio-scsi-pci,id=scsi']
        for disk, device in DISKS.items():
            words += ['-blockdev', json.dumps({'driver': 'qcow2', 'node-name': f'{disk}-good', 'file': {
                          'driver': 'file', 'filename': f'{self.home}/{disk}.qcow2', 'cache': {'no-flush': True}}}),
                      '-object', f'throttle-group,id=throttle-{disk}',
                      '-blockdev', json.dumps(self.throttle(disk, f'{disk}-good')), '-device', device]
        for i in (0, 1):
            rom = '' if netboot and i == 0 else ',romfile='
            words += ['-netdev', f'tap,id=net{i},ifname={self.name}.{i},script=no,downscript=no',
                      '-device', f'virtio-net-pci,id=nic{i},netdev=net{i},mac=52:54:00:7{7 + i}:00:{self.number:02x}{rom}']
        if netboot:
            return words + ['-boot', 'order=n']
        return words + ['-kernel', self.lab.image / 'vmlinux', '-initrd', self.lab.image / 'initrd', '-append', command_line()]

    @staticmethod
    def throttle(disk, child):
        return {'driver': 'throttle', 'node-name': disk, 'throttle-group': f'throttle-{disk}', 'file': child}

    # --- faults of its disks ---

    def disk_fails(self, disk, sector=None):
        """All requests fail from now on, or those of one sector."""
        rule = {'event': 'none', 'errno': 5, 'immediately': True, 'once': False, **({} if sector is None else {'sector': sector})}
        name = f'{disk}-bad{time.monotonic_ns() % 10**9}'
        self.qmp('blockdev-add', driver='blkdebug', **{'node-name': name, 'image': f'{disk}-good', 'inject-error': [rule]})
        self.qmp('blockdev-reopen', options=[self.throttle(disk, name)])

    def disk_works(self, disk):
        self.qmp('blockdev-reopen', options=[self.throttle(disk, f'{disk}-good')])

    def disk_hangs(self, disk, hangs=True):
        """A byte a second: no request is answered before anybody gives up."""
        self.qmp('qom-set', path=f'/objects/throttle-{disk}', property='limits', value={'bps-total': 1 if hangs else 0})

    # --- talking to it ---

    def qmp(self, command, **arguments):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.home / 'qmp'))
            f = s.makefile('rw')
            f.readline()
            for c, a in (('qmp_capabilities', {}), (command, arguments)):
                f.write(json.dumps({'execute': c, 'arguments': a}) + '\n')
                f.flush()
                answer = json.loads(f.readline())
                while 'event' in answer:
                    answer = json.loads(f.readline())
        if 'error' in answer:
            raise RuntimeError(f"{self.name}: {command}: {answer['error']['desc']}")
        return answer['return']

    def monitor(self, line):
        return self.qmp('human-monitor-command', **{'command-line': line})

    def sh(self, command, within=60):
        """(exit status, output) of a command that runs on the node; the status is None when it does not answer. This goes
        by a serial port and needs no network."""
        mark = f'{os.getpid()}-{time.monotonic_ns()}'
        got, limit = b'', time.monotonic() + within
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.home / 'shell'))
            s.sendall(f"\necho '<{mark}''>'; {{ {command}\n}} </dev/null 2>&1; echo '<{mark}' $?'>'\n".encode())
            while time.monotonic() < limit:
                s.settimeout(max(0.1, limit - time.monotonic()))
                try:
                    part = s.recv(65536)
                except OSError:
                    break
                if not part:
                    break
                got += part
                first, last = f'<{mark}>'.encode(), f'<{mark} '.encode()
                if first in got and last in got and b'>' in got.split(last, 1)[1]:
                    output, _, status = got.split(first, 1)[1].partition(last)
                    return int(status.split(b'>')[0]), output.decode(errors='replace').replace('\r', '').strip('\n')
        return None, got.decode(errors='replace')

    def later(self, command):
        """For a command that may end the machine: nobody waits for it."""
        return self.sh(f'(sleep 0.3; {command}) >/dev/null 2>&1 &')

    def ipmitool(self, *words):
        return self.lab.inside(['ipmitool', '-I', 'lanplus', '-C', '3', '-H', self.bmc_address, '-U', 'admin', '-P', SECRET, *words],
                               capture_output=True, text=True)

    def console(self):
        return (self.home / 'console').read_text(errors='replace')

    def forget(self):
        """New disks, as of a machine that was never here; it is off."""
        shutil.rmtree(self.home / 'bmc', ignore_errors=True)
        for disk in DISKS:
            (self.home / f'{disk}.qcow2').unlink(missing_ok=True)
