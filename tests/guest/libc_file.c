/* libc_file.c - files, directories, descriptors and pipes (libc-glue/posix/, servers/fs). */
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <utime.h>

#define ROOT "/tmp/libc_file"

static void test_stdio(void)
{
    char line[64];
    FILE *file = fopen(ROOT "/text", "w");
    for (int i = 0; file && i < 20000; i++)
        fprintf(file, "line %d\n", i);
    check(file && fclose(file) == 0, "20000 lines are written");
    file = fopen(ROOT "/text", "r");
    check(file && fseek(file, -6, SEEK_END) == 0 && fgets(line, sizeof(line), file) &&
              !strcmp(line, "19999\n") && fclose(file) == 0,
          "fseek from the end");
}

static void test_descriptors(void)
{
    struct stat attributes;
    char buffer[16] = "";
    int fd = open(ROOT "/bytes", O_RDWR | O_CREAT | O_EXCL, 0644);
    check(fd >= 0, "open makes a file");
    check(open(ROOT "/bytes", O_RDWR | O_CREAT | O_EXCL, 0644) < 0 && errno == EEXIST, "once");
    check(write(fd, "hello world", 11) == 11 && lseek(fd, 6, SEEK_SET) == 6, "write and lseek");
    int copy = dup(fd);
    check(read(copy, buffer, 5) == 5 && !memcmp(buffer, "world", 5) && lseek(fd, 0, SEEK_CUR) == 11,
          "duplicates share an offset");
    check(pread(fd, buffer, 5, 0) == 5 && !memcmp(buffer, "hello", 5) && lseek(fd, 0, SEEK_CUR) == 11,
          "pread does not move it");
    close(fd);
    check(write(copy, "!", 1) == 1, "a duplicate outlives the original");
    check(fstat(copy, &attributes) == 0 && attributes.st_size == 12 && S_ISREG(attributes.st_mode), "fstat");
    check(ftruncate(copy, 5) == 0 && stat(ROOT "/bytes", &attributes) == 0 && attributes.st_size == 5,
          "ftruncate");
    check(labs((long)(time(NULL) - attributes.st_mtime)) < 100, "its modification time is now");
    close(copy);
    check(read(copy, buffer, 1) < 0 && errno == EBADF, "closed is closed");
    fd = open(ROOT "/bytes", O_WRONLY | O_APPEND);
    check(fcntl(fd, F_GETFL) == (O_WRONLY | O_APPEND), "F_GETFL returns what a file was opened with");
    check(write(fd, "++", 2) == 2 && stat(ROOT "/bytes", &attributes) == 0 && attributes.st_size == 7,
          "O_APPEND");
    check(read(fd, buffer, 1) < 0 && errno == EBADF, "a file open for writing cannot be read");
    close(fd);
    fd = open("/dev/null", O_RDWR);
    check(fd >= 0 && write(fd, "x", 1) == 1 && read(fd, buffer, 1) == 0, "/dev/null");
    close(fd);
    struct termios line;
    check(tcgetattr(1, &line) == 0 && tcsetattr(1, TCSANOW, &line) == 0, "the console's settings");
}

/* newlib does not declare them. */
int lstat(const char *path, struct stat *attributes);
int utime(const char *path, const struct utimbuf *times);

static void test_attributes(void)
{
    struct stat attributes;
    char buffer[16] = "";
    int fd = creat(ROOT "/bytes", 0644), other = open(ROOT "/bytes", O_RDONLY);
    check(pwrite(fd, "hello", 5, 3) == 5 && lseek(fd, 0, SEEK_CUR) == 0 && pread(other, buffer, 8, 0) == 8 &&
              !memcmp(buffer, "\0\0\0hello", 8) && fsync(fd) == 0,
          "creat, pwrite, fsync");
    check(truncate(ROOT "/bytes", 4) == 0 && lstat(ROOT "/bytes", &attributes) == 0 &&
              attributes.st_size == 4,
          "truncate, lstat");
    check(utime(ROOT "/bytes", &(struct utimbuf){.modtime = 1000}) == 0 && fstat(fd, &attributes) == 0 &&
              attributes.st_mtime == 1000,
          "utime");
    check(fcntl(other, F_SETFL, O_NONBLOCK) == 0 && dup2(other, fd) == fd && read(fd, buffer, 4) == 4 &&
              write(fd, "x", 1) < 0,
          "dup2");
    close(other);
    close(fd);
}

static void test_big(void)
{
    size_t size = 300000;
    unsigned char *out = malloc(size), *in = malloc(size);
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(i * 31 >> 3);
    int fd = open(ROOT "/big", O_RDWR | O_CREAT, 0644);
    check(write(fd, out, size) == (ssize_t)size, "a write larger than a shared buffer");
    check(pread(fd, in, size, 0) == (ssize_t)size && !memcmp(in, out, size), "reads back");
    char *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    check(map != MAP_FAILED && !memcmp(map, out, size), "mmap of a file");
    if (map != MAP_FAILED)
        munmap(map, size);
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(map != MAP_FAILED && (map[7] = 'x') && pread(fd, in, 1, 7) == 1 && in[0] == 'x',
          "and one that is shared changes it");
    check(ftruncate(fd, 0) == 0 && map[7] == 0, "and shows when the file is emptied");
    if (map != MAP_FAILED)
        munmap(map, size);
    close(fd);
    free(out);
    free(in);
}

/* ---- names ---------------------------------------------------------------------------------------- */

static int make_dir(const char *path, const char *unused)
{
    return mkdir(path, 0755);
}

static int make_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    const bool is_made = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return fd < 0 || close(fd) || !is_made ? -1 : 0;
}

/* Whether the file can be opened, and has just this text. */
static int has(const char *path, const char *text)
{
    char buffer[64];
    const int fd = open(path, O_RDONLY);
    const ssize_t size = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));
    if (fd < 0 || close(fd))
        return -1;
    errno = EIO;
    return size == (ssize_t)strlen(text) && !memcmp(buffer, text, (size_t)size) ? 0 : -1;
}

static int remove_dir(const char *path, const char *unused)
{
    return rmdir(path);
}

static int remove_file(const char *path, const char *unused)
{
    return unlink(path);
}

static int go(const char *path, const char *is_now)
{
    char now[256];
    if (chdir(path))
        return -1;
    errno = EIO;
    return getcwd(now, sizeof(now)) && !strcmp(now, is_now) ? 0 : -1;
}

#define LETTERS_5   "nnnnn"
#define LETTERS_25  LETTERS_5 LETTERS_5 LETTERS_5 LETTERS_5 LETTERS_5
#define LETTERS_125 LETTERS_25 LETTERS_25 LETTERS_25 LETTERS_25 LETTERS_25
#define LONGEST     LETTERS_125 LETTERS_125 LETTERS_5

/* In this order: a call, its path, and what else it takes; the error with which it fails. */
static const char names[] =
    "mkdir a; mkdir a/b; mkdir a EEXIST; mkdir / EEXIST; mkdir x/y ENOENT; make a/b/f hello; "
    "make a/b/f again EEXIST; has a/b/f hello; has .//a/./b/../b//f hello; has /../../" ROOT
    "/a/b/f hello; has a/b/f/ hello ENOTDIR; has a/b/f/g hello ENOTDIR; make " LONGEST
    "n - ENAMETOOLONG; make " LONGEST " long; has " LONGEST " long; unlink " LONGEST "; go a/../a//b/. " ROOT
    "/a/b; go ../.. " ROOT "; go /tmp/.. /; go " ROOT " " ROOT
    "; rmdir a/b ENOTEMPTY; rmdir a/b/f ENOTDIR; unlink a/b EISDIR; rmdir / EBUSY; rmdir a/. EINVAL; "
    "unlink a/no ENOENT; link a/b/f a/l; link a/b a/m EPERM; unlink a/b/f; has a/l hello; "
    "has a/b/f hello ENOENT; rmdir a/b; unlink a/l; rmdir a; mkdir r; mkdir r/d; mkdir r/e; "
    "mkdir r/d/s; make r/f one; make r/g two; rename r/f r/g; has r/g one; has r/f one ENOENT; "
    "rename r/g r/g; rename r/g r/d/g; has r/d/g one; rename r/d r/d/s/x EINVAL; "
    "rename r/d r/d/s EINVAL; rename r/d/s r/d ENOTEMPTY; rename r/d/s r ENOTEMPTY; "
    "rename r/d r/d/g EINVAL; rename r/e r/d/g ENOTDIR; rename r/d/g r/e EISDIR; rename r/d r/e; "
    "has r/e/g one; has r/e/s/../g one; rename r/e/s s; has s/../r/e/g one; rename / x EBUSY; "
    "rename no x ENOENT; unlink r/e/g; rmdir r/e; rmdir r; rmdir s; make f text; go f ENOTDIR; "
    "link f g; unlink f; has g text; unlink g";

static const struct {
    const char *name;
    int (*function)(const char *, const char *);
} calls[] = {{"mkdir", make_dir},     {"make", make_file}, {"has", has},   {"rmdir", remove_dir},
             {"unlink", remove_file}, {"go", go},          {"link", link}, {"rename", rename}};
static const struct {
    const char *name;
    int number;
} errors[] = {
    {"EEXIST", EEXIST}, {"ENOENT", ENOENT},       {"ENOTDIR", ENOTDIR}, {"ENAMETOOLONG", ENAMETOOLONG},
    {"EISDIR", EISDIR}, {"ENOTEMPTY", ENOTEMPTY}, {"EBUSY", EBUSY},     {"EINVAL", EINVAL},
    {"EPERM", EPERM}};

static bool is_right(char *text)
{
    char *rest, *call = strtok_r(text, " ", &rest), *path = strtok_r(NULL, " ", &rest),
                *other = strtok_r(NULL, " ", &rest), *error = strtok_r(NULL, " ", &rest);
    int wanted = 0, found = -1;
    if (other && other[0] == 'E')
        error = other;
    for (unsigned i = 0; error && i < sizeof(errors) / sizeof(errors[0]); i++)
        if (!strcmp(errors[i].name, error))
            wanted = errors[i].number;
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (!strcmp(calls[i].name, call))
            found = calls[i].function(path, other) ? errno : 0;
    if (found != wanted || !wanted != !error)
        printf("# %s %s %s: %s\n", call, path, other ? other : "", strerror(found));
    return found == wanted && !wanted == !error;
}

static void test_names(void)
{
    static char text[sizeof(names)];
    unsigned count = 0, right = 0;
    check(chdir(ROOT) == 0, "chdir");
    memcpy(text, names, sizeof(names));
    for (char *rest, *one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
        count++, right += is_right(one);
    check(count > 60 && right == count, "%u calls with names do as they should", count);
}

static void test_removed(void)
{
    struct stat attributes;
    char text[8] = "";
    make_dir("u", NULL), make_file("u/f", "alive");
    const int fd = open("u/f", O_RDWR);
    DIR *directory = opendir("u");
    check(unlink("u/f") == 0 && rmdir("u") == 0 && read(fd, text, 8) == 5 && !strcmp(text, "alive") &&
              write(fd, "still", 5) == 5 && fstat(fd, &attributes) == 0 && attributes.st_size == 10,
          "a removed file is there while it is open");
    check(directory && !readdir(directory) && make_file("u/g", "") && errno == ENOENT,
          "a removed directory is empty");
    closedir(directory);
    close(fd);
}

static void test_contents(void)
{
    char text[16];
    const int fd = open("c", O_RDWR | O_CREAT, 0644);
    check(write(fd, "0123456789", 10) == 10 && ftruncate(fd, 4) == 0 && ftruncate(fd, 8) == 0 &&
              pread(fd, text, 16, 0) == 8 && !memcmp(text, "0123\0\0\0\0", 8),
          "what is cut off does not come back");
    check(pwrite(fd, "x", 1, 12) == 1 && pread(fd, text, 16, 8) == 5 && !memcmp(text, "\0\0\0\0x", 5) &&
              pread(fd, text, 16, 100) == 0,
          "a gap is zero");
    check(pwrite(fd, "x", 1, 1ll << 62) < 0 && errno == EFBIG, "a file has a limit");
    close(fd);
    unlink("c");
}

#define NAME "file-with-a-rather-long-name-"

/* Each name that stays is seen once, also when those that were seen are removed meanwhile. */
static void test_listed(void)
{
    struct stat attributes;
    char path[64];
    unsigned seen[200] = {0}, wrong = 0;
    check(mkdir("d", 0755) == 0 && stat("d", &attributes) == 0 && S_ISDIR(attributes.st_mode), "mkdir");
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "d/" NAME "%d", i);
        make_file(path, "");
    }
    DIR *directory = opendir("d");
    check(directory && readdir(directory) && dirfd(directory) >= 0, "opendir");
    if (directory)
        rewinddir(directory);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof(path), "d/%s", entry->d_name);
        if (entry->d_name[0] != '.')
            seen[atoi(entry->d_name + strlen(NAME)) % 200]++,
                wrong += entry->d_type != DT_REG || unlink(path) != 0;
    }
    for (unsigned i = 0; i < 200; i++)
        wrong += seen[i] != 1;
    check(directory && closedir(directory) == 0 && wrong == 0 && rmdir("d") == 0,
          "a directory is read while its entries are removed");
}

static void test_limit(void)
{
    int fds[1024], count = 0;
    while (count < 1024 && (fds[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    check(count > 10 && count < 1024 && errno == EMFILE, "files are open up to a limit: %d", count);
    while (count)
        close(fds[--count]);
}

static void *read_all(void *argument)
{
    static char bytes[30000];
    size_t total = 0;
    for (ssize_t size; (size = read(*(int *)argument, bytes, sizeof(bytes))) > 0;)
        for (ssize_t i = 0; i < size; i++, total++)
            if (bytes[i] != (char)((total + 100) % 251)) /* 100 were read before */
                return NULL;
    return (void *)total;
}

/* More than fits waits for a reader, which gets the bytes in order. */
static void test_full_pipe(void)
{
    enum { MANY = 300000 };
    int fds[2];
    void *total;
    pthread_t thread;
    char *bytes = malloc(MANY);
    for (unsigned i = 0; i < MANY; i++)
        bytes[i] = (char)(i % 251);
    check(pipe(fds) == 0 && fcntl(fds[1], F_SETFL, O_NONBLOCK) == 0 &&
              fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 && read(fds[0], bytes, 1) < 0 && errno == EAGAIN,
          "without waiting: an empty pipe is EAGAIN");
    ssize_t fits = 0;
    for (ssize_t size; (size = write(fds[1], bytes + fits, (size_t)(MANY - fits))) > 0;)
        fits += size;
    check(fits == 65536 && errno == EAGAIN && read(fds[0], bytes, 100) == 100 &&
              write(fds[1], bytes, 200) < 0 && errno == EAGAIN && write(fds[1], bytes + fits, 100) == 100,
          "so is a full one, and one with too little space for a small write");
    fits += 100;
    fcntl(fds[0], F_SETFL, 0), fcntl(fds[1], F_SETFL, 0);
    pthread_create(&thread, NULL, read_all, &fds[0]);
    check(write(fds[1], bytes + fits, (size_t)(MANY - fits)) == MANY - fits, "a writer waits for space");
    close(fds[1]);
    pthread_join(thread, &total);
    check(total == (void *)(MANY - 100), "and each byte arrives, in order");
    close(fds[0]);
    check(pipe(fds) == 0 && close(fds[0]) == 0 && write(fds[1], "x", 1) < 0 && errno == EPIPE,
          "a pipe that nobody reads is EPIPE");
    close(fds[1]);
    free(bytes);
}

static void *write_late(void *argument)
{
    int fd = *(int *)argument;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    ssize_t put = write(fd, "late", 4);
    close(fd);
    return (void *)put;
}

static void test_pipes(void)
{
    int fds[2];
    char buffer[16];
    pthread_t thread;
    check(pipe(fds) == 0, "pipe");
    check(write(fds[1], "abc", 3) == 3 && read(fds[0], buffer, 16) == 3, "carries bytes");
    struct pollfd poller = {.fd = fds[0], .events = POLLIN};
    check(poll(&poller, 1, 0) == 0, "poll: nothing to read");
    check(poll(&poller, 1, 20) == 0, "poll times out");
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(fds[0], &readable);
    check(select(fds[0] + 1, &readable, NULL, NULL, &(struct timeval){.tv_usec = 1000}) == 0 &&
              !FD_ISSET(fds[0], &readable),
          "so does select");
    pthread_create(&thread, NULL, write_late, &fds[1]);
    check(poll(&poller, 1, 60000) == 1 && (poller.revents & POLLIN), "poll waits for a writer");
    check(read(fds[0], buffer, 16) == 4 && !memcmp(buffer, "late", 4), "and the bytes are there");
    pthread_join(thread, NULL);
    check(poll(&poller, 1, 0) == 1 && (poller.revents & POLLHUP) && read(fds[0], buffer, 16) == 0,
          "a pipe without writers ends");
    close(fds[0]);
}

int main(void)
{
    mkdir("/tmp", 0777);
    check(mkdir(ROOT, 0755) == 0, "a directory to work in");
    test_stdio();
    test_descriptors();
    test_attributes();
    test_big();
    test_names();
    test_removed();
    test_contents();
    test_listed();
    test_limit();
    test_pipes();
    test_full_pipe();
    unlink(ROOT "/text");
    unlink(ROOT "/bytes");
    unlink(ROOT "/big");
    check(rmdir(ROOT) == 0, "nothing is leaked");
    return finish_tests();
}
