/*
 * memory.c - commands mem and sym, and reading of memory.
 *
 * A process's memory is read through its page tables and the direct map: no page is brought in, no space is
 * loaded.
 */
#include <arch/debug.h>
#include <arch/mmu.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/space/space.h>

#define BYTES_SHOWN  64u
#define BYTES_MAX    4096u
#define BYTES_A_LINE 16u

/* Returns how many bytes are present. */
static uint64_t read_user_page(const struct space *space, uint64_t address, void *to, uint64_t size)
{
    uint32_t flags;
    uint64_t offset = address % FRAME_SIZE, count = FRAME_SIZE - offset < size ? FRAME_SIZE - offset : size;
    if (address >= USER_END || space->released)
        return 0;
    paddr_t frame = arch_lookup_page((struct arch_space *)&space->arch, address - offset, &flags);
    if (frame == FRAME_NONE)
        return 0;
    memcpy(to, (const char *)phys_to_virt(frame & ~(FRAME_SIZE - 1)) + offset, count);
    return count;
}

uint64_t debug_read(const struct space *space, uint64_t address, void *to, uint64_t size)
{
    uint64_t done = 0, count;
    if (!space) {
        memcpy(to, (const void *)address, size); /* a fault ends the command */
        return size;
    }
    while (done < size && (count = read_user_page(space, address + done, (char *)to + done, size - done)))
        done += count;
    return done;
}

bool debug_read_user_word(void *space, uint64_t address, uint64_t *word)
{
    return debug_read(space, address, word, sizeof *word) == sizeof *word;
}

/* ---- mem ---- */

static void put_line(uint64_t address, const uint8_t *bytes, uint64_t count)
{
    char text[BYTES_A_LINE + 1], hex[BYTES_A_LINE * 3 + 2];
    int at = 0;
    for (uint64_t i = 0; i < BYTES_A_LINE; i++) {
        if (i < count)
            at += format_text(hex + at, sizeof hex - (size_t)at, "%02x ", bytes[i]);
        else
            at += format_text(hex + at, sizeof hex - (size_t)at, "   ");
        text[i] = i < count && bytes[i] >= ' ' && bytes[i] < 127 ? (char)bytes[i] : i < count ? '.' : 0;
    }
    text[BYTES_A_LINE] = 0;
    debug_print("%016lx  %s %s\n", address, hex, text);
}

static void put_memory(const struct space *space, uint64_t address, uint64_t size)
{
    uint8_t bytes[BYTES_A_LINE];
    while (size) {
        uint64_t wanted = size < sizeof bytes ? size : sizeof bytes;
        uint64_t count = debug_read(space, address, bytes, wanted);
        if (count)
            put_line(address, bytes, count);
        if (count < wanted) {
            debug_print("no page at %#lx\n", address + count);
            return;
        }
        address += count;
        size -= count;
    }
}

void debug_memory(const struct debug_words *words)
{
    const struct space *space = NULL;
    uint32_t at = 1;
    const char *pid = words->count > at ? debug_value(words->word[at], "pid") : NULL;
    if (pid) {
        at++;
        space = debug_find_space(debug_number(pid));
        if (!space) {
            debug_print("no process %s\n", pid);
            return;
        }
    }
    if (words->count <= at) {
        debug_print("mem [pid=N] ADDRESS [BYTES]\n");
        return;
    }
    if (words->count > at + 2)
        debug_refuse(words, at + 2);
    const char *text = words->word[at];
    uint64_t address = debug_address(text);
    uint64_t size = words->count > at + 1 ? debug_number(words->word[at + 1]) : BYTES_SHOWN;
    put_memory(space, address, size < BYTES_MAX ? size : BYTES_MAX);
}

/* ---- sym ---- */

void debug_symbols(const struct debug_words *words)
{
    const char *text = words->count > 1 ? words->word[1] : "";
    uint64_t address = debug_address(text);
    debug_print("%#lx %s\n", address, debug_name_of(NULL, address));
}
