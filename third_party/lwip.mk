# lwIP's source -> build/third_party/lwip/src. servers/net compiles the files that it uses, with its own
# lwipopts.h, and orders its objects after $(LWIP).

LWIP_TAR := $(call fetched,lwip)
THIRD_PARTY_$(notdir $(LWIP_TAR)) := lwip
LWIP_SRC := $(B)/third_party/lwip
LWIP     := $(LWIP_SRC)/.unpacked

$(LWIP): $(LWIP_TAR)
	@echo "  UNPACK  $(LWIP_SRC)"; rm -rf $(LWIP_SRC) && mkdir -p $(LWIP_SRC)
	@tar xJf $< -C $(LWIP_SRC) --strip-components=1 && touch $@
