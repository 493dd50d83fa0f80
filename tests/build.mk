# What `make test` runs. A folder's build.mk adds its own; tests/README.md explains the kinds.
#
#   UNIT_TESTS  += build/host/test/ring        runs on the host (host_test in rules.mk adds it by itself)
#   GUEST_TESTS += ipc                         boots with run=/test/ipc; the folder puts it into BOOT_FILES
#   GUEST_ipc   := smp=8 memory=1G             and how, if the default (smp=4 memory=512M) is not right
#   HOST_TESTS  += tests/host/goto             a program; may boot guests through tools/guest.py
#   HOST_tests/host/goto := each               once for each architecture, with ARCH in its environment
#
#   HOST_tests/host/locks := one               the same, but `make test` runs it for the first architecture only: it depends little on it
#
# Options of all tests:
#   long : REASON   only in `make test-long`
#   more : REASON   in both; in `make test-long` it does more (TEST_LONG=1 in its environment)
#   : REASON        why it takes more than 60 s of CPU time, or why it should start early
#
# Option of host tests: seconds= (its limit by the host's clock, if 1200 are not enough).
# Options of guests: smp= memory=, append=NAME=VALUE for the kernel's command line, seconds= (its limit, by the guest's clock, default 180),
# and how it is booted:
#   (none)     with the exploring kernel on a machine whose clock counts instructions, which repeats itself, with a seed of tests/run;
#              and on a machine that runs free, in one boot with all others if it has no other options but smp=
#   timed      its checks compare times, which an exploring kernel changes: with the ordinary one in its place. On the machine
#              that runs free they are not judged
#   plain      with the ordinary kernel in its place, too: exploring takes too long
#   free       only on the machine that runs free
#   firmware   the same, through the machine's firmware

# Of the host alone.
HOST_TESTS += tools/lint trace/model/prove
HOST_tools/lint := more : cppcheck reads every source
HOST_trace/model/prove := more : plants the mutants of the logging path
HOST_TESTS += $(addprefix tests/host/,fewest first_steps kit view_goto view_use wrong_inputs xv6)
# host_tests OPTIONS, NAMES
define host_tests
HOST_TESTS += $(addprefix tests/host/,$(2))
$(foreach t,$(2),$(eval HOST_tests/host/$t := $(1)))
endef
$(eval $(call host_tests,each,clock costs counters debugger figures one_abi one_fault panic previous \
    routines tables trace_agrees watchdog))
$(eval $(call host_tests,one,again analyses_agree demo_bugs explore export from_outside interrupted link_cut locks \
    losses profile repeats rebuild sampling sockets study top vandal view_live view_page))
$(eval $(call host_tests,long : builds and explores twelve mutants,mutants))
$(eval $(call host_tests,each more : builds the whole kernel again,compiled_out))
$(eval $(call host_tests,each more : builds kernel and programs without trace points,sdet_cost))
$(eval $(call host_tests,each more : kills at each moment of a journey,goto))
$(eval $(call host_tests,one more : fetches a reader of Parquet files with 500 MB,duckdb))
$(eval $(call host_tests,one more : resizes in a third mode,geometry))
$(eval $(call host_tests,one more : 2 and 8 CPUs,routines_equal tables_equal))
HOST_tests/host/fuzz_traces := more : mutates more traces
HOST_tests/host/made_links := : waits for limits of real links
UNIT_build/host/test/view := : with sanitizers it reads a large trace again and again
HOST_TESTS += tests/host/coverage
HOST_tests/host/coverage := seconds=4000 long : explores on both machines, in some ninety boots
GUEST_TESTS += firmware
GUEST_firmware := firmware
TESTS_LIST := $(BA)/tests.list

define TESTS_LINES
$(foreach t,$(sort $(UNIT_TESTS)),unit $(t) $(UNIT_$(t))\n)$(foreach t,$(sort $(GUEST_TESTS)),guest $(t) $(GUEST_$(t))\n)$(foreach t,$(sort $(HOST_TESTS)),host $(t) $(HOST_$(t))\n)
endef

LATE_HALT := $(B)/host/late_halt.so
$(eval $(call host_preload,$(LATE_HALT),tests/host/late_halt.c))

.PHONY: tests
tests: $$(UNIT_TESTS) $(TESTS_LIST) $(ICOUNT_LIBRARY) $(LATE_HALT) $(BA)/explore/tarn.elf $(BA)/explore/boot.cpio ## build the tests for ARCH, and run none (tests/run runs them)
$(TESTS_LIST): force
	@mkdir -p $(@D); printf '$(strip $(TESTS_LINES))' | sed 's/^ *//' >$@
