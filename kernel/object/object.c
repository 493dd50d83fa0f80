/* object.c - references of objects of any type. Interface: object.h. */
#include <kernel/object/object.h>
#include <stdatomic.h>

extern const struct object_type object_types_first[], object_types_last[];

static const struct object_type *types[CAP_TYPES];

void object_types_init(void)
{
    for (const struct object_type *type = object_types_first; type < object_types_last; type++)
        types[type->type] = type;
}

const struct object_type *object_type_of(enum cap_type type)
{
    return types[type];
}

void object_get(enum cap_type type, void *object)
{
    if (types[type])
        atomic_fetch_add_explicit((_Atomic uint32_t *)((char *)object + types[type]->references), 1,
                                  memory_order_relaxed);
}

void object_put(enum cap_type type, void *object)
{
    if (types[type])
        types[type]->put(object);
}
