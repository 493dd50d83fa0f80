# SPDX-License-Identifier: BSD-2-Clause
# Builds parts of the kernel as host programs with sanitizers. kernel/test/host is their port.
KERNEL_HOST := kernel/test/host/host.c
KERNEL_HOST_FLAGS := -Ikernel/test/host -Iarch/include -Ikernel/abi -DTARN_KERNEL -pthread

MEMORY_TEST := base/tree.c $(addprefix kernel/,frame.c slab.c quiet.c memory.c mapping.c space.c space_fault.c tlb.c)
$(eval $(call host_test,memory,kernel/test/host/memory_test.c $(KERNEL_HOST) $(MEMORY_TEST),-pthread))
$(foreach s,kernel/test/host/memory_test.c $(KERNEL_HOST) $(MEMORY_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

SCHED_TEST := $(addprefix kernel/,sched.c leave.c timer.c)
$(eval $(call host_test,sched,kernel/test/host/sched_test.c $(KERNEL_HOST) $(SCHED_TEST),-pthread))
$(foreach s,kernel/test/host/sched_test.c $(SCHED_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

ANSWER_TEST := $(addprefix kernel/,endpoint.c reply.c ipc_fast.c fault_fast.c wait.c thread.c notification.c cap.c slab.c quiet.c frame.c)
$(eval $(call host_test,answer,kernel/test/host/answer_test.c $(KERNEL_HOST) $(ANSWER_TEST),-pthread))
$(foreach s,kernel/test/host/answer_test.c $(filter-out $(MEMORY_TEST),$(ANSWER_TEST)),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))

CLOCK_TEST := kernel/test/host/clock_test.c arch/clock_agree.c
$(eval $(call host_test,clock,$(CLOCK_TEST)))
$(foreach s,$(CLOCK_TEST),$(eval CFLAGS_$s += $(KERNEL_HOST_FLAGS)))
