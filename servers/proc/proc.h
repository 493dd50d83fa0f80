/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/proc/proc.h - what the files of the process server tell each other. */
#ifndef SERVERS_PROC_PROC_H
#define SERVERS_PROC_PROC_H

#include <servers/lib/server.h>

extern uint32_t init_pid;    /* never changes after start */
extern cap_t fault_endpoint; /* where threads that fault ask what to do: fault.c */
extern cap_t servers[];      /* slots of the other servers that exist: main.c */
extern unsigned server_count;
extern cap_t death_notification; /* bit per group of processes: reap.c */

int64_t spawn_process(struct server_request *request, uint32_t parent); /* spawn.c: PROC_SPAWN */
void client_is_gone(uint32_t pid);                                      /* reap.c: tells all servers */
void start_reaper(void);
void start_fault_handler(void);

/* services.c: names that programs publish */
void start_services(void);
int64_t publish_service(struct server_request *request);
int64_t connect_service(struct server_request *request);
void forget_services(uint32_t pid);

/* Wait status of <sys/wait.h>. */
static inline int status_of_exit(uint64_t code)
{
    return (int)(code & 0xff) << 8;
}
static inline int status_of_signal(int signal)
{
    return signal & 0x7f;
}

#endif
