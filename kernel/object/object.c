/* object.c - references of objects of any type. Interface: object.h. */
#include <kernel/object/object.h>

extern const struct object_type object_types_first[], object_types_last[];

const struct object_type *object_types[CAP_TYPES];
uint32_t object_references[CAP_TYPES];

void object_types_init(void)
{
    for (const struct object_type *type = object_types_first; type < object_types_last; type++) {
        object_types[type->type] = type;
        object_references[type->type] = type->references;
    }
}

void object_put(enum cap_type type, void *object)
{
    if (object_types[type])
        object_types[type]->put(object);
}
