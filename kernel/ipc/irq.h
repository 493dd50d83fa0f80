/*
 * irq.h - interrupt objects: a line or a message that signals a notification.
 *
 * An interrupt is masked when it is taken and unmasked by irq_acknowledge. There is one object per number.
 * The interrupt handler only reads what the object's lock protects.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct notification;
struct irq {
    struct spinlock lock; /* survives free and reuse: slab.h */
    _Atomic uint32_t references;
    uint32_t number; /* constant */
    bool is_message; /* constant */
    /* under lock: */
    struct notification *notification; /* a reference, or NULL */
    uint64_t bits;
};

/* The kernel itself handles one interrupt, the console's. Before it is unmasked. */
void irq_set_own(uint32_t number, void (*handler)(void));
bool irq_deliver(uint32_t number); /* it occurred and is masked: signals its object; false: none */
void irq_put(struct irq *irq);
const char *irq_kind(uint32_t number); /* what handles it; NULL: nothing */
