# SPDX-License-Identifier: BSD-2-Clause
# The boot archive (all BOOT_FILES and boot/root) and the GRUB image.

KERNEL  := $(BA)/kernel/tarn.elf
ARCHIVE := $(BA)/boot.cpio
ISO     := $(BA)/tarn.iso

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

# tests and the demonstration make their own images, with their own command lines, by the same tool.
$(ISO): $(KERNEL) $(ARCHIVE) boot/grub.cfg tools/mkiso
	@echo "  ISO     $@"; tools/mkiso $@ $(KERNEL) $(ARCHIVE) ""

ALL += $(ARCHIVE) $(KERNEL)
.PHONY: image
image: $(ISO) ## make the GRUB image
