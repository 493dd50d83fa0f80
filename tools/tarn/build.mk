# SPDX-License-Identifier: BSD-2-Clause
# tarn, the host tool. Its tests and the fuzzer link everything but main.c.
# Every file in a stage's folder is built.
tarn_folder = $(sort $(wildcard tools/tarn/$(1)/*.c))
TARN_BASE := $(addprefix tools/tarn/,util.c options.c out.c output.c table.c map.c)
TARN_STAGES := $(TARN_BASE) $(foreach folder,read print model symbols answer export,$(call tarn_folder,$(folder)))
TARN_STAGES_LIBS := -ldw -lelf -lsqlite3
TARN_SOURCE := $(call tarn_folder,source) trace/format/wire.c trace/format/metadata.c \
               $(GEN)/trace/events.c
TARN_LINK := $(TARN_SOURCE) $(addprefix tools/tarn/command/,pull.c ctl.c)
TARN_COMMANDS := $(filter-out $(TARN_LINK) tools/tarn/command/view.c tools/tarn/command/top% tools/tarn/command/goto.c tools/tarn/command/explore.c,$(call tarn_folder,command))

# tarn top.
TARN_TOP := $(call tarn_folder,top) $(addprefix tools/tarn/command/,top.c top_trace.c)

# tarn goto, tarn explore.
TARN_GOTO := $(call tarn_folder,goto) $(addprefix tools/tarn/command/,goto.c explore.c)

# The view: its server, and the page, which is embedded in the program.
TARN_PAGE := $(sort $(wildcard tools/tarn/view/page/*))
TARN_VIEW := $(filter-out tools/tarn/view/embed.c,$(call tarn_folder,view)) tools/tarn/command/view.c \
             $(GEN)/tarn/page_files.c
TARN_VIEW_LIBS := -lmicrohttpd -lcairo
$(eval $(call generator,embed,tools/tarn/view/embed.c))
$(GEN)/tarn/page_files.c: $(B)/host/embed $(TARN_PAGE)
	@mkdir -p $(@D); echo "  EMBED   $@"
	@$(B)/host/embed $(TARN_PAGE) >$@

$(eval $(call host_program,tarn,$(TARN_STAGES) $(TARN_COMMANDS) $(TARN_LINK) $(TARN_TOP) $(TARN_GOTO) $(TARN_VIEW) tools/tarn/main.c,\
    -lm -lpthread $(TARN_VIEW_LIBS) $(TARN_STAGES_LIBS)))
$(eval $(call host_test,image,tools/tarn/test/image_test.c tools/tarn/test/image_make.c $(TARN_STAGES) $(TARN_LINK) \
    tools/tarn/command/check.c,-lm -lpthread $(TARN_STAGES_LIBS)))
$(B)/host/sanobj/tests/image_live_test.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(eval $(call host_test,image_live,tests/image_live_test.c $(TARN_BASE) $(call tarn_folder,read) $(TARN_LINK) trace/test/ring_harness.c \
    trace/ring/ring.c trace/ring/read.c trace/event/print.c,-lm -lpthread))
$(eval $(call host_test,link,tools/tarn/test/link_test.c $(TARN_BASE) $(call tarn_folder,read) $(TARN_LINK),-lm -lpthread))

# Synthetic traces, and tests that use them.
SYNTHETIC := tests/synthetic.c tests/workload.c
$(eval $(call host_program,tracegen,tests/tracegen.c $(SYNTHETIC) $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,fuzz_tarn,tests/fuzz_tarn.c $(SYNTHETIC) $(TARN_STAGES) $(TARN_COMMANDS) $(TARN_LINK) $(TARN_TOP) \
    tools/tarn/view/puller.c,-lm -lpthread $(TARN_STAGES_LIBS)))
UNIT_build/host/test/fuzz_tarn := seconds=300
UNIT_build/host/test/view := seconds=300
$(eval $(call host_test,pull_cut,tests/pull_cut_test.c $(SYNTHETIC) $(TARN_STAGES) $(TARN_LINK),-lm -lpthread $(TARN_STAGES_LIBS)))
$(eval $(call host_test,stages,tests/stages_test.c $(SYNTHETIC) $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,table,tests/table_test.c $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,columns,tests/columns_test.c $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
KNOWN_ANSWERS := tests/known_answers.c tests/trace_text.c $(SYNTHETIC) $(TARN_STAGES)
$(eval $(call host_test,answers,tests/answers_test.c $(KNOWN_ANSWERS),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,ipc,tests/ipc_test.c $(KNOWN_ANSWERS),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,locks,tests/locks_test.c $(KNOWN_ANSWERS),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,diff,tests/diff_test.c $(KNOWN_ANSWERS),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,lockstep,tests/lockstep_test.c tests/trace_text.c $(SYNTHETIC) $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
HOST_TESTS += tests/diff tests/usage
$(eval $(call host_test,model,tests/model_test.c $(SYNTHETIC) tests/tiling.c $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,breakdown,tests/breakdown_test.c $(SYNTHETIC) $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,model_walk,tests/model_walk_test.c $(SYNTHETIC) tests/tiling.c $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
$(eval $(call host_test,view,tests/view_test.c tools/tarn/command/recipe.c $(SYNTHETIC) $(TARN_STAGES) $(filter-out %/server.c %/puller.c %/command/view.c %/page_files.c tools/tarn/view/draw%,$(TARN_VIEW)),\
    -lm -lpthread $(TARN_STAGES_LIBS)))
HOST_TESTS += tests/compare_readers tests/answers tests/ranges
HOST_tests/answers := seconds=200
HOST_tests/ranges := seconds=200
$(eval $(call host_test,symbols,tests/symbols_test.c $(TARN_STAGES),-lm $(TARN_STAGES_LIBS)))
