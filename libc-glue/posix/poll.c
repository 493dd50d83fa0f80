/*
 * poll.c - poll and select over SERVER_POLL (servers/protocol/server.h).
 *
 * First queries every server. If nothing is ready, queries all again with a notification that they signal on
 * a change, waits, and removes the watches.
 */
#include "file.h"

#include <poll.h>
#include <sys/select.h>

#define POLL_SIGNAL 1u

static uint64_t wanted_by(short events)
{
    return (events & POLLIN ? SERVER_POLL_READ : 0) | (events & POLLOUT ? SERVER_POLL_WRITE : 0);
}

static short events_of(int64_t state)
{
    return (short)((state & SERVER_POLL_READ ? POLLIN : 0) | (state & SERVER_POLL_WRITE ? POLLOUT : 0) |
                   (state & SERVER_POLL_HANGUP ? POLLHUP : 0) | (state & SERVER_POLL_ERROR ? POLLERR : 0));
}

/* Returns the wanted conditions that are true, as POLL* bits. notification 0: query only. */
static short query_file(struct file *file, uint64_t wanted, uint64_t token, cap_t notification)
{
    if (!file->server)
        return events_of((int64_t)wanted & (SERVER_POLL_READ | SERVER_POLL_WRITE));
    struct ipc_message message = {
        .label = SERVER_POLL,
        .word = {file->handle, wanted, POLL_SIGNAL, token},
        .cap = {(uint16_t)notification},
    };
    int64_t state = call_server_message(file->server, &message);
    return state < 0 ? POLLERR : events_of(state);
}

/* Fills in revents. Returns how many are not 0. The token is
 * the calling thread, so that threads do not interfere. */
static int query_all(struct pollfd *fds, nfds_t count, cap_t notification)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = 0;
        struct file *file = get_file(fds[i].fd);
        if (file) {
            short state = query_file(file, wanted_by(fds[i].events), thread_id(), notification);
            fds[i].revents = (short)(state & (fds[i].events | POLLERR | POLLHUP));
            put_file(file);
        } else if (fds[i].fd >= 0) {
            fds[i].revents = POLLNVAL;
        }
        ready += fds[i].revents != 0;
    }
    return ready;
}

static void remove_watches(const struct pollfd *fds, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++) {
        struct file *file = get_file(fds[i].fd);
        if (!file)
            continue;
        query_file(file, 0, thread_id(), 0);
        put_file(file);
    }
}

static int64_t wait_for_any(struct pollfd *fds, nfds_t count, uint64_t deadline)
{
    int64_t notification = sys_notification_create();
    if (notification < 0)
        return errno_of(notification);
    int64_t ready;
    while ((ready = query_all(fds, count, (cap_t)notification)) == 0) {
        int64_t bits = sys_notification_wait((cap_t)notification, deadline);
        if (bits == -E_TIMEOUT)
            break;
        if (bits < 0) {
            ready = errno_of(bits);
            break;
        }
    }
    remove_watches(fds, count);
    sys_cap_close((cap_t)notification);
    return ready;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    enter_call(TRACE_LIBC_POLL, count, (uint64_t)timeout_ms);
    int64_t ready = query_all(fds, count, 0);
    if (ready == 0 && timeout_ms != 0)
        ready = wait_for_any(fds, count,
                             timeout_ms < 0 ? TARN_FOREVER : deadline_after((uint64_t)timeout_ms * 1000000));
    return (int)leave_call(TRACE_LIBC_POLL, ready);
}

static short select_events(int fd, const fd_set *in, const fd_set *out)
{
    return (short)((in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0));
}

int select(int limit, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
    struct pollfd fds[FD_SETSIZE];
    nfds_t count = 0;
    for (int fd = 0; fd < limit && fd < FD_SETSIZE; fd++) {
        short events = select_events(fd, in, out);
        if (events)
            fds[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    if (poll(fds, count, timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_usec / 1000) : -1) < 0)
        return -1;
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        short state = fds[i].revents;
        if (in && FD_ISSET(fds[i].fd, in) && !(state & (POLLIN | POLLHUP | POLLERR)))
            FD_CLR(fds[i].fd, in);
        if (out && FD_ISSET(fds[i].fd, out) && !(state & (POLLOUT | POLLERR)))
            FD_CLR(fds[i].fd, out);
        ready += state != 0;
    }
    if (except)
        FD_ZERO(except);
    return ready;
}
