/*
 * kernel/explore/explore_runtime.c - the runtime of -fsanitize=thread, in the exploring kernel and in
 * programs of the exploring archive.
 *
 * The names and types are the compiler's (gcc/sanitizer.def). Atomic operations are done here, sequentially
 * consistent in any case: the machine executes one instruction at a time. The search for races uses the
 * requested order. The kernel's own calls: explore.h.
 */
#include <kernel/explore/explore_point.h>
#include <stddef.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

#define PLACE ((uint64_t)__builtin_return_address(0))

static inline void access(const volatile void *address, uint64_t size, uint32_t flags, uint64_t place)
{
    if (__builtin_expect(__atomic_load_n(&explore_on, __ATOMIC_RELAXED), 1))
        explore_point((uint64_t)address, size, flags, place);
}

void __tsan_init(void)
{
}

#define PLAIN(size)                                             \
    void __tsan_read##size(void *p)                             \
    {                                                           \
        access(p, size, EXPLORE_READ, PLACE);                   \
    }                                                           \
    void __tsan_write##size(void *p)                            \
    {                                                           \
        access(p, size, EXPLORE_WRITE, PLACE);                  \
    }                                                           \
    void __tsan_unaligned_read##size(void *p)                   \
    {                                                           \
        access(p, size, EXPLORE_READ, PLACE);                   \
    }                                                           \
    void __tsan_unaligned_write##size(void *p)                  \
    {                                                           \
        access(p, size, EXPLORE_WRITE, PLACE);                  \
    }                                                           \
    void __tsan_volatile_read##size(void *p)                    \
    {                                                           \
        access(p, size, EXPLORE_ATOMIC, PLACE);                 \
    }                                                           \
    void __tsan_volatile_write##size(void *p)                   \
    {                                                           \
        access(p, size, EXPLORE_ATOMIC | EXPLORE_WRITE, PLACE); \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, size_t size)
{
    access(p, size, EXPLORE_READ, PLACE);
}
void __tsan_write_range(void *p, size_t size)
{
    access(p, size, EXPLORE_WRITE, PLACE);
}

#ifndef TARN_KERNEL /* programs are not checked for orders */
#define explore_point_order(kind, word, order)    (void)order
#define explore_point_begin()                     false
#define explore_point_stored(word, before, after) (void)before
#define explore_point_value(word, now, order)     (now)
#endif

static inline bool is_on(void)
{
    return __builtin_expect(__atomic_load_n(&explore_on, __ATOMIC_RELAXED), 1);
}

static inline void order_of(enum explore_order kind, const volatile void *address, int order)
{
    if (is_on())
        explore_point_order(kind, address, order);
}

static inline bool begin(void)
{
    return is_on() && explore_point_begin();
}

/* Reads and writes. */
#define UPDATE(bits, type, operation)                                              \
    {                                                                              \
        access(p, bits / 8, EXPLORE_ATOMIC | EXPLORE_WRITE, PLACE);                \
        order_of(EXPLORE_STORES, p, order);                                        \
        bool begun = begin();                                                      \
        uint##bits##_t before = begun ? __atomic_load_n(p, __ATOMIC_SEQ_CST) : 0;  \
        type result = operation;                                                   \
        if (begun)                                                                 \
            explore_point_stored(p, before, __atomic_load_n(p, __ATOMIC_SEQ_CST)); \
        order_of(EXPLORE_LOADED, p, order);                                        \
        return result;                                                             \
    }
#define FETCH(bits, name)                                                                           \
    uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t *p, uint##bits##_t v, \
                                                      int order)                                    \
        UPDATE(bits, uint##bits##_t, __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST))
#define SWAP(bits, name)                                                                                    \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *p, uint##bits##_t *expected, \
                                                      uint##bits##_t v, int order, int)                     \
        UPDATE(bits, int,                                                                                   \
               __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define ATOMIC(bits)                                                                                       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)                 \
    {                                                                                                      \
        access(p, bits / 8, EXPLORE_ATOMIC, PLACE);                                                        \
        bool begun = begin();                                                                              \
        uint##bits##_t result = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                      \
        if (begun)                                                                                         \
            result = (uint##bits##_t)explore_point_value(p, result, order);                                \
        order_of(EXPLORE_LOADED, p, order);                                                                \
        return result;                                                                                     \
    }                                                                                                      \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order)              \
    {                                                                                                      \
        access(p, bits / 8, EXPLORE_ATOMIC | EXPLORE_WRITE, PLACE);                                        \
        order_of(EXPLORE_STORES, p, order);                                                                \
        bool begun = begin();                                                                              \
        uint##bits##_t before = begun ? __atomic_load_n(p, __ATOMIC_SEQ_CST) : 0;                          \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                          \
        if (begun)                                                                                         \
            explore_point_stored(p, before, v);                                                            \
    }                                                                                                      \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *p, uint##bits##_t v, int order) \
        UPDATE(bits, uint##bits##_t, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)) FETCH(bits, add)         \
            FETCH(bits, sub) FETCH(bits, and) FETCH(bits, or) FETCH(bits, xor) FETCH(bits, nand)           \
                SWAP(bits, strong) SWAP(bits, weak)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    order_of(EXPLORE_FENCE, NULL, order);
}

void __tsan_atomic_signal_fence(int)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
