/* puller.h - pulls from a running guest while its trace is viewed: `tarn pull` writes a directory, and the
 * view follows its files like those of any growing trace. */
#pragma once

#include <sys/types.h>
#include <tools/tarn/source/source.h>

struct puller {
    pid_t pid;       /* 0: none, or it has ended */
    int status;      /* exit status after the end, set by puller_runs */
    int log;         /* a file for its messages; 0: stderr */
    unsigned number; /* of pulls before */
    bool replaces;   /* the pull replaces the trace in the directory */
    char directory[256];
    pid_t remover; /* the process that finally removes a temporary directory; 0: none */
    int life;      /* while any copy of this descriptor is open, the directory is kept */
};

/* Starts the pull. Call it before creating threads. OUTPUT is the directory; NULL: a temporary one, which is
 * removed however the program ends, even by SIGKILL. */
bool puller_launch(struct puller *puller, const char *source, const char *output, struct fail *fail);
bool puller_has_begun(const struct puller *puller);                             /* the trace can be opened */
bool puller_wait(struct puller *puller, const char *source, struct fail *fail); /* for that */
bool puller_runs(struct puller *puller);
/* Starts another pull if the last one ended because the link broke or the guest was reset. It waits for the
 * guest as long as that takes. It replaces the trace in a temporary directory; with OUTPUT, puller->directory
 * becomes the next of OUTPUT.2, OUTPUT.3, ... */
bool puller_again(struct puller *puller, const char *source, const char *output);
/* Lets the guest finish, waits for it, and removes a temporary directory. */
void puller_stop(struct puller *puller);
