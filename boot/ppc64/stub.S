/*
 * boot/ppc64/stub.S - the firmware of a direct start: `-bios stub.bin`.
 *
 * QEMU puts this at 0 and enters at 0x100 with r3 = flattened device tree. It has already loaded kernel and
 * archive, so this only jumps to the kernel. r5 = 0 tells the kernel that there is no Open Firmware.
 */
#define FIRMWARE_ENTRY 0x100
#define KERNEL_AT_HIGH 0x40     /* 0x400000 >> 16: where QEMU loads a kernel */

        .text
        .org    FIRMWARE_ENTRY
        li      %r5, 0
        lis     %r12, KERNEL_AT_HIGH
        mtctr   %r12
        bctr
