# The powerpc64 port's part of the kernel. rules.mk links.
PORT_DIR := arch/ppc64
KERNEL_SOURCES += $(addprefix $(PORT_DIR)/,start.S entry.S user_copy.S boot.c fdt.c prom.c rtas.c mmu.c cpu.c \
                  trap.c xics.c vpa.c pci.c clock.c counter.c machine.c debug.c) $(wildcard arch/*.c)

# Message handlers and kernel_exit are entered only from entry.S, which has stored these registers, so they need not
# keep them. r31 cannot be among them, so it is not used.
STORED_BY_ENTRY := $(foreach n,14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30,-fcall-used-$n) -ffixed-31
CFLAGS_kernel/ipc/ipc_fast.c += $(STORED_BY_ENTRY)
CFLAGS_kernel/sched/schedule.c += $(STORED_BY_ENTRY)
