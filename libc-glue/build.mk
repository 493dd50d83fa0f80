# SPDX-License-Identifier: BSD-2-Clause
# What every program is linked with: the port's first instructions, libc-glue, newlib, and the few functions that
# the compiler calls (kernel/compiler_calls.c says why not libgcc).
LIBC_SOURCES := $(wildcard libc-glue/tarn/*.c libc-glue/posix/*.c) kernel/compiler_calls.c \
                $(filter-out %/crt0.S,$(wildcard arch/$(ARCH)/user/*.[cS]))

$(eval $(call user_library,glue,$(LIBC_SOURCES)))

USER_CRT  := $(BA)/user/obj/arch/$(ARCH)/user/crt0.o
USER_LIBS += $(BA)/lib/libglue.a $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a
ALL += $(BA)/lib/libglue.a
