# The trace in xv6: included by its Makefile, which the patch changes. KIT is the kit's folder.
XV6_TRACE    := $(KIT)/trace/kit/xv6
TRACE_SCHEMA := $(addprefix $(KIT)/trace/schema/,$(addsuffix .ev,trace sched syscall exception irq lock process fs state)) $(XV6_TRACE)/cache.ev
TRACE_ENUMS  := syscalls=trace/syscalls.enum fs_requests=$(XV6_TRACE)/requests.enum
TRACE_PORT   := $(XV6_TRACE)
TRACE_OUT    := trace
include $(KIT)/trace/kit/kit.mk

CFLAGS += $(TRACE_CFLAGS) -Ikernel -DTRACE_CPUS=$(CPUS)
OBJS += $(TRACE_OBJECTS) trace/points.o
$(OBJS): $(TRACE_HEADERS)
$K/kernel: private LDFLAGS += --build-id
$K/kernel: private OBJS += $(TRACE_LIBS)
trace/syscalls.enum: $K/syscall.h
	@mkdir -p $(@D)
	sed -n 's/^#define SYS_\([a-z]*\) *\([0-9]*\)$$/\1 = \2/p' $< >$@
trace/points.o: $(XV6_TRACE)/points.c $(XV6_TRACE)/points.h
	$(CC) $(CFLAGS) -c -o $@ $<
