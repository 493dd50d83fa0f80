# SPDX-License-Identifier: BSD-2-Clause
# Tests that run in the guest, each a program /test/NAME that prints TAP (tap.h, tests/README.md).
# One: NAME, SOURCES
define guest_test_program
$(call user_program,test_$(1),$(2))
BOOT_FILES += test/$(1)=$(BA)/user/test_$(1)
GUEST_TESTS += $(1)
endef

$(foreach t,libc_stdio libc_math libc_pthread libc_file libc_process shell load steered,$(eval $(call guest_test_program,$t,tests/guest/$t.c)))

GUEST_libc_pthread := smp=16
GUEST_steered := smp=1 timed
GUEST_load := free smp=64 memory=2G

# Tests of the kernel. child.c makes spaces by system calls, without proc.
$(foreach t,kernel_births kernel_frames kernel_futex kernel_ipc kernel_kill kernel_memory kernel_pager kernel_profile kernel_sched kernel_tlb fuzz_syscalls fuzz_instructions,$(eval $(call guest_test_program,$t,tests/guest/$t.c tests/guest/child.c)))
GUEST_kernel_ipc := smp=16
GUEST_kernel_futex := smp=8
GUEST_kernel_kill := smp=8 seconds=450
# Their object is how much, not in which order; much takes too long where it is explored.
GUEST_kernel_frames := plain
GUEST_kernel_memory := plain memory=256M
GUEST_fuzz_instructions := plain
GUEST_kernel_profile := smp=1 timed append=trace.profile=20
GUEST_kernel_sched := timed
GUEST_kernel_tlb := free

# Out of memory; greedy.c uses it up.
$(eval $(call guest_test_program,kernel_scarce,tests/guest/kernel_scarce.c))
$(eval $(call user_program,test_greedy,tests/guest/greedy.c))
BOOT_FILES += test/greedy=$(BA)/user/test_greedy
GUEST_kernel_scarce := free memory=256M

# Tests of the trace. trace_rings.c reads the rings.
$(foreach t,trace_control trace_state trace_schema trace_damage trace_command trace_boot trace_sites trace_counters trace_tables,\
    $(eval $(call guest_test_program,$t,tests/guest/$t.c user/bin/trace_rings.c)))
$(eval $(call user_program,test_profiles,tests/guest/profiles.c,$(BA)/lib/libtarnprof.a))
$(eval $(call user_program,test_trace_load,tests/guest/trace_load.c tests/guest/child.c user/bin/trace_rings.c,$(BA)/lib/libtarnprof.a))
BOOT_FILES += test/trace_load=$(BA)/user/test_trace_load test/trace_load_long=$(BA)/user/test_trace_load
GUEST_TESTS += trace_load trace_load_long
GUEST_trace_load := smp=8
GUEST_trace_load_long := free smp=8 seconds=900 long : switches all that can be switched, under load, for ten minutes
# On so many CPUs.
define profiles_on_cpus
BOOT_FILES += test/profiles_$(1)=$(BA)/user/test_profiles
GUEST_TESTS += profiles_$(1)
GUEST_profiles_$(1) := smp=$(1) append=trace.profiles=on
endef
$(foreach n,1 2 4 8,$(eval $(call profiles_on_cpus,$n)))
$(eval $(call user_program,test_profiles_program,tests/guest/profiles_program.c tests/guest/profiles_functions.c,$(BA)/lib/libtarnprof.a))
BOOT_FILES += test/profiles_program=$(BA)/user/test_profiles_program
GUEST_TESTS += profiles_program
GUEST_profiles_program := timed append=trace.profiles=on
# Its object is how much, and all of memory.
$(eval $(call user_program,test_profiles_memory,tests/guest/profiles_memory.c,$(BA)/lib/libtarnprof.a))
BOOT_FILES += test/profiles_memory=$(BA)/user/test_profiles_memory
GUEST_TESTS += profiles_memory
GUEST_profiles_memory := plain memory=256M append=trace.profiles=on
# Not the stubs of system calls, which are inline.
CFLAGS_tests/guest/profiles_functions.c += -finstrument-functions -finstrument-functions-exclude-file-list=include
$(eval $(call guest_test_program,lock_tables,tests/guest/lock_tables.c user/bin/trace_rings.c))
GUEST_lock_tables := plain timed append=debug.hang=1
# Its vandal's races are what it is about.
GUEST_trace_damage := plain
GUEST_trace_boot := append=trace.mask=all,-sched,-frame append=trace.mode=once append=trace.ring=512k \
    append=trace.low-water=30 append=trace.switch=mem.*map/off append=trace.sample=libc.malloc/64 append=trace.threshold=lock.held/10us \
    append=trace.buffers=32/16k append=trace.watch=user_mutex/7 append=trace.profiles=maybe

# Run by tests/host/one_fault, which counts the lines of a fault report.
$(eval $(call user_program,test_faults,tests/guest/faults.c tests/guest/child.c))
BOOT_FILES += test/faults=$(BA)/user/test_faults

# Workload of tests/host/again.
BOOT_FILES += test/again=tests/guest/again.rc
# What tests/bench.d/15-sdet runs.
BOOT_FILES += test/sdet=tests/bench.d/sdet.rc test/sdet_small=tests/bench.d/sdet_small.rc test/sdet_ktau=tests/bench.d/sdet_ktau.rc $(foreach w,none long_holds,test/turns_$w=tests/bench.d/$w.rc)

# Workloads of `tarn explore`.
$(eval $(call guest_test_program,explore_meet,tests/guest/explore_meet.c))
$(eval $(call user_program,test_explore_net,tests/guest/explore_net.c))
BOOT_FILES += test/explore_net=$(BA)/user/test_explore_net
$(eval $(call user_program,test_explore_pull,tests/guest/explore_pull.c user/bin/trace_rings.c trace/format/wire.c))
BOOT_FILES += test/explore_pull=$(BA)/user/test_explore_pull
$(eval $(call user_program,test_explore_again,tests/guest/explore_again.c))
BOOT_FILES += test/explore_again=$(BA)/user/test_explore_again
$(eval $(call user_program,test_explore_control,tests/guest/explore_control.c tests/guest/child.c user/bin/trace_rings.c))
BOOT_FILES += test/explore_control=$(BA)/user/test_explore_control
AUTHORITY_test/explore_again := trace
AUTHORITY_test/explore_control := trace
BOOT_FILES += test/explore_lock=tests/guest/explore_lock.rc test/explore_kill=tests/guest/explore_kill.rc

$(foreach t,explore_libc explore_servers,$(eval $(call guest_test_program,$t,tests/guest/$t.c)))

# Run by tests/host/debugger.
$(eval $(call user_program,test_deadlock,tests/guest/deadlock.c))
BOOT_FILES += test/deadlock=$(BA)/user/test_deadlock

# Run by tests/host/watchdog.
$(eval $(call user_program,test_spin,tests/guest/spin.c))
BOOT_FILES += test/spin=$(BA)/user/test_spin

# The guest's side of tests/host/sockets.
$(eval $(call user_program,test_echo,tests/guest/echo.c))
$(eval $(call user_program,test_socket_states,tests/guest/socket_states.c))
BOOT_FILES += test/echo=$(BA)/user/test_echo test/socket_states=$(BA)/user/test_socket_states

# Run by tests/host/previous.
$(foreach t,last_words scarce,$(eval $(call user_program,test_$t,tests/guest/$t.c)))
BOOT_FILES += test/last_words=$(BA)/user/test_last_words test/scarce=$(BA)/user/test_scarce

# Run by tests/host/locks and view_page.
$(eval $(call user_program,test_trace_locks,tests/guest/trace_locks.c))
BOOT_FILES += test/trace_locks=$(BA)/user/test_trace_locks

# Run by tests/host/study.
$(eval $(call user_program,test_stages,tests/guest/stages.c))
BOOT_FILES += test/stages=$(BA)/user/test_stages test/stages.rc=tests/guest/stages.rc
BOOT_FILES += test/scheduler.rc=tests/guest/scheduler.rc test/study.rc=tests/guest/study.rc

# Run by tests/host/sampling.
$(eval $(call application_events,tests/guest/limits.ev))
$(eval $(call user_program,test_sampled,tests/guest/sampled.c $(call event_dummies,limits)))
BOOT_FILES += test/sampled=$(BA)/user/test_sampled test/sampled.rc=tests/guest/sampled.rc

# Run by tests/host/counters.
$(eval $(call user_program,test_counted,tests/guest/counted.c))
BOOT_FILES += test/counted=$(BA)/user/test_counted

# Run by tests/host/profiles_equal.
$(eval $(call user_program,test_profiles_work,tests/guest/profiles_work.c tests/guest/child.c,$(BA)/lib/libtarnprof.a))
BOOT_FILES += test/profiles_work=$(BA)/user/test_profiles_work test/profiles_stop.rc=tests/guest/profiles_stop.rc

# Run by tests/host/tables_equal.
$(eval $(call user_program,test_tables_work,tests/guest/tables_work.c user/bin/trace_rings.c))
BOOT_FILES += test/tables_work=$(BA)/user/test_tables_work test/tables_work_many=$(BA)/user/test_tables_work

# Run by tests/host/profile.
$(eval $(call user_program,test_hot,tests/guest/hot.c))
BOOT_FILES += test/hot=$(BA)/user/test_hot

# Run by tests/host/analyses_agree.
$(eval $(call user_program,test_known,tests/guest/known.c))
BOOT_FILES += test/known=$(BA)/user/test_known
$(eval $(call user_program,test_servers,tests/guest/servers_test.c))
BOOT_FILES += test/servers=$(BA)/user/test_servers
GUEST_TESTS += servers
GUEST_servers := smp=16

# Most of its time it waits for deadlines.
$(eval $(call user_program,test_late_servers,tests/guest/late_servers.c,$(BA)/lib/libserver.a))
BOOT_FILES += test/late_servers=$(BA)/user/test_late_servers
GUEST_TESTS += late_servers
GUEST_late_servers := free
AUTHORITY_test/late_servers := trace

$(eval $(call user_program,test_shared_buffers,tests/guest/shared_buffers_test.c))
BOOT_FILES += test/shared_buffers=$(BA)/user/test_shared_buffers
GUEST_TESTS += shared_buffers
GUEST_shared_buffers := plain # 70 clients, one after the other: nothing there meets in another order

# Workload of tests/host/costs.
$(eval $(call user_program,test_costs,tests/guest/costs.c $(call event_dummies,sample)))
BOOT_FILES += test/costs=$(BA)/user/test_costs test/costs.rc=tests/guest/costs.rc

# More programs than tables have rows.
$(eval $(call guest_test_program,tables_moved,tests/guest/tables_moved.c user/bin/trace_rings.c))
GUEST_tables_moved := timed

# Tests that control the trace, or hand on that authority, or make interrupts and memory for DMA (rules.mk). All others
# are ordinary programs.
$(foreach t,$(addprefix profiles_,1 2 4 8 program work) lock_tables scarce shell tables_moved tables_work \
    tables_work_many trace_control trace_load trace_load_long trace_state trace_schema trace_damage \
    trace_locks trace_sites trace_counters trace_tables explore_pull,\
    $(eval AUTHORITY_test/$t := trace))
AUTHORITY_test/kernel_frames := machine
BOOT_FILES += test/labelled=$(BA)/user/trace
AUTHORITY_test/labelled := trace
