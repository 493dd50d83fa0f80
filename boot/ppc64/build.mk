# The firmware of a direct start: a flat file for -bios.
STUB := $(BA)/boot/stub.bin
$(STUB): boot/ppc64/stub.S
	@mkdir -p $(@D); echo "  STUB    $@"
	@$(CC) $(ARCH_CFLAGS) -c -o $(@:.bin=.o) $<
	@$(OBJCOPY) -O binary -j .text $(@:.bin=.o) $@

ALL += $(STUB)
