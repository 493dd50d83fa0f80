/*
 * tests/unit/tarn/model_walk_test.c - the model's checkpoints; prints TAP. What it promises of whole traces:
 * tests/host/model_promises.
 *
 * Synthetic traces of both byte orders: of threads that work, of any events in any order, with losses, with
 * equal times. A walk that is saved and restored at random places must tell just the same as one that is not.
 */
#include <inttypes.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/model/walk.h>

/* The checksum of what an observer is told. */
struct listener {
    struct model_observer observer;
    uint64_t checksum;
};

static void add(struct model_observer *self, const uint64_t *values, size_t count)
{
    struct listener *listener = (struct listener *)(void *)self; /* its first member */
    for (size_t i = 0; i < count; i++) {
        listener->checksum = (listener->checksum ^ values[i]) * 0x9e3779b97f4a7c15u;
        listener->checksum ^= listener->checksum >> 29;
    }
}

#define ADD(...) \
    add(self, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t number_of(const struct model_thread *thread)
{
    return thread != NULL ? thread->number : UINT64_MAX;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    ADD(thread->number, from, to, thread->state, thread->depth, number_of(thread->waker),
        thread->calling != NULL ? thread->calling->id : 0, thread->serving != NULL ? thread->serving->id : 0);
    for (uint32_t i = 0; i < thread->depth && i < MODEL_DEPTH_MAX; i++)
        ADD(thread->frames[i].detail, thread->frames[i].kind);
}

/* A function of the observer, and the values that it adds. */
/* clang-format off */
#define OBSERVE(name, values, ...) \
    static void on_##name(struct model_observer *self, __VA_ARGS__) { ADD values; }
/* clang-format on */
OBSERVE(enter, (frame->begin), const struct model_thread *thread, const struct model_frame *frame)
OBSERVE(leave,
        (frame->begin, end, frame->ran, frame->inner, frame->interrupts, (uint64_t)frame->result,
         frame->is_cut),
        const struct model_thread *thread, const struct model_frame *frame, uint64_t end)
OBSERVE(wakeup, (number_of(by), thread->number, ticks, is_direct), const struct model_thread *by,
        const struct model_thread *thread, uint64_t ticks, bool is_direct)
OBSERVE(switched, (cpu, prev->number, state, next->number, ticks), uint32_t cpu,
        const struct model_thread *prev, enum model_state state, const struct model_thread *next,
        uint64_t ticks)
OBSERVE(call,
        (call->id, ticks, has_ended, number_of(call->server), call->outer_id,
         call->outer != NULL ? call->outer->id : 0),
        const struct model_call *call, uint64_t ticks, bool has_ended)
OBSERVE(thread, (ticks, has_ended), const struct model_thread *thread, bool has_ended, uint64_t ticks)

static const struct listener new_listener = {.observer = {.segment = on_segment,
                                                          .enter = on_enter,
                                                          .leave = on_leave,
                                                          .wakeup = on_wakeup,
                                                          .switched = on_switched,
                                                          .call = on_call,
                                                          .thread = on_thread}};

enum resume { RESUME_NEVER, RESUME_SAME, RESUME_NEW }; /* in the same model, in a new one */

struct walk {
    const struct trace *trace;
    enum resume resume;
    uint64_t random;
    struct model model;
    struct listener listener;
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
    model_save(&walk->model, &saved);
    if (walk->resume == RESUME_NEW) {
        model_close(&walk->model);
        model_open(&walk->model, walk->trace, 0, UINT64_MAX);
        model_observe(&walk->model, &walk->listener.observer);
    }
    model_restore(&walk->model, saved.bytes, saved.used);
    free(saved.bytes);
    walk->resumed++;
}

/* The checksum of what was told. */
static uint64_t walk_trace(struct walk *walk)
{
    struct merge merge;
    struct cursor *cursor, *moved;
    uint64_t next = 1 + draw(&walk->random, 500);
    model_open(&walk->model, walk->trace, 0, UINT64_MAX);
    walk->listener = new_listener;
    model_observe(&walk->model, &walk->listener.observer);
    merge_open(&merge, walk->trace, NULL, 0, NULL);
    cursor = merge_next(&merge);
    walk_begin(&walk->model, &merge);
    while (cursor != NULL) {
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
    model_close(&walk->model);
    return walk->listener.checksum;
}

static void test_trace(const struct trace *trace, const char *name)
{
    struct walk whole = {.trace = trace};
    struct walk same = {.trace = trace, .resume = RESUME_SAME, .random = 2};
    struct walk new = {.trace = trace, .resume = RESUME_NEW, .random = 3};
    uint64_t checksum = walk_trace(&whole), same_checksum = walk_trace(&same),
             new_checksum = walk_trace(&new);
    check(same_checksum == checksum && same.resumed > 0, "%s: the same when saved and restored %u times",
          name, same.resumed);
    check(new_checksum == checksum && new.resumed > 0, "%s: the same when restored into a new model %u times",
          name, new.resumed);
}

static void test_synthetic(const char *options)
{
    struct trace trace;
    struct fail fail;
    make_trace(scratch, options);
    if (!trace_open(&trace, scratch, &fail))
        bail_out(fail.text);
    test_trace(&trace, options);
    trace_close(&trace);
}

int main(void)
{
    static const char *const options[] = {
        "--packet 8192 --events 60000 --order le",
        "--packet 8192 --events 60000 --order be",
        "--packet 8192 --events 60000 --order le --losses --freq 2399997121",
        "--packet 8192 --events 60000 --order be --losses --freq 2399997121",
        "--packet 8192 --events 60000 --order le --losses --freq 2399997121 --uniform --ties",
        "--packet 8192 --events 60000 --order be --losses --freq 2399997121 --uniform --ties",
    };
    make_scratch();
    for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        test_synthetic(options[i]);
    return finish_tests();
}
