/* tarn/service.h - services: endpoints that programs publish by name; libc-glue/tarn/service.c. */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>

/* Names have 1 to 31 bytes. Both functions return a negative errno on failure. */
int service_publish(const char *name, cap_t endpoint); /* until the caller's process ends */
/* Waits until the name is published. Returns a slot with the right to call; the service sees the caller's pid
 * as badge. */
int64_t service_connect(const char *name, uint64_t deadline);
