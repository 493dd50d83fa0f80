/*
 * object.h - the types of objects that capabilities name, with their reference counts.
 *
 * Each type is declared beside its object, with OBJECT_TYPE; the linker collects the list.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

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
/* Constant. NULL, 0: objects of this type are not counted, and never end. */
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
