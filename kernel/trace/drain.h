/*
 * kernel/trace/drain.h - the drain of the trace: the program that takes packets out of the rings, and the
 * low-water mark at which it is woken (drain.c).
 */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>

/* Makes the current space's notification `slot` the drain's, signalled with these bits, the first time at
 * once. Without bits: removes the drain if the notification is its. The caller holds no lock. 0,
 * -E_BAD_ARGUMENT, or cap_get's error. */
int trace_set_drain(cap_t slot, uint64_t bits);
/* 0 or -E_BAD_ARGUMENT. The caller holds no lock. */
int trace_set_low_water(uint64_t percent);
/* Signals the drain, if there is one, to check the rings. The caller holds no lock. */
void trace_tell_drain(void);

/* Makes this CPU signal the drain soon, if its ring is at the mark. In any context, with any lock held. */
void trace_check_mark(void);
/* From the interrupt that trace_check_mark() causes. */
void trace_wake_drain(void);
/* From a heartbeat: releases the notification of a drain that has ended. */
void trace_forget_drain(void);
