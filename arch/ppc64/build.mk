# SPDX-License-Identifier: BSD-2-Clause
# The powerpc64 port's part of the kernel. rules.mk links.
PORT_DIR := arch/ppc64
KERNEL_SOURCES += $(addprefix $(PORT_DIR)/,start.S entry.S user_copy.S boot.c fdt.c prom.c rtas.c boot_mmu.c mmu.c cpu.c \
                  trap.c xics.c pci.c clock.c machine.c thread.c backtrace.c) arch/page_table.c
