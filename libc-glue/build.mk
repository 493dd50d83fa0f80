# Libraries of every program: the port's startup code, libc-glue, newlib, and the few functions that the compiler
# calls (kernel/lib/compiler_calls.c says why not libgcc).
LIBC_SOURCES := $(wildcard libc-glue/tarn/*.c libc-glue/posix/*.c libc-glue/math/*.c) kernel/lib/compiler_calls.c \
                $(filter-out %/crt0.S,$(wildcard arch/$(ARCH)/user/*.[cS]))

$(eval $(call user_library,glue,$(LIBC_SOURCES)))
# For programs of the exploring archive also the functions that the compiler calls before each memory access.
$(eval $(call user_library,explore,kernel/explore/explore_runtime.c libc-glue/explore/point.c))

USER_CRT  := $(BA)/user/obj/arch/$(ARCH)/user/crt0.o
-include $(USER_CRT:.o=.d)
USER_LIBS += $(BA)/lib/libglue.a $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a
ALL += $(BA)/lib/libglue.a

# Checks that each header for programs compiles on its own.
PROGRAM_HEADERS := assert complex ctype dirent errno fcntl fenv float glob inttypes iso646 langinfo limits locale malloc math \
    netinet/in arpa/inet poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool \
    stddef stdint stdio stdlib stdnoreturn string strings tgmath time unistd utime wchar wctype \
    $(patsubst libc-glue/include/%.h,%,$(wildcard libc-glue/include/sys/*.h libc-glue/include/tarn/*.h)) \
    sys/stat sys/time sys/times sys/types sys/wait sys/resource
PROGRAM_HEADER_OBJECTS := $(patsubst %,$(BA)/headers/%.o,$(sort $(PROGRAM_HEADERS)))
$(PROGRAM_HEADER_OBJECTS): $(BA)/headers/%.o: $$(USER_HEADERS) | $$(GENERATED)
	@mkdir -p $(@D); echo '#include <$*.h>' >$(@:.o=.c); $(CC) $(USER_CFLAGS) -c -o $@ $(@:.o=.c)
-include $(PROGRAM_HEADER_OBJECTS:.o=.d)
tests: $(PROGRAM_HEADER_OBJECTS)

