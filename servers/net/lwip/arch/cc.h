/* arch/cc.h - compiler and system definitions for lwIP. */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#ifndef SSIZE_MAX
#define SSIZE_MAX LONG_MAX
#endif
#define LWIP_NO_UNISTD_H 1

#ifndef BYTE_ORDER
#define BYTE_ORDER __BYTE_ORDER__
#endif

void net_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void net_fail(const char *what, const char *file, int line);
uint32_t net_random(void);
uint16_t net_checksum(const void *bytes, int size);

#define LWIP_PLATFORM_DIAG(arguments) net_log arguments
#define LWIP_PLATFORM_ASSERT(what)    net_fail(what, __FILE__, __LINE__)
#define LWIP_RAND()                   net_random()
#define LWIP_CHKSUM                   net_checksum
