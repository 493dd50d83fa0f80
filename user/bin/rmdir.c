/* SPDX-License-Identifier: BSD-2-Clause */
/* rmdir.c - removes empty directories. */
#include <unistd.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    bool flags[26] = {0};
    int first = read_flags(argc, argv, "", flags, "directory ...");
    int status = 0;
    if (first == argc)
        usage("directory ...");
    for (int i = first; i < argc; i++) {
        if (rmdir(argv[i]) < 0)
            status = complain("%s", argv[i]);
    }
    return status;
}
