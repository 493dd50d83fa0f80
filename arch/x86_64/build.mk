# The x86_64 port's part of the kernel. rules.mk links.
PORT_DIR := arch/x86_64
KERNEL_SOURCES += $(addprefix $(PORT_DIR)/,start.S entry.S user_copy.S boot.c acpi.c mmu.c cpu.c trap.c \
                  apic.c ioapic.c clock.c counter.c machine.c debug.c) $(wildcard arch/*.c)
