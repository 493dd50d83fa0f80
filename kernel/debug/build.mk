# The kernel's debugger. rules.mk links the kernel with the table that symbolgen makes.
KERNEL_SOURCES += $(sort $(wildcard kernel/debug/*.c))
