/* trace_boot.c - the kernel's command line sets what is traced (build.mk: GUEST_trace_boot). */
#include <tests/guest/trace_help.h>
#include <trace/events.h>
#include <trace/mem.h>

static void count_classes(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    ((uint64_t *)context)[TRACE_ID_CLASS(event->id)]++;
}

int main(void)
{
    const struct trace_info *info = arch_trace_info();
    uint64_t count[TRACE_CLASS_COUNT] = {0}, limited = 0;
    struct ring_findings findings;
    check(info->mask == ~(1ull << 1 | 1ull << 8), "trace.mask=all,-sched,-frame");
    check(info->mode == TRACE_MODE_ONCE, "trace.mode=once");
    check(info->ring_mask + 8 == 512 << 10, "trace.ring=512k");
    check(info->low_water == 30, "trace.low-water=30");
    check(info->switches[TRACE_CLASS_MEM] == ~(1ull << 1 | 1ull << 2), "trace.switch=mem.*map/off");
    check(trace_buffer_bytes(info) == 16384 && info->buffer_count == 32, "trace.buffers=32/16k");
    check(info->lock_sample[TARN_LOCK_MUTEX] == 7 && info->lock_sample[TARN_LOCK_READ] == 0,
          "trace.watch=user_mutex/7");
    for (uint32_t i = 0; i < TRACE_LIMITED_COUNT; i++)
        limited += info->event_limit[i] > 1;
    check(limited == 2, "trace.sample=libc.malloc/64 and trace.threshold=lock.held/10us");
    check(!info->routines, "a wrong option has no effect");
    check(visit_rings(count_classes, count, &findings) && !findings.lost, "the rings are complete");
    check(count[7] && count[11], "from boot on mem and process are logged");
    check(!count[1] && !count[8], "sched and frame never");
    return finish_tests();
}
