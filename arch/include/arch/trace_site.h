/*
 * arch/trace_site.h - sites of trace points: how the kernel switches them (kernel/trace/sites.c).
 *
 * A site is one instruction: off, it does nothing; on, it jumps to code that logs. arch_trace_site() of
 * <arch/trace.h> makes sites, and lists each in the section .trace_sites by a struct trace_site.
 *
 * The port defines ARCH_TRACE_SITE_BYTES and ARCH_TRACE_SITE_ALIGN of a site.
 *
 * Text is never mapped both writable and executable, not even for the kernel: a site is stored to by its
 * physical address.
 */
#pragma once

#include <arch/mmu.h>
#include <tarn/trace_control.h>

/* Whether a site can be there: `code` has ARCH_TRACE_SITE_BYTES of it, `distance` is from its start to its
 * target. */
static inline bool arch_trace_site_is_valid(const void *code, int64_t distance);

static inline bool arch_trace_site_is_on(const void *code); /* of a valid site */

/* Switches a valid site by one store, which other CPUs see whole. A site whose text was overwritten stays as
 * it is. */
static inline void arch_trace_site_switch(paddr_t site, int64_t distance, bool on);

/* After this no old instruction is executed on this CPU. */
static inline void arch_sync_instructions(void);

#include <port/trace_site.h>
