/*
 * boot.c - starts the servers from the boot archive and monitors them.
 *
 * init makes every server's endpoint first, so the capabilities for all of them exist before any server runs
 * and the start order does not matter: a call to a server that is not running yet waits.
 */
#include "init.h"
#include <errno.h>
#include <servers/lib/cpio.h>
#include <servers/lib/program.h>
#include <servers/lib/server.h>
#include <servers/lib/servers.h>
#include <signal.h>
#include <string.h>
#include <tarn/file_kind.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

static struct server_program {
    const struct server_declaration *declaration;
    /* Its endpoint with the right to receive, until the
     * server has it. Only the server may keep that right. */
    cap_t receive;
    struct program program;
    bool running;
} servers[SERVER_COUNT]; /* in the order of server_declarations */

static cap_t deaths;         /* notification: bit i = servers[i] died */
static cap_t fault_endpoint; /* receives faults of the servers' threads */
static const char *archive;
static uint64_t archive_size;

/* ---- starting one server --------------------------------------------------------------------------- */

/* Copies the file to a memory object of its own, because mappings need page alignment. */
static int64_t copy_executable(const struct cpio_entry *entry)
{
    int64_t memory = sys_memory_create(round_to_pages(entry->size));
    if (memory < 0)
        return errno_of(memory);
    int error = memory_write_all((cap_t)memory, 0, entry->data, entry->size);
    if (!error)
        return memory;
    sys_cap_close((cap_t)memory);
    return errno_of(error);
}

/* Gives endpoints of all existing servers. They are badged with the server's pid, except for proc, which
 * makes badges itself. */
static int give_servers(const struct server_program *server)
{
    const struct program *program = &server->program;
    uint32_t badge = server->declaration->flags & MAY_BADGE ? 0 : program->pid;
    int error = program_give(program, server->receive, SLOT_SERVICE, RIGHT_ALL, 0);
    for (unsigned i = 0; !error && i < SERVER_COUNT; i++)
        if (slot_is_filled(server_declarations[i].slot))
            error = program_give(program, server_declarations[i].slot, server_declarations[i].slot,
                                 RIGHT_SEND | RIGHT_GRANT, badge);
    return error;
}

/* Gives the device that it drives, if the machine has one. */
static int give_device(const struct server_program *server)
{
    const uint32_t id = server->declaration->device;
    int64_t device = id ? sys_machine_device(SLOT_MACHINE, id) : -E_NOT_FOUND;
    if (device < 0)
        return device == -E_NOT_FOUND ? 0 : errno_of(device);
    int error = program_give(&server->program, (cap_t)device, SLOT_DEVICE, RIGHT_ALL, 0);
    sys_cap_close((cap_t)device);
    return error;
}

static int give_authority(const struct server_program *server)
{
    const struct program *program = &server->program;
    int error = give_device(server);
    if (!error && (server->declaration->flags & NEEDS_TRACE))
        error = program_give(program, SLOT_TRACE, SLOT_TRACE, RIGHT_ALL, 0);
    if (!error && (server->declaration->flags & NEEDS_MACHINE))
        error = program_give(program, SLOT_MACHINE, SLOT_MACHINE, RIGHT_ALL, 0);
    if (!error && (server->declaration->flags & NEEDS_CONSOLE))
        error = program_give(program, SLOT_MACHINE, SLOT_MACHINE, RIGHT_READ | RIGHT_WRITE, 0);
    if (!error && (server->declaration->flags & NEEDS_ARCHIVE))
        error = program_give(program, SLOT_BOOT_ARCHIVE, SLOT_BOOT_ARCHIVE, RIGHT_READ, 0);
    return error;
}

/* Registers for the server's faults and its death. */
static int watch_server(const struct server_program *server)
{
    int64_t result = sys_space_set_fault_handler(server->program.space, fault_endpoint);
    if (result >= 0)
        result = sys_space_watch(server->program.space, deaths, 1ull << (server - servers));
    return result < 0 ? errno_of(result) : 0;
}

static int run_program(struct server_program *server)
{
    static struct startup_fd files[] = {{.fd = 0, .kind = FILE_DEBUG},
                                        {.fd = 1, .kind = FILE_DEBUG, .flags = 1},
                                        {.fd = 2, .kind = FILE_DEBUG, .flags = 1}};
    char path[64] = "/";
    strncat(path, server->declaration->path, sizeof(path) - 2);
    struct startup_arguments arguments = {
        .block = {.pid = server->program.pid,
                  .parent_pid = process_id(),
                  .argc = 1,
                  .fd_count = 3,
                  .fds = files,
                  .cwd = "/",
                  .path = path},
        .strings = path,
        .strings_size = strlen(path) + 1,
    };
    return program_start(&server->program, &arguments, TARN_PRIO_SERVER);
}

static int start_from(struct server_program *server, const struct cpio_entry *entry)
{
    int64_t executable = copy_executable(entry);
    if (executable < 0)
        return (int)executable;
    int error = program_create(server->declaration->path, 0, &server->program);
    if (!error)
        error = program_load(&server->program, (cap_t)executable, entry->size);
    sys_cap_close((cap_t)executable);
    if (!error)
        error = give_servers(server);
    if (!error)
        error = give_authority(server);
    if (!error)
        error = watch_server(server);
    return error ? error : run_program(server);
}

static void start_server(struct server_program *server)
{
    struct cpio_entry entry;
    int found = cpio_find(archive, archive_size, server->declaration->path, &entry);
    int error = found > 0 ? start_from(server, &entry) : -ENOENT;
    server->running = !error;
    if (!error)
        return;
    program_discard(&server->program);
    if (!(server->declaration->flags & OPTIONAL))
        panic("init: cannot start %s: %s", server->declaration->path, strerror(-error));
    debug_printf("init: cannot start %s: %s\n", server->declaration->path, strerror(-error));
}

/* ---- starting all servers -------------------------------------------------------------------------- */

static void map_archive(void)
{
    int64_t size = sys_memory_size(SLOT_BOOT_ARCHIVE);
    archive = size > 0 ? memory_map(SLOT_BOOT_ARCHIVE, (uint64_t)size, MAP_READ) : NULL;
    archive_size = (uint64_t)size;
    if (!archive)
        panic("init: there is no boot archive");
}

static cap_t require(int64_t slot, const char *what)
{
    if (slot < 0)
        panic("init: cannot make %s: error %lld", what, (long long)-slot);
    return (cap_t)slot;
}

/* A server that is not in the archive gets no endpoint, so nobody can wait for it. */
static void make_endpoint(struct server_program *server)
{
    struct cpio_entry entry;
    if (cpio_find(archive, archive_size, server->declaration->path, &entry) <= 0)
        return;
    server->receive = require(sys_endpoint_create(), "an endpoint");
    require(sys_cap_copy(SLOT_SPACE, server->receive, server->declaration->slot, RIGHT_SEND | RIGHT_GRANT, 0),
            "an endpoint");
}

/* An endpoint dies with the last right to receive from
 * it. Then calls to its server fail instead of waiting. */
static void drop_receive(struct server_program *server)
{
    if (server->receive)
        sys_cap_close(server->receive);
    server->receive = 0;
}

void start_servers(void)
{
    map_archive();
    deaths = require(sys_notification_create(), "a notification");
    fault_endpoint = require(sys_endpoint_create(), "an endpoint");
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        servers[i].declaration = &server_declarations[i];
        make_endpoint(&servers[i]);
    }
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        start_server(&servers[i]);
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        drop_receive(&servers[i]);
    memory_unmap((void *)archive, archive_size);
}

void wait_for_servers(void)
{
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        struct ipc_message message = {.label = SERVER_PING};
        if (servers[i].running && call_server_message(server_declarations[i].slot, &message) < 0)
            debug_printf("init: /%s does not reply\n", server_declarations[i].path);
    }
}

/* ---- monitoring ------------------------------------------------------------------------------------ */

void shut_down(uint32_t status)
{
    power_off(status);
    debug_printf("init: cannot power off this machine\n");
}

static void report_fault(const struct ipc_message *message)
{
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        if (servers[i].program.pid != (uint32_t)message->word[5])
            continue;
        debug_printf("init: server /%s, thread %u: fault %llu at address %#llx, instruction %#llx\n",
                     server_declarations[i].path, (unsigned)message->word[4],
                     (unsigned long long)message->word[0], (unsigned long long)message->word[1],
                     (unsigned long long)message->word[2]);
        ipc_reply(&(struct ipc_message){.label = FAULT_REPLY_KILL});
        sys_space_kill(servers[i].program.space, -SIGSEGV);
    }
}

static void report_deaths(uint64_t bits)
{
    bool fatal = false;
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        if (!(bits >> i & 1))
            continue;
        servers[i].running = false;
        fatal |= !(server_declarations[i].flags & OPTIONAL);
        debug_printf("init: *** server /%s (pid %u) died ***\n", server_declarations[i].path,
                     (unsigned)servers[i].program.pid);
    }
    if (fatal) {
        debug_printf("init: the system cannot run without it\n");
        shut_down(3);
    }
}

/* Faults arrive at the endpoint; deaths arrive at the notification that is bound to this thread. */
_Noreturn void watch_servers(void)
{
    struct ipc_message message;
    require(sys_notification_bind(deaths), "the servers' watch");
    for (;;) {
        if (ipc_receive(fault_endpoint, &message) < 0)
            continue;
        if (message.label == IPC_LABEL_NOTIFICATION) {
            report_deaths(message.word[0]);
        } else if (message.label == IPC_LABEL_FAULT) {
            report_fault(&message);
        }
    }
}
