/* SPDX-License-Identifier: BSD-2-Clause */
/* cat.c - writes files, or standard input, to standard output. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    bool flags[26] = {0};
    int first = read_flags(argc, argv, "", flags, "[file ...]");
    int status = 0;
    if (first == argc && copy_stream(0, 1) < 0)
        status = complain("standard input");
    for (int i = first; i < argc; i++) {
        int fd = strcmp(argv[i], "-") ? open(argv[i], O_RDONLY) : 0;
        if (fd < 0 || copy_stream(fd, 1) < 0)
            status = complain("%s", argv[i]);
        if (fd > 0)
            close(fd);
    }
    return status;
}
