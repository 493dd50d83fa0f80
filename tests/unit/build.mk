# SPDX-License-Identifier: BSD-2-Clause
# Builds parts of the kernel as host programs with sanitizers. tests/unit/kernel is their port.
KERNEL_HOST := tests/unit/kernel/host.c
KERNEL_HOST_FLAGS := -Itests/unit/kernel -Iarch/include -Ikernel/abi -DTARN_KERNEL -pthread

MEMORY_TEST := base/tree.c $(addprefix kernel/,memory/frame.c memory/slab.c cpu/quiescent.c space/memory.c space/mapping.c space/space.c space/counting.c space/space_fault.c space/tlb.c)
$(eval $(call host_test,memory,tests/unit/kernel/memory_test.c $(KERNEL_HOST) $(MEMORY_TEST),-pthread))
$(foreach s,tests/unit/kernel/memory_test.c $(KERNEL_HOST) $(MEMORY_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

SCHED_TEST := $(addprefix kernel/,sched/sched.c sched/schedule.c sched/timer.c syscall/timer_interrupt.c)
$(eval $(call host_test,sched,tests/unit/kernel/sched_test.c $(KERNEL_HOST) $(SCHED_TEST),-pthread))
$(foreach s,tests/unit/kernel/sched_test.c $(SCHED_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

REPLY_TEST := $(addprefix kernel/,ipc/endpoint.c ipc/reply.c ipc/ipc_fast.c ipc/fault_fast.c sched/wait.c sched/thread.c ipc/notification.c ipc/cap.c memory/slab.c cpu/quiescent.c memory/frame.c)
$(eval $(call host_test,reply,tests/unit/kernel/reply_test.c $(KERNEL_HOST) $(REPLY_TEST),-pthread))
$(foreach s,tests/unit/kernel/reply_test.c $(filter-out $(MEMORY_TEST),$(REPLY_TEST)),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

CLOCK_TEST := tests/unit/kernel/clock_test.c arch/clock_agree.c
$(eval $(call host_test,clock,$(CLOCK_TEST)))
$(foreach s,$(CLOCK_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))
