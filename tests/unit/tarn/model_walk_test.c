/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/model_walk_test.c - what the model promises, on whole traces; prints TAP.
 *
 * usage: model_walk [DIRECTORY]...      real traces, too
 *
 * Synthetic traces of both byte orders: of a busy system, of any events in any order, with losses, with equal
 * times. A walk over each must tile the time of threads and processors (tiling.h); so must one over a part of
 * it; and a walk that is saved and restored at random places must tell just the same as one that is not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tests/unit/tarn/tiling.h>
#include <tools/tarn/model/walk.h>

enum resume { RESUME_NEVER, RESUME_SAME, RESUME_NEW }; /* in the same model, in a new one */

struct walk {
    const struct trace *trace;
    uint64_t from, to;
    enum resume resume;
    uint64_t random;
    struct model model;
    struct tiling tiling;
    uint64_t events;
    unsigned resumed;
};

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

static void resume(struct walk *walk)
{
    struct buffer saved = {0};
    struct fail fail;

    model_save(&walk->model, &saved);
    if (walk->resume == RESUME_NEW) {
        model_close(&walk->model);
        model_open(&walk->model, walk->trace, walk->from, walk->to);
        model_observe(&walk->model, &walk->tiling.observer);
        walk->tiling.was_restored = true;
    }
    if (!model_restore(&walk->model, saved.bytes, saved.used, &fail)) {
        printf("# %s\n", fail.text);
        tests_failed++;
    }
    free(saved.bytes);
    walk->resumed++;
}

/* The checksum of what was told. */
static uint64_t walk_trace(struct walk *walk)
{
    struct merge merge;
    struct cursor *cursor, *moved;
    uint64_t next = 1 + draw(&walk->random, 500), checksum;

    model_open(&walk->model, walk->trace, walk->from, walk->to);
    tiling_open(&walk->tiling, &walk->model);
    merge_open(&merge, walk->trace, NULL, walk->from, NULL);
    cursor = merge_next(&merge);
    walk_begin(&walk->model, &merge);
    while (cursor != NULL && cursor->ticks < walk->to) {
        model_apply(&walk->model, moved = cursor);
        cursor = merge_next(&merge);
        walk_look_ahead(&walk->model, moved);
        if (++walk->events == next && walk->resume != RESUME_NEVER) {
            next += 1 + draw(&walk->random, walk->events < 10000 ? 500 : 20000);
            resume(walk);
        }
    }
    merge_close(&merge);
    model_finish(&walk->model);
    if (!tiling_check(&walk->tiling))
        printf("# %u problems: %s\n", walk->tiling.problems, walk->tiling.problem);
    checksum = walk->tiling.checksum;
    tiling_close(&walk->tiling);
    model_close(&walk->model);
    return checksum;
}

static void test_parts(const struct trace *trace, const char *name)
{
    uint64_t random = 1, length = trace->end > trace->begin ? trace->end - trace->begin : 1;
    unsigned problems = 0;

    for (int i = 0; i < 5; i++) {
        struct walk walk = {.trace = trace, .from = trace->begin + draw(&random, length)};

        walk.to = walk.from + draw(&random, length);
        walk_trace(&walk);
        problems += walk.tiling.problems;
    }
    check(problems == 0, "%s: parts of it tile, too", name);
}

static void test_trace(const struct trace *trace, const char *name)
{
    struct walk whole = {.trace = trace, .to = UINT64_MAX};
    struct walk same = {.trace = trace, .to = UINT64_MAX, .resume = RESUME_SAME, .random = 2};
    struct walk new = {.trace = trace, .to = UINT64_MAX, .resume = RESUME_NEW, .random = 3};
    uint64_t checksum = walk_trace(&whole), same_checksum = walk_trace(&same),
             new_checksum = walk_trace(&new);

    check(whole.tiling.problems == 0,
          "%s: %" PRIu64 " segments tile the time of threads and processors; %" PRIu64 " activities, %" PRIu64
          " cut",
          name, whole.tiling.segments, whole.tiling.left, whole.tiling.cut);
    test_parts(trace, name);
    check(same_checksum == checksum && same.tiling.problems == 0,
          "%s: the same when saved and restored %u times", name, same.resumed);
    check(new_checksum == checksum && new.tiling.problems == 0,
          "%s: the same when restored into a new model %u times", name, new.resumed);
}

/* Damaged checkpoints are refused, or give some model; never more than that. */
static void test_damage(const struct trace *trace)
{
    struct model model;
    struct merge merge;
    struct cursor *cursor;
    struct buffer saved = {0};
    struct fail fail;
    uint64_t random = 7;
    unsigned refused = 0, walked = 0;

    model_open(&model, trace, 0, UINT64_MAX);
    merge_open(&merge, trace, NULL, 0, NULL);
    for (int i = 0; i < 5000 && (cursor = merge_next(&merge)) != NULL; i++)
        model_apply(&model, cursor);
    model_save(&model, &saved);
    for (int i = 0; i < 800; i++) {
        size_t at = draw(&random, saved.used), size = i % 4 == 0 ? at : saved.used;
        uint8_t before = saved.bytes[at];

        saved.bytes[at] ^= (uint8_t)(1 + draw(&random, 255));
        refused += !model_restore(&model, saved.bytes, size, &fail);
        for (int n = 0; n < 50 && (cursor = merge_next(&merge)) != NULL; n++, walked++)
            model_apply(&model, cursor);
        saved.bytes[at] = before;
    }
    check(refused > 200 && walked > 0, "%u of 800 damaged checkpoints are refused, none does harm", refused);
    merge_close(&merge);
    model_close(&model);
    free(saved.bytes);
}

static void test_synthetic(const struct synthetic_options *options, const char *what)
{
    struct synthetic_options written = *options;
    struct trace trace;
    struct fail fail = {""};
    char directory[128], name[64];

    snprintf(name, sizeof(name), "%s, %s", what, options->order);
    snprintf(directory, sizeof(directory), "%s/%c%s", scratch, what[0], options->order);
    written.directory = directory;
    if (!synthetic_write(&written, NULL, &fail) || !trace_open(&trace, directory, &fail)) {
        check(false, "%s: %s", name, fail.text);
        return;
    }
    test_trace(&trace, name);
    if (options->uniform)
        test_damage(&trace);
    trace_close(&trace);
}

static void test_order(const char *order)
{
    struct synthetic_options busy = {.order = order, .packet = 8192, .events = 60000}, lossy, any;

    lossy = busy;
    lossy.losses = true;
    lossy.freq = 2399997121;
    any = lossy;
    any.uniform = true;
    any.ties = true;
    test_synthetic(&busy, "a busy system");
    test_synthetic(&lossy, "losses");
    test_synthetic(&any, "uniform events");
}

static void test_real(const char *directory)
{
    struct trace trace;
    struct fail fail;

    if (!trace_open(&trace, directory, &fail)) {
        check(false, "%s", fail.text);
        return;
    }
    test_trace(&trace, directory);
    trace_close(&trace);
}

int main(int argc, char **argv)
{
    make_scratch();
    test_order("le");
    test_order("be");
    for (int i = 1; i < argc; i++)
        test_real(argv[i]);
    return finish_tests();
}
