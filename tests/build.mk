# SPDX-License-Identifier: BSD-2-Clause
# What `make test` runs. A folder's build.mk adds its own; tests/README.md explains the kinds.
#
#   UNIT_TESTS  += build/host/test/ring             runs on the host (host_test in rules.mk adds it by itself)
#   GUEST_TESTS += ipc                              boots with run=/test/ipc; the folder puts it into BOOT_FILES
#   GUEST_ipc   := smp=8 memory=1G seconds=120      and how, if the default (smp=4 seconds=180) is not right
#   HOST_TESTS  += tests/host/goto                     a script; may boot guests through tools/guest.py
#   HOST_tests/host/goto := seconds=300
#
#   HOST_tests/host/goto := each               once for each architecture, with ARCH in its environment
#
# Options of guests: smp= memory= seconds=, append=NAME=VALUE for the kernel's command line, and how it is booted:
#   (none)     with the exploring kernel on a machine whose clock counts instructions, which repeats itself, once for each seed
#              of tests/run; and on one that runs free
#   timed      its checks compare times, which an exploring kernel changes: with the ordinary one in its place. On the machine
#              that runs free they are not judged
#   plain      with the ordinary kernel in its place, too: exploring takes too long
#   free       only on that one
#   firmware   the same, through the machine's firmware
# Seconds are those of the fastest machine (tools/guest.py), or of the guest's clock where that counts instructions. What may
# take longest is started first.

HOST_TESTS += tests/host/repeats tests/host/top tools/lint tests/host/previous tests/host/from_outside tests/host/compiled_out tests/host/trace_agrees tests/host/drain tests/host/costs tests/host/vandal tests/host/forger tests/host/sockets tests/host/link_cut tests/host/link_idle tests/host/serial tests/host/one_abi tests/host/debugger tests/host/gdb tests/host/watchdog tests/host/demo_bugs tests/host/nmi_at_entry tests/host/interrupted tests/host/cas tests/host/panic tests/host/locks
HOST_TESTS += tests/host/profile tests/host/study tests/host/sampling tests/host/counters tests/host/view_live tests/host/view_page tests/host/view_use
HOST_TESTS += tests/host/lint_test tests/host/clock tests/host/figures tests/host/tables tests/host/profiles tests/host/profiles_in_place tests/host/profiles_file tests/host/profiles_top tests/host/profiles_equal tests/host/tables_equal
HOST_TESTS += trace/model/prove trace/model/genmc/prove
HOST_tests/host/figures := each
HOST_tests/host/view_page := seconds=300 each
HOST_tests/host/view_use := seconds=600
HOST_tests/host/view_live := seconds=300 each
HOST_tests/host/top := seconds=300 each
HOST_tests/host/one_abi := each
HOST_tests/host/clock := seconds=300 each
HOST_tests/host/profile := seconds=200 each
HOST_tests/host/sampling := seconds=200 each
HOST_tests/host/study := seconds=200 each
HOST_tests/host/counters := seconds=200 each
HOST_tests/host/gdb := seconds=300 each
HOST_tests/host/previous := seconds=300 each
HOST_tests/host/compiled_out := each
HOST_tests/host/trace_agrees := seconds=300 each
HOST_tests/host/drain := seconds=300 each
HOST_tests/host/costs := seconds=300 each
HOST_tests/host/vandal := seconds=200 each
HOST_tests/host/forger := seconds=200 each
HOST_tests/host/repeats := seconds=400 each
HOST_tests/host/from_outside := seconds=300 each
HOST_tests/host/sockets := seconds=200 each
HOST_tests/host/link_cut := seconds=300 each
HOST_tests/host/link_idle := seconds=300 each
HOST_tests/host/serial := seconds=300 each
HOST_tests/host/debugger := seconds=300 each
HOST_tests/host/watchdog := seconds=360 each
HOST_tests/host/demo_bugs := seconds=300 each
HOST_tests/host/nmi_at_entry := seconds=200 each
HOST_tests/host/interrupted := seconds=300 each
HOST_tests/host/cas := seconds=900 each
HOST_tests/host/locks := seconds=200 each
HOST_tests/host/tables := seconds=300 each
HOST_tests/host/profiles := seconds=200 each
HOST_tests/host/profiles_in_place := seconds=300 each
HOST_tests/host/profiles_file := seconds=300 each
HOST_tests/host/profiles_top := seconds=300 each
HOST_tests/host/profiles_equal := seconds=200 each
HOST_tests/host/tables_equal := seconds=200 each
HOST_tests/host/again := seconds=500 each
HOST_tests/host/one_fault := seconds=200 each
HOST_tests/host/panic := seconds=300 each
HOST_TESTS += tests/host/analyses_agree tests/host/one_fault tests/host/again
HOST_tests/host/analyses_agree := seconds=200 each
HOST_TESTS += tests/host/export tests/host/geometry tests/host/losses
HOST_tests/host/losses := seconds=400 each
HOST_tests/host/geometry := seconds=300 each
HOST_TESTS += tests/host/rebuild tests/host/keep
HOST_tests/host/keep := each seconds=400
HOST_tests/host/rebuild := each seconds=300
HOST_TESTS += tests/host/goto tests/host/view_goto tests/host/wrong_inputs tests/host/explore tests/host/fewest
HOST_tests/host/explore := seconds=300 each
HOST_tests/host/goto := seconds=400 each
HOST_tests/host/wrong_inputs := seconds=300
HOST_tests/host/export := seconds=200 each
HOST_TESTS += tests/host/kit tests/host/xv6
GUEST_TESTS += firmware
GUEST_firmware := firmware
TESTS_LIST := $(BA)/tests.list

define TESTS_LINES
$(foreach t,$(sort $(UNIT_TESTS)),unit $(t) $(UNIT_$(t))\n)$(foreach t,$(sort $(GUEST_TESTS)),guest $(t) $(GUEST_$(t))\n)$(foreach t,$(sort $(HOST_TESTS)),host $(t) $(HOST_$(t))\n)
endef

LATE_HALT := $(B)/host/late_halt.so
$(eval $(call host_preload,$(LATE_HALT),tests/host/late_halt.c))

.PHONY: tests
tests: $$(UNIT_TESTS) $(TESTS_LIST) $(ICOUNT_LIBRARY) $(LATE_HALT) $(BA)/explore/tarn.elf $(BA)/explore/boot.cpio
$(TESTS_LIST): force
	@mkdir -p $(@D); printf '$(strip $(TESTS_LINES))' | sed 's/^ *//' >$@
