# Compiler and linker flags of the x86_64 port.
CROSS :=
ARCH_CFLAGS        := -m64 -march=x86-64 -mno-avx
KERNEL_ARCH_CFLAGS := -mcmodel=kernel -mno-red-zone -mgeneral-regs-only
USER_ARCH_CFLAGS   := -mcmodel=small -ftls-model=local-exec
FRAME_POINTER      := -fno-omit-frame-pointer # call chains are walked by it
# Loaded at 1 MiB. GRUB requires the entry in a segment, and then uses the address in the multiboot2 header.
KERNEL_LDFLAGS     := -nostdlib -static -z max-page-size=4096 -z noexecstack -e multiboot2_entry \
                      --defsym=KERNEL_BASE=0xffffffff80000000 --defsym=KERNEL_OFFSET=0x100000
USER_LDFLAGS       := -nostdlib -static -z max-page-size=4096 -z noexecstack
NEWLIB_TARGET      := x86_64-elf
