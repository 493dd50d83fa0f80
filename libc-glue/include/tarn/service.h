/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/service.h - programs that serve other programs over IPC find each other by name;
 * libc-glue/tarn/service.c.
 */
#ifndef TARN_SERVICE_H
#define TARN_SERVICE_H

#include <stdint.h>
#include <tarn/abi.h>

/* Names are 1 to 31 bytes. Both return a negative errno on failure. */
int service_publish(const char *name, cap_t endpoint); /* until the caller's process ends */
/* Waits until somebody publishes the name; a slot with the right to call. The badge that the service sees is
 * the caller's pid. */
int64_t service_connect(const char *name, uint64_t deadline);

#endif
