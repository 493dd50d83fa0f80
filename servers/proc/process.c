/*
 * process.c - the process table. Interface and states of a record: process.h.
 *
 * Locking: table_lock covers everything here and is an innermost lock. Replies to waiters are sent while it
 * is held; they never block.
 */
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <servers/lib/waiter.h>
#include <servers/protocol/proc.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 256u

enum state { RUNNING, ENDING, ZOMBIE };

struct process {
    struct process *chain; /* next in the bucket */
    uint32_t pid;
    enum state state;
    int status;
    uint32_t space;
    unsigned death_bit;
    unsigned
        killers;     /* threads that use `space` without the lock: until they have ended, the record stays, */
    uint32_t unused; /* and this space, which was taken meanwhile; 0: none */
    bool destroyed;  /* in no table any more */
    bool orphan;     /* its parent ended: nobody will wait for it */
    struct process *parent, *children, *older, *younger; /* siblings */
    struct waiter *waiters;                              /* PROC_WAIT: word[0] = pid or PROC_ANY */
    char name[TARN_NAME_BYTES];
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
/* covered by table_lock: */
static struct process *buckets[BUCKETS];
static struct process *init_process;
static unsigned next_bit;

/* ---- the table and the family tree (lock held) ----------------------------------------------------- */

static struct process *find(uint32_t pid)
{
    struct process *process = buckets[pid % BUCKETS];
    while (process && process->pid != pid)
        process = process->chain;
    return process;
}

static void adopt(struct process *parent, struct process *child)
{
    child->parent = parent;
    child->younger = NULL;
    child->older = parent->children;
    if (child->older)
        child->older->younger = child;
    parent->children = child;
}

static void leave_family(struct process *child)
{
    if (child->older)
        child->older->younger = child->younger;
    *(child->younger ? &child->younger->older : &child->parent->children) = child->older;
}

static struct process *create(uint32_t pid)
{
    struct process *process = calloc(1, sizeof(*process));
    if (!process)
        return NULL;
    process->pid = pid;
    process->chain = buckets[pid % BUCKETS];
    buckets[pid % BUCKETS] = process;
    return process;
}

static void destroy(struct process *process)
{
    struct process **link = &buckets[process->pid % BUCKETS];
    while (*link != process)
        link = &(*link)->chain;
    *link = process->chain;
    leave_family(process);
    process->destroyed = true;
    if (!process->killers)
        free(process);
}

void process_init(uint32_t init_pid)
{
    pthread_mutex_lock(&table_lock);
    init_process = create(init_pid);
    if (!init_process)
        abort();
    init_process->parent = init_process;
    pthread_mutex_unlock(&table_lock);
}

int process_add(uint32_t pid, const char *name, uint32_t parent_pid, uint32_t space, unsigned *death_bit)
{
    int error = 0;
    pthread_mutex_lock(&table_lock);
    struct process *parent = find(parent_pid);
    struct process *process = NULL;
    if (!parent || parent->state != RUNNING)
        error = -ESRCH;
    else if (find(pid))
        error = -EEXIST;
    else if (!(process = create(pid)))
        error = -ENOMEM;
    if (process) {
        snprintf(process->name, sizeof(process->name), "%s", name);
        process->space = space;
        *death_bit = process->death_bit = next_bit++ % PROCESS_DEATH_BITS;
        adopt(parent, process);
        if (parent->space) /* init has none here */
            inherit_routines(space, parent->space);
    }
    pthread_mutex_unlock(&table_lock);
    return error;
}

void process_get_name(uint32_t pid, char *name, size_t size)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    snprintf(name, size, "%s", process ? process->name : "?");
    pthread_mutex_unlock(&table_lock);
}

void process_remove(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    if (process && process != init_process)
        destroy(process);
    pthread_mutex_unlock(&table_lock);
}

/* ---- ending ---------------------------------------------------------------------------------------- */

bool process_note_exit(uint32_t pid, int status)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    bool is_first = process && process != init_process && process->state == RUNNING;
    if (is_first) {
        process->state = ENDING;
        process->status = status;
    }
    pthread_mutex_unlock(&table_lock);
    return is_first;
}

/* The lock is held. */
static void end_killing(struct process *process)
{
    if (--process->killers)
        return;
    if (process->unused)
        close_space(process->unused);
    process->unused = 0;
    if (process->destroyed)
        free(process);
}

/* Without the lock, because killing takes thirty times as long as all else that is done under it. */
void process_kill_noted(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    const bool kills = process && process->state == ENDING && process->space;
    const uint32_t space = kills ? process->space : 0;
    const int status = kills ? process->status : 0;
    if (kills)
        process->killers++;
    pthread_mutex_unlock(&table_lock);
    if (!kills)
        return;
    kill_space(space, status);
    pthread_mutex_lock(&table_lock);
    end_killing(process);
    pthread_mutex_unlock(&table_lock);
}

bool process_set_exit(uint32_t pid, int status)
{
    bool is_first = process_note_exit(pid, status);
    if (is_first)
        process_kill_noted(pid);
    return is_first;
}

void process_abandon(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    if (process)
        process->orphan = true;
    pthread_mutex_unlock(&table_lock);
    process_set_exit(pid, 0);
}

/* Reparents the children to init. Frees zombies: nobody will wait for them. */
static void reparent_children(struct process *process)
{
    for (struct process *child; (child = process->children);) {
        if (child->state == ZOMBIE) {
            destroy(child);
            continue;
        }
        leave_family(child);
        adopt(init_process, child);
        child->orphan = true;
    }
}

/* Replies to the first waiter of the parent that wants this child and still listens. Returns false if there
 * is none. */
static bool reply_to_parent(struct process *process)
{
    struct waiter **link = &process->parent->waiters;
    while (*link) {
        uint64_t *word = (*link)->request.word;
        if (word[0] != PROC_ANY && word[0] != process->pid) {
            link = &(*link)->next;
            continue;
        }
        word[0] = (uint64_t)process->status;
        if (waiter_reply(link, process->pid))
            return true;
    }
    return false;
}

/* A child is freed: ends waits for it, and all waits if no child is left. */
static void end_childless_waits(struct process *parent, uint32_t pid)
{
    for (struct waiter **link = &parent->waiters; *link;) {
        if (parent->children && (*link)->request.word[0] != pid)
            link = &(*link)->next;
        else
            waiter_reply(link, -ECHILD);
    }
}

uint32_t process_take_space(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    uint32_t space = process ? process->space : 0;
    if (space) {
        process->space = 0;
        process->state = ENDING;
        if (process->killers) {
            process->unused = space;
            space = 0;
        }
    }
    pthread_mutex_unlock(&table_lock);
    return space;
}

bool process_finish(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    bool found = process && process != init_process && process->state != ZOMBIE;
    if (found) {
        struct process *parent = process->parent;
        process->state = ZOMBIE;
        waiter_reply_all(&process->waiters, -EINTR);
        reparent_children(process);
        if (process->orphan || reply_to_parent(process)) {
            destroy(process);
            end_childless_waits(parent, pid);
        }
    }
    pthread_mutex_unlock(&table_lock);
    return found;
}

void process_forget_waits(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    if (process)
        waiter_reply_all(&process->waiters, -EINTR);
    pthread_mutex_unlock(&table_lock);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

/* Finds a child to wait for. Orphans that init adopted do not count. */
static struct process *find_child(struct process *parent, uint64_t pid, bool *any)
{
    *any = false;
    for (struct process *child = parent->children; child; child = child->older) {
        if (child->orphan || (pid != PROC_ANY && child->pid != pid))
            continue;
        *any = true;
        if (child->state == ZOMBIE)
            return child;
    }
    return NULL;
}

int64_t process_wait(uint32_t parent_pid, struct server_request *request)
{
    bool any = false;
    int64_t result;
    pthread_mutex_lock(&table_lock);
    struct process *parent = find(parent_pid);
    struct process *child = parent ? find_child(parent, request->word[0], &any) : NULL;
    if (child) {
        request->word[0] = (uint64_t)child->status;
        result = child->pid;
        destroy(child);
        end_childless_waits(parent, (uint32_t)result);
    } else if (!any) {
        result = -ECHILD;
    } else {
        result = request->word[1] & PROC_WAIT_NO_HANG ? 0 : waiter_save(&parent->waiters, request, 0);
    }
    pthread_mutex_unlock(&table_lock);
    return result;
}

/* ---- queries --------------------------------------------------------------------------------------- */

bool process_exists(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    bool exists = process && process->state != ZOMBIE;
    pthread_mutex_unlock(&table_lock);
    return exists;
}

int64_t process_parent(uint32_t pid)
{
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    int64_t parent = process ? (int64_t)process->parent->pid : -ESRCH;
    pthread_mutex_unlock(&table_lock);
    return parent;
}

unsigned process_tree(uint32_t pid, uint32_t *pids, unsigned max)
{
    unsigned count = 0;
    pthread_mutex_lock(&table_lock);
    struct process *process = find(pid);
    if (process && process != init_process && max)
        pids[count++] = pid;
    for (unsigned next = 0; next < count; next++) {
        for (struct process *child = find(pids[next])->children; child; child = child->older)
            if (child->state != ZOMBIE && count < max)
                pids[count++] = child->pid;
    }
    pthread_mutex_unlock(&table_lock);
    return count;
}

unsigned process_with_bits(uint64_t bits, uint32_t *pids, uint32_t *spaces, unsigned max)
{
    unsigned count = 0;
    pthread_mutex_lock(&table_lock);
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        for (struct process *process = buckets[bucket]; process; process = process->chain) {
            if (!process->space || !(bits >> process->death_bit & 1) || count == max)
                continue;
            spaces[count] = process->space;
            pids[count++] = process->pid;
        }
    }
    pthread_mutex_unlock(&table_lock);
    return count;
}
