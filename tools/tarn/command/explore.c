/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/explore.c - `tarn explore`: tools/explore.py, which boots guests. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>
#include <tools/tarn/goto/session.h>
#include <tools/tarn/tarn.h>
#include <unistd.h>

int run_explore(int argc, char **argv)
{
    char script[PATH_MAX];
    struct fail fail;

    if (!session_find("tools/explore.py", script, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    argv[0] = script;
    execv(script, argv);
    complain("%s: %s", script, strerror(errno));
    return EXIT_USAGE;
}
