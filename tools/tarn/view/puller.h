/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/puller.h - pulls from a running guest while its trace is looked at: `tarn pull`, in a
 * process of its own, writes a directory; the view follows its files as it does those of any trace that
 * grows.
 */
#ifndef TARN_PULLER_H
#define TARN_PULLER_H

#include <sys/types.h>
#include <tools/tarn/tarn.h>

struct puller {
    pid_t pid;  /* 0: none, or it has ended */
    int status; /* its exit status then, once puller_runs has told */
    int log;    /* a file for what it says; 0: standard error */
    char directory[256];
    pid_t remover; /* takes a temporary directory away in the end; 0: none */
    int life;      /* while it is open, somewhere, the directory is needed */
};

/* Whether NAME is a source (tcp:..., serial:..., ...), not a directory. */
bool is_source(const char *name);
/* Before any thread is made. OUTPUT: the directory, or NULL for a temporary one, which goes away in the end
 * whatever that is, also a signal that cannot be caught. Returns when the trace can be opened. */
bool puller_start(struct puller *puller, const char *source, const char *output, struct fail *fail);
/* Its two halves, for who does not want to wait, and whether there is no need to. */
bool puller_launch(struct puller *puller, const char *source, const char *output, struct fail *fail);
bool puller_wait(struct puller *puller, const char *source, struct fail *fail);
bool puller_has_begun(const struct puller *puller);
bool puller_runs(struct puller *puller);
/* Lets the guest finish, waits, removes what is temporary. */
void puller_stop(struct puller *puller);

#endif
