/*
 * port/trace_block.h (x86_64) - blocks of restartable logging; contract in <trace/ring/restart.h>.
 *
 * A block asks the kernel by UD2 from a program, in the kernel by a call that saves all registers (entry.S):
 * the return from an exception in an NMI's handler would allow the next NMI.
 *
 * Instructions before the fields: 12, with the jump into the block. RDTSC returns the halves of the clock in
 * eax and edx, and a comparison of the upper halves is enough (layout.h, time_limit).
 *
 * No asm goto: GCC 12 puts restores of registers on only one of two edges that lead from it to the same
 * place.
 */
#pragma once

#include <tarn/thread_block.h>

#define ARCH_TRACE_EXIT_BYTES 5 /* a jump with a 32-bit displacement */

#ifdef PORT_TRACE_HOST /* a process of Linux: arch/x86_64/linux */
#include <port/trace_block_host.h>
#else
#include <port/trace_where.h>
#define PORT_TRACE_RING PORT_TRACE_LOAD_RING
#ifdef TARN_KERNEL
#define PORT_TRACE_INFO "trace_info_page+%c[mask](%%rip)"
#define PORT_TRACE_ASK  "call trace_ask"
#else
#define PORT_TRACE_INFO PORT_TRACE_INFO_AT "+%c[mask]"
#define PORT_TRACE_ASK  "ud2"
#endif
#endif

/* Words of the control page, relative to the ring's first buffer. */
#define PORT_TRACE_LIMIT_HIGH "-20"
#define PORT_TRACE_BOUND      "-16"
#define PORT_TRACE_INDEX      "-8"
#define PORT_TRACE_AT(field)  ((long)TRACE_CONTROL_OFFSET - (long)TRACE_BUFFERS_OFFSET + (long)(field))
_Static_assert(PORT_TRACE_AT(__builtin_offsetof(struct trace_control, time_limit)) == -24 &&
                   PORT_TRACE_AT(__builtin_offsetof(struct trace_control, bound)) == -16 &&
                   PORT_TRACE_AT(__builtin_offsetof(struct trace_control, index)) == -8,
               "written out in PORT_TRACE_*");
_Static_assert(TRACE_INDEX_SHIFT - 3 == 18, "written out in PORT_TRACE_BLOCK");

#define PORT_TRACE_CELL "256"
_Static_assert(TRACE_CELL_BYTES == 256, "written out in PORT_TRACE_CELL");

/* The cell begins at 0:, the sequence at 1:, its exit is at 3:, and leads to 4:. rdx is the next index, and
 * eax the event's time, when the stores begin. */
#define PORT_TRACE_BLOCK(name, advance, stores)                                                \
    "jmp 1f\n\t"                                                                               \
    ".pushsection .trace_text, \"ax\", @progbits\n\t"                                          \
    ".balign " PORT_TRACE_CELL ", 0xcc\n" #name ".%=:\n\t"                                     \
    ".type " #name ".%=, @function\n\t"                                                        \
    ".size " #name ".%=, " PORT_TRACE_CELL "\n\t"                                              \
    ".byte 0xe9\n\t"                                                                           \
    ".long 1f - . - 4\n\t"                                                                     \
    ".skip " PORT_TRACE_CELL " - 5 - 5 - (3f - 2f), 0xcc\n"                                    \
    "2:\t" PORT_TRACE_ASK "\n"                                                                 \
    "1:\t" PORT_TRACE_RING "\n\t"                                                              \
    "movq " PORT_TRACE_INDEX "(%[ring]), %[place]\n\t"                                         \
    "rdtsc\n\t"                                                                                \
    "cmpl %%edx, " PORT_TRACE_LIMIT_HIGH "(%[ring])\n\t"                                       \
    "jne 2b\n\t" advance "\n\t"                                                                \
    "cmpq " PORT_TRACE_BOUND "(%[ring]), %%rdx\n\t"                                            \
    "ja 2b\n\t"                                                                                \
    "shrq $18, %[place]\n\t"                                                                   \
    "andq " PORT_TRACE_INFO ", %[place]\n\t"                                                   \
    "movl %k[half], (%[ring],%[place])\n\t"                                                    \
    "movl %%eax, 4(%[ring],%[place])\n\t" stores "movq %%rdx, " PORT_TRACE_INDEX "(%[ring])\n" \
    "3:\t.byte 0xe9\n\t"                                                                       \
    ".long 4f - . - 4\n\t"                                                                     \
    ".popsection\n4:"

#define PORT_TRACE_RESULTS [ring] "=&r"(ring), [place] "=&r"(place), "=&d"(next)
#define PORT_TRACE_OPERANDS(half_value) \
    [half] "ri"(half_value), [mask] "i"(__builtin_offsetof(struct trace_info, ring_mask))

#define PORT_TRACE_EVENT(name, words, half_value, stores, more_results, ...)                            \
    ({                                                                                                  \
        uint64_t ring, place, word, time, next;                                                         \
        __asm__ volatile inline(PORT_TRACE_BLOCK(name, "leaq %c[step](%[place]), %%rdx", stores)        \
                                : PORT_TRACE_RESULTS more_results                                       \
                                : [step] "i"(TRACE_INDEX_STEP(words)), PORT_TRACE_OPERANDS(half_value), \
                                  ##__VA_ARGS__                                                         \
                                : "cc", "memory");                                                      \
        (void)word;                                                                                     \
        (uint32_t) time;                                                                                \
    })
#define ARCH_TRACE_BLOCK(name, words, half_value, stores, ...) \
    PORT_TRACE_EVENT(name, words, half_value, stores, PORT_TRACE_SHARED, ##__VA_ARGS__)
#define ARCH_TRACE_COPY_BLOCK(name, words, half_value, stores, ...) \
    PORT_TRACE_EVENT(name, words, half_value, stores, PORT_TRACE_WORD, ##__VA_ARGS__)
/* Stores that copy do so through `word`: eax, which then has no time, or a register of its own. */
#define PORT_TRACE_SHARED , [word] "=&a"(time)
#define PORT_TRACE_WORD   , "=&a"(time), [word] "=&r"(word)

/* Copies words, one in each turn. */
#define ARCH_TRACE_TAIL_BLOCK(id, words_from, word_count)                                                   \
    do {                                                                                                    \
        uint64_t ring, place, word, time, next;                                                             \
        __asm__ volatile inline(PORT_TRACE_BLOCK(trace_tail, "leaq (%[place],%[step]), %%rdx",              \
                                                 "addq %[ring], %[place]\n\t"                               \
                                                 "xorl %k[word], %k[word]\n"                                \
                                                 "5:\tmovq (%[source],%[word],8), %%rax\n\t"                \
                                                 "movq %%rax, 8(%[place],%[word],8)\n\t"                    \
                                                 "incq %[word]\n\t"                                         \
                                                 "cmpq %[count], %[word]\n\t"                               \
                                                 "jb 5b\n\t")                                               \
                                : PORT_TRACE_RESULTS PORT_TRACE_WORD                                        \
                                : [step] "r"(TRACE_INDEX_STEP((word_count) + 1)), [source] "r"(words_from), \
                                  [count] "r"(word_count),                                                  \
                                  PORT_TRACE_OPERANDS(trace_header_half(id, (uint32_t)(word_count) + 1))    \
                                : "cc", "memory");                                                          \
    } while (0)

#define PORT_TRACE_TO(offset)       ", 8+" #offset "(%[ring],%[place])\n\t"
#define TRACE_PUT_64(offset, f)     "movq %[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_32(offset, f)     "movl %k[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_16(offset, f)     "movw %w[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_8(offset, f)      "movb %b[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_FAR_64(offset, f) "movq %[f_" #f "], %[word]\n\tmovq %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_FAR_32(offset, f) "movl %[f_" #f "], %k[word]\n\tmovl %k[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_FAR_16(offset, f) "movzwl %[f_" #f "], %k[word]\n\tmovw %w[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_FAR_8(offset, f)  "movzbl %[f_" #f "], %k[word]\n\tmovb %b[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_64(offset)   "movq $0" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_32(offset)   "movl $0" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_16(offset)   "movw $0" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_8(offset)    "movb $0" PORT_TRACE_TO(offset)
#define PORT_TRACE_COPY(from, f, offset) \
    "movq " #from "(%[f_" #f "]), %[word]\n\tmovq %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_NAME(offset, f) PORT_TRACE_COPY(0, f, offset) PORT_TRACE_COPY(8, f, 8 + offset)

#define TRACE_IN_64(f)     [f_##f] "er"((uint64_t)(f))
#define TRACE_IN_32(f)     [f_##f] "ri"((uint32_t)(f))
#define TRACE_IN_16(f)     [f_##f] "ri"((uint16_t)(f))
#define TRACE_IN_8(f)      [f_##f] "ri"((uint8_t)(f))
#define TRACE_IN_FAR_64(f) [f_##f] "m"(f)
#define TRACE_IN_FAR_32(f) [f_##f] "m"(f)
#define TRACE_IN_FAR_16(f) [f_##f] "m"(f)
#define TRACE_IN_FAR_8(f)  [f_##f] "m"(f)
#define TRACE_IN_NAME(f)   [f_##f] "r"(f)
