/*
 * deadlock.c - programs that wait for each other for ever, to be found by tests/host/debugger.
 *
 *   deadlock serve OWN OTHER  publishes OWN, and calls OTHER before it serves: two of them wait for each
 *                             other to receive
 *   deadlock mutexes          two threads with two mutexes
 */
#include "threads.h"

#include <string.h>
#include <tarn/runtime.h>
#include <tarn/service.h>

static int serve(const char *own, const char *other)
{
    struct ipc_message message = {.label = 1};
    cap_t endpoint = (cap_t)sys_endpoint_create();
    int error = service_publish(own, endpoint);
    int64_t peer = error ? error : service_connect(other, TARN_FOREVER);
    if (peer < 0) {
        printf("deadlock: error %ld\n", peer);
        return 1;
    }
    printf("deadlock: %s calls %s\n", own, other);
    fflush(stdout);
    ipc_call((cap_t)peer, &message);
    return 1;
}

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both_hold;

static void *lock_both(void *argument)
{
    unsigned first = argument != NULL;
    pthread_mutex_lock(&mutexes[first]);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&mutexes[!first]);
    return NULL;
}

static int wait_for_mutexes(void)
{
    pthread_t thread;
    pthread_barrier_init(&both_hold, NULL, 2);
    start_thread(&thread, lock_both, &mutexes);
    puts("deadlock: two mutexes");
    fflush(stdout);
    lock_both(NULL);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "serve"))
        return serve(argv[2], argv[3]);
    if (argc == 2 && !strcmp(argv[1], "mutexes"))
        return wait_for_mutexes();
    fputs("deadlock: serve OWN OTHER, or mutexes\n", stderr);
    return 2;
}
