# SPDX-License-Identifier: BSD-2-Clause
# tarn, the host tool: main.c and a library, which the tests and the fuzzer link, too.

# The view's page is embedded in the program.
TARN_PAGE := $(sort $(wildcard tools/tarn/view/page/*))
$(eval $(call generator,embed,tools/tarn/view/embed.c))
$(GEN)/tarn/page_files.c: $(B)/host/embed $(TARN_PAGE)
	@mkdir -p $(@D); echo "  EMBED   $@"
	@$(B)/host/embed $(TARN_PAGE) >$@

$(eval $(call host_library,tarn,$(filter-out %/main.c %/embed.c,$(wildcard tools/tarn/*.c tools/tarn/[!t]*/*.c tools/tarn/top/*.c)) \
    trace/format/wire.c trace/format/metadata.c $(GEN)/trace/events.c $(GEN)/tarn/page_files.c,\
    -lm -lpthread -lmicrohttpd -lcairo -ldw -lelf -lsqlite3))
$(eval $(call host_program,tarn,tools/tarn/main.c,,tarn))

$(eval $(call host_test,image,tools/tarn/test/image_test.c tools/tarn/test/image_make.c,,tarn))
$(eval $(call host_test,link,tools/tarn/test/link_test.c,,tarn))
$(B)/host/sanobj/tests/image_live_test.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(eval $(call host_test,image_live,tests/image_live_test.c trace/test/ring_harness.c trace/ring/ring.c trace/ring/read.c \
    trace/print/print.c,,tarn))

# Synthetic traces, and tests that use them.
SYNTHETIC := tests/synthetic.c tests/workload.c
$(eval $(call host_program,tracegen,tests/tracegen.c $(SYNTHETIC),,tarn))
$(eval $(call host_test,fuzz_tarn,tests/fuzz_tarn.c $(SYNTHETIC),,tarn))
UNIT_build/host/test/fuzz_tarn := seconds=300
UNIT_build/host/test/view := seconds=300
UNIT_build/host/test/link := seconds=300
$(foreach test,pull_cut stages breakdown view,$(eval $(call host_test,$(test),tests/$(test)_test.c $(SYNTHETIC),,tarn)))
$(foreach test,table columns symbols,$(eval $(call host_test,$(test),tests/$(test)_test.c,,tarn)))
$(foreach test,model model_walk,$(eval $(call host_test,$(test),tests/$(test)_test.c $(SYNTHETIC) tests/tiling.c,,tarn)))
$(eval $(call host_test,lockstep,tests/lockstep_test.c tests/trace_text.c $(SYNTHETIC),,tarn))
$(foreach test,analyses ipc locks diff,\
    $(eval $(call host_test,$(test),tests/$(test)_test.c tests/known_results.c tests/trace_text.c $(SYNTHETIC),,tarn)))
HOST_TESTS += tests/diff tests/usage
HOST_TESTS += tests/compare_readers tests/analyses tests/ranges
HOST_tests/analyses := seconds=200
HOST_tests/ranges := seconds=200
