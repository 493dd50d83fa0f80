/* debug.c - writes text to the kernel log without any server. */
#include "internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 256
#define CHAIN_MAX      16

static void debug_vprintf(const char *format, va_list arguments)
{
    char line[LINE_MAX_BYTES];
    int length = vsnprintf(line, sizeof(line), format, arguments);
    if (length > 0)
        sys_debug_write(line, (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}

void debug_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    debug_vprintf(format, arguments);
    va_end(arguments);
}

static void print_chain(void)
{
    const struct pthread *thread = current_thread();
    uint64_t chain[CHAIN_MAX];
    uint64_t count = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    debug_printf("  called from");
    for (uint64_t i = 0; i < count; i++)
        debug_printf(" %#lx", (unsigned long)chain[i]);
    debug_printf("\n");
}

void panic(const char *format, ...)
{
    const struct thread_block *block = arch_thread_block();
    debug_printf("panic in process %u thread %u (%.16s): ", block->pid, block->tid, block->name);
    va_list arguments;
    va_start(arguments, format);
    debug_vprintf(format, arguments);
    va_end(arguments);
    debug_printf("\n");
    print_chain();
    end_process(SIGABRT);
}
