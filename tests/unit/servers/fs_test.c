/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_test.c - names, contents, handles, pipes and the archive, without messages. */
#include "memory_host.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/fs/load.h>
#include <servers/fs/open.h>
#include <servers/fs/tree.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tarn/runtime.h>
#include <tests/tap.h>
#include <tests/unit/servers/fake_server.h>

static int make_file(const char *path, const char *text)
{
    struct node *node;
    int created;
    uint64_t offset = 0;
    int error = tree_open(path, O_CREAT | O_EXCL, 0644, &node, &created);
    if (error)
        return error;
    int64_t written = node_write(node, &offset, text, strlen(text), 0);
    node_put(node);
    return written < 0 ? (int)written : 0;
}

static int make_dir(const char *path)
{
    return tree_make(path, NODE_DIRECTORY, S_IFDIR | 0755);
}

static int has(const char *path, const char *text)
{
    char buffer[256];
    struct node *node;
    if (tree_find(path, &node))
        return 0;
    int64_t size = node_read(node, 0, buffer, sizeof(buffer));
    node_put(node);
    return size == (int64_t)strlen(text) && !memcmp(buffer, text, strlen(text));
}

static void test_names(void)
{
    struct node *node;
    int created;
    char real[FS_PATH_MAX];
    check(make_dir("/a") == 0 && make_dir("/a/b") == 0);
    check(make_dir("/a") == -EEXIST && make_dir("/") == -EEXIST && make_dir("/x/y") == -ENOENT);
    check(make_file("/a/b/f", "hello") == 0 && has("/a/b/f", "hello"));
    check(has("//a/./b/../b//f", "hello") && has("/../a/b/f", "hello"));
    check(tree_find("/a/b/f/", &node) == -ENOTDIR && tree_find("/a/b/f/g", &node) == -ENOTDIR);
    check(tree_find("a", &node) == -EINVAL && tree_find("", &node) == -EINVAL);
    check(tree_open("/a/b/f", O_CREAT | O_EXCL, 0, &node, &created) == -EEXIST);
    check(tree_open("/a/b/f", O_CREAT, 0, &node, &created) == 0 && !created);
    node_put(node);
    check(tree_real_path("/a/../a//b/./f", real, sizeof(real), 0) == 6 && !strcmp(real, "/a/b/f"));
    check(tree_real_path("/a/b/f", real, sizeof(real), 1) == -ENOTDIR);
    check(tree_real_path("/a/..", real, sizeof(real), 1) == 1 && !strcmp(real, "/"));
    check(tree_real_path("/a/b", real, 4, 0) == -ENAMETOOLONG);
    char name[FS_NAME_MAX + 3] = "/";
    memset(name + 1, 'n', FS_NAME_MAX + 1);
    check(make_file(name, "") == -ENAMETOOLONG && tree_find(name, &node) == -ENAMETOOLONG);
    name[FS_NAME_MAX + 1] = 0;
    check(make_file(name, "long") == 0 && has(name, "long") && tree_unlink(name) == 0);

    check(tree_rmdir("/a/b") == -ENOTEMPTY && tree_rmdir("/a/b/f") == -ENOTDIR &&
          tree_unlink("/a/b") == -EISDIR);
    check(tree_rmdir("/") == -EBUSY && tree_rmdir("/a/.") == -EINVAL && tree_unlink("/a/no") == -ENOENT);
    check(tree_link("/a/b/f", "/a/l") == 0 && tree_link("/a/b", "/a/m") == -EPERM);
    check(tree_unlink("/a/b/f") == 0 && has("/a/l", "hello") && !has("/a/b/f", "hello"));
    check(tree_rmdir("/a/b") == 0 && tree_unlink("/a/l") == 0 && tree_rmdir("/a") == 0);
}

static void test_rename(void)
{
    check(make_dir("/r") == 0 && make_dir("/r/d") == 0 && make_dir("/r/e") == 0 && make_dir("/r/d/s") == 0);
    check(make_file("/r/f", "one") == 0 && make_file("/r/g", "two") == 0);
    check(tree_rename("/r/f", "/r/g") == 0 && has("/r/g", "one") && !has("/r/f", "one"));
    check(tree_rename("/r/g", "/r/g") == 0 && has("/r/g", "one"));
    check(tree_rename("/r/g", "/r/d/g") == 0 && has("/r/d/g", "one"));
    check(tree_rename("/r/d", "/r/d/s/x") == -EINVAL && tree_rename("/r/d", "/r/d/s") == -EINVAL);
    check(tree_rename("/r/d/s", "/r/d") == -ENOTEMPTY && tree_rename("/r/d/s", "/r") == -ENOTEMPTY);
    check(tree_rename("/r/d", "/r/d/g") == -EINVAL);
    check(tree_rename("/r/e", "/r/d/g") == -ENOTDIR && tree_rename("/r/d/g", "/r/e") == -EISDIR);
    check(tree_rename("/r/d", "/r/e") == 0 && has("/r/e/g", "one") && has("/r/e/s/../g", "one"));
    check(tree_rename("/r/e/s", "/s") == 0 && has("/s/../r/e/g", "one"));
    check(tree_rename("/", "/x") == -EBUSY && tree_rename("/no", "/x") == -ENOENT);
    check(tree_unlink("/r/e/g") == 0 && tree_rmdir("/r/e") == 0 && tree_rmdir("/r") == 0 &&
          tree_rmdir("/s") == 0);
}

static void test_removed_but_open(void)
{
    struct node *file, *directory, *other;
    int created;
    char text[8] = "";
    uint64_t offset = 0, position = 0;
    check(make_dir("/u") == 0 && make_file("/u/f", "alive") == 0);
    check(tree_find("/u/f", &file) == 0 && tree_find("/u", &directory) == 0);
    check(tree_unlink("/u/f") == 0 && tree_rmdir("/u") == 0);
    check(node_read(file, 0, text, 8) == 5 && !strcmp(text, "alive"));
    check(node_write(file, &offset, "still", 5, 1) == 5 && offset == 5);
    check(tree_read_directory(directory, &position, text, 8) == 0);
    check(tree_open("/u/g", O_CREAT, 0, &other, &created) == -ENOENT);
    unsigned live = memory_live();
    node_put(file);
    node_put(directory);
    check(memory_live() == live - 1);
}

static void test_contents(void)
{
    struct node *node;
    char buffer[16];
    uint64_t offset = 10;
    check(make_file("/c", "0123456789") == 0 && tree_find("/c", &node) == 0);
    check(node_truncate(node, 4) == 0 && node_truncate(node, 8) == 0);
    check(node_read(node, 0, buffer, 16) == 8 && !memcmp(buffer, "0123\0\0\0\0", 8));
    offset = 12;
    check(node_write(node, &offset, "x", 1, 0) == 1 && node_read(node, 8, buffer, 16) == 5);
    check(!memcmp(buffer, "\0\0\0\0x", 5) && node_read(node, 100, buffer, 16) == 0);
    offset = FILE_SIZE_MAX;
    check(node_write(node, &offset, "x", 1, 0) == -EFBIG);
    offset = ~0ull;
    check(node_write(node, &offset, "x", 1, 0) == -EFBIG);
    memory_limit = 20;
    offset = 19;
    node_label(node, 5);
    check(node_write(node, &offset, "xy", 2, 0) == -ENOSPC && node->authority == 0 &&
          node_read(node, 12, buffer, 16) == 1);
    memory_limit = ~0ull;
    /* What was lent stays as it was; what is shared changes. */
    uint32_t lent, shared;
    offset = 0;
    node_label(node, 5);
    check(node_executable(node, &lent) == 0 && node->authority == 5);
    check(node_write(node, &offset, "y", 1, 0) == 1 && node->authority == 0);
    check(sys_memory_read(lent, 0, buffer, 8) == 8 && !memcmp(buffer, "0123\0\0\0\0", 8));
    node_label(node, 5);
    check(node_share(node, &shared) == 0 && node->authority == 0 &&
          node_write(node, &offset, "z", 1, 0) == 1);
    check(sys_memory_read(shared, 0, buffer, 4) == 4 && !memcmp(buffer, "z123", 4));
    node_label(node, 5);
    check(node_truncate(node, 0) == 0 && node->authority == 0 && sys_memory_read(shared, 0, buffer, 4) == 4 &&
          !memcmp(buffer, "\0\0\0", 4));
    sys_cap_close(lent);
    sys_cap_close(shared);
    node_put(node);
    check(tree_unlink("/c") == 0);
}

/* Reads a directory in small pieces while names are added
 * and removed: each name that stays is seen exactly once. */
static void test_directory(void)
{
    char path[32], buffer[96];
    struct node *node;
    uint64_t position = 0;
    int seen[200] = {0}, dots = 0, wrong = 0;
    int64_t size;
    check(make_dir("/d") == 0);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "/d/%d", i);
        wrong += make_file(path, "") != 0;
    }
    check(!wrong && tree_find("/d", &node) == 0);
    for (int round = 0; (size = tree_read_directory(node, &position, buffer, sizeof(buffer))) > 0; round++) {
        for (int64_t at = 0; at < size;) {
            struct fs_dirent entry;
            memcpy(&entry, buffer + at, offsetof(struct fs_dirent, name));
            const char *name = buffer + at + offsetof(struct fs_dirent, name);
            wrong += strlen(name) != entry.name_length || entry.length % 8;
            if (name[0] == '.')
                dots++;
            else
                seen[atoi(name)]++;
            at += entry.length;
        }
        if (2 * round + 1 < 200) { /* an entry that was already read */
            snprintf(path, sizeof(path), "/d/%d", 2 * round);
            if (seen[2 * round])
                wrong += tree_unlink(path) != 0;
        }
    }
    for (int i = 0; i < 200; i++)
        wrong += seen[i] != 1;
    check(size == 0 && dots == 2 && wrong == 0);
    position = 0;
    check(tree_read_directory(node, &position, buffer, 8) == -EINVAL);
    node_put(node);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "/d/%d", i);
        tree_unlink(path);
    }
    check(tree_rmdir("/d") == 0);
}

/* ---- handles and pipes ----------------------------------------------------------------------------- */

static void test_handles(void)
{
    struct node *node;
    check(make_file("/h", "handle") == 0 && tree_find("/h", &node) == 0);
    int64_t handle = open_file_add(1, open_file_create(node, O_RDWR));
    check(handle == 0 && handle_get(1, 1) == NULL && handle_get(2, 0) == NULL &&
          handle_get(1, ~0ull) == NULL);
    uint64_t handles[2] = {0, 0};
    check(handles_inherit(1, 2, handles, 2) == 0 && handles[0] != handles[1]);
    uint64_t bad[2] = {0, 77};
    uint64_t before = handle_count();
    check(handles_inherit(1, 3, bad, 2) == -EBADF && handle_count() == before);
    struct open_file *mine = handle_get(1, 0), *theirs = handle_get(2, handles[1]);
    check(mine && mine == theirs);
    handle_put(mine);
    handle_put(theirs);
    check(handle_close(1, 0) == 0 && handle_close(1, 0) == -EBADF);
    client_end(2);
    client_end(3);
    check(handle_count() == 0 && tree_unlink("/h") == 0);
    int64_t last = 0;
    for (unsigned i = 0; i <= open_file_handles.max && last >= 0; i++) {
        struct node *null = node_create(NODE_NULL, S_IFCHR);
        last = open_file_add(4, open_file_create(null, O_RDONLY));
    }
    check(last == -EMFILE && handle_count() == open_file_handles.max);
    client_end(4);
    client_end(1);
    check(handle_count() == 0);
}

/* In the client's buffer, which it gets with the first span. */
static uint64_t span(uint32_t client, uint64_t offset, uint64_t length)
{
    static uint64_t numbers[12]; /* + 1; 0: none yet */
    cap_t memory;
    if (!numbers[client])
        numbers[client] = (uint64_t)buffer_attach(client, &memory) + 1;
    return SERVER_SPAN(numbers[client] - 1, offset, length);
}

static char *buffer_of(uint32_t client)
{
    return server_span(client, span(client, 0, 0));
}

static uint64_t put(uint32_t client, uint32_t offset, const char *text)
{
    memcpy(buffer_of(client) + offset, text, strlen(text));
    return span(client, offset, strlen(text));
}

static void die(uint32_t client)
{
    fake_client_gone(client);
    client_end(client);
}

static void test_buffers(void)
{
    cap_t memory;
    int64_t first = buffer_attach(20, &memory), last = first;
    uint64_t whole = SERVER_SPAN(first, 0, SERVER_BUFFER_BYTES);
    unsigned live = memory_live();
    for (unsigned i = 1; i <= SERVER_BUFFERS_MAX && last >= 0; i++)
        last = buffer_attach(20, &memory);
    check(last == -EMFILE && memory_live() == live + SERVER_BUFFERS_MAX - 1);
    memset(server_span(20, whole), 'b', SERVER_BUFFER_BYTES);
    check(!server_span(21, whole) && !server_span(20, SERVER_SPAN(first, 1, SERVER_BUFFER_BYTES)) &&
          !server_span(20, SERVER_SPAN(first, SERVER_BUFFER_BYTES + 1, 0)));
    int64_t other = buffer_attach(21, &memory);
    check(client_end(20) && !client_end(21) && !client_end(22) && !server_span(20, whole)); /* one wake-up */
    check(buffer_attach(21, &memory) > other); /* not one that a request may still use */
    client_end(21);
    buffers_reclaim();
    check(memory_live() == live - 1 && buffer_attach(22, &memory) == first &&
          *(char *)server_span(22, whole) == 0);
    client_end(22);
    buffers_reclaim();
}

static struct pipe *make_pipe(void)
{
    struct pipe *pipe = pipe_create();
    pipe_open_end(pipe, PIPE_READ);
    pipe_open_end(pipe, PIPE_WRITE);
    return pipe;
}

static const struct server_request *ask(uint32_t client, uint64_t span)
{
    static struct server_request request;
    request = (struct server_request){.client = client, .word = {0, span, FS_HERE}};
    return &request;
}

static void test_pipe(void)
{
    struct pipe *pipe = make_pipe();
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), false) == -EAGAIN);
    check(pipe_read(pipe, ask(1, span(2, 0, 8)), true) == -EFAULT);
    fake_next_client(1);
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), true) == SERVER_LATER);
    cap_t reader = fake_last_reply();
    check(pipe_write(pipe, ask(2, put(2, 0, "abc")), true) == 3);
    check(fake_replied(reader) && fake_result(reader) == 3 && !memcmp(buffer_of(1), "abc", 3));

    /* More than fits: the writer waits, readers get the bytes in order. */
    memset(buffer_of(2), 'x', SERVER_BUFFER_BYTES);
    buffer_of(2)[SERVER_BUFFER_BYTES - 1] = 'y';
    check(pipe_write(pipe, ask(2, span(2, 0, 60000)), true) == 60000);
    fake_next_client(2);
    check(pipe_write(pipe, ask(2, span(2, 0, SERVER_BUFFER_BYTES)), false) == FS_PIPE_BYTES - 60000);
    check(pipe_write(pipe, ask(2, span(2, 0, 10)), false) == -EAGAIN);
    check(pipe_write(pipe, ask(2, span(2, SERVER_BUFFER_BYTES - 5000, 5000)), true) == SERVER_LATER);
    cap_t writer = fake_last_reply();
    int64_t total = 0, size;
    while ((size = pipe_read(pipe, ask(1, span(1, 0, 30000)), false)) > 0)
        total += size;
    check(total == FS_PIPE_BYTES + 5000 && buffer_of(1)[(total - 1) % 30000 % 10536] != 0);
    check(fake_replied(writer) && fake_result(writer) == 5000);

    pipe_close_end(pipe, PIPE_WRITE);
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), true) == 0);
    pipe_destroy(pipe);
}

static void test_pipe_ends(void)
{
    struct pipe *pipe = make_pipe();
    fake_next_client(1);
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), true) == SERVER_LATER);
    cap_t reader = fake_last_reply();
    struct server_request poll = {.client = 3, .word = {9, SERVER_POLL_READ}, .received = {5}};
    check(pipe_poll(pipe, PIPE_READ, &poll) == 0 && poll.received[0] == 0);
    poll.received[0] = 6;
    check(pipe_poll(pipe, PIPE_READ, &poll) == 0 && poll.received[0] == 0 && fake_closed == 1); /* replaced */
    pipe_close_end(pipe, PIPE_WRITE);
    check(fake_replied(reader) && fake_result(reader) == 0 && fake_signals == 1 && fake_closed == 2);
    poll.received[0] = 7;
    check(pipe_poll(pipe, PIPE_READ, &poll) == (SERVER_POLL_READ | SERVER_POLL_HANGUP) && poll.received[0]);
    pipe_close_end(pipe, PIPE_READ);
    pipe_destroy(pipe);

    pipe = make_pipe();
    memset(buffer_of(2), 'z', SERVER_BUFFER_BYTES);
    check(pipe_write(pipe, ask(2, span(2, 0, FS_PIPE_BYTES)), true) == FS_PIPE_BYTES);
    fake_next_client(2);
    check(pipe_write(pipe, ask(2, span(2, 0, 4096)), true) == SERVER_LATER);
    cap_t writer = fake_last_reply();
    check(pipe_read(pipe, ask(1, span(1, 0, 4095)), true) == 4095 &&
          !fake_replied(writer)); /* all or nothing */
    pipe_close_end(pipe, PIPE_READ);
    check(fake_replied(writer) && fake_result(writer) == -EPIPE);
    check(pipe_write(pipe, ask(2, span(2, 0, 1)), true) == -EPIPE);
    pipe_close_end(pipe, PIPE_WRITE);
    pipe_destroy(pipe);
}

/* Clients that die while they wait: no byte is lost, no request gets two replies. */
static void test_pipe_deaths(void)
{
    struct pipe *pipe = make_pipe();
    fake_next_client(10);
    check(pipe_read(pipe, ask(10, span(10, 0, 8)), true) == SERVER_LATER);
    fake_next_client(1);
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), true) == SERVER_LATER);
    cap_t living = fake_last_reply();
    die(10); /* the pipe does not know yet */
    check(pipe_write(pipe, ask(2, put(2, 0, "data")), true) == 4);
    check(fake_replied(living) && fake_result(living) == 4 && !memcmp(buffer_of(1), "data", 4));
    fake_next_client(11);
    check(pipe_read(pipe, ask(11, span(11, 0, 8)), true) == SERVER_LATER);
    die(11);
    pipe_forget(pipe, 11, 0, true);
    check(pipe_write(pipe, ask(2, put(2, 0, "more")), true) == 4);
    check(pipe_read(pipe, ask(1, span(1, 0, 8)), false) == 4);
    pipe_close_end(pipe, PIPE_READ);
    pipe_close_end(pipe, PIPE_WRITE);
    pipe_destroy(pipe);
}

/* A directory with what is in it, also in directories. */
static void remove_all(const char *path)
{
    char buffer[4096], child[FS_PATH_MAX];
    struct node *node;
    int64_t size;
    uint64_t position = 0;
    if (tree_find(path, &node))
        return;
    while ((size = tree_read_directory(node, &position, buffer, sizeof(buffer))) > 0) {
        for (int64_t at = 0; at < size;) {
            struct fs_dirent entry;
            memcpy(&entry, buffer + at, offsetof(struct fs_dirent, name));
            const char *name = buffer + at + offsetof(struct fs_dirent, name);
            at += entry.length;
            snprintf(child, sizeof(child), "%s/%s", path, name);
            if (name[0] != '.' && tree_unlink(child))
                remove_all(child);
        }
    }
    node_put(node);
    tree_rmdir(path);
}

/* ---- the archive ----------------------------------------------------------------------------------- */

static char *add_entry(char *at, const char *name, unsigned mode, const char *data)
{
    char *start = at;
    at += sprintf(at, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s", 1, mode, 0, 0, 1, 0,
                  (unsigned)strlen(data), 0, 0, 0, 0, (unsigned)strlen(name) + 1, 0, name);
    *at++ = 0;
    while ((at - start) % 4)
        *at++ = 0;
    at += sprintf(at, "%s", data);
    while ((at - start) % 4)
        *at++ = 0;
    return at;
}

static void test_archive(void)
{
    char archive[2048];
    struct load_result result;
    char *end = add_entry(archive, "bin", 0040755, "");
    end = add_entry(end, "bin/sh", 0100755, "shell");
    end = add_entry(end, "./deep/er/file", 0100644, "x");
    end = add_entry(end, "TRAILER!!!", 0, "");
    uint64_t size = (uint64_t)(end - archive);
    check(load_archive(archive, size, &result) == 0 && result.entries == 3 && result.bytes == 6);
    check(has("/bin/sh", "shell") && has("/deep/er/file", "x"));
    remove_all("/bin");
    remove_all("/deep");
    int wrong = 0;
    for (uint64_t cut = 0; cut < size - 1; cut += 7) {
        /* every truncated archive is an error, never a crash */
        char *copy = malloc(cut ? cut : 1);
        memcpy(copy, archive, cut);
        wrong += load_archive(copy, cut, &result) == 0;
        free(copy);
        remove_all("/bin");
        remove_all("/deep");
    }
    check(wrong == 0);
}

int main(void)
{
    check(tree_init() == 0);
    test_names();
    test_rename();
    test_removed_but_open();
    test_contents();
    test_directory();
    clients_init(&open_file_handles);
    test_handles();
    test_buffers();
    test_pipe();
    test_pipe_ends();
    test_pipe_deaths();
    client_end(1);
    client_end(2);
    buffers_reclaim();
    test_archive();
    check(memory_live() == 0 && node_totals.files == 0 && node_totals.bytes == 0);
    return finish_tests();
}
