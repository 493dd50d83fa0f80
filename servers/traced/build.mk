# SPDX-License-Identifier: BSD-2-Clause
TRACED_SOURCES := $(wildcard servers/traced/*.c) trace/format/wire.c
$(foreach f,$(filter servers/%,$(TRACED_SOURCES)),$(eval CFLAGS_$f := -DTARN_MACHINE='"$(ARCH)"'))

$(eval $(call server_program,traced,$(TRACED_SOURCES),$(BA)/lib/libvirtio.a))

# Tests traced against `tarn pull`, both on the host; the test plays the kernel.
TRACED_HOST := $(addprefix servers/traced/,connection.c request.c previous.c pull.c rings.c)
$(B)/host/sanobj/servers/traced/%.o $(B)/host/sanobj/tests/unit/traced/%.o $(B)/host/sanobj/trace/event/%.o: HOST_CFLAGS += -Itests/unit/traced/host -Itests/unit/trace/host -Iarch/include \
    -Ikernel/abi '-DTRACED_RINGS=(uintptr_t)test_rings'
$(eval $(call host_test,traced,tests/unit/traced/traced_test.c $(TRACED_HOST) \
    tests/unit/trace/ring_harness.c trace/ring/cas.c trace/ring/read.c trace/ring/resize.c trace/print/print.c trace/print/words.c trace/print/app_schema.c \
    trace/event/schemas.c trace/format/descriptor.c,,tarn))
