/* executables.c - which executables are mapped where; see executables.h. */
#include <tools/tarn/model/executables.h>

/* A statedump repeats known facts. */
void executables_add(struct executables *executables, const struct executable *executable, const char *path,
                     size_t length)
{
    const struct executable *first = executables_of(executables, executable->pid);
    uint64_t hash = hash_number(HASH_SEED, executable->size);
    struct executable *added;
    bool is_new;
    length = length < EXECUTABLE_PATH_BYTES ? length : EXECUTABLE_PATH_BYTES - 1;
    hash = hash_bytes(hash, (const char *)executable->build_id, sizeof(executable->build_id));
    if (first != NULL && first->number == EXECUTABLES_OF_ONE_MAX)
        return;
    added = map_add(&executables->all, executable->pid, executable->base, hash_bytes(hash, path, length),
                    &is_new);
    if (added == NULL || !is_new)
        return;
    *added = *executable;
    added->path = arena_string(&executables->all.arena, path, length);
    added->next = first;
    added->number = first != NULL ? first->number + 1 : 1;
    *(const struct executable **)map_at(&executables->newest_of, executable->pid, 0, 0) = added;
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
