/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runtime.h - the system functions that traced uses, for
 * its test on the host; traced_test.c plays the kernel.
 */
#ifndef TARN_RUNTIME_H
#define TARN_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/error.h>

int64_t sys_trace_control(cap_t trace, uint32_t operation, uint64_t a, uint64_t b);
int64_t sys_system_read(uint32_t kind, uint64_t index, void *buffer, uint64_t size);
int64_t sys_trace_consume(cap_t trace, uint32_t cpu, uint64_t packet);
int64_t sys_trace_metadata(cap_t trace, uint32_t part, uint64_t offset, void *buffer, uint64_t size);
int64_t sys_routines_read(cap_t of, uint64_t serial, void *buffer, uint64_t size);
int64_t sys_routine_names(uint32_t from, void *buffer, uint64_t size);
int64_t sys_notification_create(void);
int64_t sys_notification_signal(cap_t notification, uint64_t bits);
int64_t sys_notification_wait(cap_t notification, uint64_t deadline);
int64_t sys_cap_close(cap_t slot);
int64_t sys_thread_sleep(uint64_t deadline);
void debug_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t deadline_after(uint64_t ns);
uint64_t clock_monotonic_ns(void);
int64_t clock_realtime_ns(void);

#endif
