/* cap.c - capabilities of the current space, and in messages. Interface: cap.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/kernel.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/ipc.h>

static struct cap_table *own_caps(void)
{
    return &current_thread()->space->caps;
}

int cap_check(cap_t number, enum cap_type type, uint32_t rights)
{
    struct cap found;
    return cap_lookup(own_caps(), number, type, rights, &found);
}

int64_t cap_give(enum cap_type type, void *object, uint32_t rights)
{
    if (!object)
        return -E_NO_MEMORY;
    const int64_t slot = cap_insert(own_caps(), 0, type, object, rights, 0);
    if (slot < 0)
        object_put(type, object);
    return slot;
}

int cap_send(struct thread *from, struct thread *to)
{
    uint64_t caps = frame_caps(&from->frame);
    uint16_t slots[IPC_CAPS];
    memcpy(slots, &caps, sizeof slots);
    const int count = cap_transfer(&from->space->caps, &to->space->caps, slots);
    if (count < 0)
        return count;
    memcpy(&caps, slots, sizeof caps);
    frame_set_caps(&to->frame, caps);
    trace_ipc_caps(from->tid, to->tid, (uint32_t)count);
    return 0;
}

/* ---- System calls ---- */

int64_t sys_cap_copy(struct space *target, cap_t source, cap_t slot, uint32_t rights, uint64_t badge)
{
    return cap_copy(own_caps(), source, &target->caps, slot, rights & RIGHT_ALL, badge);
}

int64_t sys_cap_close(cap_t slot)
{
    return cap_close(own_caps(), slot, NULL);
}

int64_t sys_cap_info(cap_t slot)
{
    struct cap cap;
    int error = cap_lookup(own_caps(), slot, CAP_NONE, 0, &cap);
    return error ? error : (int64_t)(cap_meta_type(cap.meta) << 8 | cap_meta_rights(cap.meta));
}
