/* mman.c - memory mappings: anonymous ones, and files of the file system. */
#include "file.h"

#include <servers/protocol/fs.h>
#include <sys/mman.h>

static uint32_t access_of(int protection)
{
    return (protection & (PROT_READ | PROT_WRITE) ? MAP_READ : 0) |
           (protection & PROT_WRITE ? MAP_WRITE : 0) | (protection & PROT_EXEC ? MAP_EXECUTE : 0);
}

/* Returns a slot with the memory to map, to be closed by the caller, or a negative errno. */
static int64_t memory_of_file(int fd, uint32_t flags)
{
    struct ipc_message message = {.label = FS_MAP, .word = {0, flags & MAP_SHARED ? FS_MAP_SHARED : 0}};
    int64_t result = WITH_FILE(fd, file,
                               (message.word[0] = file->handle,
                                file->kind == FILE_FS ? call_server_message(SLOT_FS, &message) : -ENODEV));
    return result < 0 ? result : message.cap[0];
}

static int64_t map_memory(uint64_t address, uint64_t size, int protection, uint32_t flags, int fd,
                          uint64_t offset)
{
    size = round_to_pages(size);
    if (!size || (offset & (TARN_PAGE_SIZE - 1)) || !(flags & (MAP_SHARED | MAP_PRIVATE)))
        return -EINVAL;
    bool anonymous = flags & MAP_ANONYMOUS;
    int64_t memory = anonymous ? errno_of(sys_memory_create(size)) : memory_of_file(fd, flags);
    if (memory < 0)
        return memory;
    uint32_t how = access_of(protection) | (flags & MAP_FIXED);
    if (!anonymous && (flags & MAP_PRIVATE))
        how |= MAP_PRIVATE;
    if (flags & MAP_FIXED)
        sys_space_unmap(SLOT_SPACE, address, size);
    int64_t result = sys_space_map(SLOT_SPACE, (cap_t)memory, flags & MAP_FIXED ? address : 0, size,
                                   anonymous ? 0 : offset, how);
    sys_cap_close((cap_t)memory);
    return errno_of(result);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    /* -1 is MAP_FAILED. */
    return (void *)LIBC_CALL(
        MMAP, address, size,
        map_memory((uint64_t)address, size, protection, (uint32_t)flags, fd, (uint64_t)offset));
}

int munmap(void *address, size_t size)
{
    return (int)LIBC_CALL(MUNMAP, address, size,
                          errno_of(sys_space_unmap(SLOT_SPACE, (uint64_t)address, round_to_pages(size))));
}

int mprotect(void *address, size_t size, int protection)
{
    return (int)set_errno(errno_of(
        sys_space_protect(SLOT_SPACE, (uint64_t)address, round_to_pages(size), access_of(protection))));
}
