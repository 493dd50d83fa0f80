# SPDX-License-Identifier: BSD-2-Clause
# tarn, the host tool. Everything but main.c is also linked into its tests and the fuzzer.
TARN_STAGES := $(addprefix tools/tarn/,util.c tsdl_lex.c tsdl.c tsdl_block.c schema.c read.c decode.c order.c \
                 names.c out.c print.c print_value.c losses.c filter.c slices.c model.c table.c usage.c)
TARN_LINK := $(addprefix tools/tarn/,source.c link.c link_tcp.c link_serial.c link_source.c memory.c memory_core.c memory_gdb.c \
                 memory_ram.c image.c image_ring.c image_source.c pull_writer.c pull.c ctl.c) \
             trace/format/wire.c trace/format/segment.c trace/format/metadata.c $(GEN)/trace/events.c
TARN_COMMANDS := $(addprefix tools/tarn/,info.c check.c list.c list_slices.c stats.c)

$(eval $(call host_program,tarn,$(TARN_STAGES) $(TARN_COMMANDS) $(TARN_LINK) tools/tarn/main.c,-lm -lpthread))
$(eval $(call host_test,image,tools/tarn/test/image_test.c tools/tarn/test/image_make.c $(TARN_STAGES) $(TARN_LINK) \
    tools/tarn/check.c,-lm -lpthread))
$(B)/host/sanobj/tests/image_live_test.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(eval $(call host_test,image_live,tests/image_live_test.c tools/tarn/util.c $(TARN_LINK) trace/test/ring_harness.c \
    trace/ring/ring.c trace/ring/read.c trace/event/print.c,-lpthread))
$(eval $(call host_test,link,tools/tarn/test/link_test.c tools/tarn/util.c $(TARN_LINK),-lpthread))

# Synthetic traces, and what is tested with them.
$(eval $(call host_program,tracegen,tests/tracegen.c tests/synthetic.c $(TARN_STAGES),-lm))
$(eval $(call host_test,fuzz_tarn,tests/fuzz_tarn.c tests/synthetic.c $(TARN_STAGES) $(TARN_COMMANDS),-lm -lpthread))
UNIT_build/host/test/fuzz_tarn := seconds=300
$(eval $(call host_test,stages,tests/stages_test.c tests/synthetic.c $(TARN_STAGES),-lm))
$(eval $(call host_test,model,tests/model_test.c $(TARN_STAGES),-lm))
HOST_TESTS += tests/compare_readers
