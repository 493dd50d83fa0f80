# SPDX-License-Identifier: BSD-2-Clause
# What `make test` runs. A folder's build.mk adds its own; tests/README.md explains the kinds.
#
#   UNIT_TESTS  += build/host/test/ring             runs on the host (host_test in rules.mk adds it by itself)
#   GUEST_TESTS += ipc                              boots with run=/test/ipc; the folder puts it into BOOT_FILES
#   GUEST_ipc   := smp=8 memory=1G seconds=120      and how, if the default (smp=4 seconds=180) is not right
#   HOST_TESTS  += tests/end_to_end                 a script; may boot guests through tools/guest.py
#   HOST_tests/end_to_end := seconds=300
#
#   HOST_tests/end_to_end := each               once for each architecture, with ARCH in its environment
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

HOST_TESTS += tests/repeats tests/top tools/lint tests/store tests/previous tests/from_outside tests/compiled_out tests/trace_agrees tests/slow_consumer tests/vandal tests/forger tests/sockets tests/link_cut tests/link_idle tests/serial tests/one_abi tests/debugger tests/gdb tests/watchdog tests/demo_bugs tests/nmi_at_entry tests/panic tests/locks
HOST_TESTS += tests/profile tests/view_live tests/view_page tests/view_use
HOST_TESTS += tests/lint_test tests/clock tests/figures
HOST_tests/figures := each
HOST_tests/view_page := seconds=300 each
HOST_tests/view_use := seconds=600
HOST_tests/view_live := seconds=300 each
HOST_tests/top := seconds=300 each
HOST_tests/one_abi := each
HOST_tests/clock := seconds=300 each
HOST_tests/profile := seconds=200 each
HOST_tests/gdb := seconds=300 each
HOST_tests/store := each
HOST_tests/previous := seconds=300 each
HOST_tests/compiled_out := each
HOST_tests/trace_agrees := seconds=300 each
HOST_tests/slow_consumer := seconds=300 each
HOST_tests/vandal := seconds=200 each
HOST_tests/forger := seconds=200 each
HOST_tests/repeats := seconds=400 each
HOST_tests/from_outside := seconds=300 each
HOST_tests/sockets := seconds=200 each
HOST_tests/link_cut := seconds=300 each
HOST_tests/link_idle := seconds=300 each
HOST_tests/serial := seconds=300 each
HOST_tests/debugger := seconds=300 each
HOST_tests/watchdog := seconds=360 each
HOST_tests/demo_bugs := seconds=300 each
HOST_tests/nmi_at_entry := seconds=200 each
HOST_tests/locks := seconds=200 each
HOST_tests/again := seconds=500 each
HOST_tests/one_fault := seconds=200 each
HOST_tests/panic := seconds=300 each
HOST_TESTS += tests/analyses_agree tests/one_fault tests/again
HOST_tests/analyses_agree := seconds=200 each
HOST_TESTS += tests/export tests/geometry tests/losses
HOST_tests/losses := seconds=400 each
HOST_tests/geometry := seconds=300 each
HOST_TESTS += tests/rebuild
HOST_tests/rebuild := each seconds=300
HOST_TESTS += tests/goto tests/view_goto tests/wrong_inputs tests/explore tests/fewest
HOST_tests/explore := seconds=300 each
HOST_tests/goto := seconds=400 each
HOST_tests/wrong_inputs := seconds=300
HOST_tests/export := seconds=200 each
GUEST_TESTS += firmware
GUEST_firmware := firmware
TESTS_LIST := $(BA)/tests.list

define TESTS_LINES
$(foreach t,$(sort $(UNIT_TESTS)),unit $(t) $(UNIT_$(t))\n)$(foreach t,$(sort $(GUEST_TESTS)),guest $(t) $(GUEST_$(t))\n)$(foreach t,$(sort $(HOST_TESTS)),host $(t) $(HOST_$(t))\n)
endef

LATE_HALT := $(B)/host/late_halt.so
$(eval $(call host_preload,$(LATE_HALT),tests/late_halt.c))

.PHONY: tests
tests: $$(UNIT_TESTS) $(TESTS_LIST) $(ICOUNT_LIBRARY) $(LATE_HALT) $(BA)/explore/tarn.elf $(BA)/explore/boot.cpio
$(TESTS_LIST): force
	@mkdir -p $(@D); printf '$(strip $(TESTS_LINES))' | sed 's/^ *//' >$@
