/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boot/ppc64/stub.S - the whole firmware of a fast start: `-bios stub.bin`.
 *
 * QEMU puts this at 0 and enters at 0x100 with r3 = flattened device tree. It has loaded kernel and archive already,
 * so all that is left is to go there. r5 = 0 tells the kernel that there is no Open Firmware.
 */
#define FIRMWARE_ENTRY 0x100
#define KERNEL_AT_HIGH 0x40     /* 0x400000 >> 16: where QEMU loads a kernel */

        .text
        .org    FIRMWARE_ENTRY
        li      %r5, 0
        lis     %r12, KERNEL_AT_HIGH
        mtctr   %r12
        bctr
