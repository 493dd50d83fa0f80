/*
 * main.c - the process server: handles the requests of servers/protocol/proc.h.
 *
 * Several workers share the process table (process.c). Read next: spawn.c, reap.c, fault.c, services.c.
 */
#include "proc.h"
#include "process.h"
#include <errno.h>
#include <servers/lib/servers.h>
#include <servers/protocol/proc.h>
#include <signal.h>
#include <tarn/runtime.h>

#define WORKERS  4u
#define TREE_MAX 256u

uint32_t init_pid;
cap_t servers[SERVER_COUNT];
unsigned server_count;
cap_t fault_endpoint, death_notification, services_wakeup;

/* init gives no endpoint for a server that the archive does not have. */
static void find_servers(void)
{
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        cap_t slot = server_declarations[i].slot;
        if (slot != SLOT_PROC && slot_is_filled(slot))
            servers[server_count++] = slot;
    }
}

static bool is_ignored(uint64_t signal)
{
    return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

static int64_t proc_kill(struct server_request *request)
{
    uint32_t pids[TREE_MAX], pid = (uint32_t)request->word[0];
    uint64_t signal = request->word[1];
    if (signal >= NSIG)
        return -EINVAL;
    if (request->word[0] > UINT32_MAX || !process_exists(pid))
        return -ESRCH;
    if (pid == init_pid)
        return signal == 0 ? 0 : -EPERM;
    if (signal == 0 || is_ignored(signal))
        return 0;
    pids[0] = pid;
    unsigned count = request->word[2] & PROC_KILL_TREE ? process_tree(pid, pids, TREE_MAX) : 1;
    for (unsigned i = 0; i < count; i++)
        process_set_exit(pids[i], status_of_signal((int)signal));
    return 0;
}

static int64_t proc_exit(struct server_request *request, uint32_t client)
{
    if (!process_set_exit(client, status_of_exit(request->word[0])))
        return -ESRCH;
    return SERVER_LATER; /* the caller is dead: no reply */
}

static int64_t proc_handle(struct server_request *request)
{
    uint32_t client = request->client ? request->client : init_pid;
    switch (request->label) {
    case PROC_SPAWN:
        return spawn_process(request, client);
    case PROC_WAIT:
        return process_wait(client, request);
    case PROC_EXIT:
        return proc_exit(request, client);
    case PROC_KILL:
        return proc_kill(request);
    case PROC_GET_PARENT:
        return request->word[0] > UINT32_MAX
                   ? -ESRCH
                   : process_parent(request->word[0] ? (uint32_t)request->word[0] : client);
    case PROC_PUBLISH:
        return publish_service(request);
    case PROC_CONNECT:
        return connect_service(request);
    default:
        return -ENOSYS;
    }
}

int main(void)
{
    init_pid = program_startup()->parent_pid;
    find_servers();
    process_init(init_pid);
    fault_endpoint = server_thread(sys_endpoint_create(), fault_main, "the fault handler");
    death_notification = server_thread(sys_notification_create(), reaper_main, "the reaper");
    services_wakeup = server_thread(sys_notification_create(), services_main, "the services' timer");
    struct server server = {
        .name = "proc",
        .threads = WORKERS,
        .handle = proc_handle,
        .client_exit = forget_services,
    };
    server_run(&server, SLOT_SERVICE);
}
