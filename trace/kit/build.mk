# The trace for other kernels, as one folder: README.md.

KIT := $(B)/kit
# Whole folders, and the headers of trace/event that need no system calls of Tarn.
KIT_FILES := $(filter-out %/build.mk,$(wildcard $(addprefix trace/,format/* ring/* gen/* schema/* kit/* kit/*/*))) \
             trace/event/event.h trace/event/schema.h arch/include/arch/trace.h LICENSE
KIT_FILES := $(filter-out $(patsubst %/,%,$(wildcard trace/kit/*/)),$(KIT_FILES))

.PHONY: kit xv6
kit: $(KIT)/.stamp ## make the trace for other kernels, as a folder: build/kit (trace/kit/README.md)
$(KIT)/.stamp: $(KIT_FILES) trace/kit/build.mk
	@rm -rf $(KIT); mkdir -p $(KIT); echo "  KIT     $(KIT)"
	@cp --parents $(KIT_FILES) $(KIT) && touch $@
	@echo "The trace of Tarn, for other kernels (BSD-2-Clause; see LICENSE). Begin with trace/kit/README.md." >$(KIT)/README.md
tests: $(KIT)/.stamp

xv6: deps-tests ## trace xv6 on RISC-V, with what `make kit` makes: out/xv6/trace [XV6=CLONE] [XV6_OPTIONS=]
	@tools/deps xv6
	@$(ALL_NOW) $(B)/host/tarn kit
	@$(if $(XV6),XV6='$(XV6)') trace/kit/xv6/run $(XV6_OPTIONS)
