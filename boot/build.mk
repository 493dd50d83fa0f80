# SPDX-License-Identifier: BSD-2-Clause
# The boot archive (all BOOT_FILES and boot/root). What a machine's firmware needs besides: boot/ARCH/build.mk.

KERNEL  := $(BA)/kernel/tarn.elf
ARCHIVE := $(BA)/boot.cpio

BOOT_FILES += $(foreach f,$(shell find boot/root -type f 2>/dev/null),$(f:boot/root/%=%)=$(f))

# Programs go in without their debugging information (a tenth of the size); host tools read the originals, which
# have the same build-id.
ARCHIVED = $(subst =$(BA)/user/,=$(BA)/stripped/,$(BOOT_FILES))
$(BA)/stripped/%: $(BA)/user/%
	@mkdir -p $(@D); $(OBJCOPY) --strip-debug $< $@

# The list is rewritten only when it changed, so that a file less makes a new archive too.
$(ARCHIVE).list: force
	@mkdir -p $(@D); printf '%s\n' $(sort $(ARCHIVED)) >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(ARCHIVE): $(ARCHIVE).list tools/mkarchive $$(foreach f,$$(ARCHIVED),$$(lastword $$(subst =, ,$$f)))
	@echo "  CPIO    $@"; tools/mkarchive $@ <$<

ALL += $(ARCHIVE) $(KERNEL)
