/* tests/unit/trace/path_probe.c - call sites for path_test, compiled with the flags of kernel and programs.
 */
#include <trace/user.h>

void probe_one_word(uint64_t a);
void probe_four_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

void probe_one_word(uint64_t a)
{
    trace_user_stopwatch_start(a);
}

void probe_four_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    trace_user_values(a, b, c, d);
}
