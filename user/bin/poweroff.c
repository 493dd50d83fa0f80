/* SPDX-License-Identifier: BSD-2-Clause */
/* poweroff.c - ends the machine; the status becomes QEMU's exit status (boot/README.md). */
#include <errno.h>
#include <stdlib.h>

#include <servers/protocol/proc.h>
#include <tarn/server.h>
#include <user/bin/util.h>

int main(int argc, char **argv)
{
    program_name = "poweroff";
    const char *synopsis = "[status, 0..127]";
    if (argc > 2)
        usage(synopsis);
    const unsigned long status = argc > 1 ? read_number(argv[1], 0, 127, synopsis) : 0;
    errno = (int)-call_server(SLOT_PROC, PROC_SHUTDOWN, status, 0, 0, 0);
    return complain("cannot power off");
}
