/* proc.h - functions and variables that the files of the process server share. */
#pragma once

#include <servers/lib/server.h>

/* main.c; constant after start */
extern uint32_t init_pid;
extern cap_t servers[]; /* slots of the other servers that exist */
extern unsigned server_count;
extern cap_t fault_endpoint;     /* receives faults of all programs */
extern cap_t death_notification; /* one bit per group of processes */
extern cap_t services_wakeup;    /* notification: there is a new deadline */
/* Threads that receive from these three. */
void *fault_main(void *endpoint);
void *reaper_main(void *deaths);
void *services_main(void *wakeup);

int64_t spawn_process(struct server_request *request, uint32_t parent); /* spawn.c: handles PROC_SPAWN */

/* services.c: services that programs publish */
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
