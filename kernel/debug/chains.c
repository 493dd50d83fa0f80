/*
 * chains.c - command waits: chains of waiting threads, and deadlocks.
 *
 * A thread waits for one thread (which serves its call, holds its lock, or runs on the CPU that must
 * answer it) or for any of several (threads of servers that may receive from an endpoint, or that hold a
 * saved reply). A thread that waits for no particular one (for a message, a signal, a time) may continue by
 * itself, and so may those that wait for at least one that may. The rest wait for each other: a deadlock.
 *
 * Only a server's threads that serve a call or receive from the endpoint count; if there are none, all. A
 * lock in user memory contains its holder: LOCK_WORD_* of tarn/abi.h.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debug.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define NODES_MAX  2048u
#define SPACES_MAX 4u
#define HOPS_MAX   16u

static struct node {
    struct thread *thread;
    const struct thread *target;            /* the thread that it waits for, or: */
    const struct space *spaces[SPACES_MAX]; /* spaces: it waits for any thread of these */
    bool only_serving;                      /* only for those that serve a call or receive */
    bool live;                              /* may continue at some time */
    bool is_printed;
} nodes[NODES_MAX];
static uint32_t node_count;

/* ---- Edges ---- */

static bool has_call_of(const struct thread *server, const struct thread *caller)
{
    return server->reply_target.caller == caller && server->reply_target.call_id == caller->call_id;
}

/* Whether it has a call whose caller still waits. */
static bool serves(const struct thread *thread)
{
    const struct thread *caller = thread->reply_target.caller;
    return caller && caller->wait_lock == &caller->reply_lock && has_call_of(thread, caller);
}

static bool is_counted_on(const struct node *node, const struct thread *thread)
{
    const struct endpoint *endpoint = debug_waits_at_endpoint(node->thread);
    return serves(thread) || (thread->state == THREAD_BLOCKED_RECEIVE && endpoint &&
                              debug_waits_at_endpoint(thread) == endpoint);
}

static bool is_in_spaces(const struct node *node, const struct thread *thread)
{
    for (uint32_t i = 0; i < SPACES_MAX && node->spaces[i]; i++)
        if (thread->space == node->spaces[i])
            return true;
    return false;
}

static bool waits_for(const struct node *node, const struct thread *thread)
{
    if (node->target)
        return node->target == thread;
    return is_in_spaces(node, thread) && (!node->only_serving || is_counted_on(node, thread));
}

static bool waits_at_all(const struct node *node)
{
    return node->target || node->spaces[0];
}

static const struct thread *find_server(const struct thread *caller)
{
    for (uint32_t i = 0; i < node_count; i++)
        if (has_call_of(nodes[i].thread, caller))
            return nodes[i].thread;
    return NULL;
}

/* Every holder of a saved reply may reply. */
static void add_reply_holders(void *object, void *context)
{
    struct node *node = context;
    const struct reply *reply = object;
    uint32_t found = 0;
    if (reply->references == 0 || reply->target.caller != node->thread ||
        reply->target.call_id != node->thread->call_id)
        return;
    for (struct space *space = debug_next_space(NULL); space; space = debug_next_space(space))
        if (found < SPACES_MAX && debug_space_holds(space, CAP_REPLY, reply, 0))
            node->spaces[found++] = space;
}

static const struct thread *lock_word_holder(const struct thread *thread)
{
    uint32_t word;
    if (debug_read(thread->space, thread->futex_address, &word, sizeof word) != sizeof word ||
        !(word & LOCK_WORD_HELD))
        return NULL;
    return debug_find_thread(word & LOCK_WORD_TID);
}

static void find_edges(struct node *node)
{
    const struct thread *thread = node->thread;
    const struct cpu *cpu = debug_cpu_of(thread);
    const struct cpu *holder = cpu && cpu->waiting_lock ? spin_holder(cpu->waiting_lock) : NULL;
    const struct endpoint *endpoint = debug_waits_at_endpoint(thread);
    if (cpu && cpu->waiting_lock)
        node->target = holder ? holder->current : NULL;
    else if (cpu && smp_unanswered(cpu))
        node->target = cpus[__builtin_ctzll(smp_unanswered(cpu))].current;
    else if (!thread->wait_lock || thread->state == THREAD_BLOCKED_RECEIVE)
        return;
    else if (endpoint)
        for (uint32_t i = 0; i < SPACES_MAX; i++)
            node->spaces[i] = debug_receiver_space(endpoint, i);
    else if (thread->state == THREAD_BLOCKED_FUTEX)
        node->target = lock_word_holder(thread);
    else if (thread->state == THREAD_BLOCKED_REPLY || thread->state == THREAD_BLOCKED_FAULT) {
        node->target = find_server(thread);
        if (!node->target)
            debug_each_object("reply", add_reply_holders, node);
    }
}

/* ---- The graph ---- */

static void collect(void)
{
    struct thread *thread = debug_next_thread(NULL);
    for (node_count = 0; thread && node_count < NODES_MAX; thread = debug_next_thread(thread))
        nodes[node_count++] = (struct node){.thread = thread};
    for (uint32_t i = 0; i < node_count; i++)
        find_edges(&nodes[i]);
    for (uint32_t i = 0; i < node_count; i++)
        for (uint32_t k = 0; k < node_count && !nodes[i].only_serving; k++)
            nodes[i].only_serving =
                is_in_spaces(&nodes[i], nodes[k].thread) && is_counted_on(&nodes[i], nodes[k].thread);
}

/* A node for which `node` waits, of those that may continue or (bits) are in a deadlock. NULL: none. */
enum { LIVE = 1, STUCK = 2 };
static struct node *next_node(const struct node *node, unsigned which)
{
    for (uint32_t i = 0; i < node_count; i++)
        if (waits_for(node, nodes[i].thread) && which & (nodes[i].live ? LIVE : STUCK))
            return &nodes[i];
    return NULL;
}

/* Also if it waits for an unknown thread. */
static bool may_go_on(const struct node *node)
{
    return !waits_at_all(node) || next_node(node, LIVE) || !next_node(node, STUCK);
}

static void find_live(void)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < node_count; i++)
            if (!nodes[i].live && may_go_on(&nodes[i]))
                nodes[i].live = changed = true;
    }
}

/* ---- Output ---- */

static void put_state(const char *before, const struct thread *thread)
{
    const char *reason = debug_wait_reason(thread);
    debug_print("%s%s%s%s", before, debug_thread_state(thread), reason[0] ? ": " : "", reason);
}

static void put_member(const struct node *node)
{
    debug_print("  %s of %s", debug_thread_name(node->thread),
                node->thread->space ? debug_space_name(node->thread->space) : "the kernel");
    put_state(": ", node->thread);
    debug_print("\n");
}

/* `first` is a member of a cycle. */
static void put_cycle(struct node *first)
{
    uint32_t length = 0;
    struct node *node = first;
    do {
        length++;
        node = next_node(node, STUCK);
    } while (node && node != first && length < node_count);
    debug_print("DEADLOCK of %u threads, each waits for the next, the last for the first:\n", length);
    node = first;
    for (uint32_t i = 0; i < length; i++, node = next_node(node, STUCK)) {
        put_member(node);
        node->is_printed = true;
    }
}

/* Follows the stuck nodes, which must end in a cycle. */
static void put_deadlock_of(struct node *node)
{
    struct node *at = node;
    for (uint32_t steps = 0; steps <= node_count && !at->is_printed; steps++)
        at = next_node(at, STUCK);
    if (!at->is_printed)
        put_cycle(at);
    if (!node->is_printed) {
        debug_print("and %s waits for it:\n", debug_thread_name(node->thread));
        put_member(node);
        node->is_printed = true;
    }
}

/* Ends when it meets a thread again. */
static void put_chain(const struct node *node)
{
    const struct node *seen[HOPS_MAX];
    debug_print("%s", debug_thread_name(node->thread));
    for (uint32_t hops = 0; hops < HOPS_MAX && waits_at_all(node);) {
        const struct node *next = next_node(node, node->live ? LIVE | STUCK : STUCK);
        debug_print(" -> (%s) %s", debug_wait_reason(node->thread),
                    next ? debug_thread_name(next->thread) : "?");
        seen[hops++] = node;
        for (uint32_t i = 0; i < hops && next; i++)
            if (seen[i] == next)
                next = NULL;
        if (!next)
            break;
        node = next;
    }
    if (!waits_at_all(node))
        put_state(", ", node->thread);
    debug_print("\n");
}

void debug_waits(const struct debug_words *words)
{
    uint32_t waiting = 0, stuck = 0;
    collect();
    find_live();
    for (uint32_t i = 0; i < node_count; i++)
        if (waits_at_all(&nodes[i])) {
            put_chain(&nodes[i]);
            waiting++;
        }
    for (uint32_t i = 0; i < node_count; i++) {
        stuck += !nodes[i].live;
        if (!nodes[i].live && !nodes[i].is_printed)
            put_deadlock_of(&nodes[i]);
    }
    debug_print("%u threads wait for others, %u of them for ever\n", waiting, stuck);
}
