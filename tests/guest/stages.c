/* stages.c - starts a program and waits for its end, with a stopwatch for each. Run by tests/host/study; what
 * came of it is in docs/studies.md. */
#include "run.h"

#include <trace/user.h>

#define ROUNDS 20
enum { START = 1, WAIT = 2 }; /* the stopwatches */

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        trace_user_stopwatch_start(START);
        const pid_t pid = start_program("/bin/true");
        trace_user_stopwatch_stop(START, (uint64_t)pid);
        trace_user_stopwatch_start(WAIT);
        const int status = status_of(pid);
        trace_user_stopwatch_stop(WAIT, (uint64_t)status);
        if (status)
            return 1;
    }
    return 0;
}
