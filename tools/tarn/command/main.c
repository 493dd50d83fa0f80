/* main.c - `tarn SUBCOMMAND ...`; see commands.h. */
#include <errno.h>
#include <string.h>
#include <tools/tarn/command/commands.h>

int main(int argc, char **argv)
{
    const int status = command_run(argc - 1, argv + 1);
    /* a write error, such as a full disk, shows only now */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    complain("cannot write the output: %s", strerror(errno));
    return EXIT_USAGE;
}
