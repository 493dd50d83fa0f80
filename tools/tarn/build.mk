# The host tool: main.c and a library, which the tests and the fuzzer link, too. tarn-view is all of it; tarn starts that for
# its subcommand view (command/start_view.c), and is linked without the libraries that only view needs.

# The view's page, the prose of the manual, the studies and the analyses in SQL are embedded in the program.
TARN_MANUAL := $(sort $(wildcard docs/man/*.md))
$(GEN)/tarn/page_files.c: $(sort $(wildcard tools/tarn/view/page/*))
$(GEN)/tarn/manual_files.c: $(TARN_MANUAL)
$(GEN)/tarn/study_files.c: $(sort $(wildcard trace/studies/*.study))
$(GEN)/tarn/sql_files.c: $(sort $(wildcard tools/tarn/analysis/*.sql))
# As C arrays, with a NUL behind each file (embedded.h).
$(GEN)/tarn/%_files.c:
	@mkdir -p $(@D); echo "  EMBED   $@"
	@{ echo '#include <tools/tarn/embedded.h>'; \
	   for file in $^; do number=$$((number + 1)); \
	       echo "static const unsigned char file$$number[] = {"; od -An -v -tu1 $$file | sed 's/[0-9][0-9]*/&,/g'; \
	       echo '0};'; done; \
	   echo 'const struct page_file $*_files[] = {'; number=0; \
	   for file in $^; do number=$$((number + 1)); \
	       echo "{\"$${file##*/}\", file$$number, sizeof(file$$number) - 1},"; done; \
	   echo '{NULL, NULL, 0}};'; } >$@

$(eval $(call host_library,tarn,$(filter-out %/main.c %/start_view.c,$(wildcard tools/tarn/*.c tools/tarn/[!t]*/*.c tools/tarn/tables/*.c)) \
    trace/format/wire.c trace/format/metadata.c trace/ring/table_read.c trace/ring/table_derive.c trace/print/words.c trace/print/commands.c trace/print/settings.c trace/print/study.c trace/print/routines.c trace/print/shares.c $(GEN)/trace/events.c $(GEN)/tarn/page_files.c $(GEN)/tarn/manual_files.c $(GEN)/tarn/study_files.c $(GEN)/tarn/sql_files.c,\
    -lm -lpthread -lmicrohttpd -lcairo -ldw -lelf -lsqlite3 -lreadline -ldl))
$(eval $(call host_program,tarn-view,tools/tarn/command/main.c,,tarn))
$(eval $(call host_program,tarn,tools/tarn/command/main.c tools/tarn/command/start_view.c,,tarn))

# Manual pages: build/man/tarn.1 and tarn-NAME.1.
TARN_PAGES := $(subst tarn-tarn,tarn,$(patsubst docs/man/%.md,$(B)/man/tarn-%.1,$(TARN_MANUAL)))
ALL += $(TARN_PAGES)
$(TARN_PAGES): $(B)/host/tarn-view
	@mkdir -p $(@D); echo "  MAN     $@"
	@$< help --man $(patsubst tarn-%,%,$(basename $(@F))) >$@

# For tests in Python: tests/host/sanitized.py.
$(eval $(call host_sanitized,commands,tests/unit/tarn/commands.c,,tarn))
$(eval $(call host_preload,$(B)/host/wire.so,trace/format/wire.c))
tests: $(B)/host/test/commands $(B)/host/wire.so
HOST_TESTS += $(addprefix tests/host/,from_memory fuzz_traces keep lying_guest made_links made_symbols made_tables model_promises stories \
    undecodable)
$(B)/host/sanobj/tests/unit/tarn/guest_live_test.o: HOST_CFLAGS += $(TRACE_TEST_FLAGS)
$(eval $(call host_test,guest_live,tests/unit/tarn/guest_live_test.c tests/unit/trace/ring_harness.c trace/ring/cas.c trace/ring/tail.c trace/ring/read.c \
    trace/print/print.c,,tarn))

# Synthetic traces, and tests.
$(eval $(call host_program,tracegen,tests/unit/tarn/tracegen.c,,tarn))
$(foreach test,view model_walk map,$(eval $(call host_test,$(test),tests/unit/tarn/$(test)_test.c,,tarn)))
HOST_TESTS += tests/host/diff tests/host/usage
HOST_TESTS += tests/host/compare_readers tests/host/analyses
HOST_tests/host/analyses := : asks each analysis in every way, and the view for the same
