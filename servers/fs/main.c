/*
 * main.c - the file system server: loads the boot archive, then serves requests with one worker per CPU. Read
 * next: request.c.
 */
#include "request.h"
#include "tree.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/lib/cpio.h>
#include <servers/protocol/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tarn/runtime.h>

#define WRITE_BYTES 0x100000ull

static int make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int error = tree_make(path, NODE_DIRECTORY, S_IFDIR | 0755);
        *slash = '/';
        if (error && error != -EEXIST)
            return error;
    }
    return 0;
}

static int load_file(const char *path, const struct cpio_entry *entry)
{
    struct node *node;
    int created;
    int error = tree_open(path, O_CREAT | O_EXCL, entry->mode, &node, &created);
    if (error)
        return error;
    for (uint64_t offset = 0, bytes; !error && offset < entry->size; offset += bytes) {
        uint64_t at = offset;
        bytes = entry->size - offset < WRITE_BYTES ? entry->size - offset : WRITE_BYTES;
        int64_t written = node_write(node, &at, entry->data + offset, bytes, 0);
        error = written < 0 ? (int)written : 0;
    }
    if (!error)
        node_label(node, entry->authority);
    node_put(node);
    return error;
}

static int load_entry(const struct cpio_entry *entry)
{
    char path[FS_PATH_MAX];
    int length = snprintf(path, sizeof(path), "/%s", entry->name);
    if (length < 0 || length >= (int)sizeof(path))
        return -ENAMETOOLONG;
    int error = make_parents(path);
    if (error)
        return error;
    if (S_ISDIR(entry->mode)) {
        error = tree_make(path, NODE_DIRECTORY, S_IFDIR | (entry->mode & 0777));
        return error == -EEXIST ? 0 : error; /* "." and directories made as a file's parents exist already */
    }
    return S_ISREG(entry->mode) ? load_file(path, entry) : 0;
}

static void make_devices(void)
{
    tree_make("/dev", NODE_DIRECTORY, S_IFDIR | 0755);
    tree_make("/tmp", NODE_DIRECTORY, S_IFDIR | 0777);
    tree_make("/dev/null", NODE_NULL, S_IFCHR | 0666);
    tree_make("/dev/zero", NODE_ZERO, S_IFCHR | 0666);
}

/* Entries before one that fails are kept. */
static void load_archive(const char *archive, uint64_t size)
{
    struct cpio_reader reader = {archive, size, 0};
    struct cpio_entry entry = {.name = ""};
    unsigned long long entries = 0, bytes = 0;
    int more, error = 0;
    while ((more = cpio_next(&reader, &entry)) > 0 && !(error = load_entry(&entry))) {
        entries++;
        bytes += entry.size;
    }
    error = more < 0 ? -EIO : error;
    if (error)
        debug_printf("fs: boot archive: %s: %s\n", more < 0 ? "" : entry.name, strerror(-error));
    debug_printf("fs: %llu files and directories, %llu KiB\n", entries, bytes / 1024);
}

static void load_boot_archive(void)
{
    int64_t size = sys_memory_size(SLOT_BOOT_ARCHIVE);
    void *archive = size > 0 ? memory_map(SLOT_BOOT_ARCHIVE, (uint64_t)size, MAP_READ) : NULL;
    if (!archive) {
        debug_printf("fs: no boot archive: the file system is empty\n");
        return;
    }
    load_archive(archive, (uint64_t)size);
    memory_unmap(archive, (uint64_t)size);
    sys_cap_close(SLOT_BOOT_ARCHIVE);
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
