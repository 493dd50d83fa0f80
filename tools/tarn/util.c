/* util.c - errors, memory, patterns; see tarn.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tarn.h>
#include <unistd.h>

bool fail_set(struct fail *fail, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fail->text, sizeof(fail->text), format, args);
    va_end(args);
    return false;
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("tarn: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int fail_report(const struct fail *fail, int status)
{
    complain("%s", fail->text);
    return status;
}

static void *must_have(void *memory)
{
    if (memory == NULL) {
        complain("out of memory");
        exit(EXIT_USAGE);
    }
    return memory;
}

int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void *alloc_zero(size_t count, size_t size)
{
    return must_have(calloc(count ? count : 1, size));
}

void *alloc_more(void *old, size_t count, size_t size)
{
    return must_have(reallocarray(old, count ? count : 1, size));
}

void *array_grow(void *items, size_t count, size_t *size, size_t bytes_of_one)
{
    if (count < *size)
        return items;
    *size = count != 0 ? 2 * count : 16;
    return alloc_more(items, *size, bytes_of_one);
}

#define ARENA_BLOCK_MIN 1024u /* most arenas stay small */
#define ARENA_BLOCK_MAX 65536u

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->blocks;
    size = (size + 15) & ~(size_t)15;
    if (block == NULL || block->size - block->used < size) {
        size_t capacity = block != NULL ? 2 * block->size : ARENA_BLOCK_MIN;
        capacity = capacity < ARENA_BLOCK_MAX ? capacity : ARENA_BLOCK_MAX;
        capacity = capacity > size ? capacity : size;
        block = alloc_zero(1, sizeof(*block) + capacity);
        block->size = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *size, size_t bytes_of_one)
{
    void *more = items;
    if (count == *size) {
        *size = count != 0 ? 2 * count : 8;
        more = arena_alloc(arena, *size * bytes_of_one);
        memcpy(more, count != 0 ? items : more, count * bytes_of_one);
    }
    return more;
}

char *arena_string(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

bool match_glob(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, 0) == 0;
}

bool match_words(const char *pattern, const char *words)
{
    const char *blank = strrchr(words, ' ');
    return match_glob(pattern, words) || (blank != NULL && match_glob(pattern, blank + 1));
}

bool program_path(char *path, size_t size, unsigned up)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    char *slash = path;
    path[length > 0 ? length : 0] = '\0';
    for (; up > 0 && slash != NULL; up--)
        if ((slash = strrchr(path, '/')) != NULL)
            *slash = '\0';
    return length > 0 && slash != NULL;
}

bool source_file(const char *name, char path[PATH_MAX], struct fail *fail)
{
    char root[PATH_MAX];
    if (program_path(root, sizeof(root), 3) && snprintf(path, PATH_MAX, "%s/%s", root, name) < PATH_MAX &&
        access(path, R_OK) == 0)
        return true;
    return fail_set(fail, "%s/%s does not exist: this needs the source tree in which tarn was built", root,
                    name);
}
