/* SPDX-License-Identifier: BSD-2-Clause */
/* libc_file.c - files, directories, descriptors and pipes (libc-glue/posix/, servers/fs). */
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define ROOT "/tmp/libc_file"

static void test_stdio(void)
{
    FILE *file = fopen(ROOT "/text", "w");
    check(file != NULL, "fopen to write");
    for (int i = 0; file && i < 20000; i++)
        fprintf(file, "line %d\n", i);
    check(file && fclose(file) == 0, "fclose");
    char line[64], expected[64];
    int count = 0;
    file = fopen(ROOT "/text", "r");
    while (file && fgets(line, sizeof(line), file)) {
        snprintf(expected, sizeof(expected), "line %d\n", count);
        if (strcmp(line, expected))
            break;
        count++;
    }
    check(count == 20000, "20000 lines are read back");
    check(file && fseek(file, -6, SEEK_END) == 0 && fgets(line, sizeof(line), file) &&
              !strcmp(line, "19999\n"),
          "fseek from the end");
    if (file)
        fclose(file);
    file = fopen(ROOT "/none", "r");
    check(!file && errno == ENOENT, "a missing file is ENOENT");
    if (file)
        fclose(file);
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
    if (map != MAP_FAILED)
        munmap(map, size);
    close(fd);
    free(out);
    free(in);
}

static void test_directories(void)
{
    struct stat attributes;
    char path[256];
    check(mkdir(ROOT "/dir", 0755) == 0 && stat(ROOT "/dir", &attributes) == 0 && S_ISDIR(attributes.st_mode),
          "mkdir");
    check(chdir(ROOT "/dir") == 0 && getcwd(path, sizeof(path)) && !strcmp(path, ROOT "/dir"),
          "chdir, getcwd");
    for (int i = 0; i < 150; i++) {
        snprintf(path, sizeof(path), "file-with-a-rather-long-name-%03d", i);
        close(open(path, O_CREAT | O_WRONLY, 0644));
    }
    DIR *directory = opendir(".");
    int files = 0, odd = 0;
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        odd += strncmp(entry->d_name, "file-with", 9) != 0 || entry->d_type != DT_REG;
    }
    check(directory && files == 150 && odd == 0, "readdir finds 150 files");
    if (directory)
        rewinddir(directory);
    check(directory && readdir(directory) && dirfd(directory) >= 0, "rewinddir");
    if (directory)
        closedir(directory);
    check(rename("../dir", "../dir/inner") < 0 && errno == EINVAL, "no directory moves into itself");
    check(rename("file-with-a-rather-long-name-000", "../renamed") == 0 && access("../renamed", F_OK) == 0,
          "rename");
    check(link("../renamed", "../linked") == 0 && stat("../linked", &attributes) == 0 &&
              attributes.st_nlink == 2,
          "link");
    for (int i = 1; i < 150; i++) {
        snprintf(path, sizeof(path), "file-with-a-rather-long-name-%03d", i);
        unlink(path);
    }
    check(chdir("..") == 0 && getcwd(path, sizeof(path)) && !strcmp(path, ROOT), "chdir ..");
    check(rmdir("dir") == 0 && access("dir", F_OK) < 0 && errno == ENOENT, "rmdir");
    check(chdir("text") < 0 && errno == ENOTDIR, "no chdir into a file");
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
    check(read(fds[0], buffer, 16) == 0, "a pipe without writers ends");
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
    test_directories();
    test_pipes();
    unlink(ROOT "/text");
    unlink(ROOT "/bytes");
    unlink(ROOT "/big");
    unlink(ROOT "/renamed");
    unlink(ROOT "/linked");
    check(rmdir(ROOT) == 0, "nothing is leaked");
    return finish_tests();
}
