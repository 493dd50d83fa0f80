# The trace in another kernel's Makefile:
#
#     TRACE_SCHEMA := $(addprefix $(KIT)/trace/schema/,trace.ev sched.ev) mine.ev   # trace.ev is always needed
#     TRACE_ENUMS  := syscalls=syscalls.enum       # KEY=FILE for each `enum ... from "KEY"`
#     TRACE_PORT   := path/to/folder               # with trace_port.h (trace/kit/port/trace.h)
#     TRACE_OUT    := build/trace                  # for everything that is made
#     include $(KIT)/trace/kit/kit.mk
#     CFLAGS += $(TRACE_CFLAGS)                    # for all of the kernel's files; $(TRACE_HEADERS) must exist before
#     OBJS   += $(TRACE_OBJECTS)                   # compiled with $(CC) $(CFLAGS)
#     LIBS   += $(TRACE_LIBS)                      # what the compiler calls on machines with fewer instructions

TRACE_KIT     := $(patsubst %/trace/kit/,%,$(dir $(lastword $(MAKEFILE_LIST))))
TRACE_HEADERS := $(TRACE_OUT)/.stamp
TRACE_CFLAGS  := -DTRACE_CAS -DTRACE_TESTED -DTRACE_TAIL_WORDS=128u -I$(TRACE_OUT)/include -I$(TRACE_OUT) -I$(TRACE_PORT) -I$(TRACE_KIT)/trace/kit \
                 -I$(TRACE_KIT)/arch/include -I$(TRACE_KIT)
TRACE_OBJECTS := $(addprefix $(TRACE_OUT)/,cas.o tail.o kit.o metadata.o events.o)
TRACE_LIBS     = $(shell $(CC) $(CFLAGS) -print-libgcc-file-name)
TRACE_HOSTCC  ?= cc
TRACE_EVGEN   := $(TRACE_KIT)/trace/gen/evgen $(TRACE_OUT)/descriptor.so

$(TRACE_OUT)/descriptor.so: $(TRACE_KIT)/trace/format/descriptor.c
	@mkdir -p $(@D)
	$(TRACE_HOSTCC) -std=gnu17 -fPIC -shared -I$(TRACE_KIT) -o $@ $<
$(TRACE_HEADERS): $(TRACE_EVGEN) $(wildcard $(TRACE_KIT)/trace/gen/*.py) $(TRACE_SCHEMA) $(foreach enum,$(TRACE_ENUMS),$(lastword $(subst =, ,$(enum))))
	$(TRACE_EVGEN) $(addprefix --enum ,$(TRACE_ENUMS)) -o $(TRACE_OUT) $(TRACE_SCHEMA)
	@touch $@

$(TRACE_OUT)/cas.o: $(TRACE_KIT)/trace/ring/cas.c
$(TRACE_OUT)/tail.o: $(TRACE_KIT)/trace/ring/tail.c
$(TRACE_OUT)/kit.o: $(TRACE_KIT)/trace/kit/kit.c
$(TRACE_OUT)/metadata.o: $(TRACE_KIT)/trace/format/metadata.c
$(TRACE_OUT)/events.o: $(TRACE_HEADERS)
$(TRACE_OBJECTS): $(TRACE_HEADERS) $(wildcard $(TRACE_PORT)/trace_port.h $(TRACE_KIT)/trace/*/*.h $(TRACE_KIT)/trace/kit/port/*.h)
	$(CC) $(CFLAGS) -c -o $@ $(or $(filter %.c,$^),$(TRACE_OUT)/trace/events.c)
