/*
 * probe.h - a memory access by a thread of a child, with its outcome: a value, an error or a fault.
 *
 * Each probe is a separate thread. It reports to an endpoint that is also its space's fault handler; a thread
 * that faults is killed.
 */
#pragma once

#include "child.h"
#include "leak.h"
#include "tap.h"

enum probe_op { PROBE_READ, PROBE_WRITE, PROBE_EXECUTE, PROBE_KERNEL_READ, PROBE_KERNEL_WRITE };
/* The access word of fault messages. */
enum { ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE };
enum { SLOT_REPORT = 16, SLOT_SCRATCH };

#define PLACE         0x0000000a00000000ull /* address of a test's mappings */
#define RW            (MAP_READ | MAP_WRITE)
#define COW           (MAP_READ | MAP_WRITE | MAP_PRIVATE)
#define PROBE_SECONDS 20000000000ull
#define PROBE_STACKS  32u

/* In memory shared with the children, one for each stack. */
struct probe_request {
    uint64_t op, address, value;
};
struct outcome {
    bool faulted;
    uint64_t reason, address, access; /* valid if faulted */
    int64_t result;                   /* valid otherwise: the value read or returned */
};

static cap_t probe_memory, probe_scratch, probe_report;
static struct probe_request *probe_requests;
static unsigned probe_next;

static inline void probe_prepare(void)
{
    probe_memory = must(sys_memory_create(TARN_PAGE_SIZE));
    probe_scratch = must(sys_memory_create(1 << 20));
    probe_report = must(sys_endpoint_create());
    probe_requests = memory_map(probe_memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
}

/* ---- in the child ---------------------------------------------------------------------------------- */

static inline void probe_sleep(uint64_t arg)
{
    for (;;)
        sys_thread_sleep(TARN_FOREVER);
}

static inline void probe_act(uint64_t number)
{
    const struct probe_request *request = (const struct probe_request *)CHILD_SHARED + number;
    uint64_t address = request->address, value = request->value;
    struct ipc_message message = {.label = number};
    switch (request->op) {
    case PROBE_READ:
        message.word[0] = *(volatile uint64_t *)address;
        break;
    case PROBE_WRITE:
        *(volatile uint64_t *)address = value;
        break;
    case PROBE_EXECUTE:
        message.word[0] = ((uint64_t(*)(void))address)();
        break;
    case PROBE_KERNEL_READ:
        message.word[0] = (uint64_t)sys_memory_write(SLOT_SCRATCH, 0, (const void *)address, value);
        break;
    default:
        message.word[0] = (uint64_t)sys_memory_read(SLOT_SCRATCH, 0, (void *)address, value);
    }
    ipc_send(SLOT_REPORT, &message);
    sys_thread_exit();
}

/* ---- in the test ----------------------------------------------------------------------------------- */

/* Makes a child for probes; a sleeping thread keeps it alive. */
static inline void probe_child(struct child *child, const char *name)
{
    char bytes[TARN_NAME_BYTES] = {0};
    for (unsigned i = 0; i < sizeof bytes - 1 && name[i]; i++)
        bytes[i] = name[i];
    must(child_create(child, bytes));
    must(child_give(child, probe_report, SLOT_REPORT, RIGHT_SEND));
    must(child_give(child, probe_scratch, SLOT_SCRATCH, RIGHT_ALL));
    must(sys_space_set_fault_handler(child->space, probe_report));
    child_map(child, probe_memory, CHILD_SHARED, TARN_PAGE_SIZE, MAP_READ);
    must(child_start(child, probe_sleep, 0));
}

/* Starts a probe and returns its number. At most PROBE_STACKS at a time. */
static inline unsigned probe_start(struct child *child, enum probe_op op, uint64_t address, uint64_t value)
{
    unsigned number = probe_next++ % PROBE_STACKS;
    probe_requests[number] = (struct probe_request){op, address, value};
    if (child->threads % CHILD_STACKS_MAX == 0) /* the sleeping thread's stack */
        child->threads++;
    must(child_start(child, probe_act, number));
    return number;
}

/* Returns the outcome of the next probe to end; *number is its number, unless it faulted. */
static inline struct outcome probe_finish(unsigned *number)
{
    struct outcome outcome = {0};
    struct ipc_message message;
    must(ipc_receive_deadline(probe_report, &message, deadline_after(PROBE_SECONDS)));
    if (message.label != IPC_LABEL_FAULT) {
        outcome.result = (int64_t)message.word[0];
        if (number)
            *number = (unsigned)message.label;
        return outcome;
    }
    outcome.faulted = true;
    outcome.reason = message.word[0];
    outcome.address = message.word[1];
    outcome.access = message.word[3];
    message = (struct ipc_message){.label = FAULT_REPLY_KILL};
    ipc_reply(&message);
    return outcome;
}

static inline struct outcome probe(struct child *child, enum probe_op op, uint64_t address, uint64_t value)
{
    probe_start(child, op, address, value);
    return probe_finish(NULL);
}

static inline uint64_t probe_word(struct child *child, uint64_t address)
{
    struct outcome outcome = probe(child, PROBE_READ, address, 0);
    return outcome.faulted ? ~0ull : (uint64_t)outcome.result;
}

static inline void probe_store(struct child *child, uint64_t address, uint64_t value)
{
    if (probe(child, PROBE_WRITE, address, value).faulted)
        printf("# writing at %#lx faulted\n", address);
}
