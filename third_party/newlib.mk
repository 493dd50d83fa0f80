# newlib -> build/ARCH/newlib/{include,lib/libc.a,lib/libm.a}. third_party/README.md says what is configured
# and what libc-glue owes it. NEWLIB_TARGET is the port's (arch/ARCH/flags.mk).

NEWLIB_TAR := $(call fetched,newlib)
THIRD_PARTY_$(notdir $(NEWLIB_TAR)) := newlib
NEWLIB_SRC := $(B)/third_party/newlib
NEWLIB_OBJ := $(BA)/newlib.obj

NEWLIB_CFLAGS := -O2 -g -ffreestanding -fno-pic -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables \
    $(strip $(FRAME_POINTER)) \
    -ffile-prefix-map=$(CURDIR)=. -ffunction-sections -fdata-sections -w $(ARCH_CFLAGS) $(USER_ARCH_CFLAGS) \
    -D__DYNAMIC_REENT__ -DREENTRANT_SYSCALLS_PROVIDED -DHAVE_FCNTL -DHAVE_BLKSIZE

NEWLIB_TOOLS := CC=$(CC) AS=$(CROSS)as AR=$(AR) LD=$(LD) NM=$(CROSS)nm RANLIB=$(CROSS)ranlib \
    READELF=$(CROSS)readelf OBJCOPY=$(OBJCOPY) OBJDUMP=$(CROSS)objdump STRIP=$(CROSS)strip

NEWLIB_CONFIGURE := --target=$(NEWLIB_TARGET) --prefix=$(CURDIR)/$(NEWLIB_OBJ)/install \
    --disable-multilib --disable-libgloss --disable-newlib-supplied-syscalls --disable-nls \
    --enable-newlib-io-long-long --enable-newlib-io-c99-formats --enable-newlib-retargetable-locking \
    --enable-newlib-reent-check-verify \
    $(foreach t,$(NEWLIB_TOOLS),$(subst =,_FOR_TARGET=,$(t)))

$(NEWLIB_SRC)/.unpacked: $(NEWLIB_TAR)
	@echo "  UNPACK  $(NEWLIB_SRC)"; rm -rf $(NEWLIB_SRC) && mkdir -p $(NEWLIB_SRC)/deb
	@dpkg-deb -x $< $(NEWLIB_SRC)/deb
	@tar xJf $(NEWLIB_SRC)/deb/usr/src/newlib/newlib-*.tar.xz -C $(NEWLIB_SRC) --strip-components=1
	@rm -rf $(NEWLIB_SRC)/deb && touch $@

# What the library was built with. It is rewritten only when it changed, so that edits here rebuild newlib only
# when they matter.
$(BA)/newlib.config: force
	@mkdir -p $(@D); printf '%s\n' $(subst $(CURDIR),.,'$(NEWLIB_CONFIGURE)' '$(NEWLIB_CFLAGS)') >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# Its make is started as `make`, not $(MAKE): `make -n` must not enter it, and our variables are not its business.
# The log is shown only when something fails: the build is long and says little.
$(NEWLIB)/lib/libc.a: $(NEWLIB_SRC)/.unpacked $(BA)/newlib.config
	@echo "  NEWLIB  $(NEWLIB) (20 to 60 seconds)"; rm -rf $(NEWLIB_OBJ) $(NEWLIB) && mkdir -p $(NEWLIB_OBJ)
	@cd $(NEWLIB_OBJ) && unset MAKEFLAGS MAKELEVEL MFLAGS && { \
	    $(CURDIR)/$(NEWLIB_SRC)/configure $(NEWLIB_CONFIGURE) CFLAGS_FOR_TARGET='$(NEWLIB_CFLAGS)' && \
	    make -j$(JOBS) MAKEINFO=true all-target-newlib && \
	    make MAKEINFO=true install-target-newlib; } >log 2>&1 || \
	    { tail -n 30 log; echo "newlib does not build: see $(NEWLIB_OBJ)/log"; exit 1; }
	@mkdir -p $(NEWLIB) && mv $(NEWLIB_OBJ)/install/$(NEWLIB_TARGET)/include $(NEWLIB)/include
	@mkdir -p $(NEWLIB)/lib && mv $(NEWLIB_OBJ)/install/$(NEWLIB_TARGET)/lib/libm.a $(NEWLIB)/lib/
	@mv $(NEWLIB_OBJ)/install/$(NEWLIB_TARGET)/lib/libc.a $(NEWLIB)/lib/ && touch $@
	@rm -rf $(NEWLIB_OBJ)

$(NEWLIB)/lib/libm.a: $(NEWLIB)/lib/libc.a ;

USER_HEADERS += $(NEWLIB)/lib/libc.a
.PHONY: newlib
newlib: $(NEWLIB)/lib/libc.a ## build newlib for ARCH
