# The kernel: generic code here; the port and the trace add their files. rules.mk links.
KERNEL_FOLDERS := boot cpu diagnosis failure ipc lib memory object sched space syscall trace
KERNEL_SOURCES += $(sort $(foreach folder,$(KERNEL_FOLDERS),$(wildcard kernel/$(folder)/*.c))) base/line_edit.c base/tree.c $(GEN)/kernel/syscall_table.c
# Only in the exploring kernel.
EXPLORE_SOURCES := $(sort $(wildcard kernel/explore/*.c))
# Header dependencies from earlier compilations.
-include $(shell find $(BA)/kernel/obj -name '*.d' 2>/dev/null)
# Call chains skip functions of these files: a frame pointer costs six instructions per round trip, and 0.3 % of
# sdet while it is traced.
CFLAGS_kernel/ipc/ipc_fast.c += -fomit-frame-pointer
CFLAGS_kernel/diagnosis/span.c += -fomit-frame-pointer
