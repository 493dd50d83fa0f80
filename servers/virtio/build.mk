# Library for drivers: PCI, DMA memory, virtio.
$(eval $(call user_library,virtio,$(wildcard servers/virtio/*.c)))
