# Tarn. `make help` lists the targets; rules.mk defines how things are built; every folder that builds something has a
# build.mk, which is read from here.

$(if $(word 2,$(CURDIR)),$(error The path "$(CURDIR)" has blanks, with which make cannot build: move the tree to another one))

ARCHITECTURES := $(patsubst arch/%/flags.mk,%,$(wildcard arch/*/flags.mk))
# What `make test` tests: all architectures, unless ARCH is given.
TESTED := $(if $(filter undefined,$(origin ARCH)),$(ARCHITECTURES),$(ARCH))
ARCH ?= x86_64
$(if $(filter $(ARCH),$(ARCHITECTURES)),,$(error ARCH=$(ARCH): must be one of: $(ARCHITECTURES)))
SMP  ?= 4
MEM  ?= 512M

B    := build
BA   := $(B)/$(ARCH)
GEN  := $(B)/gen

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

ALL :=            # what `make all` builds
include rules.mk
include $(sort $(wildcard arch/$(ARCH)/build.mk boot/build.mk boot/$(ARCH)/build.mk) \
            $(foreach d,third_party base trace kernel libc-glue servers user tools tests,$(wildcard $d/build.mk $d/*/build.mk)))
include qemu.mk
-include $(patsubst %.o,%.d,$(call objects,$(BA)/kernel/obj,$(KERNEL_SOURCES)) $(call objects,$(BA)/explore/obj,$(KERNEL_SOURCES) $(EXPLORE_SOURCES)))

.PHONY: all clean force
all: portable $$(ALL) ## build everything for ARCH
.PHONY: explorer
explorer: portable $$(BA)/explore/tarn.elf $$(BA)/explore/boot.cpio ## build kernel and programs of `tarn explore` for ARCH
.PHONY: prove
prove: all ## search the logging path's code for what interrupts and readers can do to it (trace/model): ten minutes
	@trace/model/prove --full
clean: ## remove what was built, keep what was fetched
	rm -rf $(filter-out $(B)/fetch $(B)/third_party,$(wildcard $(B)/*))
