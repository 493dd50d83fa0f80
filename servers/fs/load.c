/* load.c - fills the file system from the boot archive. Interface: load.h. */
#include "load.h"
#include "tree.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/lib/cpio.h>
#include <servers/protocol/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

int load_archive(const char *archive, uint64_t size, struct load_result *result)
{
    struct cpio_reader reader = {archive, size, 0};
    struct cpio_entry entry;
    int more;
    *result = (struct load_result){0};
    while ((more = cpio_next(&reader, &entry)) > 0) {
        int error = load_entry(&entry);
        if (error) {
            snprintf(result->name, sizeof(result->name), "%s", entry.name);
            return error;
        }
        result->entries++;
        result->bytes += entry.size;
    }
    return more < 0 ? -EIO : 0;
}
