/* proc.h - functions and variables that the files of the process server share. */
#pragma once

#include <servers/lib/server.h>

extern uint32_t init_pid;    /* constant after start */
extern cap_t fault_endpoint; /* fault.c: receives faults of all programs */
extern cap_t servers[];      /* main.c: slots of the other servers that exist */
extern unsigned server_count;
extern cap_t death_notification; /* reap.c: one bit per group of processes */

int64_t spawn_process(struct server_request *request, uint32_t parent); /* spawn.c: handles PROC_SPAWN */
void start_reaper(void);                                                /* reap.c */
void start_fault_handler(void);

/* services.c: services that programs publish */
void start_services(void);
int64_t publish_service(struct server_request *request);
int64_t connect_service(struct server_request *request);
void forget_services(uint32_t pid);

/* Wait status as in <sys/wait.h>. */
static inline int status_of_exit(uint64_t code)
{
    return (int)(code & 0xff) << 8;
}
static inline int status_of_signal(int signal)
{
    return signal & 0x7f;
}
