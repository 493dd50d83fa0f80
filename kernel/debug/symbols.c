/* symbols.c - the kernel's own symbols, whose table is linked in (gen/symbolgen), and call chains. */
#include <arch/debug.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

extern const char kernel_start[], kernel_end[]; /* from the link script */

static bool symbol_nth(uint32_t index, struct debug_symbol *symbol)
{
    if (index >= debug_symbol_count)
        return false;
    const struct debug_symbol_entry *entry = &debug_symbol_entries[index];
    *symbol = (struct debug_symbol){debug_symbol_names + entry->name, (uint64_t)kernel_start + entry->offset};
    return true;
}

/* The last symbol that begins at or below the address. */
static bool symbol_at(uint64_t address, struct debug_symbol *symbol)
{
    uint64_t offset = address - (uint64_t)kernel_start;
    uint32_t low = 0,
             high = debug_symbol_count; /* the last one with entry.offset <= offset is in [low, high) */
    if (address < (uint64_t)kernel_start || address >= (uint64_t)kernel_end || high == 0)
        return false;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (debug_symbol_entries[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return symbol_nth(low, symbol) && symbol->address <= address;
}

bool debug_symbol_named(const char *name, struct debug_symbol *symbol)
{
    for (uint32_t i = 0; symbol_nth(i, symbol); i++)
        if (!strcmp(symbol->name, name))
            return true;
    return false;
}

/* A return address may lie after the end of a function whose last call never returns. */
int debugger_symbol(char *text, size_t size, const struct space *space, uint64_t address, bool is_return)
{
    struct debug_symbol symbol;
    const uint64_t place = address - is_return;
    if (space ? !debug_user_symbol_at(space, place, &symbol) : !symbol_at(place, &symbol))
        return format_text(text, size, "%#lx", address);
    return format_text(text, size, "%s+%#lx", symbol.name, address - symbol.address);
}

const char *debug_name_of(const struct space *space, uint64_t address)
{
    static char text[160];
    debugger_symbol(text, sizeof text, space, address, false);
    return text;
}

/* ---- Call chains, for the debugger and for reports ---- */

#define CHAIN_MAX 32

static void print_chain(const uint64_t *chain, uint32_t count, const struct space *space, bool is_called,
                        arch_print *print)
{
    static char symbol[160]; /* one report or session at a time */
    for (uint32_t i = 0; i < count; i++) {
        debugger_symbol(symbol, sizeof symbol, space, chain[i], i || is_called);
        print("  %016lx %s\n", chain[i], symbol);
    }
}

void debugger_print_kernel_calls(struct cpu *cpu, const struct kernel_regs *regs, arch_print *print)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t count = arch_trap_calls(regs, cpu_read_stack, cpu, chain, CHAIN_MAX);
    print("kernel call chain of cpu %u:\n", cpu->index);
    print_chain(chain, count, NULL, false, print);
}

void debugger_print_user_calls(const struct thread *thread, const struct kernel_regs *regs, arch_print *print)
{
    uint64_t chain[CHAIN_MAX];
    struct space *space = thread->space;
    bool called = !regs && frame_is_syscall(&thread->frame); /* the first address is a return address, too */
    uint32_t count = regs ? arch_trap_calls(regs, debug_read_user_word, space, chain, CHAIN_MAX)
                          : arch_frame_calls(&thread->frame, debug_read_user_word, space, chain, CHAIN_MAX);
    print("user call chain of %s in %s:\n", debug_thread_name(thread), debug_space_name(space));
    print_chain(chain, count, space, called, print);
}
