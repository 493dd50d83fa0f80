/*
 * tests/guest/explore_control.c - does what can be done to the trace from outside, beside another workload:
 * `tarn explore --kinds control` (tests/guest/explore_again.c starts it, and kills it at the end).
 *
 * When and what, the exploring kernel says: each operation is one of a run's perturbations. A child (child.h)
 * is the drain, as servers/traced is, until it is killed; others register application classes; explore_pull
 * pulls from servers/traced. Packets and rows that are read must be sound.
 */
#include "child.h"
#include "descriptor.h"
#include "run.h"
#include "settings.h"
#include "tables.h"

#include <tarn/explore.h>
#include <tarn/syscall.h>
#include <trace/format/routine.h>
#include <trace/format/store.h>

#define CHILDREN   3u
#define BITS       1u          /* of the drain's notification */
#define PATIENCE   10000000ull /* ns */
#define READS      8u          /* of tables, one after the other */
#define READ_EVERY 100000u     /* ns */

static struct child children[CHILDREN];
static bool is_there[CHILDREN];

/* Also for children, which have no libc. */
static void fail(const char *what)
{
    sys_debug_write(what, __builtin_strlen(what));
}

/* ---- readers ---------------------------------------------------------------------------------------- */

static char copy[TRACE_BUFFER_BYTES_MAX];

/* Whether a packet that the reader calls whole is closed and has its size, and all its events are events. */
static bool is_sound(const struct trace_reader *ring, uint64_t number)
{
    const struct trace_packet *packet = (const struct trace_packet *)copy;
    struct trace_walk walk;
    if (trace_packet_state(ring, number) == TRACE_PACKET_WHOLE && number >= trace_reader_head(ring))
        return false;
    if (trace_packet_copy(ring, number, copy) != TRACE_PACKET_WHOLE)
        return true;
    if (packet->content_size / 64 <= TRACE_PACKET_WORDS || packet->content_size > packet->packet_size)
        return false;
    for (walk_packet(&walk, copy); trace_walk_next(&walk);)
        ;
    return !walk.broken && packet->packet_seq_num == number;
}

static void read_packet(const struct trace_reader *ring, uint64_t number)
{
    if (!is_sound(ring, number) && trace_reader_is_current(ring))
        fail("not ok - control: a whole packet is open or broken\n");
}

static void read_rings(void)
{
    for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++) {
        struct trace_reader ring = ring_of(cpu);
        uint64_t head = trace_reader_head(&ring);
        for (uint64_t number = trace_reader_tail(&ring); number <= head; number++)
            read_packet(&ring, number);
    }
}

/* A row of one moment has as many waits and holds in its histograms as it counts. */
static void read_table(const char *name, uint32_t first_column, uint32_t cpu)
{
    const struct trace_table_info *table = trace_table_named(name);
    uint64_t row[TRACE_TABLE_ROW_WORDS_MAX];
    const struct trace_locks_columns *lock =
        (const struct trace_locks_columns *)((const char *)row + first_column);
    for (uint32_t i = 0; table && i < table->rows; i++)
        if (trace_table_read_row(table, table_ring(cpu), i, row) == TRACE_ROW_WHOLE &&
            (sum_of(lock->wait_times) != lock->contended || sum_of(lock->hold_times) != lock->holds))
            fail("not ok - control: a row of one moment does not add up\n");
}

/* Those of one CPU, while all classes are sampled, which slows all programs down. */
static void read_tables(uint32_t every, uint32_t cpu)
{
    control(TRACE_OP_SAMPLE_LOCKS, ~0ull, every);
    for (unsigned i = 0; i < READS; i++) {
        read_table("lock_classes", offsetof(struct trace_lock_classes_row, sampled), cpu);
        read_table("locks", offsetof(struct trace_locks_row, sampled), cpu);
        sys_thread_sleep(deadline_after(READ_EVERY));
    }
    control(TRACE_OP_SAMPLE_LOCKS, ~0ull, 0);
}

static void read_routines(void)
{
    uint64_t serial = 0;
    while (sys_routines_read(SLOT_TRACE, serial, copy, sizeof copy) > 0)
        serial = ((struct trace_routines *)copy)->serial;
}

static void read_texts(uint64_t random)
{
    sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, random % 65536, copy, sizeof copy);
    sys_trace_previous(SLOT_TRACE, copy, sizeof copy);
    sys_routine_names((uint32_t)random % 8, copy, sizeof copy);
}

/* ---- children --------------------------------------------------------------------------------------- */

/* Takes packets until it is killed. */
static void drain(uint64_t unused)
{
    int64_t bell = sys_notification_create();
    control(TRACE_OP_SET_DRAIN, (uint64_t)bell, BITS);
    for (;;) {
        for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++) {
            struct trace_reader ring = ring_of(cpu);
            uint64_t next = __atomic_load_n(&arch_trace_info()->consumed[cpu], __ATOMIC_ACQUIRE);
            if (next < trace_reader_oldest(&ring))
                next = trace_reader_oldest(&ring);
            for (; trace_packet_state(&ring, next) == TRACE_PACKET_WHOLE; next++)
                read_packet(&ring, next);
            sys_trace_consume(SLOT_TRACE, cpu, next);
        }
        sys_notification_wait((cap_t)bell, deadline_after(PATIENCE));
    }
}

static void enrol(uint64_t number)
{
    char name[2] = {(char)('a' + number % 26), 0};
    const struct small_descriptor made = make_descriptor(name);
    static const uint8_t uuid[16] = {1};
    sys_trace_register(&made, sizeof made, uuid);
    sys_thread_sleep(deadline_after(PATIENCE * (number % 3)));
    sys_space_kill(SLOT_SPACE, 0);
}

/* A pull over the network, if there is one, which ends by itself or is killed. */
static void change_pull(uint64_t random)
{
    static pid_t pid;
    char number[24];
    snprintf(number, sizeof number, "%lu", random);
    if (pid > 0) {
        kill(pid, SIGKILL);
        status_of(pid);
        pid = 0;
    } else {
        pid = start_program("/test/explore_pull", number);
    }
}

static void change_child(uint64_t random)
{
    uint32_t i = (uint32_t)random % CHILDREN;
    if (is_there[i]) {
        child_end(&children[i]);
        is_there[i] = false;
    } else if (child_create(&children[i], "control") == 0) {
        is_there[i] = true;
        child_give(&children[i], SLOT_TRACE, SLOT_TRACE, RIGHT_ALL);
        child_start(&children[i], i == 0 ? drain : enrol, random >> 8);
    }
}

static void control_something(uint64_t r)
{
    uint64_t a = r >> 5;
    const unsigned kind = r % 16;
    if (kind == 12) {
        read_tables(1u << a % 5, (a >> 8) % arch_trace_info()->cpu_count);
        read_routines();
    } else if (kind == 13) {
        a & 1 ? read_rings() : read_texts(a);
    } else if (kind >= 14) {
        (kind == 14 ? change_pull : change_child)(a);
    } else {
        set_something(kind, a);
    }
}

int main(void)
{
    child_prepare();
    for (;;) {
        int64_t said = sys_system_read(SYSTEM_EXPLORE, EXPLORE_CONTROL, NULL, 0);
        if (said <= 0) {
            sys_thread_sleep(deadline_after(1000000));
            continue;
        }
        control_something(EXPLORE_CONTROL_RANDOM(said));
        sys_thread_sleep(deadline_after(EXPLORE_CONTROL_NANOSECONDS(said)));
    }
}
