/*
 * main.c - the network server: start, and one round of work per request or notification.
 *
 * One thread does everything; device interrupts and the timer arrive as bits of the bound notification.
 * README.md follows a packet through the server.
 */
#include "socket.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <tarn/runtime.h>

static bool have_device;

static int64_t handle(struct server_request *request)
{
    if (!have_device)
        return -ENETDOWN;
    int64_t result = handle_socket_request(request);
    finish_round();
    return result;
}

static void client_exit(uint32_t client)
{
    if (have_device)
        finish_round();
}

static void notified(uint64_t bits)
{
    if (have_device)
        handle_bits(bits);
}

int main(void)
{
    static struct server server = {
        .name = "net",
        .threads = 1,
        .handle = handle,
        .client_exit = client_exit,
        .handles = &socket_handles,
        .notified = notified,
    };
    int64_t notification = sys_notification_create();
    if (notification > 0) {
        server.notification = (cap_t)notification;
        start_timer(server.notification);
        have_device = start_stack(server.notification);
    }
    if (!have_device)
        debug_printf("net: no network device: every request fails\n");
    else
        finish_round();
    server_run(&server, SLOT_SERVICE);
}
