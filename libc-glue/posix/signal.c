/*
 * signal.c - the supported part of signals.
 *
 * Nothing arrives asynchronously: kill() ends a process; raise() runs the handler that signal() set in
 * newlib, or ends the process. Masks are stored but have no effect.
 */
#include "call.h"

#include <signal.h>

static __thread sigset_t mask;

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (old)
        *old = mask;
    if (!set)
        return 0;
    switch (how) {
    case SIG_BLOCK:
        mask |= *set;
        return 0;
    case SIG_UNBLOCK:
        mask &= ~*set;
        return 0;
    case SIG_SETMASK:
        mask = *set;
        return 0;
    default:
        return EINVAL;
    }
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    _sig_func_ptr before = SIG_ERR;
    if (action)
        before = signal(number, action->sa_handler);
    else if ((before = signal(number, SIG_DFL)) != SIG_ERR)
        signal(number, before);
    if (before == SIG_ERR)
        return -1;
    if (old)
        *old = (struct sigaction){.sa_handler = before};
    return 0;
}
