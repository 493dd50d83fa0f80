# Tarn's logging path as programs of this machine's Linux, if it has a port for it: arch/ARCH/linux. README.md.

HOST_ARCH := $(shell uname -m)
PEERS_PORT := $(wildcard arch/$(HOST_ARCH)/linux)

PEERS_FLAGS := -I$(PEERS_PORT) -Iarch/include -Iarch/$(HOST_ARCH)/include -Ikernel/abi -DPORT_TRACE_HOST \
               -fPIC -fvisibility=hidden -ftls-model=initial-exec
PEERS_rseq := -UTRACE_CAS
PEERS_cas  :=
PEERS_RINGS := trace/ring/read.c trace/format/metadata.c $(GEN)/trace/events.c
PEERS_RINGS_rseq := $(PEERS_RINGS) tests/peers/ask.c $(PEERS_PORT)/ask_entry.c trace/ring/restart.c trace/ring/tail.c
PEERS_RINGS_cas  := $(PEERS_RINGS) trace/ring/cas.c trace/ring/tail.c

# Each discipline has its own objects, because it changes inline functions.
# peers_objects DISCIPLINE
define peers_objects
$(B)/host/peers/$(1)/%.o: %.c | $$$$(GENERATED)
	@mkdir -p $$(@D); echo "  HOSTCC  $$< ($(1))"
	@$(HOST_CC) $(HOST_CFLAGS) $(PEERS_FLAGS) $(PEERS_$(1)) -c -o $$@ $$<
endef

# A shared object for peers.c, from objects of a discipline; only `peer` is seen from outside.
# peers_library NAME, OBJECTS, LIBRARIES
define peers_library
PEERS += $(B)/host/peers/$(1).so
$(B)/host/peers/$(1).so: $(2)
	@mkdir -p $$(@D); echo "  LINK    $$@"
	@$(HOST_CC) -shared -Wl,-z,defs -o $$@ $$^ $(3)
-include $(2:.o=.d)
endef
peers_in = $(call objects,$(B)/host/peers/$(1),$(2))

# Without a port nothing of this is built.
ifneq ($(PEERS_PORT),)
$(foreach d,rseq cas,$(eval $(call peers_objects,$d)))
$(eval $(call peers_library,rseq,$(call peers_in,rseq,tests/peers/peer_tarn.c $(PEERS_RINGS_rseq))))
$(eval $(call peers_library,cas,$(call peers_in,cas,tests/peers/peer_tarn.c $(PEERS_RINGS_cas))))
$(eval $(call peers_library,lttng,$(call peers_in,cas,tests/peers/peer_lttng.c),-llttng-ust -ldl))
PEERS_MAIN := $(call peers_in,cas,tests/peers/peers.c)
$(B)/host/peers/peers: $(PEERS_MAIN)
	@mkdir -p $(@D); echo "  LINK    $@"
	@$(HOST_CC) -o $@ $^ -lpthread -ldl
-include $(PEERS_MAIN:.o=.d)

.PHONY: peers
peers: $(PEERS) $(B)/host/peers/peers
else
.PHONY: peers
peers:
	@echo "make $@: there is no arch/$(HOST_ARCH)/linux" >&2; exit 1
endif
