/*
 * kernel_scarce.c - a program repeatedly uses up memory in several ways (greedy.c). The system must survive:
 * all page frames are freed, the shell runs programs, files are unchanged.
 *
 * Once with all of the machine's memory. Then a file holds most of it, so that the rest is used up quickly.
 */
#include "leak.h"
#include "run.h"
#include "tap.h"

#define ROUNDS      (1 + REPEATS(4u))
#define PIECE       (64u << 10)
#define KEPT_PIECES 3u
#define LEFT_PART   12u  /* fraction of memory that the large file leaves */
#define SPARE       200u /* page frames that servers may keep, for heaps and page tables */

enum end { ENDED, TOLD, EITHER };

static char byte_of(unsigned piece, unsigned at)
{
    return (char)(piece * 37 + at * 11 + at / 251);
}

static bool write_piece(int fd, unsigned piece)
{
    static char bytes[PIECE];
    for (unsigned at = 0; at < PIECE; at++)
        bytes[at] = byte_of(piece, at);
    return write(fd, bytes, PIECE) == PIECE;
}

static bool has_pieces(const char *path, unsigned count)
{
    static char bytes[PIECE];
    int fd = open(path, O_RDONLY);
    bool good = fd >= 0;
    for (unsigned piece = 0; good && piece < count; piece++) {
        good = read(fd, bytes, PIECE) == PIECE;
        for (unsigned at = 0; good && at < PIECE; at++)
            good = bytes[at] == byte_of(piece, at);
    }
    good = good && read(fd, bytes, PIECE) == 0;
    close(fd);
    return good;
}

static bool make_kept(void)
{
    int fd = open("/tmp/kept", O_CREAT | O_WRONLY, 0666);
    bool good = true;
    for (unsigned piece = 0; piece < KEPT_PIECES; piece++)
        good &= write_piece(fd, piece);
    return close(fd) == 0 && good;
}

/* Returns the number of pieces written. */
static unsigned make_large(void)
{
    unsigned pieces = 0;
    int fd = open("/tmp/large", O_CREAT | O_WRONLY, 0666);
    for (;;) {
        struct system_stats stats = read_stats();
        if (stats.frames_free < stats.frames_total / LEFT_PART || !write_piece(fd, pieces))
            break;
        pieces++;
    }
    close(fd);
    return pieces;
}

/* Uses fs, proc, a pipe and other programs. */
static bool shell_answers(void)
{
    return run_program("/bin/sh", "-c", "echo word | grep -q word && rm -f /tmp/greed*") == 0;
}

/* Waits patiently: a killed process needs time to free its memory, and the kernel more for its own. */
static bool wait_until(bool (*is_so)(const struct system_stats *, const struct system_stats *),
                       const struct system_stats *before)
{
    struct system_stats now = {0};
    for (int i = 0; i < 6000; i++) {
        now = read_stats();
        if (is_so(before, &now))
            return true;
        sys_thread_sleep(deadline_after(10000000));
    }
    printf("# %lu spaces, %lu frames free before; %lu, %lu now\n", before->spaces, before->frames_free,
           now.spaces, now.frames_free);
    return false;
}

static bool have_ended(const struct system_stats *before, const struct system_stats *now)
{
    return now->spaces <= before->spaces && now->slab_frames <= before->slab_frames + SPARE;
}

static bool are_back(const struct system_stats *before, const struct system_stats *now)
{
    return now->frames_free + SPARE >= before->frames_free;
}

static const char *const end_names[] = {"killed", "refused memory", "killed or refused memory"};

static void test_way(const char *way, unsigned rounds, enum end end)
{
    bool shell = true, intact = true, good = true, back = true;
    const struct system_stats before = quiet_stats();
    for (unsigned round = 0; round < rounds; round++) {
        int status = run_program("/test/greedy", way, "7");
        bool is_ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, is_told = status == 0;
        good &= (is_ended && end != TOLD) || (is_told && end != ENDED);
        back &= wait_until(have_ended, &before);
        shell &= shell_answers();
        intact &= has_pieces("/tmp/kept", KEPT_PIECES);
        back &= wait_until(are_back, &before);
    }
    check(good, "%s: %u times it is %s", way, rounds, end_names[end]);
    check(back, "%s: its page frames are freed", way);
    check(shell, "%s: the shell works each time", way);
    check(intact, "%s: files are intact", way);
}

int main(void)
{
    check(make_kept(), "a file to be kept");
    test_way("touch", 1, ENDED);
    unsigned pieces = make_large();
    check(pieces > 0 && has_pieces("/tmp/large", pieces), "a large one");
    test_way("touch", ROUNDS, ENDED);
    test_way("map", ROUNDS, TOLD);
    test_way("file", ROUNDS, TOLD);
    test_way("write", ROUNDS, EITHER);
    test_way("bomb", ROUNDS, EITHER);
    check(has_pieces("/tmp/large", pieces), "the large file is intact");
    return finish_tests();
}
