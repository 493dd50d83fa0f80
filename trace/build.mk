# The trace: what is generated from trace/schema, and the tests of the logging path.

EVENT_FILES   := $(sort $(wildcard trace/schema/*.ev))
EVENT_CLASSES := $(patsubst trace/schema/%.ev,%,$(EVENT_FILES))
EVENT_HEADERS := $(patsubst %,$(GEN)/include/trace/%.h,$(EVENT_CLASSES))
EVENT_OUTPUTS := $(EVENT_HEADERS) $(GEN)/include/trace/tables.h $(GEN)/include/trace/rows.h $(GEN)/trace/events.h \
                 $(GEN)/trace/events.c $(GEN)/trace/metadata.tsdl $(GEN)/trace/dummies.h $(GEN)/docs/events.md

GENERATED += $(EVENT_OUTPUTS)

$(eval $(call host_preload,$(B)/host/descriptor.so,trace/format/descriptor.c))

# One run of evgen writes all files; evgen does not touch a file whose text stays the same, so the stamp has the date.
# Names of the files that enumerations take their values from: enum ... from "NAME".
EVENT_ENUMS := $(patsubst %,$(GEN)/%.enum,$(sort $(shell sed -n 's/.* from "\(.*\)".*/\1/p' $(EVENT_FILES))))
$(GEN)/trace/.stamp: $(EVENT_FILES) $(EVGEN_FILES) $(EVENT_ENUMS)
	@mkdir -p $(@D); echo "  EVGEN   $(words $(EVENT_FILES)) event classes"
	@$(EVGEN) $(foreach enum,$(EVENT_ENUMS),--enum $(basename $(notdir $(enum)))=$(enum)) -o $(GEN) $(EVENT_FILES)
	@touch $@
$(EVENT_OUTPUTS): $(GEN)/trace/.stamp ;

# The logging path: in the kernel, and in a library that every program links.
TRACE_COMMON := $(addprefix trace/,ring/tail.c ring/read.c ring/table_read.c ring/table_move.c ring/table_derive.c print/print.c print/merge.c print/words.c print/commands.c print/settings.c print/study.c print/app_schema.c cost/cost.c format/descriptor.c) \
                $(GEN)/trace/events.c
KERNEL_SOURCES += $(TRACE_COMMON) trace/ring/restart.c trace/ring/resize.c trace/format/metadata.c
$(eval $(call user_library,trace,$(TRACE_COMMON) trace/event/register.c trace/event/previous.c trace/event/schemas.c))
USER_LIBS += $(BA)/lib/libtrace.a


$(B)/host/obj/trace/print/%.o: HOST_CFLAGS += -Ikernel/abi

# Unit tests: the same sources against the host's port of <arch/trace.h>.
TRACE_TEST_FLAGS := -Itests/unit/trace/host -Iarch/include -Ikernel/abi
$(B)/host/sanobj/trace/%.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(B)/host/sanobj/tests/unit/trace/%.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(B)/host/sanobj/$(GEN)/trace/%.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(eval $(call host_test,ring,tests/unit/trace/ring_test.c tests/unit/trace/ring_harness.c trace/ring/cas.c trace/ring/tail.c trace/ring/read.c \
    trace/print/print.c trace/format/metadata.c $(GEN)/trace/events.c,-lpthread))
$(eval $(call host_test,restart,tests/unit/trace/restart_test.c tests/unit/trace/ring_harness.c trace/ring/restart.c trace/ring/read.c \
    trace/print/print.c trace/format/metadata.c $(GEN)/trace/events.c))
$(eval $(call application_events,tests/unit/trace/sample.ev))
$(eval $(call host_test,descriptor,tests/unit/trace/descriptor_test.c tests/unit/trace/ring_harness.c trace/ring/cas.c trace/ring/tail.c trace/ring/read.c \
    trace/print/app_schema.c trace/print/merge.c trace/print/print.c trace/print/words.c trace/format/metadata.c trace/format/descriptor.c \
    $(GEN)/trace/events.c))
$(eval $(call host_test,trace_table,tests/unit/trace/table_test.c trace/ring/table_read.c trace/ring/table_move.c trace/ring/table_derive.c user/tarnprof/rows.c $(GEN)/trace/events.c,-lpthread))
$(eval $(call host_test,resize,tests/unit/trace/resize_test.c trace/ring/resize.c))
HOST_TESTS += tests/unit/trace/evgen_test tests/unit/trace/path_test
HOST_tests/unit/trace/path_test := each
PATH_PROBES := $(foreach space,user kernel,$(addprefix $(BA)/$(space)/obj/tests/unit/trace/,path_probe.o path_probe_cas.o path_probe_tested.o))
-include $(PATH_PROBES:.o=.d)
tests: $(PATH_PROBES) $(EVGEN)

.PHONY: unit-trace
unit-trace: $(addprefix $(B)/host/test/,ring descriptor) tests/unit/trace/evgen_test tests/unit/trace/path_test $(PATH_PROBES) ## run the trace's unit tests
	@set -e; for t in $(filter-out %.o,$^); do echo "# $$t"; $$t; done
