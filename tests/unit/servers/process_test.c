/* process_test.c - creation, deaths and waits in the process table, without processes. */
#include <errno.h>
#include <servers/lib/server.h>
#include <servers/proc/process.h>
#include <servers/protocol/proc.h>
#include <tests/tap.h>
#include <tests/unit/stub.h>

#define INIT    1u
#define REPLIES 32u

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

static uint32_t killed_space, closed_space;
static unsigned kills;
static uint32_t reaped_meanwhile; /* the process that the reaper finds dead while it is killed; 0: none */

DOES_NOTHING(void inherit_routines(uint32_t space, uint32_t heir));

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

static bool finish(uint32_t pid)
{
    const bool taken = process_take_space(pid) == pid + 1000 && !process_take_space(pid);
    return process_finish(pid) && taken;
}

static int64_t wait_now(uint32_t parent, uint64_t pid, int *status)
{
    struct server_request request = {.client = parent, .word = {pid, PROC_WAIT_NO_HANG}};
    int64_t result = process_wait(parent, &request);
    *status = (int)request.word[0];
    return result;
}

/* Steps, each with up to four numbers; results are 0 if they are not there:
 *
 *   a PID PARENT RESULT      adds a process, whose space is its number and 1000
 *   e PID IS, p PID PARENT   whether it exists; its parent, or an error
 *   t PID COUNT MOST         how many it is with its descendants, the first of whom is itself
 *   k PID STATUS IS          ends it; b PID abandons it
 *   f PID IS                 its space is dead: finishes it
 *   w PARENT PID RESULT STATUS   waits without hanging; -1: for any child
 *   l PARENT PID             waits until a later reply
 *   r REPLY RESULT STATUS    of this story's replies that one was given; n REPLY: it was not
 *   g PID                    replies to it do not arrive any more
 *
 * -3 is -ESRCH, -10 -ECHILD, -17 -EEXIST. */
static const struct {
    const char *what, *steps;
} stories[] = {
    {"an exit, then a wait",
     "a10 1; a11 10; a11 10 -17; a12 99 -3; p11 10; e11 1; p99 -3; w10 -1; w11 -1 -10; w10 77 -10; k11 768 1;"
     "k11 9 0; w10 11 0; f11 1; f11 0; e11 0; w10 11 11 768; w10 11 -10"},
    {"a wait that began while the child was being started ends when it is gone",
     "a35 1; a36 35; l35 -1; b36; w35 -1 -10; n1; f36 1; r1 -10; f35 1; w1 35 35"},
    {"a wait for one, and for any", "a20 10; a21 10; l10 21; l10 -1; k20 9 1; f20 1; r2 20 9; n1; f21 1;"
                                    "r1 21; w10 -1 -10"},
    {"two wait for the same child: one gets its status",
     "a30 10; a31 10; l10 30; l10 30; f30 1; r1 30; r2 -10;"
     "f31 1; w10 31 31"},
    {"orphans, one of them a zombie that nobody waits for",
     "a40 1; a41 40; a42 41; a43 40; t40 4 8; t40 2 2; f43 1; k40 15 1; f40 1; p41 1; p43 -3; f41 1; p41 -3;"
     "p42 1; w1 -1 40 15; t1 0 8; f42 1"},
    {"a reply that does not arrive leaves a zombie",
     "a50 1; a51 50; l50 51; g50; f51 1; r1 51; p51 50; f50 1; p51 -3; w1 50 50"},
    {"init does not end", "k1 0 0; f1 0; f10 1; w1 10 10"},
};

static bool is_right(char step, const int64_t n[4], cap_t before)
{
    const uint32_t pid = (uint32_t)n[0];
    const cap_t reply = before + pid;
    uint32_t pids[8];
    unsigned bit;
    int status = 0;
    switch (step) {
    case 'a':
        return process_add(pid, "a long name of a program", (uint32_t)n[1], pid + 1000, &bit) == n[2];
    case 'e':
        return process_exists(pid) == n[1];
    case 'p':
        return process_parent(pid) == n[1];
    case 't':
        return process_tree(pid, pids, (size_t)n[2]) == (size_t)n[1] && (!n[1] || pids[0] == pid);
    case 'k':
        return process_set_exit(pid, (int)n[1]) == n[2] && (!n[2] || killed_space == pid + 1000);
    case 'b':
        process_abandon(pid);
        return killed_space == pid + 1000;
    case 'f':
        return finish(pid) == n[1];
    case 'w':
        return wait_now(pid, (uint64_t)n[1], &status) == n[2] && (n[2] <= 0 || status == n[3]);
    case 'l':
        saving = pid;
        return process_wait(pid, &(struct server_request){.client = pid, .word = {(uint64_t)n[1]}}) ==
               SERVER_LATER;
    case 'r':
        return replies[reply].replied && replies[reply].result == n[1] &&
               (n[1] < 0 || replies[reply].word == (uint64_t)n[2]);
    case 'n':
        return !replies[reply].replied;
    default:
        gone = pid;
        return true;
    }
}

static bool play(const char *steps)
{
    const cap_t before = last_reply;
    for (; steps; steps = strchr(steps, ';') ? strchr(steps, ';') + 1 : NULL) {
        int64_t n[4] = {0};
        char step;
        sscanf(steps, " %c%ld%ld%ld%ld", &step, &n[0], &n[1], &n[2], &n[3]);
        if (!is_right(step, n, before)) {
            printf("# wrong: %s\n", steps);
            return false;
        }
    }
    return true;
}

/* The slot is closed, and the record is freed, when the kill has returned: the sanitizers see it. */
static void test_reaped_while_killed(void)
{
    check(play("a80 1; a81 80; l80 81"));
    reaped_meanwhile = 81;
    check(process_set_exit(81, 5 << 8) && killed_space == 1081 && closed_space == 1081);
    reaped_meanwhile = 0;
    check(replies[last_reply].result == 81 && replies[last_reply].word == 5 << 8);
    check(play("a81 80; f81 1; f80 1"));
}

static void test_names_and_bits(void)
{
    uint32_t pids[8], spaces[8];
    char name[8];
    unsigned bit;
    check(process_add(70, "a long name", INIT, 1070, &bit) == 0 && bit < PROCESS_DEATH_BITS);
    check(process_with_bits(1ull << bit, pids, spaces, 8) == 1 && pids[0] == 70 && spaces[0] == 1070);
    process_get_name(70, name, sizeof(name));
    check(!strcmp(name, "a long "));
    process_remove(70);
    process_get_name(70, name, sizeof(name));
    check(!strcmp(name, "?") && !process_exists(70));
    check(process_with_bits(~0ull, pids, spaces, 8) == 0 && kills == 5, "no process is left");
}

int main(void)
{
    process_init(INIT);
    for (unsigned i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        check(play(stories[i].steps), "%s", stories[i].what);
    test_reaped_while_killed();
    test_names_and_bits();
    return finish_tests();
}
