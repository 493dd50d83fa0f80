/* waiter.c - requests that wait for their reply. Interface: waiter.h. */
#include "waiter.h"
#include <errno.h>
#include <stdlib.h>

int64_t waiter_save(struct waiter **list, const struct server_request *request, uint32_t done)
{
    struct waiter *waiter = malloc(sizeof(*waiter));
    cap_t reply = waiter ? server_save_reply() : 0;
    if (!reply) {
        free(waiter);
        return -ENOMEM;
    }
    *waiter = (struct waiter){.reply = reply, .done = done, .request = *request};
    while (*list)
        list = &(*list)->next;
    *list = waiter;
    return SERVER_LATER;
}

static bool reply_and_remove(struct waiter **link, int64_t result, cap_t capability)
{
    struct waiter *waiter = *link;
    bool arrived = server_reply_later(waiter->reply, result, waiter->request.word, capability);
    *link = waiter->next;
    free(waiter);
    return arrived;
}

bool waiter_reply(struct waiter **link, int64_t result)
{
    return reply_and_remove(link, result, 0);
}

bool waiter_reply_cap(struct waiter **link, cap_t capability)
{
    bool arrived = reply_and_remove(link, 0, capability);
    server_close(capability);
    return arrived;
}

void waiter_reply_all(struct waiter **list, int64_t result)
{
    while (*list)
        waiter_reply(list, result);
}

void waiter_forget(struct waiter **list, uint32_t client)
{
    while (*list) {
        if ((*list)->request.client == client)
            waiter_reply(list, -EINTR); /* reaches nobody, but frees the reply capability */
        else
            list = &(*list)->next;
    }
}
