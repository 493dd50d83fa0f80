# Builds parts of the kernel as host programs with sanitizers. tests/unit/kernel is their port, which defines what they use of one.
KERNEL_HOST_FLAGS := -Itests/unit/kernel -Itests/unit/trace/host -Iarch/include -Ikernel/abi -DTARN_KERNEL -Wno-unused-function

SCHED_TEST := tests/unit/kernel/sched_test.c $(addprefix kernel/,sched/sched.c sched/schedule.c sched/timer.c syscall/interrupts.c) arch/clock_agree.c
$(eval $(call host_test,sched,$(SCHED_TEST)))
$(foreach s,$(SCHED_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))
