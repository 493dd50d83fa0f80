/*
 * main.c - the first process: starts the servers (boot.c) and the first programs (session.c), then reports
 * servers that die.
 */
#include "init.h"
#include <pthread.h>
#include <servers/lib/server.h>
#include <stddef.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

static struct boot_options options;

static void *session_main(void *argument)
{
    wait_for_servers();
    debug_printf("tarn: ready\n");
    run_sessions(&options);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    set_server_patience(SERVER_PATIENCE_NS);
    read_boot_options(&options);
    start_servers();
    if (pthread_create(&thread, NULL, session_main, NULL) != 0)
        panic("init: cannot start a thread");
    watch_servers();
}
