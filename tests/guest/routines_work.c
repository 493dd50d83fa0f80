/*
 * routines_work.c - work in which routines of all kinds begin and end, and then all tables, as text.
 *
 *     routines_work [stop]
 *
 *     did KIND ARGUMENT TIMES                             a routine ran a known number of times
 *     table OF PID TID THREADS LIFE UNTIL NAME            when nothing runs any more
 *     row KEY ENDED INCLUSIVE EXCLUSIVE LEAST GREATEST BUCKET:TIMES...
 *
 * `stop`: switches the trace off in the middle of the work. Run by tests/host/routines_equal.
 */
#include "probe.h"
#include "run.h"
#include "threads.h"

#include <arch/trace.h>
#include <sys/mman.h>
#include <tarn/trace_control.h>
#include <user/tarnprof/tarnprof.h>

#define LABEL      0x7e57u
#define LABEL_SLOW 0x510u
#define LABEL_END  0xe4du
#define LABEL_LOST 0x1057u /* nobody receives it */
#define NULLS      100u
#define CALLS      50u
#define SLOW_CALLS 5u
#define SENDS      10u
#define UNSENT     3u
#define SLEEPS     20u
#define TOUCHES    8u
#define SPINNERS   12u
#define SHOOTDOWNS 8u
#define CHILDREN   4u
#define EXCEPTIONS 4u
#define HOLE       0x0000000b00000000ull
#define PAGES      16ull
#define SIZE       (PAGES * TARN_PAGE_SIZE)
#define MS         1000000ull
#define COPY_BYTES (8u << 20)

static void did(enum trace_routine_kind kind, uint64_t argument, unsigned times)
{
    printf("did %u %llu %u\n", (unsigned)kind, (unsigned long long)argument, times);
}

static cap_t endpoint, saved;

/* Replies to the slow ones later, after a nap. */
static void *serve(void *unused)
{
    struct ipc_message message;
    int64_t result = ipc_receive(endpoint, &message);
    while (result == 0 && message.label != LABEL_END) {
        if (message.label == LABEL_SLOW) {
            saved = must(sys_ipc_save_reply());
            sys_thread_sleep(deadline_after(MS));
            ipc_reply_to(saved, &message);
            result = ipc_receive(endpoint, &message);
        } else {
            result = ipc_reply_receive(endpoint, &message);
        }
    }
    ipc_reply(&message);
    return unused;
}

static void call_often(uint64_t label, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        struct ipc_message message = ipc_label_only(label);
        must(ipc_call(endpoint, &message));
    }
}

static void *call_all(void *unused)
{
    call_often(LABEL, CALLS);
    call_often(LABEL_SLOW, SLOW_CALLS);
    for (unsigned i = 0; i < SENDS; i++) {
        struct ipc_message message = ipc_label_only(LABEL);
        must(ipc_send(endpoint, &message));
    }
    return unused;
}

static void work_with_messages(void)
{
    pthread_t server, clients[2];
    endpoint = must(sys_endpoint_create());
    for (unsigned i = 0; i < UNSENT; i++) {
        struct ipc_message message = ipc_label_only(LABEL_LOST);
        if (ipc_call_deadline(endpoint, &message, deadline_after(MS)) >= 0)
            printf("Bail out! a call without a server\n");
        ipc_call(1, &message); /* is not sent, so it counts as a system call only */
    }
    start_thread(&server, serve, NULL);
    start_threads(clients, 2, call_all);
    join_threads(clients, 2);
    call_often(LABEL_END, 1);
    pthread_join(server, NULL);
    did(TRACE_ROUTINE_CALL, LABEL, 2 * CALLS);
    did(TRACE_ROUTINE_CALL, LABEL_SLOW, 2 * SLOW_CALLS);
    did(TRACE_ROUTINE_CALL, LABEL_END, 2); /* one ends the pager */
    did(TRACE_ROUTINE_CALL, LABEL_LOST, UNSENT);
    did(TRACE_ROUTINE_SERVED, LABEL, 2 * CALLS);
    did(TRACE_ROUTINE_SERVED, LABEL_END, 2);
    did(TRACE_ROUTINE_SYSCALL, SYS_ipc_send, 2 * SENDS);
    did(TRACE_ROUTINE_SYSCALL, SYS_ipc_save_reply, 2 * SLOW_CALLS);
}

/* More threads than CPUs, which take time slices from each other. */
static void *spin(void *unused)
{
    const uint64_t end = deadline_after(30 * MS);
    while (clock_monotonic_ns() < end)
        ;
    return unused;
}

static void work_with_time(void)
{
    pthread_t threads[SPINNERS];
    start_threads(threads, SPINNERS, spin);
    for (unsigned i = 0; i < SLEEPS; i++)
        sys_thread_sleep(deadline_after(MS / 4));
    join_threads(threads, SPINNERS);
}

static atomic_bool stop;

static void *run_on(void *unused)
{
    while (!atomic_load(&stop))
        sys_thread_yield();
    return unused;
}

/* Other CPUs have the pages, too, and must forget them. Then the kernel copies into pages that are not there,
 * in a system call. */
static void work_with_memory(void)
{
    const uint64_t bytes = TOUCHES * TARN_PAGE_SIZE;
    const cap_t source = must(sys_memory_create(bytes));
    pthread_t others[3];
    start_threads(others, 3, run_on);
    for (unsigned i = 0; i <= SHOOTDOWNS; i++) {
        volatile char *memory = memory_map_anonymous(bytes);
        for (uint64_t at = 0; at < bytes && i < SHOOTDOWNS; at += TARN_PAGE_SIZE)
            memory[at] = 1;
        if (i == SHOOTDOWNS)
            must(sys_memory_read(source, 0, (void *)memory, bytes));
        memory_unmap((void *)memory, bytes);
    }
    atomic_store(&stop, true);
    join_threads(others, 3);
}

/* ---- faults of another space ----------------------------------------------------------------------- */

static cap_t pager, paged, supply;

static void *serve_pages(void *unused)
{
    struct ipc_message message;
    int64_t error = ipc_receive(pager, &message);
    while (error == 0 && message.label != LABEL_END) {
        const uint64_t offset = message.word[1] & ~(TARN_PAGE_SIZE - 1), word = offset;
        sys_memory_write(supply, offset, &word, sizeof word);
        sys_memory_supply(paged, offset, supply, offset, TARN_PAGE_SIZE);
        message = ipc_label_only(FAULT_REPLY_RESUME);
        error = ipc_reply_receive(pager, &message);
    }
    ipc_reply(&message);
    return unused;
}

static void read_paged(struct child *child)
{
    pthread_t thread;
    pager = must(sys_endpoint_create());
    paged = must(sys_memory_create_paged(SIZE, pager));
    supply = must(sys_memory_create(SIZE));
    start_thread(&thread, serve_pages, NULL);
    child_map(child, paged, PLACE, SIZE, RW);
    for (uint64_t i = 0; i < PAGES / 2; i++)
        probe(child, PROBE_READ, PLACE + i * TARN_PAGE_SIZE, 0);
    /* the kernel's copy stops, and the system call begins again */
    probe(child, PROBE_KERNEL_READ, PLACE + SIZE / 2, SIZE / 2);
    struct ipc_message message = ipc_label_only(LABEL_END);
    must(ipc_call(pager, &message));
    pthread_join(thread, NULL);
}

static void trap(uint64_t unused)
{
    __builtin_trap();
}

/* With memory for the hole, if any. */
static void reply_to_fault(struct child *child, uint64_t label, cap_t memory)
{
    struct ipc_message message;
    must(ipc_receive(probe_report, &message));
    if (memory)
        child_map(child, memory, HOLE, TARN_PAGE_SIZE, RW);
    message = ipc_label_only(label);
    must(ipc_reply(&message));
}

/* One fault is resumed by a handler, which maps the page; another one ends the thread. The same with
 * exceptions; the one that is resumed comes again. */
static void fault_with_handler(struct child *child)
{
    probe(child, PROBE_WRITE, HOLE, 1);
    probe_start(child, PROBE_WRITE, HOLE, 1);
    reply_to_fault(child, FAULT_REPLY_RESUME, must(sys_memory_create(TARN_PAGE_SIZE)));
    probe_finish(NULL);
    probe(child, PROBE_KERNEL_READ, HOLE + TARN_PAGE_SIZE, 8);
    for (unsigned i = 0; i < EXCEPTIONS; i++) {
        must(child_start(child, trap, 0));
        reply_to_fault(child, FAULT_REPLY_RESUME, 0);
        reply_to_fault(child, FAULT_REPLY_KILL, 0);
    }
}

static void work_with_faults(void)
{
    struct child child;
    child_prepare();
    probe_prepare();
    probe_child(&child, "faulter");
    read_paged(&child);
    fault_with_handler(&child);
    child_end(&child);
    /* without a handler the space is killed */
    if (child_create(&child, "killed\0\0\0\0\0\0\0\0\0") == 0 && child_start(&child, trap, 0) == 0)
        sys_thread_sleep(deadline_after(MS));
    child_end(&child);
}

static char copies[COPY_BYTES];

/* Bytes of all tables, one behind the other. */
static size_t copy_routines(void)
{
    struct tarnprof table = {0};
    size_t used = 0;
    while (tarnprof_next(&table, SLOT_TRACE) > 0) {
        const size_t size = sizeof *table.head + table.head->rows * sizeof *table.rows;
        if (used + size > sizeof copies)
            break;
        memcpy(copies + used, table.head, size);
        used += size;
    }
    tarnprof_free(&table);
    return used;
}

static void print_row(const struct trace_routines_row *row)
{
    printf("row %llx %llu %llu %llu %llu %llu", (unsigned long long)row->routine,
           (unsigned long long)row->ended, (unsigned long long)row->total, (unsigned long long)row->own,
           (unsigned long long)row->min, (unsigned long long)row->max);
    for (unsigned i = 0; i < TRACE_TABLE_BUCKETS; i++)
        if (row->times[i])
            printf(" %u:%llu", i, (unsigned long long)row->times[i]);
    printf("\n");
}

static void print_routines(size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const struct trace_routines *head = (const void *)(copies + at);
        const struct trace_routines_row *rows = (const void *)(head + 1);
        printf("table %u %u %u %u %llu %llu %.16s\n", (unsigned)head->of, (unsigned)head->pid,
               (unsigned)head->tid, (unsigned)head->threads, (unsigned long long)head->life,
               (unsigned long long)head->until, head->name);
        for (uint32_t i = 0; i < head->rows; i++)
            print_row(&rows[i]);
        at += sizeof *head + head->rows * sizeof *rows;
    }
}

int main(int argc, char *argv[])
{
    memset(copies, 0, sizeof copies); /* its pages are there before they are counted */
    for (unsigned i = 0; i < NULLS; i++)
        sys_null();
    did(TRACE_ROUTINE_SYSCALL, SYS_null, NULLS);
    work_with_messages();
    if (argc > 1 && !strcmp(argv[1], "stop"))
        sys_trace_control(SLOT_TRACE, TRACE_OP_SET_MASK, 0, 0);
    work_with_time();
    work_with_memory();
    work_with_faults();
    for (unsigned i = 0; i < CHILDREN; i++)
        if (run_program("/bin/ls", "/bin/true") < 0)
            printf("Bail out! no child\n");
    did(TRACE_ROUTINE_SYSCALL, SYS_thread_sleep, SLEEPS + 2 * SLOW_CALLS + 2); /* and two in this thread */
    sys_thread_sleep(deadline_after(200 * MS));
    const size_t bytes = copy_routines();
    sys_trace_control(SLOT_TRACE, TRACE_OP_SET_MASK, 0, 0);
    printf("self %u %u\n", (unsigned)arch_thread_block()->tid, (unsigned)arch_thread_block()->cpu);
    print_routines(bytes);
    printf("end of tables\n");
    return 0;
}
