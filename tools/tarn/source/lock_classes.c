/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_classes.c - see lock_classes.h. */
#include <string.h>
#include <tools/tarn/source/lock_classes.h>

static bool parse_lock_classes(struct lock_classes *classes, const uint8_t *data, size_t size,
                               struct fail *fail)
{
    classes->count = size >= 8 ? wire_get32(data) : UINT32_MAX;
    if (classes->count > WIRE_LOCK_CLASSES_MAX || size < 8 + classes->count * WIRE_LOCK_CLASS_BYTES)
        return fail_set(fail, "the guest's list of lock classes is invalid");
    data += 8;
    for (uint32_t i = 0; i < classes->count; i++, data += WIRE_LOCK_CLASS_BYTES) {
        struct wire_lock_class *class = &classes->class[i];

        *class = (struct wire_lock_class){wire_get32(data), wire_get32(data + 4), wire_get64(data + 8), ""};
        memcpy(class->name, data + 16, WIRE_LOCK_NAME_BYTES - 1);
        for (char *at = class->name; *at != '\0'; at++)
            if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
                *at = '?';
    }
    return true;
}

bool lock_classes_ask(struct source *source, struct lock_classes *classes, struct fail *fail)
{
    const struct wire_request request = {.operation = WIRE_OP_LOCK_CLASSES};
    struct source_reply reply;

    return source_control(source, &request, "", &reply, fail) &&
           parse_lock_classes(classes, reply.data, reply.size, fail);
}
