/* sys/mman.h - memory mappings; libc-glue/posix/mman.c. */
#pragma once

#include <sys/types.h>

#define PROT_NONE  0
#define PROT_READ  1
#define PROT_WRITE 2
#define PROT_EXEC  4

/* MAP_PRIVATE and MAP_FIXED equal those of <tarn/abi.h>, so that both headers can be included. */
#define MAP_PRIVATE   8u
#define MAP_FIXED     16u
#define MAP_SHARED    64u
#define MAP_ANONYMOUS 128u
#define MAP_ANON      MAP_ANONYMOUS
#define MAP_FAILED    ((void *)-1)

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int munmap(void *address, size_t size);
int mprotect(void *address, size_t size, int protection);
