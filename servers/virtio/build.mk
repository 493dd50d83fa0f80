# SPDX-License-Identifier: BSD-2-Clause
# What drivers link: PCI, memory for devices, virtio.
$(eval $(call user_library,virtio,$(wildcard servers/virtio/*.c)))
