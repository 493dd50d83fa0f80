/*
 * shared_buffers_test.c - servers that refuse shared buffers, and clients that take as many as they can.
 *
 *     /test/shared_buffers       the tests
 *     /test/shared_buffers hold  their child: takes buffers of fs, says so, waits to be killed
 *
 * One part plays a server: its endpoint takes net's slot, so that libc-glue asks it for shared buffers.
 */
#include "run.h"
#include "tap.h"
#include "threads.h"

#include <sched.h>
#include <tarn/server.h>

#define SELF    "/test/shared_buffers"
#define HOLDERS 70 /* with SERVER_BUFFERS_MAX each they would hold more buffers than a server has */

/* ---- a server that refuses ------------------------------------------------------------------------- */

static cap_t endpoint;
static atomic_int granted; /* buffers that it still grants; relaxed */
static atomic_int refusal; /* errno */
static atomic_int asked;   /* requests so far; release after the reply is decided, acquire in borrow_beside */

static void *refuse_main(void *argument)
{
    struct ipc_message message;
    while (ipc_receive(endpoint, &message) >= 0) {
        message = (struct ipc_message){.label = (uint64_t) - (int64_t)atomic_load(&refusal)};
        if (atomic_load(&granted) > 0) {
            atomic_fetch_sub(&granted, 1);
            message.label = 7;
            message.cap[0] = (uint16_t)sys_memory_create(SERVER_BUFFER_BYTES);
        }
        cap_t memory = message.cap[0];
        ipc_reply(&message);
        if (memory)
            sys_cap_close(memory);
        atomic_fetch_add(&asked, 1);
    }
    return NULL;
}

static bool start_refusing(void)
{
    pthread_t thread;
    int64_t made = sys_endpoint_create();
    endpoint = made > 0 ? (cap_t)made : 0;
    sys_cap_close(SLOT_NET);
    start_thread(&thread, refuse_main, NULL);
    return made > 0 && sys_cap_copy(SLOT_SPACE, endpoint, SLOT_NET, RIGHT_SEND | RIGHT_GRANT, 1) >= 0;
}

static void *borrow_main(void *shared)
{
    return (void *)(intptr_t)borrow_buffer(SLOT_NET, shared);
}

/* Borrows in another thread. If `first` is given, returns it after that thread has asked the server. */
static int64_t borrow_beside(struct shared_buffer *first, struct shared_buffer *shared)
{
    pthread_t thread;
    void *result;
    int before = atomic_load(&asked);
    start_thread(&thread, borrow_main, shared);
    while (first && atomic_load(&asked) == before) /* it has asked the server and now waits */
        sched_yield();
    if (first)
        return_buffer(first);
    pthread_join(thread, &result);
    return (int64_t)(intptr_t)result;
}

static void test_refusals(void)
{
    static const int errors[] = {EAGAIN, ENFILE, ENOMEM, EMFILE, EPERM};
    struct shared_buffer first, second;
    check(start_refusing(), "a server that refuses");
    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        atomic_store(&refusal, errors[i]);
        check(borrow_buffer(SLOT_NET, &first) == -errors[i], "%s", strerror(errors[i]));
    }
    atomic_store(&refusal, ENFILE);
    atomic_store(&granted, 1);
    check(borrow_buffer(SLOT_NET, &first) == 0 && first.number == 7, "it grants one buffer");
    check(borrow_beside(NULL, &second) == -ENFILE,
          "a second thread gets the error instead of waiting for ever");
    check(borrow_beside(&first, &second) == 0, "or the first buffer, if that is returned meanwhile");
    return_buffer(&second);
    check(borrow_buffer(SLOT_FIRST_FREE, &first) == -EBADF && borrow_buffer(1u << 30, &first) == -EBADF,
          "a slot without a server gives -EBADF");
}

/* ---- clients that take all buffers ----------------------------------------------------------------- */

/* Takes shared buffers of fs in addition to libc-glue's. Returns their number. */
static int take_buffers(int64_t *last)
{
    for (int count = 0;; count++) {
        struct ipc_message message = {.label = SERVER_ATTACH};
        int64_t error = ipc_call(SLOT_FS, &message);
        *last = error < 0 ? error : (int64_t)message.label;
        if (*last < 0)
            return count;
        sys_cap_close(message.cap[0]);
    }
}

static int be_holder(void)
{
    int64_t last;
    if (write(3, "+", 1) != 1) /* makes libc-glue attach its own buffer before the others are taken */
        return 1;
    take_buffers(&last);
    if (write(3, last == -EMFILE ? "M" : last == -ENFILE ? "N" : "?", 1) != 1)
        return 1;
    sys_thread_sleep(TARN_FOREVER);
    return 0;
}

/* Starts a holder and waits until it holds as many as it can. Returns its letter, or another one. */
static char start_holder(pid_t *pid, const int ends[2])
{
    char letters[3] = "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    *pid = start_words(WORDS(SELF, "hold"), &actions, NULL);
    posix_spawn_file_actions_destroy(&actions);
    for (unsigned i = 0; i < 2 && *pid > 0; i++)
        letters[i] = read(ends[0], &letters[i], 1) == 1 ? letters[i] : 0;
    return letters[0] == '+' ? letters[1] : 0;
}

static void stop_holder(pid_t pid)
{
    kill(pid, SIGKILL);
    status_of(pid);
}

static void test_takers(void)
{
    pid_t pids[HOLDERS];
    int ends[2], full = 0, refused = 0;
    check(pipe(ends) == 0, "a pipe to the clients that take buffers");
    for (int i = 0; i < HOLDERS; i++) {
        char letter = start_holder(&pids[i], ends);
        full += letter == 'M';
        refused += letter == 'N';
    }
    check(full > 0 && refused > 0 && full + refused == HOLDERS,
          "late clients get fewer than a client's limit: %d of them", refused);
    check(run_program("/bin/ls", "/bin") == 0,
          "when clients have taken all buffers of fs, a new program still gets its first");
    for (int i = 0; i < HOLDERS; i++)
        stop_holder(pids[i]);
    for (char letter = 0; letter != 'M';) { /* fs reclaims the buffers of dead clients in batches */
        letter = start_holder(&pids[0], ends);
        stop_holder(pids[0]);
    }
    check(true, "after they have ended, buffers are available again");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "hold"))
        return be_holder();
    test_takers();
    test_refusals();
    return finish_tests();
}
