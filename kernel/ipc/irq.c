/*
 * irq.c - turns interrupts into signals. Interface: irq.h.
 *
 * The handler finds an object in irq_table, locks it and checks its number again. A stale pointer does no
 * harm: the memory is an irq object until the handler ends (slab.h).
 */
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/span.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/irq.h>
#include <kernel/ipc/notification.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/irq.h>

#define NUMBER_NONE (~0u)

static LOCK_CLASS(irq_class, "irq");
static LOCK_CLASS(irq_slab_class, "irq slab");

static void construct(void *object)
{
    struct irq *irq = object;
    spin_init(&irq->lock, &irq_class);
    irq->number = NUMBER_NONE;
}

static struct slab irq_slab = SLAB("irq", struct irq, construct, &irq_slab_class);
static struct irq *_Atomic irq_table[ARCH_IRQ_COUNT]; /* entries change by compare-and-swap */

static struct {
    uint32_t number;
    void (*handler)(void);
} own = {.number = NUMBER_NONE}; /* irq_set_own */

void irq_set_own(uint32_t number, void (*handler)(void))
{
    own.number = number;
    own.handler = handler;
}

/* ---- Taking interrupts ---- */

static bool signal_object(struct irq *irq, uint32_t number)
{
    spin_lock(&irq->lock);
    struct notification *notification = irq->number == number ? irq->notification : NULL;
    uint64_t bits = irq->bits;
    if (notification)
        notification_get(notification);
    spin_unlock(&irq->lock);
    if (!notification)
        return false;
    notification_signal(notification, bits);
    notification_put(notification);
    return true;
}

const char *irq_kind(uint32_t number)
{
    static const char line[TRACE_NAME_BYTES] = "line", message[TRACE_NAME_BYTES] = "message",
                      console[TRACE_NAME_BYTES] = "console";
    const struct irq *irq =
        number < ARCH_IRQ_COUNT ? atomic_load_explicit(&irq_table[number], memory_order_acquire) : NULL;
    if (irq)
        return irq->is_message ? message : line;
    return number == own.number ? console : NULL;
}

static __attribute__((noinline, cold)) uint64_t trace_entry(uint32_t number, uint64_t ip)
{
    if (!TRACE_ON_IRQ())
        return TRACE_NOT_LOGGED;
    static const char unwanted[TRACE_NAME_BYTES];
    const char *kind = irq_kind(number);
    return trace_irq_handler_entry_timed(number, kind ? kind : unwanted, ip);
}

bool irq_deliver(uint32_t number)
{
    /* Acquire: pairs with the release that published the object. */
    struct irq *irq =
        number < ARCH_IRQ_COUNT ? atomic_load_explicit(&irq_table[number], memory_order_acquire) : NULL;
    if (irq)
        return signal_object(irq, number);
    if (number == own.number)
        own.handler();
    return number == own.number;
}

void handle_interrupt(uint32_t number, uint64_t ip)
{
    handle_wake();
    SPAN_BEGIN(IRQ, TRACE_ROUTINE_INTERRUPT, number, trace_entry(number, ip));
    arch_irq_mask(number);
    arch_irq_end(number);
    const bool handled = explore_put_off(number) || irq_deliver(number);
    SPAN_END(IRQ, trace_irq_handler_exit(number, handled));
}

/* ---- Objects ---- */

static int64_t new_irq(uint32_t number, bool is_message)
{
    struct irq *irq = slab_alloc(&irq_slab), *none = NULL;
    if (!irq)
        return -E_NO_MEMORY;
    atomic_store_explicit(&irq->references, 1, memory_order_relaxed);
    irq->number = number;
    irq->is_message = is_message;
    irq->notification = NULL;
    irq->bits = 0;
    /* Release: publishes the object to the handler. */
    if (!atomic_compare_exchange_strong_explicit(&irq_table[number], &none, irq, memory_order_release,
                                                 memory_order_relaxed)) {
        irq->number = NUMBER_NONE;
        slab_free(&irq_slab, irq);
        return -E_BUSY;
    }
    return cap_give(CAP_IRQ, irq, RIGHT_ALL);
}

void irq_put(struct irq *irq)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&irq->references, 1, memory_order_acq_rel) != 1)
        return;
    spin_lock(&irq->lock);
    uint32_t number = irq->number;
    struct notification *notification = irq->notification;
    irq->number = NUMBER_NONE;
    irq->notification = NULL;
    spin_unlock(&irq->lock);
    arch_irq_mask(number);
    if (irq->is_message)
        arch_irq_free_message(number);
    atomic_store_explicit(&irq_table[number], NULL, memory_order_release);
    slab_free(&irq_slab, irq);
    if (notification)
        notification_put(notification);
}

OBJECT_TYPE(CAP_IRQ, irq);

/* ---- System calls ---- */

int64_t sys_irq_create(uint32_t number)
{
    if (number >= ARCH_IRQ_LINES || number == own.number)
        return -E_BAD_ARGUMENT;
    return new_irq(number, false);
}

int64_t sys_irq_create_message(uint32_t device, struct irq_message *user_message)
{
    struct irq_message message = {0};
    int64_t error = user_write(user_message, &message, sizeof message); /* can the result be stored? */
    if (error)
        return error;
    int number = arch_irq_allocate_message(device, &message);
    if (number < 0)
        return number;
    int64_t slot = new_irq((uint32_t)number, true);
    if (slot == -E_NO_MEMORY || slot == -E_BUSY)
        arch_irq_free_message((uint32_t)number);
    if (slot < 0)
        return slot;
    error = user_write(user_message, &message, sizeof message);
    if (error)
        cap_close(&current_thread()->space->caps, (cap_t)slot, NULL);
    return error ? error : slot;
}

int64_t sys_irq_bind(struct irq *irq, struct notification *notification, uint64_t bits)
{
    const int64_t error = notification_set(&irq->notification, &irq->bits, &irq->lock, notification, bits);
    return error ? error : arch_irq_unmask(irq->number);
}

int64_t sys_irq_acknowledge(struct irq *irq)
{
    return arch_irq_unmask(irq->number);
}
