# Compiler and linker flags of the powerpc64 port. ELFv2 for the kernel and for programs: README.md says why.
CROSS := powerpc64-linux-gnu-
ARCH_CFLAGS        := -m64 -mbig-endian -mabi=elfv2 -mcpu=power9 -mno-altivec -mno-vsx -mlong-double-64
KERNEL_ARCH_CFLAGS := -mcmodel=medium -msoft-float
USER_ARCH_CFLAGS   := -mcmodel=medium -ftls-model=local-exec
FRAME_POINTER      := # call chains are walked by the back chain, which the ABI demands
# Linked at ARCH_DIRECT_MAP + 4 MiB. QEMU adds 4 MiB to a segment's physical address, so load addresses begin at 0. It
# enters at the first byte.
KERNEL_LDFLAGS     := -m elf64ppc -nostdlib -static -no-pie -z max-page-size=4096 -z noexecstack -e start \
                      --defsym=KERNEL_BASE=0xc000000000400000 --defsym=KERNEL_OFFSET=0
USER_LDFLAGS       := -m elf64ppc -nostdlib -static -no-pie -z max-page-size=4096 -z noexecstack
NEWLIB_TARGET      := powerpc64-unknown-none
