/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_classes.h - a running guest's lock classes, asked for over a link. */
#ifndef TARN_LOCK_CLASSES_H
#define TARN_LOCK_CLASSES_H

#include <tools/tarn/source/source.h>

struct lock_classes {
    uint32_t count;
    struct wire_lock_class class[WIRE_LOCK_CLASSES_MAX]; /* names are printable */
};

/* False: FAIL. */
bool lock_classes_ask(struct source *source, struct lock_classes *classes, struct fail *fail);

#endif
