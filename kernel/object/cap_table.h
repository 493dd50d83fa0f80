/*
 * cap_table.h - the types of objects, and capability tables: a space's rights to objects.
 *
 * A table is a directory (one page frame) of leaves (one each, 128 slots). It grows by leaves up to 64 Ki
 * slots and does not shrink before its space dies, so a lookup needs no lock.
 *
 * A slot changes only under the table's lock, and each change also changes the generation in its `meta`
 * word. A lookup loads meta, then object and badge, then meta again: if it has changed, the slot was empty in
 * between, and the object may be one of another type, whose lock lies elsewhere. Else it takes the *object's*
 * lock, and tests once more whether meta is unchanged:
 *
 *   - Unchanged: the slot still holds its reference. A slot is emptied before its reference is dropped, and
 *     the last drop must take the object's lock before it destroys anything.
 *   - Changed: the lookup fails. Locking was safe anyway: until this kernel entry ends, the memory is an
 *     object of that type (slab.h).
 *
 * cap_table.lock is innermost except for page frames. No object is destroyed while it is held. Of two
 * tables, the lower address is locked first.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

#define CAP_SLOTS_MAX      65536u
#define CAP_SLOTS_PER_LEAF 128u
#define CAP_LEAVES_MAX     (CAP_SLOTS_MAX / CAP_SLOTS_PER_LEAF)

/* CAP_TRACE, CAP_MACHINE, CAP_DEVICE; RIGHT_READ, RIGHT_WRITE, RIGHT_MANAGE */
#define CAP_AUTHORITIES      3u
#define CAP_AUTHORITY_RIGHTS 3u

/* ---- Types of objects, each declared beside its object; the linker collects the list ---- */

struct cap_table;

struct object_type {
    enum cap_type type;
    uint32_t references;       /* offset of the object's _Atomic uint32_t references */
    void (*put)(void *object); /* drops a reference, and may destroy the object: holds no locks */
    /* NULL, or: a capability to the object, with these rights, is about to come into the table (the table's
     * lock is held), or has left it (no lock is held, and the capability's reference not dropped yet). */
    void (*added)(const struct cap_table *table, void *object, uint32_t rights);
    void (*removed)(const struct cap_table *table, void *object, uint32_t rights);
};

/* CAP_NAME's objects are `struct name`, and `name`_put drops a reference. The dots: .added and .removed, if
 * it has them. */
#define OBJECT_TYPE(cap_name, name, ...)                                                                 \
    static void put_##name##_object(void *object)                                                        \
    {                                                                                                    \
        name##_put(object);                                                                              \
    }                                                                                                    \
    static const struct object_type name##_object_type __attribute__((                                   \
        section(".object_types"), used, aligned(8))) = {.type = cap_name,                                \
                                                        .references = offsetof(struct name, references), \
                                                        .put = put_##name##_object,                      \
                                                        __VA_ARGS__}

void object_types_init(void); /* on the boot CPU, before there are objects */
/* Constant. NULL, 0: objects of this type are not counted, and never end. The second array repeats a member:
 * each use of a capability to an object reads it. */
extern const struct object_type *object_types[CAP_TYPES];
extern uint32_t object_references[CAP_TYPES];

/* References of objects of any type. */
static inline void object_get(enum cap_type type, void *object)
{
    if (object_references[type])
        atomic_fetch_add_explicit((_Atomic uint32_t *)((uintptr_t)object + object_references[type]), 1,
                                  memory_order_relaxed);
}
void object_put(enum cap_type type, void *object); /* may destroy the object: hold no locks */

/* ---- Tables ---- */

/* meta: type in bits 0-7, rights in 8-15, generation above. */
struct cap_slot {
    _Atomic uint64_t meta; /* filled: written last (release); emptied: written first */
    void *_Atomic object;
    _Atomic uint64_t badge;
    uint64_t next_free; /* under the table's lock */
};

struct cap_table {
    struct spinlock lock;
    struct cap_slot **leaves;  /* a page frame of pointers; constant */
    _Atomic uint32_t size;     /* slots that have memory; grows under lock (release, pairs with lookups) */
    uint32_t first_free, used; /* under lock; first_free 0: none */
    bool closed;               /* under lock: the space is dying, no inserts */
    /* Capabilities to the trace, the machine and devices that have each of these rights; under lock. */
    uint32_t authority[CAP_AUTHORITIES][CAP_AUTHORITY_RIGHTS];
};

/* The result of a lookup. */
struct cap {
    void *object;
    uint64_t badge;
    const struct cap_slot *slot;
    uint64_t meta;
};

static inline uint32_t cap_meta_type(uint64_t meta)
{
    return (uint32_t)(meta & 0xff);
}

static inline uint32_t cap_meta_rights(uint64_t meta)
{
    return (uint32_t)(meta >> 8 & 0xff);
}

void cap_table_construct(struct cap_table *table); /* once per memory: initializes the lock */
int cap_table_init(struct cap_table *table);
void cap_table_close(struct cap_table *table);   /* drops all capabilities; later inserts fail */
void cap_table_destroy(struct cap_table *table); /* frees its memory, when no lookup can happen any more */

/* Returns the slot's meta: type CAP_NONE if it is empty; 0 if there is no such slot, or if it was empty
 * meanwhile. */
static inline uint64_t cap_read(const struct cap_table *table, cap_t number, struct cap *found)
{
    if (__builtin_expect(number >= atomic_load_explicit(&table->size, memory_order_relaxed), 0))
        return 0;
    atomic_thread_fence(memory_order_acquire); /* pairs with the release in grow */
    struct cap_slot *slot = &table->leaves[number / CAP_SLOTS_PER_LEAF][number % CAP_SLOTS_PER_LEAF];
    uint64_t meta = atomic_load_explicit(&slot->meta, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* pairs with the release in fill */
    found->object = atomic_load_explicit(&slot->object, memory_order_relaxed);
    found->badge = atomic_load_explicit(&slot->badge, memory_order_relaxed);
    found->slot = slot;
    atomic_thread_fence(memory_order_acquire); /* a newer object or badge comes with a newer meta; as above */
    if (__builtin_expect(atomic_load_explicit(&slot->meta, memory_order_relaxed) != meta, 0))
        meta = 0;
    return found->meta = meta;
}

/* Takes no reference. 0, -E_BAD_CAP, -E_BAD_TYPE, -E_BAD_RIGHT. */
int cap_lookup(struct cap_table *table, cap_t slot, enum cap_type type, uint32_t rights, struct cap *found);
/* With the object's lock held: is the slot as it was looked up? */
static inline bool cap_revalidate(const struct cap *cap)
{
    /* The object's lock orders this load after that of `object`, but not after that of the badge, on which
     * no address depends; the fence does. Pairs with the releases in empty() and fill(): the next use's
     * badge comes with a new meta. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&cap->slot->meta, memory_order_relaxed) == cap->meta;
}
/* Takes a reference; drop it with object_put. */
int cap_get(struct cap_table *table, cap_t slot, enum cap_type type, uint32_t rights, void **object);
/* The same, with the rights. CAP_NONE accepts any type. */
int cap_get_any(struct cap_table *table, cap_t slot, enum cap_type type, uint32_t rights, struct cap *found);

/* Puts a new capability into this slot, which must be free (0: any), and takes over the caller's reference.
 * Returns the slot. -E_NO_SLOT, -E_NO_MEMORY, -E_DEAD: the caller keeps the reference. */
int64_t cap_insert(struct cap_table *table, cap_t slot, enum cap_type type, void *object, uint32_t rights,
                   uint64_t badge);
/* Copies between tables. Needs RIGHT_GRANT. Rights can only shrink; a badge is set only if there is none.
 * `target` 0: any slot. */
int64_t cap_copy(struct cap_table *from, cap_t source, struct cap_table *to, cap_t target, uint32_t rights,
                 uint64_t badge);
/* Closes the slot, if it still holds `object` (NULL: whatever it holds). */
int cap_close(struct cap_table *table, cap_t slot, const void *object);

/* The rights of all capabilities to the trace, the machine (type) or devices together, without RIGHT_GRANT.
 * May be called at any time. */
uint32_t cap_authority(const struct cap_table *table, enum cap_type type);

/* Copies the capabilities of a message (0: none), and sets their new slots. Each needs RIGHT_GRANT. Returns
 * how many there are; on an error nothing has changed. */
int cap_transfer(struct cap_table *from, struct cap_table *to, uint16_t slots[IPC_CAPS]);
