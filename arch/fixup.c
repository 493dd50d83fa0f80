/* arch/fixup.c - handles faults of user copies. Interface: arch/fixup.h. */
#include <arch/fixup.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/space/space.h>
#include <tarn/abi.h>

struct fixup {
    uint64_t from, to, landing;
};
extern const struct fixup fixups_start[], fixups_end[]; /* kernel.ld */

static const struct fixup *find_fixup(uint64_t ip)
{
    for (const struct fixup *f = fixups_start; f < fixups_end; f++)
        if (ip >= f->from && ip < f->to)
            return f;
    return NULL;
}

bool fix_user_copy(uint64_t *ip, uint64_t address, uint32_t access)
{
    const struct fixup *fixup = find_fixup(*ip);
    struct cpu *cpu = this_cpu();
    if (!fixup || address >= USER_END)
        return false;
    access |= FAULT_ACCESS_KERNEL;
    if (!cpu->copies_present_only && handle_page_fault(address, access, *ip, true))
        return true;
    cpu->fault_address = address;
    cpu->fault_access = access;
    *ip = fixup->landing;
    return true;
}
