/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/boot_ring.c - finds the boot ring in the kernel's executable; see boot_ring.h. */
#include <tools/tarn/goto/boot_ring.h>
#include <tools/tarn/symbols/program.h>

uint64_t boot_ring_behind_info(const char *path)
{
    struct program *program = program_open(path);

    if (program == NULL)
        return 0;
    uint64_t info = program_address(program, "trace_info_page");
    uint64_t ring = program_address(program, "boot_ring");
    program_close(program);
    return info != 0 && ring != 0 ? ring - info : 0;
}
