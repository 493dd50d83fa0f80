# The boot archive (all BOOT_FILES and boot/root). boot/ARCH/build.mk makes what a machine's firmware needs besides.

KERNEL  := $(BA)/kernel/tarn.elf
ARCHIVE := $(BA)/boot.cpio

BOOT_FILES += $(foreach f,$(shell find boot/root -type f 2>/dev/null),$(f:boot/root/%=%)=$(f))

# Programs are stripped of debugging information (a tenth of the size); host tools read the originals, which have the
# same build-id. The exploring archive (make explorer) has the programs of build/ARCH/explore instead. The list is
# rewritten only when it changes, so that removing a file makes a new archive too.
# archive FOLDER: FOLDER/boot.cpio, with the programs of FOLDER/user
archived = $(subst =$(BA)/user/,=$(1)/stripped/,$(BOOT_FILES))
labelled = $(foreach f,$(call archived,$(1)),$f$(addprefix :,$(AUTHORITY_$(firstword $(subst =, ,$f)))))
define archive
$(1)/stripped/%: $(1)/user/%
	@mkdir -p $$(@D); $(OBJCOPY) --strip-debug $$< $$@
$(1)/boot.cpio.list: force
	@mkdir -p $$(@D); printf '%s\n' $$(sort $$(call labelled,$(1))) >$$@.new; cmp -s $$@.new $$@ && rm $$@.new || mv $$@.new $$@
$(1)/boot.cpio: $(1)/boot.cpio.list tools/mkarchive servers/protocol/authority.def $$$$(foreach f,$$$$(call archived,$(1)),$$$$(lastword $$$$(subst =, ,$$$$f)))
	@echo "  CPIO    $$@"; tools/mkarchive $$@ <$$<
endef
$(foreach folder,$(BA) $(BA)/explore,$(eval $(call archive,$(folder))))

ALL += $(ARCHIVE) $(KERNEL)
