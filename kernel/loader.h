/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/loader.h - the first program: init, from the boot archive.
 */
#ifndef KERNEL_LOADER_H
#define KERNEL_LOADER_H

#include <stdint.h>

/* A file of the boot archive, where it lies, and its bytes; path without a slash in front. NULL: there is
 * none. Takes no lock. */
const char *boot_archive_file(const char *path, uint64_t *file_size);

/* Makes init's space, maps sbin/init of the boot archive into it, gives it its capabilities and lets it run.
 * Panics with what to do if that is impossible. Boot processor, once, with everything else set up. */
void loader_start_init(void);

#endif
