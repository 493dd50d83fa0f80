# SPDX-License-Identifier: BSD-2-Clause
# What every program is linked with: the port's first instructions, libc-glue, newlib, the compiler's helpers.
LIBC_SOURCES := $(wildcard libc-glue/tarn/*.c libc-glue/posix/*.c) $(filter-out %/crt0.S,$(wildcard arch/$(ARCH)/user/*.S))
LIBGCC := $(shell $(CC) $(ARCH_CFLAGS) -print-libgcc-file-name)

$(eval $(call user_library,glue,$(LIBC_SOURCES)))

USER_CRT  := $(BA)/user/obj/arch/$(ARCH)/user/crt0.o
USER_LIBS += $(BA)/lib/libglue.a $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a $(LIBGCC)
ALL += $(BA)/lib/libglue.a
