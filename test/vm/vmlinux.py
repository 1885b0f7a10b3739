# SPDX-License-Identifier: Apache-2.0
"""Takes the kernel out of a bzImage, so that an emulated processor need not.   usage: vmlinux.py VMLINUZ VMLINUX"""
import lzma
import struct
import sys

with open(sys.argv[1], 'rb') as f:
    image = f.read()
setup_sectors = (image[0x1F1] or 4) + 1
offset, size = struct.unpack_from('<II', image, 0x248)  # of the payload, behind the part for real mode
payload = image[setup_sectors * 512 + offset:][:size]
kernel = lzma.LZMADecompressor().decompress(payload)  # xz, as Debian packs it, and its size behind it
if not kernel.startswith(b'\x7fELF'):
    sys.exit(f'{sys.argv[1]}: no kernel in it that xz packed')
with open(sys.argv[2], 'wb') as f:
    f.write(kernel)
