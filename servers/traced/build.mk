TRACED_SOURCES := $(wildcard servers/traced/*.c) trace/format/wire.c
$(foreach f,$(filter servers/%,$(TRACED_SOURCES)),$(eval CFLAGS_$f := -DTARN_MACHINE='"$(ARCH)"'))

$(eval $(call server_program,traced,$(TRACED_SOURCES),$(BA)/lib/libvirtio.a))
