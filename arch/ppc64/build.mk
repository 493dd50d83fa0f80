# SPDX-License-Identifier: BSD-2-Clause
# The powerpc64 port's part of the kernel. rules.mk links.
PORT_DIR := arch/ppc64
KERNEL_SOURCES += $(addprefix $(PORT_DIR)/,start.S entry.S user_copy.S boot.c fdt.c prom.c rtas.c boot_mmu.c mmu.c cpu.c \
                  trap.c xics.c pci.c clock.c machine.c thread.c backtrace.c) arch/page_table.c

# Structure offsets for assembly: compiled, never linked; lines that start with -> become #defines.
PORT_OFFSETS := $(BA)/kernel/gen/offsets.h
$(PORT_OFFSETS): $(PORT_DIR)/offsets.c $$(GENERATED)
	@mkdir -p $(@D); echo "  OFFSETS $@"
	@$(CC) $(KERNEL_CFLAGS) -MF $(@:.h=.d) -MT $@ -S -o $(@:.h=.s) $<
	@{ echo "/* Made from $<. */"; sed -n 's/^-> \([A-Z0-9_]*\) \(-*[0-9]*\)$$/#define \1 \2/p' $(@:.h=.s); } >$@
-include $(PORT_OFFSETS:.h=.d)

$(BA)/kernel/obj/$(PORT_DIR)/start.o $(BA)/kernel/obj/$(PORT_DIR)/entry.o: $(PORT_OFFSETS)
CFLAGS_$(PORT_DIR)/start.S += -I$(dir $(PORT_OFFSETS))
CFLAGS_$(PORT_DIR)/entry.S += -I$(dir $(PORT_OFFSETS))
