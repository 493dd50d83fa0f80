# Builds init, proc, fs and console; net and traced have their own build files.

SERVERS_LIB := $(wildcard servers/lib/*.c) base/tree.c
$(eval $(call user_library,server,$(SERVERS_LIB)))
$(foreach s,init proc fs console,$(eval $(call server_program,$s,$(wildcard servers/$s/*.c))))

# Names of the requests of all protocols, for the trace.
PROTOCOLS := $(wildcard servers/protocol/*.h)
$(GEN)/requests.inc: $(PROTOCOLS) servers/build.mk
	@mkdir -p $(@D)
	@sed -n 's/^    \([A-Z]*_[A-Z_]*\)\( = [^,]*\)\{0,1\},.*/REQUEST(\1)/p' $(PROTOCOLS) >$@
$(GEN)/protocols.inc: $(PROTOCOLS) servers/build.mk
	@mkdir -p $(@D); printf '#include <%s>\n' $(PROTOCOLS) >$@
REQUESTGEN_OBJECT := $(B)/host/genobj/servers/protocol/requestgen.o
$(REQUESTGEN_OBJECT): $(GEN)/requests.inc $(GEN)/protocols.inc
$(REQUESTGEN_OBJECT): HOST_CFLAGS += -Ikernel/abi '-DREQUEST_NAMES="$(GEN)/requests.inc"' '-DPROTOCOLS="$(GEN)/protocols.inc"'
$(eval $(call generator,requestgen,servers/protocol/requestgen.c))
$(GEN)/requests.enum: $(B)/host/requestgen
	@$< >$@
$(GEN)/%_requests.enum: $(B)/host/requestgen
	@$< $* >$@

# Files that send no messages are also tested on the host.
SERVERS_HOST := $(addprefix servers/lib/,cpio.c elf.c waiter.c) servers/proc/process.c servers/proc/script.c servers/console/line.c \
                $(wildcard tests/unit/servers/*.c)
$(foreach s,$(SERVERS_HOST),$(eval CFLAGS_$(s) += -Ikernel/abi))
$(eval $(call host_test,servers_lib,tests/unit/servers/lib_test.c servers/lib/cpio.c servers/lib/elf.c))
$(eval $(call host_test,servers_proc,tests/unit/servers/process_test.c servers/proc/process.c servers/lib/waiter.c,-lpthread))
$(eval $(call host_test,servers_console,tests/unit/servers/line_test.c servers/console/line.c))
