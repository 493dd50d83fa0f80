/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.h - loads the first program, init, from the boot archive. */
#ifndef KERNEL_LOADER_H
#define KERNEL_LOADER_H

#include <stdint.h>

/* Returns the contents and size of a file in the boot archive, or NULL; `path` has no leading slash. Takes
 * no lock. */
const char *boot_archive_file(const char *path, uint64_t *file_size);

/* Creates init's space, maps sbin/init of the boot archive into it, gives it its capabilities and starts
 * it. If that fails, panics with advice. Called once by the boot CPU, when everything else is set up. */
void loader_start_init(void);

#endif
