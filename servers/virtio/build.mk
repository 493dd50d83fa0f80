# SPDX-License-Identifier: BSD-2-Clause
# Library for drivers: PCI, DMA memory, virtio.
$(eval $(call user_library,virtio,$(wildcard servers/virtio/*.c)))
