# What runs in the guest: /test/NAME. One that prints TAP (tap.h, tests/README.md) is a test by itself; others serve tests/host and
# tests/bench.d, which name them, and `tarn explore`.
# NAME, SOURCES, LIBRARIES
define guest_program
$(call user_program,test_$(1),$(2),$(3))
BOOT_FILES += test/$(1)=$(BA)/user/test_$(1)
endef
define guest_test_program
$(call guest_program,$(1),$(2),$(3))
GUEST_TESTS += $(1)
endef
# Sources are those of the name, and MORE: NAMES, MORE, LIBRARIES
guest_programs = $(foreach t,$(1),$(eval $(call guest_program,$t,tests/guest/$t.c $(2),$(3))))
guest_tests = $(foreach t,$(1),$(eval $(call guest_test_program,$t,tests/guest/$t.c $(2),$(3))))
guest_files = $(foreach f,$(1),$(eval BOOT_FILES += test/$f=tests/guest/$f))

$(call guest_tests,libc_stdio libc_pthread libc_file libc_process load steered kernel_sched)
# One program with the cases of each.
$(eval $(call user_program,test_cases,tests/guest/cases.c))
$(call guest_files,shell.cases trace_command.cases)
BOOT_FILES += test/shell=$(BA)/user/test_cases test/trace_command=$(BA)/user/test_cases
GUEST_TESTS += shell trace_command

GUEST_libc_pthread := smp=16
GUEST_steered := smp=1 timed
GUEST_load := free smp=64 memory=2G

CHILD := tests/guest/child.c servers/lib/elf.c
# Tests of the kernel. child.c makes spaces by system calls, without proc.
$(call guest_tests,$(addprefix kernel_,frames futex ipc kill memory pager space tlb) fuzz_syscalls fuzz_instructions,$(CHILD))
GUEST_kernel_ipc := smp=16
GUEST_kernel_futex := smp=8
GUEST_kernel_kill := smp=8 seconds=450
# Their object is how much, not in which order; much takes too long where it is explored.
GUEST_kernel_frames := plain
GUEST_kernel_memory := plain
GUEST_fuzz_instructions := plain
GUEST_TESTS += kernel_profile
BOOT_FILES += test/kernel_profile=tests/guest/kernel_profile.rc
GUEST_kernel_profile := smp=1 timed append=trace.profile=20
GUEST_kernel_sched := timed
GUEST_kernel_tlb := free

# Out of memory; greedy.c uses it up.
$(call guest_tests,kernel_scarce)
$(call guest_programs,greedy)
GUEST_kernel_scarce := free memory=256M

# Tests of the trace. trace_rings.c reads the rings.
RINGS := user/bin/trace_rings.c
$(call guest_tests,$(addprefix trace_,control schema damage boot sites),$(RINGS))
$(call guest_programs,explore_pull,$(RINGS) trace/format/wire.c)
$(call guest_programs,explore_control,$(CHILD) $(RINGS),$(BA)/lib/libtarnprof.a)
$(call guest_programs,tables_work,$(RINGS),$(BA)/lib/libtarnprof.a)
$(call guest_tests,trace_load,$(CHILD) $(RINGS),$(BA)/lib/libtarnprof.a)
BOOT_FILES += test/trace_load_long=$(BA)/user/test_trace_load $(foreach s,many thin,test/tables_work_$s=$(BA)/user/test_tables_work)
GUEST_TESTS += trace_load_long
GUEST_trace_load := smp=8
GUEST_trace_load_long := free smp=8 seconds=900 long : switches all that can be switched, under load, for ten minutes
$(call guest_tests,routines_program,tests/guest/routines_functions.c,$(BA)/lib/libtarnprof.a)
GUEST_routines_program := append=trace.routines=on append=trace.mask=off
# Its object is how much, and all of memory.
$(call guest_tests,routines_memory,,$(BA)/lib/libtarnprof.a)
GUEST_routines_memory := plain memory=256M append=trace.routines=on
$(call guest_programs,routines_work,$(CHILD),$(BA)/lib/libtarnprof.a)
# Not the stubs of system calls, which are inline.
CFLAGS_tests/guest/routines_functions.c += -finstrument-functions -finstrument-functions-exclude-file-list=include
# It waits for heartbeats.
GUEST_trace_damage := plain
GUEST_trace_boot := append=trace.mask=all,-sched,-frame append=trace.mode=once append=trace.ring=512k \
    append=trace.low-water=30 append=trace.switch=mem.*map/off append=trace.sample=libc.malloc/64 append=trace.threshold=lock.held/10us \
    append=trace.buffers=32/16k append=trace.watch=user_mutex/7 append=trace.routines=maybe

# What servers do. Most of its time late_servers waits for deadlines.
$(eval $(call guest_test_program,servers,tests/guest/servers_test.c))
GUEST_servers := smp=16
$(call guest_tests,late_servers,,$(BA)/lib/libserver.a)
GUEST_late_servers := free
$(eval $(call guest_test_program,shared_buffers,tests/guest/shared_buffers_test.c))
GUEST_shared_buffers := plain # 70 clients, one after the other: nothing there meets in another order

# Workloads of `tarn explore`.
$(call guest_tests,explore_meet,$(CHILD))
$(call guest_tests,explore_libc explore_servers)
$(call guest_programs,explore_net explore_again)

# Run by tests/host and tests/bench.d.
$(call guest_programs,faults,$(CHILD))
$(call guest_programs,deadlock spin echo socket_states last_words scarce trace_locks stages counted hot known)
$(eval $(call application_events,tests/guest/limits.ev))
$(call guest_programs,sampled)
$(call guest_programs,costs)
$(call guest_files,stages.rc scheduler.rc study.rc sampled.rc routines_stop.rc costs.rc)
$(foreach s,again explore_lock explore_kill,$(eval BOOT_FILES += test/$s=tests/guest/$s.rc))
BOOT_FILES += test/sdet=tests/bench.d/sdet.rc test/sdet_small=tests/bench.d/sdet_small.rc test/sdet_ktau=tests/bench.d/sdet_ktau.rc

# Tests that control the trace, or hand on that authority, or make interrupts and memory for DMA (rules.mk). All others
# are ordinary programs.
$(foreach t,$(addprefix routines_,program work) scarce shell tables_work \
    tables_work_many tables_work_thin trace_control trace_load trace_load_long trace_schema trace_damage \
    trace_locks trace_sites explore_pull explore_again explore_control late_servers,\
    $(eval AUTHORITY_test/$t := trace))
AUTHORITY_test/kernel_frames := machine
BOOT_FILES += test/labelled=$(BA)/user/trace
AUTHORITY_test/labelled := trace
