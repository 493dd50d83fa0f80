/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_boot.c - the kernel's command line sets what is traced (build.mk: GUEST_trace_boot). */
#include <tests/guest/trace_help.h>

static void count_classes(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    ((uint64_t *)context)[TRACE_ID_CLASS(event->id)]++;
}

int main(void)
{
    const struct trace_info *info = arch_trace_info();
    uint64_t count[TRACE_CLASS_COUNT] = {0};
    struct ring_findings findings;
    check(info->mask == ~(1ull << 1 | 1ull << 8), "trace.mask=all,-sched,-frame");
    check(info->mode == TRACE_MODE_ONCE, "trace.mode=once");
    check(info->ring_mask + 8 == 512 << 10, "trace.ring=512k");
    check(visit_rings(count_classes, count, &findings) && !findings.lost, "the rings are complete");
    check(count[7] && count[11], "from boot on mem and process are logged");
    check(!count[1] && !count[8], "sched and frame never");
    return finish_tests();
}
