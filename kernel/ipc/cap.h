/* cap.h - capabilities of the current space, and in messages. */
#pragma once

#include <kernel/object/cap_table.h>

struct thread;

/* Whether the current space has that right; of an object that never ends. 0, or cap_lookup's errors. */
int cap_check(cap_t slot, enum cap_type type, uint32_t rights);
/* Puts a new object into the current space, without a badge. NULL: -E_NO_MEMORY. On an error it drops the
 * reference. */
int64_t cap_give(enum cap_type type, void *object, uint32_t rights);
/* Copies the capabilities of the sender's message to the receiver's space and puts their new slots into the
 * receiver's message. On an error nothing has changed. */
int cap_send(struct thread *from, struct thread *to);
