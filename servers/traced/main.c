/* main.c - the trace server: starts the links and handles the requests of programs. */
#include "traced.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <servers/protocol/traced.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

static void *run_tcp(void *argument)
{
    accept_tcp(argument, serve_channel);
}

static void *run_watch(void *argument)
{
    watch_connections();
}

static bool has_rights(cap_t slot, uint32_t type, uint32_t rights)
{
    const int64_t info = slot ? sys_cap_info(slot) : 0;
    return info > 0 && info >> 8 == type && (info & rights) == rights;
}

static int64_t handle(struct server_request *request)
{
    switch (request->label) {
    case TRACED_GOODBYE: /* its holder may switch the machine off */
        if (!has_rights(request->received[0], CAP_MACHINE, RIGHT_MANAGE))
            return -EPERM;
        say_goodbye();
        return 0;
    case TRACED_ADMIT:
        if (!has_rights(request->received[0], CAP_TRACE, RIGHT_READ | RIGHT_WRITE))
            return -EPERM;
        admit_port((uint16_t)request->word[0]);
        return 0;
    default:
        return -ENOSYS;
    }
}

int main(void)
{
    static const struct server server = {.name = "traced", .threads = 1, .handle = handle};
    static struct tcp_listener listener;
    pthread_t thread;
    set_server_patience(SERVER_PATIENCE_NS);
    if (listen_tcp(&listener, WIRE_TCP_PORT) && pthread_create(&thread, NULL, run_tcp, &listener) != 0)
        debug_printf("traced: cannot start the network link\n");
    start_serial(serve_channel);
    if (pthread_create(&thread, NULL, run_watch, NULL) != 0)
        debug_printf("traced: cannot detect silent hosts: no memory for a thread\n");
    server_run(&server, SLOT_SERVICE);
}
