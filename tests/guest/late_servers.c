/*
 * late_servers.c - servers that stop replying: a second proc, as it is in the archive, starts programs and
 * learns of their ends, while its fs and net are threads of this program. This program is its init.
 */
#include "tap.h"
#include "threads.h"

#include <servers/lib/program.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/proc.h>
#include <sys/wait.h>
#include <tarn/server.h>

#define SELF     "/test/late_servers"
#define SECOND   1000000000ull
#define TOLD_MAX 16u

/* ---- servers that stop replying -------------------------------------------------------------------- */

static struct fake {
    cap_t endpoint;
    _Atomic bool hangs;
    _Atomic unsigned busy; /* so often a request of a client that ended is still in progress */
    _Atomic unsigned told_count;
    uint32_t told[TOLD_MAX]; /* processes that ended */
} fs, net;
static cap_t program_file;
static uint64_t program_size;

static struct ipc_message reply_to(struct fake *fake, const struct ipc_message *request)
{
    struct ipc_message reply = {.label = (uint64_t)-ENOSYS};
    if (request->label == SERVER_ATTACH) /* nothing reads what the server writes there */
        reply = (struct ipc_message){.cap = {(uint16_t)sys_memory_create(SERVER_BUFFER_BYTES)}};
    if (request->label == FS_EXECUTABLE)
        reply = (struct ipc_message){.word = {program_size}, .cap = {(uint16_t)program_file}};
    if (request->label == SERVER_CLIENT_EXIT) {
        reply.label = fake->busy ? (uint64_t)-EAGAIN : 0;
        if (fake->busy)
            fake->busy--;
        else if (fake->told_count < TOLD_MAX)
            fake->told[fake->told_count++] = (uint32_t)request->word[0];
    }
    return reply;
}

static void *serve(void *argument)
{
    struct fake *fake = argument;
    for (;;) {
        struct ipc_message message;
        if (fake->hangs)
            sys_thread_sleep(deadline_after(SECOND / 10));
        else if (ipc_receive_deadline(fake->endpoint, &message, deadline_after(SECOND / 10)) == 0) {
            message = reply_to(fake, &message);
            ipc_reply(&message);
        }
    }
    return NULL;
}

static void start_fake(struct fake *fake)
{
    pthread_t thread;
    fake->endpoint = (cap_t)sys_endpoint_create();
    start_thread(&thread, serve, fake);
}

static void stop_replies(struct fake *fake)
{
    fake->hangs = true;
    sys_thread_sleep(deadline_after(SECOND / 2)); /* until it has left its receive */
}

static bool is_told(const struct fake *fake, int64_t pid)
{
    unsigned i = 0;
    while (i < fake->told_count && fake->told[i] != pid)
        i++;
    return i < fake->told_count;
}

static bool becomes_told(const struct fake *fake, int64_t pid)
{
    for (int i = 0; i < 100 && !is_told(fake, pid); i++)
        sys_thread_sleep(deadline_after(SECOND / 10));
    return is_told(fake, pid);
}

static struct program proc;
static cap_t proc_endpoint;
static struct proc_spawn *request; /* in the buffer that it shares with this program */
static uint64_t buffer;

static int64_t get_file(const char *path, uint64_t *size)
{
    struct shared_buffer shared;
    if (borrow_buffer(SLOT_FS, &shared) < 0)
        return -1;
    memcpy(shared.base, path, strlen(path));
    struct ipc_message message = {.label = FS_EXECUTABLE, .word = {buffer_span(&shared, 0, strlen(path))}};
    int64_t result = call_server_message(SLOT_FS, &message);
    return_buffer(&shared);
    *size = message.word[0];
    return result < 0 ? result : message.cap[0];
}

static bool start_proc(void)
{
    uint64_t size;
    int64_t file = get_file("/sbin/proc", &size);
    struct startup_arguments arguments = {
        .block = {.argc = 1, .cwd = "/", .path = "/sbin/proc", .parent_pid = (uint32_t)getpid()},
        .strings = "proc",
        .strings_size = 5};
    proc_endpoint = (cap_t)sys_endpoint_create();
    if (file < 0 || program_create("/sbin/proc", 0, &proc) || program_load(&proc, (cap_t)file, size) ||
        program_give(&proc, proc_endpoint, SLOT_SERVICE, RIGHT_ALL, 0) ||
        program_give(&proc, fs.endpoint, SLOT_FS, RIGHT_SEND | RIGHT_GRANT, 0) ||
        program_give(&proc, net.endpoint, SLOT_NET, RIGHT_SEND | RIGHT_GRANT, 0) ||
        program_give(&proc, SLOT_TRACE, SLOT_TRACE, RIGHT_READ | RIGHT_WRITE | RIGHT_GRANT, 0))
        return false;
    arguments.block.pid = proc.pid;
    return program_start(&proc, &arguments, TARN_PRIO_USER) == 0;
}

static int64_t ask_proc(struct ipc_message *message, uint64_t seconds)
{
    int64_t error = ipc_call_deadline(proc_endpoint, message, deadline_after(seconds * SECOND));
    return error < 0 ? -1000 + error : (int64_t)message->label;
}

static bool attach_proc(void)
{
    struct ipc_message message = {.label = SERVER_ATTACH};
    int64_t number = ask_proc(&message, 10);
    request = number < 0 ? NULL : memory_map(message.cap[0], SERVER_BUFFER_BYTES, MAP_READ | MAP_WRITE);
    buffer = (uint64_t)number;
    return request != NULL;
}

/* Starts this program, which ends at once. */
static int64_t spawn(uint64_t seconds)
{
    *request = (struct proc_spawn){.size = sizeof(*request), .argc = 2};
    request->path = proc_spawn_append_string(request, SELF);
    request->cwd = proc_spawn_append_string(request, "/");
    request->strings = proc_spawn_append_string(request, SELF);
    proc_spawn_append_string(request, "exit7");
    struct ipc_message message = {.label = PROC_SPAWN, .word = {SERVER_SPAN(buffer, 0, request->size)}};
    return ask_proc(&message, seconds);
}

/* Its pid; 0 if it did not end as it should, and in time. */
static int64_t run(uint64_t seconds)
{
    int64_t pid = spawn(seconds);
    struct ipc_message message = {.label = PROC_WAIT, .word = {(uint64_t)pid}};
    bool ended = pid > 0 && ask_proc(&message, seconds) == pid;
    return ended && WEXITSTATUS((int)message.word[0]) == 7 ? pid : 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return 7;
    program_file = (cap_t)get_file(SELF, &program_size);
    start_fake(&fs);
    start_fake(&net);
    check(start_proc() && attach_proc(), "a second proc");
    int64_t before = run(8);
    check(before && is_told(&fs, before) && is_told(&net, before), "its servers know when a process ended");
    stop_replies(&net);
    int64_t first = run(20);
    check(first && is_told(&fs, first), "a process ends although a server does not reply");
    int64_t second = run(8);
    check(second && is_told(&fs, second), "the next one does not even wait for it");
    net.hangs = false;
    check(becomes_told(&net, first) && becomes_told(&net, second),
          "when it replies again, it learns of both");
    int64_t third = run(8);
    check(third && is_told(&net, third), "and of others at once");
    net.busy = 2;
    int64_t fourth = run(8);
    check(fourth && becomes_told(&net, fourth), "a server that was not ready is asked again");
    stop_replies(&fs);
    check(spawn(20) == -ETIMEDOUT, "no program starts while the server of its file does not reply");
    fs.hangs = false;
    check(run(8) != 0, "but once it replies");
    program_discard(&proc);
    return finish_tests();
}
