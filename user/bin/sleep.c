/* sleep.c - sleeps for a number of seconds, which may be a fraction. */
#include <stdlib.h>
#include <time.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    program_name = "sleep";
    char *end;
    double seconds = argc == 2 ? strtod(argv[1], &end) : -1;
    if (argc != 2 || *end || end == argv[1] || !(seconds >= 0 && seconds < 1e9))
        usage("seconds");
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    return nanosleep(&time, NULL) < 0 ? complain("nanosleep") : 0;
}
