/* SPDX-License-Identifier: BSD-2-Clause */
/* spin_test.c - whether to spin for a lock: libc-glue/tarn/spin_decision.h. */
#include <libc-glue/tarn/spin_decision.h>
#include <tests/tap.h>

static void add(uint64_t *histogram, uint64_t ticks, uint64_t times)
{
    histogram[trace_table_bucket(ticks)] += times;
}

int main(void)
{
    uint64_t holds[TRACE_TABLE_BUCKETS] = {0}, wakes[TRACE_TABLE_BUCKETS] = {0};
    check(!decide_to_sleep(holds, wakes), "nothing is known: spin");
    add(holds, 1 << 20, 10);
    check(!decide_to_sleep(holds, wakes), "no delay is known: spin");
    add(wakes, 1 << 10, 10);
    check(decide_to_sleep(holds, wakes), "long holds: sleep");
    add(holds, 1 << 6, 9);
    check(decide_to_sleep(holds, wakes), "most of them are long: sleep");
    add(holds, 1 << 6, 2);
    check(!decide_to_sleep(holds, wakes), "most of them are short: spin");
    add(wakes, 1 << 25, 9);
    check(!decide_to_sleep(holds, wakes), "few delays are long: they do not count");
    holds[3] = ~0ull;
    wakes[31] = ~0ull;
    check(!decide_to_sleep(holds, wakes), "garbage gives a decision, too");
    check(is_long_hold(12, 10) && !is_long_hold(11, 10), "one hold is long if it is longer than two delays");
    check(!is_long_hold(31, -1), "no delay is known: no hold is long");
    uint32_t every = 0, steps = 0;
    for (; every < SPIN_EVERY_MAX && steps < 100; steps++)
        every = choose_spin_distance(every, true);
    check(every == SPIN_EVERY_MAX && steps == 5, "what is expected is measured less and less often");
    check(choose_spin_distance(every, true) == SPIN_EVERY_MAX, "up to a limit");
    check(choose_spin_distance(every, false) == SPIN_EVERY_MIN, "a surprise ends that");
    check(choose_spin_distance(~0u, true) == SPIN_EVERY_MAX, "garbage gives a distance, too");
    return finish_tests();
}
