/* watch.c - watches of SERVER_POLL. Interface: watch.h. */
#include "watch.h"
#include <errno.h>
#include <stdlib.h>

static void remove_watch(struct watch **link)
{
    struct watch *watch = *link;
    *link = watch->next;
    server_close(watch->notification);
    free(watch);
}

static uint32_t reported(uint32_t ready, uint32_t wanted)
{
    return ready & (wanted | SERVER_POLL_HANGUP | SERVER_POLL_ERROR);
}

int64_t watch_poll(struct watch **list, struct server_request *request, uint32_t ready)
{
    uint64_t handle = request->word[0], token = request->word[3];
    uint32_t wanted = (uint32_t)request->word[1];
    for (struct watch **link = list; *link;) {
        struct watch *watch = *link;
        if (watch->client == request->client && watch->handle == handle && watch->token == token)
            remove_watch(link);
        else
            link = &watch->next;
    }
    uint32_t now = reported(ready, wanted);
    if (now || !request->received[0])
        return now;
    struct watch *watch = malloc(sizeof(*watch));
    if (!watch)
        return -ENOMEM;
    *watch =
        (struct watch){*list, request->client, wanted, handle, token, request->word[2], request->received[0]};
    request->received[0] = 0; /* now owned by the watch */
    *list = watch;
    return 0;
}

void watch_signal(struct watch **list, uint32_t ready)
{
    while (*list) {
        if (reported(ready, (*list)->wanted)) {
            server_signal((*list)->notification, (*list)->bits);
            remove_watch(list);
        } else {
            list = &(*list)->next;
        }
    }
}

void watch_forget(struct watch **list, uint32_t client, uint64_t handle)
{
    while (*list) {
        struct watch *watch = *list;
        if (watch->client == client && (handle == WATCH_ALL_HANDLES || watch->handle == handle))
            remove_watch(list);
        else
            list = &watch->next;
    }
}

void watch_free_all(struct watch **list)
{
    while (*list)
        remove_watch(list);
}
