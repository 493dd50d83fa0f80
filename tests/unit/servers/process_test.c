/* process_test.c - creation, deaths and waits in the process table, without processes. */
#include <errno.h>
#include <servers/lib/server.h>
#include <servers/proc/process.h>
#include <servers/protocol/proc.h>
#include <tests/tap.h>
#include <tests/unit/stub.h>

#define INIT    1u
#define REPLIES 32u

/* ---- the server's side: replies are noted ---- */

static uint32_t saving;     /* the client whose request the next saved reply is for */
static uint32_t gone = ~0u; /* a client whose replies do not arrive any more */
static cap_t last_reply;
static struct {
    uint32_t client;
    bool replied;
    int64_t result;
    uint64_t word;
} replies[REPLIES];

cap_t server_save_reply(void)
{
    if (last_reply + 1 == REPLIES)
        abort();
    replies[++last_reply].client = saving;
    return last_reply;
}

bool server_reply_later(cap_t reply, int64_t result, const uint64_t word[IPC_WORDS], cap_t capability)
{
    if (reply == 0 || reply > last_reply || replies[reply].replied)
        abort(); /* a second reply */
    replies[reply].replied = true;
    replies[reply].result = result;
    replies[reply].word = word[0];
    return replies[reply].client != gone;
}

DOES_NOTHING(void server_close(cap_t capability));

/* ---- processes ---- */

static uint32_t killed_space, closed_space;
static unsigned kills;
static uint32_t reaped_meanwhile; /* the process that the reaper finds dead while it is killed; 0: none */

void inherit_routines(uint32_t space, uint32_t heir)
{
}

void kill_space(uint32_t space, int status)
{
    killed_space = space;
    kills++;
    if (reaped_meanwhile) {
        check(process_take_space(reaped_meanwhile) == 0 && !closed_space);
        check(process_finish(reaped_meanwhile) && process_parent(reaped_meanwhile) == -ESRCH);
        check(!closed_space);
    }
}

void close_space(uint32_t space)
{
    closed_space = space;
}

static int add(uint32_t pid, uint32_t parent)
{
    unsigned bit;
    return process_add(pid, "a long name of a program", parent, pid + 1000, &bit);
}

static bool finish(uint32_t pid)
{
    return process_take_space(pid) == pid + 1000 && !process_take_space(pid) && process_finish(pid);
}

static int64_t wait_now(uint32_t parent, uint64_t pid, int *status)
{
    struct server_request request = {.client = parent, .word = {pid, PROC_WAIT_NO_HANG}};
    int64_t result = process_wait(parent, &request);
    *status = (int)request.word[0];
    return result;
}

static int64_t wait_later(uint32_t parent, uint64_t pid)
{
    return process_wait(parent, &(struct server_request){.client = parent, .word = {pid}});
}

static void test_exit_then_wait(void)
{
    int status = 0;
    check(add(10, INIT) == 0 && add(11, 10) == 0 && add(11, 10) == -EEXIST && add(12, 99) == -ESRCH);
    check(process_parent(11) == 10 && process_exists(11) && process_parent(99) == -ESRCH);
    check(wait_now(10, PROC_ANY, &status) == 0 && wait_now(11, PROC_ANY, &status) == -ECHILD);
    check(wait_now(10, 77, &status) == -ECHILD);
    check(process_set_exit(11, 3 << 8) && killed_space == 1011 && !process_set_exit(11, 9));
    check(wait_now(10, 11, &status) == 0); /* still ending */
    check(finish(11) && !process_finish(11) && !process_exists(11));
    check(wait_now(10, 11, &status) == 11 && status == 3 << 8 && wait_now(10, 11, &status) == -ECHILD);
}

/* The slot is closed, and the record is freed, when the kill has returned: the sanitizers see it. */
static void test_reaped_while_killed(void)
{
    check(add(80, INIT) == 0 && add(81, 80) == 0);
    check(wait_later(80, 81) == SERVER_LATER);
    cap_t reply = last_reply;
    reaped_meanwhile = 81;
    check(process_set_exit(81, 5 << 8) && killed_space == 1081 && closed_space == 1081);
    reaped_meanwhile = 0;
    check(replies[reply].replied && replies[reply].result == 81 && replies[reply].word == 5 << 8);
    check(add(81, 80) == 0 && finish(81) && finish(80));
}

static void test_names(void)
{
    char name[8];
    check(add(70, INIT) == 0);
    process_get_name(70, name, sizeof(name));
    check(!strcmp(name, "a long "));
    process_remove(70);
    process_get_name(70, name, sizeof(name));
    check(!strcmp(name, "?"));
}

/* A wait that began while the child was being started ends when it is gone. */
static void test_abandoned(void)
{
    int status;
    check(add(35, INIT) == 0 && add(36, 35) == 0);
    saving = 35;
    check(wait_later(35, PROC_ANY) == SERVER_LATER);
    cap_t reply = last_reply;
    process_abandon(36);
    check(killed_space == 1036 && wait_now(35, PROC_ANY, &status) == -ECHILD && !replies[reply].replied);
    check(finish(36) && replies[reply].replied && replies[reply].result == -ECHILD && finish(35));
    check(wait_now(INIT, 35, &status) == 35);
}

static void test_wait_then_exit(void)
{
    int status;
    check(add(20, 10) == 0 && add(21, 10) == 0);
    saving = 10;
    check(wait_later(10, 21) == SERVER_LATER);
    cap_t one = last_reply;
    check(wait_later(10, PROC_ANY) == SERVER_LATER);
    cap_t any = last_reply;
    check(process_set_exit(20, 9) && finish(20));
    check(replies[any].replied && replies[any].result == 20 && replies[any].word == 9 &&
          !replies[one].replied);
    check(finish(21) && replies[one].replied && replies[one].result == 21 && replies[one].word == 0);
    check(wait_now(10, PROC_ANY, &status) == -ECHILD);
}

/* Two wait for the same child: one gets its status, the other -ECHILD. */
static void test_two_waits(void)
{
    int status;
    check(add(30, 10) == 0 && add(31, 10) == 0);
    check(wait_later(10, 30) == SERVER_LATER);
    cap_t first = last_reply;
    check(wait_later(10, 30) == SERVER_LATER);
    cap_t second = last_reply;
    check(finish(30) && replies[first].replied && replies[second].replied);
    check(replies[first].result + replies[second].result == 30 - ECHILD);
    check(finish(31) && wait_now(10, 31, &status) == 31);
}

static void test_orphans(void)
{
    int status;
    uint32_t pids[8];
    check(add(40, INIT) == 0 && add(41, 40) == 0 && add(42, 41) == 0 && add(43, 40) == 0);
    check(process_tree(40, pids, 8) == 4 && pids[0] == 40 && process_tree(40, pids, 2) == 2);
    check(finish(43)); /* a zombie that nobody waits for */
    check(process_set_exit(40, 15) && finish(40) && process_parent(41) == INIT &&
          process_parent(43) == -ESRCH);
    check(finish(41) && process_parent(41) == -ESRCH && process_parent(42) == INIT);
    check(wait_now(INIT, PROC_ANY, &status) == 40 && status == 15);
    check(process_tree(INIT, pids, 8) == 0);
    check(finish(42));
}

static void test_waiter_dies(void)
{
    int status;
    check(add(50, INIT) == 0 && add(51, 50) == 0);
    saving = 50;
    check(wait_later(50, 51) == SERVER_LATER);
    cap_t reply = last_reply;
    gone = 50;
    /* the reply did not arrive: still a zombie */
    check(finish(51) && replies[reply].replied && process_parent(51) == 50);
    check(finish(50) && process_parent(51) == -ESRCH && wait_now(INIT, 50, &status) == 50);
}

static void test_deaths(void)
{
    uint32_t pids[8], spaces[8];
    unsigned bit;
    check(process_add(60, "sh", INIT, 1060, &bit) == 0 && bit < PROCESS_DEATH_BITS);
    check(add(61, 60) == 0);
    check(process_with_bits(1ull << bit, pids, spaces, 8) == 1 && pids[0] == 60 && spaces[0] == 1060);
    process_remove(61);
    check(!process_exists(61) && !process_set_exit(INIT, 0) && !finish(INIT));
    check(finish(60));
}

int main(void)
{
    int status;
    uint32_t pids[8], spaces[8];
    process_init(INIT);
    test_exit_then_wait();
    test_abandoned();
    test_reaped_while_killed();
    test_names();
    test_wait_then_exit();
    test_two_waits();
    test_orphans();
    test_waiter_dies();
    test_deaths();
    check(finish(10) && wait_now(INIT, 10, &status) == 10 && wait_now(INIT, 60, &status) == 60);
    check(process_with_bits(~0ull, pids, spaces, 8) == 0 && kills == 5);
    return finish_tests();
}
