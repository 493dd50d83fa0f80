# What is loaded into an emulator whose clock counts instructions.

ICOUNT_LIBRARY := $(B)/host/icount_order.so
ALL += $(ICOUNT_LIBRARY)
$(eval $(call host_preload,$(ICOUNT_LIBRARY),tools/emulator/icount_order.c))

# With which an emulator copies itself for `tarn goto`.
ALL += $(B)/host/copies.so
$(eval $(call host_preload,$(B)/host/copies.so,tools/emulator/copies.c))
