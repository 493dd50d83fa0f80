/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/cap.h - capability tables: what a space may do to which objects.
 *
 * A table is a directory (one frame) of leaves (one frame each, 128 slots), and grows leaf by leaf up to 64
 * Ki slots; it never shrinks before its space dies, so that looking something up needs no lock.
 *
 * A slot changes only under the table's lock, and its `meta` word changes with every change (it counts
 * generations). A reader loads meta, then object and badge, takes the *object's* lock and looks, after all
 * these loads, whether meta is still the same. It is: then the slot still holds its reference, because a slot
 * is emptied before its reference is dropped, and the last drop must take the object's lock before it
 * destroys anything. It is not: until this kernel entry ends, the memory behind the pointer is an object of
 * that type (slab.h), so the lock that was taken was one.
 *
 * Lock: cap_table.lock, innermost but for frames; no object is destroyed while it is held. Two tables: lower
 * address first.
 */
#ifndef KERNEL_CAP_H
#define KERNEL_CAP_H

#include <kernel/lock.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define CAP_SLOTS_MAX      65536u
#define CAP_SLOTS_PER_LEAF 128u
#define CAP_LEAVES_MAX     (CAP_SLOTS_MAX / CAP_SLOTS_PER_LEAF)

/* meta: type in bits 0-7, rights in 8-15, generation above. */
struct cap_slot {
    _Atomic uint64_t meta; /* written last (release) when filled, first when emptied; see above */
    void *_Atomic object;
    _Atomic uint64_t badge;
    uint64_t next_free; /* under the table's lock */
};

struct cap_table {
    struct spinlock lock;
    struct cap_slot **leaves;  /* a frame of pointers; constant */
    _Atomic uint32_t size;     /* slots that have memory; grows under lock (release, pairs with look-ups) */
    uint32_t first_free, used; /* under lock; 0: none free */
    bool closed;               /* under lock: the space dies, nothing may enter */
};

/* A capability as it was seen. */
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

void cap_table_construct(struct cap_table *table); /* once per memory: the lock */
int cap_table_init(struct cap_table *table);       /* -E_NO_MEMORY */
void cap_table_close(struct cap_table *table);     /* drops every capability; from then on nothing enters */
void cap_table_destroy(struct cap_table *table);   /* frees its memory; nobody can look any more */

struct space;
struct thread;

/* Looks without a reference; 0, -E_BAD_CAP, -E_BAD_TYPE, -E_BAD_RIGHT. */
int cap_look(struct space *space, cap_t slot, enum cap_type type, uint32_t rights, struct cap *found);
/* With the object's lock held: is what was seen still so? */
static inline bool cap_unchanged(const struct cap *cap)
{
    /* The object's lock orders this load after the one of `object`, but not after that of the badge, whose
     * value nothing depends on. The fence does. Pairs with the releases of empty() and fill(): a badge of the
     * slot's next use comes with a new meta. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&cap->slot->meta, memory_order_relaxed) == cap->meta;
}
/* Looks and takes a reference, which the caller gives back with object_put. */
int cap_get(struct space *space, cap_t slot, enum cap_type type, uint32_t rights, void **object);
/* The same, and tells the rights; type CAP_NONE accepts any. */
int cap_get_any(struct space *space, cap_t slot, enum cap_type type, uint32_t rights, struct cap *found);

/* Puts a new capability into a free slot and takes over the caller's reference: the slot, or -E_NO_SLOT,
 * -E_NO_MEMORY, -E_DEAD (then the reference stays the caller's). */
int64_t cap_insert(struct space *space, enum cap_type type, void *object, uint32_t rights, uint64_t badge);
/* The same at a slot of the caller's choice, which must be free. */
int64_t cap_insert_at(struct space *space, cap_t slot, enum cap_type type, void *object, uint32_t rights,
                      uint64_t badge);
/* Copies between tables: rights can only shrink, a badge is given once. Needs RIGHT_GRANT. `target` 0: any
 * slot. */
int64_t cap_copy(struct space *from, cap_t source, struct space *to, cap_t target, uint32_t rights,
                 uint64_t badge);
int cap_close(struct space *space, cap_t slot);
/* Closes it if it still names `object`; true if it did. */
bool cap_close_if(struct space *space, cap_t slot, const void *object);

/* Copies the capabilities named in the sender's message into the receiver's space and writes their new slots
 * into the receiver's message. All or nothing: on an error nothing has changed. */
int cap_transfer(struct thread *from, struct thread *to);

/* References of any kind of object. */
void object_get(enum cap_type type, void *object);
void object_put(enum cap_type type, void *object); /* may destroy it: no locks held */

#endif
