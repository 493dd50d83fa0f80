/*
 * port/trace_block.h (ppc64) - blocks of restartable logging; contract in <trace/ring/restart.h>.
 *
 * A block asks the kernel by a conditional trap, which compares and enters the kernel in one instruction.
 * Instructions before the fields: 18. They include the branch into the block, and making the header's half.
 *
 * No asm goto: GCC 12 puts restores of registers on only one of two edges that lead from it to the same
 * place.
 */
#pragma once

#include <port/trace_where.h>

#define ARCH_TRACE_EXIT_BYTES 4

#define PORT_TRACE_RING PORT_TRACE_LOAD_RING("%[ring]")
#ifdef TARN_KERNEL
#define PORT_TRACE_MASK                                                                     \
    "addis %[word], 2, trace_info_page + %c[mask]@toc@ha\n\tld %[word], trace_info_page + " \
    "%c[mask]@toc@l(%[word])"
#else
#define PORT_TRACE_MASK "lis %[word], " PORT_TRACE_INFO_HIGH "\n\tld %[word], %c[mask](%[word])"
#endif

/* Words of the control page, relative to the ring's first buffer. */
#define PORT_TRACE_LIMIT     "-24"
#define PORT_TRACE_BOUND     "-16"
#define PORT_TRACE_INDEX     "-8"
#define PORT_TRACE_AT(field) ((long)TRACE_CONTROL_OFFSET - (long)TRACE_BUFFERS_OFFSET + (long)(field))
_Static_assert(PORT_TRACE_AT(__builtin_offsetof(struct trace_control, time_limit)) == -24 &&
                   PORT_TRACE_AT(__builtin_offsetof(struct trace_control, bound)) == -16 &&
                   PORT_TRACE_AT(__builtin_offsetof(struct trace_control, index)) == -8,
               "written out in PORT_TRACE_*");
_Static_assert(TRACE_INDEX_SHIFT - 3 == 18, "written out in PORT_TRACE_BLOCK");

#define PORT_TRACE_CELL "256"
_Static_assert(TRACE_CELL_BYTES == 256, "written out in PORT_TRACE_CELL");

/* The cell begins at the name, the sequence at 1:, its exit is at 3:, and leads to 4:. `word` is free when
 * the stores begin. The lower half of `now` stays the event's time. */
#define PORT_TRACE_BLOCK(name, advance, stores)                                        \
    "b 1f\n\t"                                                                         \
    ".pushsection .trace_text, \"ax\", @progbits\n\t"                                  \
    ".balign " PORT_TRACE_CELL "\n" #name ".%=:\n\t"                                   \
    ".type " #name ".%=, @function\n\t"                                                \
    ".size " #name ".%=, " PORT_TRACE_CELL "\n\t"                                      \
    "b 1f\n\t"                                                                         \
    ".skip " PORT_TRACE_CELL " - 8 - (3f - 1f)\n"                                      \
    "1:\t" PORT_TRACE_RING "\n\t"                                                      \
    "ld %[place], " PORT_TRACE_INDEX "(%[ring])\n\t"                                   \
    "mftb %[now]\n\t"                                                                  \
    "ld %[next], " PORT_TRACE_LIMIT "(%[ring])\n\t"                                    \
    "tdlgt %[now], %[next]\n\t"                                                        \
    "ld %[word], " PORT_TRACE_BOUND "(%[ring])\n\t" advance "\n\t"                     \
    "tdlgt %[next], %[word]\n\t"                                                       \
    "srdi %[place], %[place], 18\n\t" PORT_TRACE_MASK "\n\t"                           \
    "and %[place], %[place], %[word]\n\t"                                              \
    "add %[place], %[ring], %[place]\n\t"                                              \
    "rldimi %[now], %[half], 32, 0\n\t"                                                \
    "std %[now], 0(%[place])\n\t" stores "lwsync\n\t" /* the event before the index */ \
    "std %[next], " PORT_TRACE_INDEX "(%[ring])\n"                                     \
    "3:\tb 4f\n\t"                                                                     \
    ".popsection\n4:"

#define PORT_TRACE_RESULTS \
    [ring] "=&b"(ring), [place] "=&b"(place), [word] "=&b"(word), [now] "=&r"(now), [next] "=&b"(next)
#define PORT_TRACE_OPERANDS(half_value) \
    [half] "r"((uint64_t)(half_value)), [mask] "i"(__builtin_offsetof(struct trace_info, ring_mask))

#define ARCH_TRACE_BLOCK(name, words, half_value, stores, ...)                                              \
    ({                                                                                                      \
        uint64_t ring, place, word, now, next;                                                              \
        __asm__ volatile inline(                                                                            \
            PORT_TRACE_BLOCK(name, "addis %[next], %[place], %c[step]\n\taddi %[next], %[next], 1", stores) \
            : PORT_TRACE_RESULTS                                                                            \
            : [step] "i"((words) << (TRACE_INDEX_SHIFT - 16)), PORT_TRACE_OPERANDS(half_value),             \
              ##__VA_ARGS__                                                                                 \
            : "memory");                                                                                    \
        (uint32_t) now;                                                                                     \
    })
#define ARCH_TRACE_COPY_BLOCK ARCH_TRACE_BLOCK

/* Copies words, one in each turn. */
#define ARCH_TRACE_TAIL_BLOCK(id, words_from, word_count)                                                   \
    do {                                                                                                    \
        uint64_t ring, place, word, now, next;                                                              \
        __asm__ volatile inline(PORT_TRACE_BLOCK(trace_tail, "add %[next], %[place], %[step]",              \
                                                 "mtctr %[count]\n\t"                                       \
                                                 "addi %[word], %[source], -8\n"                            \
                                                 "5:\tldu %[now], 8(%[word])\n\t"                           \
                                                 "stdu %[now], 8(%[place])\n\t"                             \
                                                 "bdnz 5b\n\t")                                             \
                                : PORT_TRACE_RESULTS                                                        \
                                : [step] "r"(TRACE_INDEX_STEP((word_count) + 1)), [source] "b"(words_from), \
                                  [count] "r"(word_count),                                                  \
                                  PORT_TRACE_OPERANDS(trace_header_half(id, (uint32_t)(word_count) + 1))    \
                                : "ctr", "memory");                                                         \
    } while (0)

#define PORT_TRACE_TO(offset)     ", 8+" #offset "(%[place])\n\t"
#define TRACE_PUT_64(offset, f)   "std %[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_32(offset, f)   "stw %[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_16(offset, f)   "sth %[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_8(offset, f)    "stb %[f_" #f "]" PORT_TRACE_TO(offset)
#define TRACE_PUT_FAR_64          TRACE_PUT_64
#define TRACE_PUT_FAR_32          TRACE_PUT_32
#define TRACE_PUT_FAR_16          TRACE_PUT_16
#define TRACE_PUT_FAR_8           TRACE_PUT_8
#define PORT_TRACE_ZERO           "li %[word], 0\n\t"
#define TRACE_PUT_ZERO_64(offset) PORT_TRACE_ZERO "std %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_32(offset) PORT_TRACE_ZERO "stw %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_16(offset) PORT_TRACE_ZERO "sth %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_ZERO_8(offset)  PORT_TRACE_ZERO "stb %[word]" PORT_TRACE_TO(offset)
#define PORT_TRACE_COPY(from, f, offset) \
    "ld %[word], " #from "(%[f_" #f "])\n\tstd %[word]" PORT_TRACE_TO(offset)
#define TRACE_PUT_NAME(offset, f) PORT_TRACE_COPY(0, f, offset) PORT_TRACE_COPY(8, f, 8 + offset)

#define TRACE_IN_64(f)   [f_##f] "r"((uint64_t)(f))
#define TRACE_IN_32(f)   [f_##f] "r"((uint32_t)(f))
#define TRACE_IN_16(f)   [f_##f] "r"((uint16_t)(f))
#define TRACE_IN_8(f)    [f_##f] "r"((uint8_t)(f))
#define TRACE_IN_FAR_64  TRACE_IN_64
#define TRACE_IN_FAR_32  TRACE_IN_32
#define TRACE_IN_FAR_16  TRACE_IN_16
#define TRACE_IN_FAR_8   TRACE_IN_8
#define TRACE_IN_NAME(f) [f_##f] "b"(f)
