# The boot image with GRUB. Tests and the demonstration make their own with the same tool and other command lines.

ISO := $(BA)/tarn.iso

$(ISO): $(BA)/kernel/tarn.elf $(BA)/boot.cpio boot/x86_64/grub.cfg tools/mkiso
	@echo "  ISO     $@"; tools/mkiso $@ $(BA)/kernel/tarn.elf $(BA)/boot.cpio ""

.PHONY: image
image: $(ISO) ## make the boot image (x86_64)
