# SPDX-License-Identifier: BSD-2-Clause
# What is loaded into an emulator whose clock counts instructions.

ICOUNT_LIBRARY := $(B)/host/icount_order.so
ALL += $(ICOUNT_LIBRARY)
$(eval $(call host_preload,$(ICOUNT_LIBRARY),tools/emulator/icount_order.c))
