/*
 * user_copy.c - copies between the current program's memory and the kernel or a memory object. Interface:
 * user_copy.h.
 *
 * Reads and writes of memory objects go through a buffer on the stack. If a user page must come from a pager,
 * the system call returns the bytes so far, or starts again.
 */
#include <arch/clock.h>
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/span.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

static bool is_user_range(const void *user, uint64_t size)
{
    uint64_t address = (uint64_t)user;
    return address < USER_END && size <= USER_END - address;
}

static void restart_call(struct thread *self)
{
    if (self->traced & TRACED_SYSCALL)
        span_restart_syscall(self);
    frame_restart_syscall(&self->frame);
}

/* A copy stopped at cpu->fault_address. 0: the page is present now, retry; else the handler's result. */
static int64_t explain_stop(struct cpu *cpu)
{
    struct thread *self = cpu->current;
    struct fault_request request = {.address = cpu->fault_address, .access = cpu->fault_access};
    switch (space_fault(self->space, &request)) {
    case FAULT_RESOLVED:
        return 0;
    case FAULT_ASK_PAGER:
        if (!fault_ask_pager(&request, arch_clock(), false))
            return -E_BAD_ADDRESS;
        restart_call(self);
        return SYSCALL_NO_RESULT;
    case FAULT_NO_MEMORY:
        if (!scarce_wait(self))
            return -E_NO_MEMORY;
        restart_call(self);
        return SYSCALL_NO_RESULT;
    default:
        return -E_BAD_ADDRESS;
    }
}

int64_t user_read(void *to, const void *user_from, uint64_t size)
{
    int64_t error = 0;
    if (!is_user_range(user_from, size))
        return -E_BAD_ADDRESS;
    while (!error && arch_copy_from_user(to, user_from, size) < 0)
        error = explain_stop(this_cpu());
    return error;
}

int64_t user_write(void *user_to, const void *from, uint64_t size)
{
    int64_t error = 0;
    if (!is_user_range(user_to, size))
        return -E_BAD_ADDRESS;
    while (!error && arch_copy_to_user(user_to, from, size) < 0)
        error = explain_stop(this_cpu());
    return error;
}

int64_t user_read_word(uint32_t *value, const uint32_t *user_from)
{
    int64_t error = 0;
    if (!is_user_range(user_from, sizeof *value))
        return -E_BAD_ADDRESS;
    while (!error && arch_load_user_word(value, user_from) < 0)
        error = explain_stop(this_cpu());
    return error;
}

int64_t user_read_string(char *text, const char *user_from, size_t size)
{
    size_t i = 0;
    memset(text, 0, size);
    while (i < size - 1) {
        /* A whole page at a time: memory behind the string need not be mapped. */
        uint64_t chunk = FRAME_SIZE - ((uint64_t)(user_from + i) & (FRAME_SIZE - 1));
        if (chunk > size - 1 - i)
            chunk = size - 1 - i;
        int64_t error = user_read(text + i, user_from + i, chunk);
        if (error)
            return error;
        for (uint64_t end = i + chunk; i < end; i++) {
            if (text[i] == 0) {
                memset(text + i, 0, size - i);
                return 0;
            }
        }
    }
    text[size - 1] = 0;
    return 0;
}

int64_t user_read_name(char name[TARN_NAME_BYTES], const char *user_from)
{
    return user_read_string(name, user_from, TARN_NAME_BYTES);
}

/* ---- System calls on memory objects ---- */

#define CHUNK    4096u        /* of the kernel stack, so that a page needs the object's lock once */
#define COPY_MAX (1ull << 20) /* maximum per system call, because the kernel is not preempted */

/* Copies up to CHUNK bytes. Returns their number, 0 at the end of the object, or an error. */
static int64_t copy_chunk(struct memory *memory, uint64_t offset, char *user, uint64_t size,
                          enum memory_direction direction)
{
    char chunk[CHUNK];
    int64_t error = direction == MEMORY_IN ? user_read(chunk, user, size) : 0;
    const int64_t copied = error ? error : memory_copy(memory, offset, chunk, size, direction);
    if (direction == MEMORY_OUT && copied > 0)
        error = user_write(user, chunk, (uint64_t)copied);
    return error ? error : copied;
}

/* Returns the bytes before an error, unless the system call will be repeated. */
static int64_t copy_chunks(struct memory *memory, uint64_t offset, char *user, uint64_t size,
                           enum memory_direction direction)
{
    int64_t error = 0;
    uint64_t done = 0;
    size = size < COPY_MAX ? size : COPY_MAX;
    while (done < size) {
        uint64_t part = size - done < CHUNK ? size - done : CHUNK;
        int64_t copied = copy_chunk(memory, offset + done, user + done, part, direction);
        if (copied <= 0) {
            error = copied;
            break;
        }
        done += (uint64_t)copied;
    }
    return error < 0 && (done == 0 || error == SYSCALL_NO_RESULT) ? error : (int64_t)done;
}

int64_t sys_memory_read(struct memory *memory, uint64_t offset, void *user_buffer, uint64_t size)
{
    return copy_chunks(memory, offset, user_buffer, size, MEMORY_OUT);
}

int64_t sys_memory_write(struct memory *memory, uint64_t offset, const void *user_buffer, uint64_t size)
{
    return copy_chunks(memory, offset, (char *)user_buffer, size, MEMORY_IN);
}
