/*
 * main.c - the file system server: loads the boot archive, then serves requests with one worker per CPU. Read
 * next: request.c.
 */
#include "load.h"
#include "open.h"
#include "request.h"
#include "tree.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tarn/runtime.h>

static void make_devices(void)
{
    tree_make("/dev", NODE_DIRECTORY, S_IFDIR | 0755);
    tree_make("/tmp", NODE_DIRECTORY, S_IFDIR | 0777);
    tree_make("/dev/null", NODE_NULL, S_IFCHR | 0666);
    tree_make("/dev/zero", NODE_ZERO, S_IFCHR | 0666);
}

static void load_boot_archive(void)
{
    struct load_result result;
    int64_t size = sys_memory_size(SLOT_BOOT_ARCHIVE);
    void *archive = size > 0 ? memory_map(SLOT_BOOT_ARCHIVE, (uint64_t)size, MAP_READ) : NULL;
    if (!archive) {
        debug_printf("fs: no boot archive: the file system is empty\n");
        return;
    }
    int error = load_archive(archive, (uint64_t)size, &result);
    if (error)
        debug_printf("fs: boot archive: %s: %s\n", result.name, strerror(-error));
    memory_unmap(archive, (uint64_t)size);
    sys_cap_close(SLOT_BOOT_ARCHIVE);
    debug_printf("fs: %llu files and directories, %llu KiB\n", (unsigned long long)result.entries,
                 (unsigned long long)result.bytes / 1024);
}

static unsigned count_cpus(void)
{
    struct system_stats stats = {0};
    sys_system_read(SYSTEM_STATS, 0, &stats, sizeof(stats));
    return stats.cpus ? (unsigned)stats.cpus : 1;
}

int main(void)
{
    if (tree_init() < 0) {
        debug_printf("fs: no memory for the root directory\n");
        return EXIT_FAILURE;
    }
    load_boot_archive();
    make_devices();
    struct server server = {
        .name = "fs",
        .threads = count_cpus(),
        .handle = fs_handle,
        .handles = &open_file_handles,
    };
    server_run(&server, SLOT_SERVICE);
}
