/* SPDX-License-Identifier: BSD-2-Clause */
/* executables.c - which executables are mapped where; see executables.h. */
#include <string.h>
#include <tools/tarn/model/executables.h>

void executables_open(struct executables *executables)
{
    memset(executables, 0, sizeof(*executables));
    map_open(&executables->newest_of, sizeof(struct executable *));
}

void executables_close(struct executables *executables)
{
    map_close(&executables->newest_of);
    arena_free(&executables->arena);
    memset(executables, 0, sizeof(*executables));
}

static bool is_same(const struct executable *left, const struct executable *right, const char *path,
                    size_t length)
{
    return left->base == right->base && left->size == right->size &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0 &&
           strlen(left->path) == length && memcmp(left->path, path, length) == 0;
}

void executables_add(struct executables *executables, const struct executable *executable, const char *path,
                     size_t length)
{
    const struct executable *first = executables_of(executables, executable->pid);
    struct executable *added;
    unsigned known = 0;

    length = length < EXECUTABLE_PATH_BYTES ? length : EXECUTABLE_PATH_BYTES - 1;
    for (const struct executable *old = first; old != NULL; old = old->next, known++)
        if (is_same(old, executable, path, length))
            return; /* a statedump repeats known facts */
    if (executables->count == EXECUTABLES_MAX || known == EXECUTABLES_OF_ONE_MAX)
        return;
    executables->count++;
    added = arena_alloc(&executables->arena, sizeof(*added));
    *added = *executable;
    added->path = arena_string(&executables->arena, path, length);
    added->next = first;
    added->later = NULL;
    *(const struct executable **)map_at(&executables->newest_of, executable->pid, 0, 0) = added;
    if (executables->newest != NULL)
        executables->newest->later = added;
    else
        executables->oldest = added;
    executables->newest = added;
}

const struct executable *executables_of(const struct executables *executables, uint32_t pid)
{
    const struct executable *const *first = map_find(&executables->newest_of, pid, 0, 0);

    return first != NULL ? *first : NULL;
}

static const struct executable *find_in(const struct executables *executables, uint32_t pid, uint64_t address)
{
    const struct executable *executable = executables_of(executables, pid);

    while (executable != NULL &&
           (address < executable->base || address - executable->base >= executable->size))
        executable = executable->next;
    return executable;
}

const struct executable *executables_find(const struct executables *executables, uint32_t pid,
                                          uint64_t address)
{
    const struct executable *executable = find_in(executables, pid, address);

    return executable != NULL || pid == 0 ? executable : find_in(executables, 0, address);
}
