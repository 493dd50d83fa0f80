/*
 * tree.c - the name space. Interface: tree.h. Entries of one directory: directory.c.
 *
 * Locking: a walk locks one directory at a time, only to look up a name and take a reference. A thread that
 * needs two directory locks at once, or changes a directory's parent, takes topology_lock first. All others
 * hold at most one node's lock, so the order of node locks does not matter then.
 */
#include "tree.h"
#include "directory.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_mutex_t topology_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before any node's lock */
static struct node *root;                                         /* never changes, is never removed */

struct name {
    const char *text;
    uint32_t length; /* 0: the root */
    int slash;       /* followed by a slash: must be a directory */
};

int tree_init(void)
{
    root = node_create(NODE_DIRECTORY, S_IFDIR | 0755);
    if (!root)
        return -ENOMEM;
    root->links = 1;
    root->directory.parent = root;
    return 0;
}

/* ---- walking --------------------------------------------------------------------------------------- */

static int is_dots(const struct name *name)
{
    return (name->length == 1 && name->text[0] == '.') ||
           (name->length == 2 && name->text[0] == '.' && name->text[1] == '.');
}

/* Takes the next name off a path. Returns false at its end. */
static int next_name(const char **path, struct name *name)
{
    while (**path == '/')
        (*path)++;
    name->text = *path;
    while (**path && **path != '/')
        (*path)++;
    name->length = (uint32_t)(*path - name->text);
    name->slash = **path == '/';
    return name->length != 0;
}

/* Looks up a name in `from`. *to is a reference; the caller's reference to `from` stays. */
static int lookup_step(struct node *from, const struct name *name, struct node **to)
{
    int error = 0;
    if (from->kind != NODE_DIRECTORY)
        return -ENOTDIR;
    if (name->length > FS_NAME_MAX)
        return -ENAMETOOLONG;
    pthread_mutex_lock(&from->lock);
    struct directory *directory = &from->directory;
    if (!directory->parent) {
        error = -ENOENT;
    } else if (is_dots(name)) {
        *to = name->length == 1 ? from : directory->parent;
    } else {
        struct dir_entry *entry = directory_find(directory, name->text, name->length);
        if (entry)
            *to = entry->node;
        else
            error = -ENOENT;
    }
    if (!error)
        node_get(*to);
    pthread_mutex_unlock(&from->lock);
    return error;
}

/* Walks to the directory of the last name in the path. The last name need not exist. */
static int walk_parent(const char *path, struct node **parent, struct name *last)
{
    struct name name;
    if (path[0] != '/')
        return -EINVAL;
    node_get(root);
    *parent = root;
    if (!next_name(&path, last))
        return 0; /* the root: an empty name */
    while (next_name(&path, &name)) {
        struct node *next;
        int error = lookup_step(*parent, last, &next);
        node_put(*parent);
        if (error)
            return error;
        *parent = next;
        *last = name;
    }
    if (last->length > FS_NAME_MAX || (*parent)->kind != NODE_DIRECTORY) {
        node_put(*parent);
        return last->length > FS_NAME_MAX ? -ENAMETOOLONG : -ENOTDIR;
    }
    return 0;
}

/* Consumes walk_parent's reference. */
static int find_last(struct node *parent, const struct name *last, struct node **node)
{
    if (last->length == 0) {
        *node = parent;
        return 0;
    }
    int error = lookup_step(parent, last, node);
    node_put(parent);
    if (!error && last->slash && (*node)->kind != NODE_DIRECTORY) {
        node_put(*node);
        return -ENOTDIR;
    }
    return error;
}

int tree_find(const char *path, struct node **node)
{
    struct node *parent;
    struct name last;
    int error = walk_parent(path, &parent, &last);
    return error ? error : find_last(parent, &last, node);
}

int tree_real_path(const char *path, char *real, size_t size, int must_be_directory)
{
    struct name name;
    size_t length = 0;
    int error = path[0] == '/' ? 0 : -EINVAL;
    struct node *node = root;
    node_get(node);
    while (!error && next_name(&path, &name)) {
        struct node *next;
        error = lookup_step(node, &name, &next);
        if (error)
            break;
        node_put(node);
        node = next;
        if (!is_dots(&name)) {
            if (length + name.length + 2 > size) {
                error = -ENAMETOOLONG;
                break;
            }
            real[length++] = '/';
            memcpy(real + length, name.text, name.length);
            length += name.length;
        } else if (name.length == 2) {
            while (length && real[--length] != '/')
                ;
        }
    }
    if (!error && must_be_directory && node->kind != NODE_DIRECTORY)
        error = -ENOTDIR;
    node_put(node);
    if (error)
        return error;
    if (size < 2)
        return -ENAMETOOLONG;
    if (length == 0)
        real[length++] = '/';
    real[length] = 0;
    return (int)length;
}

/* ---- making names ---------------------------------------------------------------------------------- */

/* The name must be unused and the parent locked. *node is a reference of the caller. */
static int make_locked(struct node *parent, const struct name *name, enum node_kind kind, mode_t mode,
                       struct node **node)
{
    if (!parent->directory.parent)
        return -ENOENT;
    *node = node_create(kind, mode);
    if (!*node)
        return -ENOSPC;
    (*node)->links = 1;
    if (kind == NODE_DIRECTORY)
        (*node)->directory.parent = parent;
    if (directory_add(&parent->directory, name->text, name->length, *node)) {
        node_put(*node);
        return -ENOSPC;
    }
    parent->modified = now_ns();
    return 0;
}

int tree_open(const char *path, int flags, mode_t mode, struct node **node, int *created)
{
    struct node *parent;
    struct name last;
    *created = 0;
    if (!(flags & O_CREAT))
        return tree_find(path, node);
    int error = walk_parent(path, &parent, &last);
    if (error)
        return error;
    if (last.length == 0 || is_dots(&last) || last.slash) {
        error = find_last(parent, &last, node);
        return error == -ENOENT ? -EISDIR : error;
    }
    pthread_mutex_lock(&parent->lock);
    struct dir_entry *entry = directory_find(&parent->directory, last.text, last.length);
    if (entry && (flags & O_EXCL)) {
        error = -EEXIST;
    } else if (entry) {
        *node = entry->node;
        node_get(*node);
    } else {
        error = make_locked(parent, &last, NODE_FILE, S_IFREG | (mode & 0777), node);
        *created = !error;
    }
    pthread_mutex_unlock(&parent->lock);
    node_put(parent);
    return error;
}

int tree_make(const char *path, enum node_kind kind, mode_t mode)
{
    struct node *parent, *node = NULL;
    struct name last;
    int error = walk_parent(path, &parent, &last);
    if (error)
        return error;
    pthread_mutex_lock(&parent->lock);
    if (last.length == 0 || is_dots(&last) || directory_find(&parent->directory, last.text, last.length))
        error = -EEXIST;
    else
        error = make_locked(parent, &last, kind, mode, &node);
    pthread_mutex_unlock(&parent->lock);
    if (!error)
        node_put(node);
    node_put(parent);
    return error;
}

static void drop_link(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    node->links--;
    pthread_mutex_unlock(&node->lock);
    node_put(node);
}

int tree_link(const char *from, const char *to)
{
    struct node *node, *parent;
    struct name last;
    int error = tree_find(from, &node);
    if (error)
        return error;
    if (node->kind == NODE_DIRECTORY) {
        node_put(node);
        return -EPERM;
    }
    error = walk_parent(to, &parent, &last);
    if (error) {
        node_put(node);
        return error;
    }
    pthread_mutex_lock(&node->lock);
    error = node->links == 0 ? -ENOENT : 0; /* unlinked meanwhile */
    node->links += !error;
    pthread_mutex_unlock(&node->lock);
    if (error) {
        node_put(parent);
        node_put(node);
        return error;
    }
    pthread_mutex_lock(&parent->lock);
    if (!parent->directory.parent)
        error = -ENOENT;
    else if (last.length == 0 || is_dots(&last) || directory_find(&parent->directory, last.text, last.length))
        error = -EEXIST;
    else if (directory_add(&parent->directory, last.text, last.length, node))
        error = -ENOSPC;
    pthread_mutex_unlock(&parent->lock);
    node_put(parent);
    if (error)
        drop_link(node);
    else
        node_put(node);
    return error;
}

/* ---- removing names -------------------------------------------------------------------------------- */

/* Marks an empty directory as removed: no entry can be added any more. The caller holds topology_lock. */
static int close_directory(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    int error = node->directory.entry_count ? -ENOTEMPTY : 0;
    if (!error)
        node->directory.parent = NULL;
    pthread_mutex_unlock(&node->lock);
    return error;
}

/* The caller drops the link of *node. */
static int remove_name(struct node *parent, const struct name *name, bool directory, struct node **node)
{
    pthread_mutex_lock(&parent->lock);
    struct dir_entry *entry = directory_find(&parent->directory, name->text, name->length);
    const bool is_directory = entry && entry->node->kind == NODE_DIRECTORY;
    int error = 0;
    if (name->length == 0 || is_dots(name))
        error = !directory ? -EISDIR : name->length ? -EINVAL : -EBUSY;
    else if (!entry)
        error = -ENOENT;
    else if (is_directory != directory || (name->slash && !directory))
        error = is_directory ? -EISDIR : -ENOTDIR;
    else if (directory)
        error = close_directory(entry->node);
    if (!error) {
        *node = directory_remove(&parent->directory, entry);
        parent->modified = now_ns();
    }
    pthread_mutex_unlock(&parent->lock);
    return error;
}

static int remove_path(const char *path, bool directory)
{
    struct node *parent, *node = NULL;
    struct name last;
    int error = walk_parent(path, &parent, &last);
    if (error)
        return error;
    error = remove_name(parent, &last, directory, &node);
    if (node)
        drop_link(node);
    node_put(parent);
    return error;
}

int tree_unlink(const char *path)
{
    return remove_path(path, false);
}

int tree_rmdir(const char *path)
{
    pthread_mutex_lock(&topology_lock);
    int error = remove_path(path, true);
    pthread_mutex_unlock(&topology_lock);
    return error;
}

/* ---- renaming -------------------------------------------------------------------------------------- */

static void lock_two(struct node *a, struct node *b)
{
    pthread_mutex_lock(&a->lock);
    if (a != b)
        pthread_mutex_lock(&b->lock);
}

static void unlock_two(struct node *a, struct node *b)
{
    if (a != b)
        pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&a->lock);
}

/* Whether `directory` is `node` or lies below it. Under topology_lock parents do not change. */
static int is_inside(struct node *directory, struct node *node)
{
    while (directory && directory != node && directory != root)
        directory = directory->directory.parent;
    return directory == node;
}

/* Both parents are locked. On success *victim is the node
 * that had the new name, or NULL; the caller drops it. */
static int rename_locked(struct node *from, const struct name *old, struct node *to, const struct name *new,
                         struct node **victim)
{
    *victim = NULL;
    struct dir_entry *source = directory_find(&from->directory, old->text, old->length);
    struct dir_entry *target = directory_find(&to->directory, new->text, new->length);
    if (!source || !to->directory.parent)
        return -ENOENT;
    struct node *node = source->node;
    int is_directory = node->kind == NODE_DIRECTORY;
    if ((old->slash || new->slash) && !is_directory)
        return -ENOTDIR;
    if (target && target->node == node)
        return 0;
    if (is_directory && is_inside(to, node))
        return -EINVAL;
    if (target && is_directory != (target->node->kind == NODE_DIRECTORY))
        return is_directory ? -ENOTDIR : -EISDIR;
    if (target) {
        /* A directory that can be replaced is empty, so it is neither of the locked parents. */
        if (is_directory && is_inside(from, target->node))
            return -ENOTEMPTY;
        int error = is_directory ? close_directory(target->node) : 0;
        if (error)
            return error;
        *victim = target->node;
        node_get(node);
        target->node = node;
    } else if (directory_add(&to->directory, new->text, new->length, node)) {
        return -ENOSPC;
    }
    if (is_directory && from != to) {
        pthread_mutex_lock(&node->lock);
        node->directory.parent = to;
        pthread_mutex_unlock(&node->lock);
    }
    node_put(directory_remove(&from->directory, source));
    from->modified = to->modified = now_ns();
    return 0;
}

int tree_rename(const char *from_path, const char *to_path)
{
    struct node *from, *to, *victim = NULL;
    struct name old, new;
    pthread_mutex_lock(&topology_lock);
    int error = walk_parent(from_path, &from, &old);
    if (!error) {
        error = walk_parent(to_path, &to, &new);
        if (error) {
            node_put(from);
        } else {
            lock_two(from, to);
            if (old.length == 0 || new.length == 0)
                error = -EBUSY;
            else if (is_dots(&old) || is_dots(&new))
                error = -EINVAL;
            else
                error = rename_locked(from, &old, to, &new, &victim);
            unlock_two(from, to);
            node_put(from);
            node_put(to);
        }
    }
    pthread_mutex_unlock(&topology_lock);
    if (victim)
        drop_link(victim);
    return error;
}

/* ---- reading directories --------------------------------------------------------------------------- */

/* Writes one record if it fits. Returns its length or 0. */
static uint32_t put_record(char *at, uint64_t space, uint64_t file, mode_t mode, uint64_t position,
                           const char *name, uint32_t length)
{
    uint32_t bytes = ((uint32_t)offsetof(struct fs_dirent, name) + length + 1 + 7) & ~7u;
    if (bytes > space)
        return 0;
    struct fs_dirent record = {
        .file = file,
        .position = position,
        .length = (uint16_t)bytes,
        .type = (uint8_t)((mode & S_IFMT) >> 12),
        .name_length = (uint8_t)length,
    };
    memset(at, 0, bytes);
    memcpy(at, &record, offsetof(struct fs_dirent, name));
    memcpy(at + offsetof(struct fs_dirent, name), name, length);
    return bytes;
}

/* Positions: 0 is ".", 1 is "..", entry->position + 2 the others. A record's `position` is where to continue
 * after it. */
int64_t tree_read_directory(struct node *node, uint64_t *position, void *buffer, uint64_t size)
{
    uint64_t used = 0;
    uint32_t bytes;
    if (node->kind != NODE_DIRECTORY)
        return -ENOTDIR;
    pthread_mutex_lock(&node->lock);
    struct node *parent = node->directory.parent;
    for (; *position < 2 && parent; ++*position, used += bytes) {
        const struct node *which = *position ? parent : node;
        bytes = put_record((char *)buffer + used, size - used, which->number, S_IFDIR, *position + 1, "..",
                           (uint32_t)*position + 1);
        if (!bytes)
            goto full;
    }
    uint64_t from = *position > 2 ? *position - 2 : 0;
    for (struct dir_entry *entry; (entry = directory_next(&node->directory, from));
         from = entry->position + 1) {
        bytes = put_record((char *)buffer + used, size - used, entry->node->number, entry->node->mode,
                           entry->position + 3, entry->name, entry->length);
        if (!bytes)
            goto full;
        used += bytes;
        *position = entry->position + 3;
    }
    pthread_mutex_unlock(&node->lock);
    return (int64_t)used;
full:
    pthread_mutex_unlock(&node->lock);
    return used ? (int64_t)used : -EINVAL;
}
