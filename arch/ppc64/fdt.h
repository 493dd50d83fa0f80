/* arch/ppc64/fdt.h - the format of a flattened device tree: fdt.c reads it, prom.c writes it. */
#pragma once

#include <stdint.h>

#define FDT_MAGIC           0xd00dfeedu
#define FDT_VERSION         17u
#define FDT_LAST_COMPATIBLE 16u /* oldest version whose readers understand it */

enum fdt_token { FDT_BEGIN_NODE = 1, FDT_END_NODE = 2, FDT_PROPERTY = 3, FDT_NOP = 4, FDT_END = 9 };

struct fdt_header { /* big-endian, like the port */
    uint32_t magic, size, structure, strings, reserve_map, version, last_compatible, boot_cpu;
    uint32_t strings_size, structure_size;
};
