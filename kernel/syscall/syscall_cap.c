/* syscall_cap.c - system calls on capabilities. cap.c implements them. */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

int64_t sys_cap_copy(struct space *target, cap_t source, cap_t slot, uint32_t rights, uint64_t badge)
{
    return cap_copy(current_thread()->space, source, target, slot, rights & RIGHT_ALL, badge);
}

int64_t sys_cap_close(cap_t slot)
{
    return cap_close(current_thread()->space, slot, NULL);
}

int64_t sys_cap_info(cap_t slot)
{
    struct cap cap;
    int error = cap_lookup(current_thread()->space, slot, CAP_NONE, 0, &cap);
    return error ? error : (int64_t)(cap_meta_type(cap.meta) << 8 | cap_meta_rights(cap.meta));
}
