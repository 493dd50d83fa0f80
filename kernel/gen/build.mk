# Generates files from kernel/syscalls.def and kernel/errors.def; one run of syscallgen writes them all.
SYSCALL_GENERATED := $(GEN)/include/tarn/syscall.h
SYSCALL_ENUM      := $(GEN)/syscalls.enum
GENERATED += $(SYSCALL_GENERATED)

$(SYSCALL_GENERATED): kernel/gen/syscallgen kernel/syscalls.def kernel/errors.def
	@echo "  GEN     $(GEN)/include/tarn, $(SYSCALL_ENUM)"
	@$< kernel/syscalls.def kernel/errors.def $(GEN)

$(SYSCALL_ENUM) $(GEN)/kernel/syscall_table.c $(GEN)/docs/syscalls.md: $(SYSCALL_GENERATED)
	@:
