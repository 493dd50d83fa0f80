/*
 * list.h - doubly linked circular lists with a head; the links are inside the objects.
 *
 * A link that is in no list points to itself or is zero. The caller does the locking.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#ifdef TARN_EXPLORE
#include <kernel/kernel.h>
#endif

struct list {
    struct list *next, *previous;
};

#define list_object(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *head)
{
    head->next = head->previous = head;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_insert_between(struct list *link, struct list *previous, struct list *next)
{
    link->previous = previous;
    link->next = next;
    previous->next = link;
    next->previous = link;
}

static inline void list_add_tail(struct list *head, struct list *link)
{
    list_insert_between(link, head->previous, head);
}

static inline void list_add_head(struct list *head, struct list *link)
{
    list_insert_between(link, head, head->next);
}

static inline void list_remove(struct list *link)
{
#ifdef TARN_EXPLORE /* removing a link that is in no list would break another list, much later */
    assert(link->previous->next == link && link->next->previous == link);
#endif
    link->previous->next = link->next;
    link->next->previous = link->previous;
}
