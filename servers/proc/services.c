/*
 * services.c - services that programs publish by name: PROC_PUBLISH, PROC_CONNECT.
 *
 * A client that connects before the name exists waits; a separate thread ends waits at their deadline.
 * Locking: services_lock covers both lists; replies are sent while it is held.
 */
#include "proc.h"
#include <errno.h>
#include <pthread.h>
#include <servers/lib/waiter.h>
#include <servers/protocol/proc.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#define SERVICES_MAX 256u

struct service {
    struct service *next;
    char name[PROC_SERVICE_NAME_BYTES];
    cap_t endpoint;
    uint32_t owner;
};

static pthread_mutex_t services_lock = PTHREAD_MUTEX_INITIALIZER;
/* covered by services_lock: */
static struct service *services;
static unsigned service_count;
static struct waiter *connecting; /* PROC_CONNECT: name, word[4] = deadline */

static int copy_name(const struct server_request *request, char name[PROC_SERVICE_NAME_BYTES])
{
    memcpy(name, request->word, PROC_SERVICE_NAME_BYTES);
    return name[0] && !name[PROC_SERVICE_NAME_BYTES - 1] ? 0 : -EINVAL;
}

static struct service *find_service(const char *name)
{
    struct service *service = services;
    while (service && strcmp(service->name, name))
        service = service->next;
    return service;
}

/* Makes a capability for one client: it may call, and the badge identifies it. */
static int64_t badge_endpoint(const struct service *service, uint32_t client)
{
    int64_t copy = sys_cap_copy(SLOT_SPACE, service->endpoint, 0, RIGHT_SEND | RIGHT_GRANT, client);
    return copy < 0 ? errno_of(copy) : copy;
}

static void serve_waiters(const struct service *service)
{
    for (struct waiter **link = &connecting; *link;) {
        struct waiter *waiter = *link;
        if (strcmp((const char *)waiter->request.word, service->name)) {
            link = &waiter->next;
            continue;
        }
        int64_t copy = badge_endpoint(service, waiter->request.client);
        if (copy > 0)
            waiter_reply_cap(link, (cap_t)copy);
        else
            waiter_reply(link, copy);
    }
}

static int64_t publish_locked(struct server_request *request, const char *name)
{
    if (find_service(name))
        return -EEXIST;
    struct service *service = service_count < SERVICES_MAX ? calloc(1, sizeof(*service)) : NULL;
    if (!service)
        return -ENOMEM;
    strcpy(service->name, name);
    service->endpoint = request->received[0];
    request->received[0] = 0;
    service->owner = request->client;
    service->next = services;
    services = service;
    service_count++;
    serve_waiters(service);
    return 0;
}

int64_t publish_service(struct server_request *request)
{
    char name[PROC_SERVICE_NAME_BYTES];
    int64_t info = request->received[0] ? sys_cap_info(request->received[0]) : -1;
    if (info < 0 || info >> 8 != CAP_ENDPOINT || !(info & RIGHT_SEND) || !(info & RIGHT_GRANT) ||
        copy_name(request, name))
        return -EINVAL;
    pthread_mutex_lock(&services_lock);
    int64_t result = publish_locked(request, name);
    pthread_mutex_unlock(&services_lock);
    return result;
}

static int64_t connect_later(struct server_request *request)
{
    if (!request->word[4])
        return -ENOENT;
    int64_t result = waiter_save(&connecting, request, 0);
    sys_notification_signal(services_wakeup, 1);
    return result;
}

static int64_t connect_locked(struct server_request *request, const char *name)
{
    struct service *service = find_service(name);
    if (!service)
        return connect_later(request);
    int64_t copy = badge_endpoint(service, request->client);
    if (copy < 0)
        return copy;
    request->send[0] = (cap_t)copy;
    request->close_sent = true;
    return 0;
}

int64_t connect_service(struct server_request *request)
{
    char name[PROC_SERVICE_NAME_BYTES];
    if (copy_name(request, name))
        return -EINVAL;
    pthread_mutex_lock(&services_lock);
    int64_t result = connect_locked(request, name);
    pthread_mutex_unlock(&services_lock);
    return result;
}

/* Ends the waits past their deadline. Returns the next deadline. */
static uint64_t end_waits(uint64_t now)
{
    uint64_t next = TARN_FOREVER;
    for (struct waiter **link = &connecting; *link;) {
        uint64_t deadline = (*link)->request.word[4];
        if (deadline <= now) {
            waiter_reply(link, -ETIMEDOUT);
            continue;
        }
        if (deadline < next)
            next = deadline;
        link = &(*link)->next;
    }
    return next;
}

void forget_services(uint32_t pid)
{
    pthread_mutex_lock(&services_lock);
    for (struct service **link = &services; *link;) {
        struct service *service = *link;
        if (service->owner != pid) {
            link = &service->next;
            continue;
        }
        sys_cap_close(service->endpoint);
        service_count--;
        *link = service->next;
        free(service);
    }
    waiter_forget(&connecting, pid);
    pthread_mutex_unlock(&services_lock);
}

void *services_main(void *wakeup)
{
    uint64_t next = TARN_FOREVER;
    for (;;) {
        sys_notification_wait((cap_t)(uintptr_t)wakeup, next);
        pthread_mutex_lock(&services_lock);
        next = end_waits(clock_monotonic_ns());
        pthread_mutex_unlock(&services_lock);
    }
    return NULL;
}
