# How things are built. A build.mk calls one of these with $(eval $(call ...)). They are all defined here, before any
# build.mk is read: make silently expands an unknown function to nothing (tools/lint reports it).
#
#   host_program NAME, SOURCES, FLAGS, LIBRARIES    -> build/host/NAME; of a library only what it uses is linked
#   host_library NAME, SOURCES, FLAGS      for LIBRARIES of host_program and, with sanitizers, of host_test; with these flags
#   user_program NAME, SOURCES, LIBS       -> build/ARCH/user/NAME   (linked with libc-glue and newlib)
#   user_library NAME, SOURCES             -> build/ARCH/lib/libNAME.a; both also below build/ARCH/explore
#   bin_program NAME, SOURCES, LIBS        a user_program that is /bin/NAME in the archive
#   server_program NAME, SOURCES, LIBS     the server /sbin/NAME: linked with servers/lib (servers/README.md)
#   application_events FILE.ev             -> build/gen/include/app/FILE.h, also added to GENERATED
#   generator NAME, SOURCES                -> build/host/NAME, which depends on nothing generated
#   KERNEL_SOURCES += files                -> build/ARCH/kernel/tarn.elf, and build/ARCH/explore/tarn.elf with `make explorer`
#   GENERATED += build/gen/...             headers that must exist before anything is compiled; only files that include
#                                          one are compiled again when it changes
#   BOOT_FILES += PATH_IN_ARCHIVE=FILE     files of the boot archive
#   AUTHORITY_<path in archive> := NAME[,NAME...]   its label: what programs that run the file may do beyond the ordinary
#                                          (servers/protocol/authority.def)
#   host_test NAME, SOURCES, FLAGS, LIBRARIES       -> build/host/test/NAME, a unit test with sanitizers that prints TAP
#   host_sanitized, the same                        no test of its own
#   UNIT_TESTS, GUEST_TESTS, HOST_TESTS    see tests/build.mk
#
# Extra flags of one source: CFLAGS_<path of the source> += ...

.SECONDEXPANSION:

WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
BASE := -std=gnu17 -g $(WARN) -I. -I$(GEN) -I$(GEN)/include -MMD -MP -ffile-prefix-map=$(CURDIR)=.

HOST_CC     ?= gcc
# Nobody restarts what the host logs in tests (trace/ring/cas.h), except for tests/peers, or switches its trace points
# (trace/ring/ring.h).
HOST_CFLAGS := $(BASE) -O2 -D_GNU_SOURCE -DTRACE_CAS -DTRACE_TESTED

include arch/$(ARCH)/flags.mk   # CROSS, ARCH_CFLAGS, KERNEL_ARCH_CFLAGS, FRAME_POINTER, ...
CC := $(CROSS)gcc
LD := $(CROSS)ld
AR := $(CROSS)ar
OBJCOPY := $(CROSS)objcopy
GCC_INCLUDE := $(shell $(CC) -print-file-name=include 2>/dev/null)
FREESTANDING := -ffreestanding -nostdinc -isystem $(GCC_INCLUDE) -fno-stack-protector -fno-pic -fno-pie \
                -fno-asynchronous-unwind-tables $(FRAME_POINTER)

INCLUDES := -Iarch/include -Iarch/$(ARCH)/include -Ikernel/abi
KERNEL_CFLAGS := $(BASE) -O2 $(FREESTANDING) $(ARCH_CFLAGS) $(KERNEL_ARCH_CFLAGS) $(INCLUDES) -DTARN_KERNEL
# newlib's headers precede GCC's freestanding ones; third_party/newlib.mk builds newlib. -MMD would leave out
# what they include of libc-glue/include.
NEWLIB := $(BA)/newlib
USER_CFLAGS = $(BASE:-MMD=-MD) -O2 -isystem $(NEWLIB)/include $(FREESTANDING) $(ARCH_CFLAGS) $(USER_ARCH_CFLAGS) \
              $(INCLUDES) -Ilibc-glue/include -Iservers -D__DYNAMIC_REENT__ -D_GNU_SOURCE

# make TRACE_OUT="lock libc": classes whose trace points are compiled out of kernel and programs
TRACE_OUT ?=
COMPILED_OUT := $(foreach c,$(TRACE_OUT),-DTRACE_OUT_$(shell echo $c | tr a-z A-Z))
KERNEL_CFLAGS += $(COMPILED_OUT)
USER_CFLAGS += $(COMPILED_OUT)

objects = $(patsubst %,$(1)/%.o,$(basename $(2)))

define host_program
ALL += $(B)/host/$(1)
$(B)/host/$(1): $(call objects,$(B)/host/obj,$(2)) $(patsubst %,$(B)/host/obj/lib%.a,$(4))
	@mkdir -p $$(@D); echo "  LINK    $$@"
	@$(HOST_CC) $(HOST_LDFLAGS) -Wl,--as-needed -o $$@ $$^ $(3) $(foreach l,$(4),$$(HOST_LIBS_$(l)))
-include $(patsubst %.o,%.d,$(call objects,$(B)/host/obj,$(2)))
endef

define host_library
HOST_LIBS_$(1) := $(3)
$(call static_library,$(B)/host/obj/lib$(1).a,$(call objects,$(B)/host/obj,$(2)),ar)
$(call static_library,$(B)/host/sanobj/lib$(1).a,$(call objects,$(B)/host/sanobj,$(2)),ar)
endef

# A library for LD_PRELOAD, of one source.
# host_preload FILE, SOURCE
define host_preload
$(1): $(2)
	@mkdir -p $$(@D); echo "  HOSTCC  $$@"
	@$(HOST_CC) $(HOST_CFLAGS) -fPIC -shared -o $$@ $$<
-include $(1:.so=.d)
endef

# Each library and program is also built for the exploring archive (make explorer), below build/ARCH/explore.
# static_library FILE, OBJECTS, AR
define static_library
$(1): $(2)
	@mkdir -p $$(@D); rm -f $$@; echo "  AR      $$@"
	@$(3) rcs $$@ $$^
-include $(2:.o=.d)
endef
define user_library
$(call static_library,$(BA)/lib/lib$(1).a,$(call objects,$(BA)/user/obj,$(2)),$(AR))
$(call static_library,$(BA)/explore/lib/lib$(1).a,$(call explored_objects,$(2)),$(AR))
endef

# Programs are linked statically against crt0, libc-glue and newlib with arch/user.ld.
# user_link FILE, OBJECTS, LIBS, NAME OF THE VARIABLE with the libraries of all programs
define user_link
$(1): $(2) $(3) $$$$(USER_CRT) $$$$($(4)) arch/user.ld
	@mkdir -p $$(@D); echo "  LINK    $$@"
	@$(LD) $(USER_LDFLAGS) -T arch/user.ld --build-id -o $$@ $$(USER_CRT) \
	    $(2) $(3) --start-group $$($(4)) --end-group
-include $(2:.o=.d)
endef
define user_program
ALL += $(BA)/user/$(1)
$(call user_link,$(BA)/user/$(1),$(call objects,$(BA)/user/obj,$(2)),$(3),USER_LIBS)
$(call user_link,$(BA)/explore/user/$(1),$(call explored_objects,$(2)),$(call explored,$(3)),EXPLORE_LIBS)
endef
# Sources without calls of the exploration have the same object in both archives.
EXPLORE_USER_PLAIN := %.S arch/% $(GEN)/% kernel/lib/% libc-glue/tarn/clock.c libc-glue/tarn/routine.c trace/event/% trace/print/% trace/cost/%
explored_objects = $(call objects,$(BA)/user/obj,$(filter $(EXPLORE_USER_PLAIN),$(1))) \
                   $(call objects,$(BA)/explore/user/obj,$(filter-out $(EXPLORE_USER_PLAIN),$(1)))
explored = $(subst $(BA)/lib/,$(BA)/explore/lib/,$(1))
EXPLORE_LIBS = $(call explored,$(BA)/lib/libexplore.a $(USER_LIBS))

define bin_program
$(call user_program,$(1),$(2),$(3))
BOOT_FILES += bin/$(1)=$(BA)/user/$(1)
endef

define server_program
$(call user_program,$(1),$(2),$(3) $(BA)/lib/libserver.a)
BOOT_FILES += sbin/$(1)=$(BA)/user/$(1)
endef

# A script, and the library that it calls.
EVGEN := trace/gen/evgen $(B)/host/descriptor.so
EVGEN_FILES := $(EVGEN) $(wildcard trace/gen/*.py)
define application_events
$(GEN)/include/app/$(notdir $(basename $(1))).h: $(1) $(EVGEN_FILES)
	@mkdir -p $$(@D); echo "  EVGEN   $$<"
	@$(EVGEN) --app -o $$@ $$< && touch $$@
GENERATED += $(GEN)/include/app/$(notdir $(basename $(1))).h
endef

$(B)/host/obj/%.o: %.c | $$(GENERATED)
	@mkdir -p $(@D); echo "  HOSTCC  $<"
	@$(HOST_CC) $(HOST_CFLAGS) $(CFLAGS_$<) -c -o $@ $<

$(BA)/kernel/obj/%.o: %.c | $$(GENERATED)
	@mkdir -p $(@D); echo "  CC      $<"
	@$(CC) $(KERNEL_CFLAGS) $(CFLAGS_$<) -c -o $@ $<

$(BA)/kernel/obj/%.o: %.S $(BA)/kernel/gen/offsets.h | $$(GENERATED)
	@mkdir -p $(@D); echo "  AS      $<"
	@$(CC) $(KERNEL_CFLAGS) -D__ASSEMBLER__ -I$(BA)/kernel/gen $(CFLAGS_$<) -c -o $@ $<

# Structure offsets for assembly; see arch/offsets.h.
$(BA)/kernel/gen/offsets.h: arch/$(ARCH)/offsets.c | $$(GENERATED)
	@mkdir -p $(@D); echo "  OFFSETS $@"
	@$(CC) $(KERNEL_CFLAGS) -MF $(@:.h=.d) -MT $@ -S -o $(@:.h=.s) $<
	@{ echo "/* Made from $<. */"; sed -n 's/^-> \([A-Z0-9_]*\) \(-*[0-9]*\)$$/#define \1 \2/p' $(@:.h=.s); } >$@
-include $(BA)/kernel/gen/offsets.d

$(BA)/user/obj/%.o: %.c $$(USER_HEADERS) | $$(GENERATED)
	@mkdir -p $(@D); echo "  CC      $<"
	@$(CC) $(USER_CFLAGS) $(CFLAGS_$<) -c -o $@ $<

$(BA)/user/obj/%.o: %.S | $$(GENERATED)
	@mkdir -p $(@D); echo "  AS      $<"
	@$(CC) $(USER_CFLAGS) -D__ASSEMBLER__ $(CFLAGS_$<) -c -o $@ $<

# The kernel. Its sources are known when all build.mk files have been read, hence the second expansion. It is linked
# three times to include the table of its own symbols (kernel/debug/gen/symbolgen). Only the table changes between
# links; the last table must describe the last link.
KERNEL_OBJECTS = $(call objects,$(BA)/kernel/obj,$(KERNEL_SOURCES))
kernel_link = $(LD) $(KERNEL_LDFLAGS) -T arch/kernel.ld --build-id -o $(1) $(2)
kernel_symbols = $(1) | kernel/debug/gen/symbolgen >$(2).c && $(CC) $(KERNEL_CFLAGS) -MF $(2).d -c -o $(2).o $(2).c
# kernel_executable OUTPUT, OBJECTS
define kernel_executable
@mkdir -p $(@D)/symbols; echo "  LINK    $@"
@set -e; at=$(@D)/symbols; \
$(call kernel_symbols,:,$$at/none); $(call kernel_link,$$at/first.elf,$(1) $$at/none.o); \
$(call kernel_symbols,$(CROSS)nm $$at/first.elf,$$at/first); $(call kernel_link,$$at/second.elf,$(1) $$at/first.o); \
$(call kernel_symbols,$(CROSS)nm $$at/second.elf,$$at/second); $(call kernel_link,$@,$(1) $$at/second.o); \
$(CROSS)nm $@ | kernel/debug/gen/symbolgen | cmp -s - $$at/second.c || { echo "$@: its symbols moved"; rm -f $@; exit 1; }
endef
$(BA)/kernel/tarn.elf: $$(KERNEL_OBJECTS) arch/kernel.ld kernel/debug/gen/symbolgen
	$(call kernel_executable,$(KERNEL_OBJECTS))

# The exploring kernel (kernel/cpu/explore.h): the same sources, with calls of kernel/explore/explore_runtime.c before each memory
# access. Excluded: ports (they run before a CPU is set up), the exploration itself, and code that
# observes the kernel or reports its end.
EXPLORE_PLAIN := arch/% $(GEN)/% kernel/debug/% kernel/explore/% kernel/diagnosis/% kernel/failure/% $(addprefix kernel/,lib/format.c lib/string.c \
                 cpu/lock.c cpu/lock_watch.c cpu/log.c syscall/machine.c) trace/event/% trace/print/% trace/cost/%
EXPLORE_BLOCKS := -fsanitize-coverage=trace-pc# a call at the start of each basic block, for tools/coverage.py
EXPLORE_UNCOVERED := arch/% $(GEN)/% kernel/explore/% kernel/lib/string.c trace/event/% trace/print/% trace/cost/%
EXPLORE_ACCESSES := -fsanitize=thread --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 -Wno-tsan
EXPLORE_OBJECTS = $(call objects,$(BA)/explore/obj,$(filter %.c,$(KERNEL_SOURCES)) $(EXPLORE_SOURCES)) \
                  $(call objects,$(BA)/kernel/obj,$(filter %.S,$(KERNEL_SOURCES)))
$(BA)/explore/obj/%.o: %.c rules.mk | $$(GENERATED)
	@mkdir -p $(@D); echo "  CC      $< (exploring)"
	@$(CC) $(KERNEL_CFLAGS) -DTARN_EXPLORE $(if $(filter $(EXPLORE_PLAIN),$<),,$(EXPLORE_ACCESSES)) \
	    $(if $(filter $(EXPLORE_UNCOVERED),$<),,$(EXPLORE_BLOCKS)) $(CFLAGS_$<) -c -o $@ $<
# Programs: libraries, servers and all other sources of Tarn, with calls of libc-glue/explore/point.c. Excluded: newlib,
# the runtime itself, and what EXPLORE_USER_PLAIN names: the first instructions, its clock, and the printer of events.
$(BA)/explore/user/obj/%.o: %.c rules.mk $$(USER_HEADERS) | $$(GENERATED)
	@mkdir -p $(@D); echo "  CC      $< (exploring)"
$(BA)/explore/user/obj/%.o: %.c rules.mk $$(USER_HEADERS) | $$(GENERATED)
	@mkdir -p $(@D); echo "  CC      $< (exploring)"
	@$(CC) $(USER_CFLAGS) -DTARN_EXPLORE $(if $(filter libc-glue/explore/% kernel/explore/%,$<),,$(EXPLORE_ACCESSES) $(EXPLORE_BLOCKS)) \
	    $(CFLAGS_$<) -c -o $@ $<
$(BA)/explore/tarn.elf: $$(EXPLORE_OBJECTS) arch/kernel.ld kernel/debug/gen/symbolgen
	$(call kernel_executable,$(EXPLORE_OBJECTS))

# Unit tests of the host: the same sources, compiled with sanitizers.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
define host_test
UNIT_TESTS += $(B)/host/test/$(1)
$$(eval $$(call host_sanitized,$(1),$(2),$(3),$(4)))
endef
define host_sanitized
$(B)/host/test/$(1): $(call objects,$(B)/host/sanobj,$(2)) $(patsubst %,$(B)/host/sanobj/lib%.a,$(4))
	@mkdir -p $$(@D); echo "  LINK    $$@"
	@$(HOST_CC) $(SANITIZE) -Wl,--as-needed -o $$@ $$^ $(3) $(foreach l,$(4),$$(HOST_LIBS_$(l)))
-include $(patsubst %.o,%.d,$(call objects,$(B)/host/sanobj,$(2)))
endef

$(B)/host/sanobj/%.o: %.c | $$(GENERATED)
	@mkdir -p $(@D); echo "  HOSTCC  $< (sanitized)"
	@$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE) $(CFLAGS_$<) -c -o $@ $<

# Generators are host programs that must not depend on what they generate.
$(B)/host/genobj/%.o: %.c
	@mkdir -p $(@D); echo "  HOSTCC  $<"
	@$(HOST_CC) $(HOST_CFLAGS) -c -o $@ $<

define generator
$(B)/host/$(1): $(call objects,$(B)/host/genobj,$(2))
	@mkdir -p $$(@D); echo "  LINK    $$@"
	@$(HOST_CC) -o $$@ $$^
-include $(patsubst %.o,%.d,$(call objects,$(B)/host/genobj,$(2)))
endef
