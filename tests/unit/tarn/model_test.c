/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/model_test.c - tarn's model and names: short traces as text, and as text what the model
 * tells its observers about them, in both byte orders. Prints TAP.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/trace_text.h>
#include <tools/tarn/model/walk.h>

#define TEXT_BYTES 4096u
#define END_OF_ALL 1000u /* ticks */

enum detail { ALL, SCHEDULING, BOTH }; /* what the observers want: BOTH are two */

struct story {
    const char *what, *events; /* as for trace_text_write */
    uint64_t from;             /* of the walk */
    uint32_t tid;              /* the thread that `told` is about; 0: thread 1 */
    bool who_logs;             /* `told` is which thread logs each event */
    enum detail detail;
    const char *told, *sums; /* sums: of threads, processors and processes; NULL: not compared */
};

#define IDLE "0 0 trace_context name=idle/0\n0 1 trace_context name=idle/1\n"
#define ENDS "1000 0 !lost 0\n1000 1 !lost 0\n"

#define ONE_RUNS                                                            \
    IDLE "10 0 sched_process_fork child_tid=1 child_pid=1 child_comm=one\n" \
         "20 0 sched_switch prev_state=ready next=1/1/one\n"

/* A server (2) waits in receive; a client (1) calls it. */
#define CALL_BEGINS                                                                             \
    IDLE "10 0 sched_process_fork child_tid=1 child_pid=1 child_comm=client\n"                  \
         "10 0 sched_process_fork child_tid=2 child_pid=2 child_comm=server\n"                  \
         "20 0 sched_switch prev_state=ready next=2/2/server\n"                                 \
         "30 0 syscall_entry number=5 tid=2\n"                                                  \
         "40 0 sched_switch prev_state=blocked_ipc_receive next=1/1/client\n"                   \
         "50 0 syscall_entry number=6 tid=1\n"                                                  \
         "60 0 ipc_call call_id=99 label=7 endpoint=3 server_tid=2\n"                           \
         "60 0 ipc_receive call_id=99 label=7 client_tid=1\n" /* while the client still runs */ \
         "70 0 sched_switch prev_state=blocked_reply next=2/2/server\n"                         \
         "75 0 syscall_exit number=5 tid=2\n"
#define CALL_ENDS                                                        \
    "90 0 ipc_reply call_id=99 client_tid=1\n"                           \
    "95 0 sched_switch prev_state=blocked_ipc_receive next=1/1/client\n" \
    "97 0 ipc_return call_id=99\n"                                       \
    "98 0 syscall_exit number=6 tid=1\n"                                 \
    "120 0 sched_switch prev_state=dead next=0/0/idle/0\n"               \
    "125 0 sched_process_exit tid=1 pid=1\n" ENDS

/* System calls that messages stand for: 38 is ipc_call, 42 ipc_reply_receive. A server (2) waits for a
 * message since its reply at 40; a client (1) calls it. */
#define IMPLIED_BEGINS                                                           \
    IDLE "10 0 sched_process_fork child_tid=1 child_pid=1 child_comm=client\n"   \
         "10 0 sched_process_fork child_tid=2 child_pid=2 child_comm=server\n"   \
         "20 0 sched_switch prev_state=ready next=2/2/server\n"                  \
         "40 0 ipc_reply call_id=98 client_tid=1 is_entry=1\n"                   \
         "45 0 sched_switch prev_state=blocked_ipc_receive next=1/1/client\n"    \
         "60 0 ipc_call call_id=99 label=7 endpoint=3 server_tid=2 is_entry=1\n" \
         "60 0 ipc_receive call_id=99 label=7 client_tid=1\n"                    \
         "70 0 sched_switch prev_state=blocked_reply next=2/2/server\n"

static const struct story stories[] = {
    {.what = "who logs: a switch is logged by the thread that stops, loading a program renames the process, "
             "0 is "
             "the kernel; time on two CPUs adds up; a thread whose end is lost runs up to the packet's end",
     .events = "50 0 trace_context name=idle/0\n"
               "100 1 trace_context\n"
               "200 0 sched_switch prev_state=ready next=1/10/alpha\n"
               "210 0 user_text text=something\n"
               "220 0 process_exec pid=10 filename=/bin/first\n"
               "230 0 user_text text=something\n"
               "500 0 sched_switch prev_state=ready next=2/11/beta\n"
               "510 0 user_text text=something\n"
               "600 1 sched_switch prev_state=ready next=1/10/alpha\n"
               "800 0 !lost 5\n" /* until 900: who knows */
               "900 0 trace_context tid=3 pid=12 name=gamma\n"
               "950 0 user_text text=something\n"
               "960 1 user_text text=something\n"
               "1000 0 !lost 0\n"
               "2000 1 !lost 0\n",
     .from = 100,
     .who_logs = true,
     .told = "idle/0 of kernel: trace_context; kernel of kernel: trace_context; idle/0 of kernel: "
             "sched_switch; alpha of alpha: user_text; alpha of first: process_exec; alpha of first: "
             "user_text; alpha of first: sched_switch; beta of beta: user_text; kernel of kernel: "
             "sched_switch; beta of beta: trace_end; gamma of gamma: trace_context; gamma of gamma: "
             "user_text; alpha of first: user_text; gamma of gamma: trace_end; alpha of first: trace_end; ",
     .sums = "alpha ran 700 switches 2 migrations 1; beta ran 300 switches 1 migrations 0; gamma ran 100 "
             "switches 0 migrations 0; cpu0 boot 0 busy 700 idle 100 lost 100; cpu1 boot 500 busy 900 idle 0 "
             "lost 0; "},
    {.what = "a processor boots until it sleeps or runs a thread, and is idle while it sleeps; interrupts "
             "and other "
             "work of its idle thread are busy; one that goes to sleep was awake before",
     .events = "0 0 trace_context\n"
               "0 1 trace_context name=idle/1\n"
               "40 1 power_cpu_idle state=1 cpu_id=1\n"
               "100 0 power_cpu_idle state=1\n"
               "150 0 irq_ipi_entry\n"
               "160 0 irq_ipi_exit\n"
               "170 0 power_cpu_idle state=4294967295\n"
               "200 0 sched_switch prev_state=ready next=1/10/alpha\n"
               "300 0 sched_switch prev_state=ready next=0/0/idle/0\n"
               "350 0 power_cpu_idle state=1\n"
               "400 0 power_cpu_idle state=4294967295\n"
               "450 0 power_cpu_idle state=1\n" ENDS,
     .told = "running 200-300; ready 300-1000; ",
     .sums = "alpha ran 100 switches 1 migrations 0; cpu0 boot 100 busy 340 idle 660 lost 0; cpu1 boot 0 "
             "busy 40 idle 960 lost 0; "},
    {.what = "without sleep events, the CPU of an idle thread sleeps except for interrupts",
     .events = "0 0 trace_context name=idle/0\n150 0 irq_ipi_entry\n160 0 irq_ipi_exit\n500 0 !lost 0\n",
     .told = "",
     .sums = "cpu0 boot 0 busy 10 idle 490 lost 0; "},
    {.what = "with sleep events of other CPUs, it sleeps only if it wakes later",
     .events = "0 0 trace_context name=idle/0\n"
               "10 0 power_cpu_idle state=1\n"
               "100 1 trace_context name=idle/1\n"
               "250 1 sched_switch prev_state=ready next=1/10/alpha\n"
               "270 1 sched_switch prev_state=ready next=0/0/idle/1\n"
               "300 1 !lost 5\n"
               "500 1 trace_context name=idle/1\n"
               "600 1 power_cpu_idle state=4294967295 cpu_id=1\n"
               "650 1 sched_switch prev_state=ready next=1/10/alpha\n" ENDS,
     .told = "running 250-270; ready 270-300; unknown 300-650; running 650-1000; ",
     .sums = "alpha ran 370 switches 2 migrations 0; cpu0 boot 0 busy 10 idle 990 lost 0; cpu1 boot 0 busy "
             "600 idle 100 lost 200; "},
    {.what = "a call whose receive is logged while the client runs, and whose switches hand over",
     .events = CALL_BEGINS CALL_ENDS,
     .told = "[handed by server 40] suspended 10-40; running 40-50; running syscall 50-60; running syscall "
             "60-70; blocked_reply syscall 70-90; [handed by server 95] blocked_reply syscall 90-95; running "
             "syscall 95-97; {7 to server: 60 60 90 97 parked 0} running syscall 97-98; (syscall 6 50-98 ran "
             "23 inner 0 irq 0) running 98-120; "},
    {.what = "its server serves from the receive to the reply",
     .events = CALL_BEGINS CALL_ENDS,
     .tid = 2,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; "
             "blocked_ipc_receive syscall 40-60; [handed by client 70] blocked_ipc_receive syscall serving "
             "60-70; running syscall serving 70-75; (syscall 5 30-75 ran 15 inner 0 irq 0) running serving "
             "75-90; running 90-95; blocked_ipc_receive 95-1000; "},
    {.what = "a server that receives again has parked the call",
     .events = CALL_BEGINS
     "80 0 sched_switch prev_state=blocked_ipc_receive next=0/0/idle/0\n" /* it saved the reply */
     "85 0 ipc_reply call_id=99 client_tid=1\n"
     "86 0 sched_wakeup comm=client tid=1\n" ENDS,
     .told = "[handed by server 40] suspended 10-40; running 40-50; running syscall 50-60; running syscall "
             "60-70; blocked_reply syscall 70-80; blocked_reply syscall 80-85; [woken by nobody 86] "
             "blocked_reply syscall 85-86; ready syscall 86-1000; (syscall 6 50-1000 ran 20 inner 0 irq 0 "
             "cut) "},
    {.what = "a call that stands for the client's system call",
     .events = IMPLIED_BEGINS "90 0 ipc_reply call_id=99 client_tid=1 is_entry=1\n"
                              "95 0 sched_switch prev_state=blocked_ipc_receive next=1/1/client\n"
                              "97 0 ipc_return call_id=99 error=-5\n"
                              "100 0 syscall_entry number=6 tid=1\n"
                              "105 0 ipc_call call_id=100\n" /* the general path */
                              "110 0 ipc_return call_id=100\n"
                              "115 0 syscall_exit number=6 tid=1\n" ENDS,
     .told = "[handed by server 45] suspended 10-45; running 45-60; running syscall 60-70; blocked_reply "
             "syscall 70-90; [handed by server 95] blocked_reply syscall 90-95; running syscall 95-97; {7 to "
             "server: 60 60 90 97 parked 0} (syscall 38 60-97 ran 12 inner 0 irq 0) running 97-100; running "
             "syscall 100-105; running syscall 105-110; {0 to nobody: 105 0 0 110 parked 0} running syscall "
             "110-115; (syscall 6 100-115 ran 15 inner 0 irq 0) running 115-1000; "},
    {.what = "a reply that stands for the server's system call, until it runs again",
     .events = IMPLIED_BEGINS ENDS,
     .tid = 2,
     .told = "[handed by nobody 20] suspended 10-20; running 20-40; running syscall 40-45; "
             "blocked_ipc_receive syscall 45-60; [handed by client 70] blocked_ipc_receive syscall serving "
             "60-70; (syscall 42 40-70 ran 5 inner 0 irq 0) running serving 70-1000; "},
    {.what = "without class ipc nothing will tell its end",
     .events = IMPLIED_BEGINS "80 0 trace_control old_mask=14 mask=10\n"
                              "95 0 sched_switch prev_state=blocked_ipc_receive next=1/1/client\n" ENDS,
     .told = "[handed by server 45] suspended 10-45; running 45-60; running syscall 60-70; blocked_reply "
             "syscall 70-80; (syscall 38 60-80 ran 10 inner 0 irq 0 cut) {7 to server: 60 60 0 0 parked 80} "
             "[handed by server 95] blocked_reply 80-95; running 95-1000; "},
    {.what = "activities nest; each knows what ran inside it",
     .events = ONE_RUNS "30 0 libc_entry call=3 tid=1\n"
                        "40 0 syscall_entry number=6 tid=1\n"
                        "50 0 irq_handler_entry irq=9\n"
                        "55 0 irq_handler_exit irq=9\n"
                        "70 0 syscall_exit number=6 tid=1\n"
                        "80 0 libc_exit call=3 tid=1\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running libc 30-40; running libc syscall "
             "40-50; running libc syscall irq 50-55; (irq 9 50-55 ran 5 inner 0 irq 0) running libc syscall "
             "55-70; (syscall 6 40-70 ran 30 inner 5 irq 5) running libc 70-80; (libc 3 30-80 ran 50 inner "
             "30 irq 5) running 80-1000; "},
    {.what = "a pager ends another's fault; ends without begins, and begins without ends",
     .events = ONE_RUNS "30 0 fault_entry address=0x1000 tid=1\n"
                        "40 0 sched_switch prev_state=blocked_fault next=2/2/pager\n"
                        "60 0 fault_exit address=0x1000 kind=3 tid=1\n"
                        "70 0 sched_switch prev_state=blocked_ipc_receive next=1/1/one\n"
                        "80 0 syscall_exit number=4 tid=1\n" /* of an entry that was never seen */
                        "90 0 syscall_entry number=5 tid=1\n"
                        "95 0 syscall_entry number=6 tid=1\n" /* the exit between them was lost */
     ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running fault 30-40; blocked_fault fault "
             "40-60; (fault 3 30-60 ran 10 inner 0 irq 0) [handed by pager 70] blocked_fault 60-70; running "
             "70-80; (syscall 4 80-80 ran 0 inner 0 irq 0 cut) running 80-90; running syscall 90-95; "
             "(syscall 5 90-95 ran 5 inner 0 irq 0 cut) running syscall 95-1000; (syscall 6 95-1000 ran 905 "
             "inner 0 irq 0 cut) "},
    {.what = "a class that is switched off ends its activities; so does death",
     .events = ONE_RUNS "30 0 libc_entry call=21 tid=1\n"
                        "40 0 syscall_entry number=6 tid=1\n"
                        "45 0 trace_control old_mask=0xffffffffffffffff mask=0xfffffffffffffff7\n"
                        "50 0 sched_switch prev_state=dead next=0/0/idle/0\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running libc 30-40; running libc syscall "
             "40-45; (syscall 6 40-45 ran 5 inner 0 irq 0 cut) running libc 45-50; (libc 21 30-50 ran 20 "
             "inner 5 irq 0 cut) "},
    {.what = "without class sched nobody knows which thread runs",
     .events = ONE_RUNS "30 0 trace_control old_mask=3 mask=1\n"
                        "50 0 sched_switch prev_state=blocked_ipc_receive next=2/2/two\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; unknown 30-50; "
             "blocked_ipc_receive 50-1000; "},
    {.what = "without switches nobody knows which thread runs",
     .events = ONE_RUNS "30 0 trace_switches class_number=1 old_events=6 events=4\n"
                        "50 0 sched_switch prev_state=blocked_ipc_receive next=2/2/two\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; unknown 30-50; "
             "blocked_ipc_receive 50-1000; "},
    {.what = "activities are not followed without an observer that needs them",
     .events = ONE_RUNS "30 0 syscall_entry number=5 tid=1\n"
                        "40 0 sched_switch prev_state=blocked_futex next=0/0/idle/0\n" ENDS,
     .detail = SCHEDULING,
     .told = "[handed by nobody 20] suspended 10-20; running 20-40; blocked_futex 40-1000; "},
    {.what = "but with one",
     .events = ONE_RUNS "30 0 syscall_entry number=5 tid=1\n"
                        "40 0 sched_switch prev_state=blocked_futex next=0/0/idle/0\n" ENDS,
     .detail = BOTH,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; blocked_futex "
             "syscall 40-1000; (syscall 5 30-1000 ran 10 inner 0 irq 0 cut) "},
    {.what = "a thread that is woken on the way to wait is ready; a time-out is nobody's wake-up",
     .events = ONE_RUNS "25 1 sched_switch prev_state=ready next=2/2/waker\n"
                        "30 1 sched_wakeup comm=one tid=1\n" /* before the switch is logged */
                        "40 0 sched_switch prev_state=blocked_futex next=0/0/idle/0\n"
                        "50 0 sched_switch prev_state=ready next=1/1/one\n"
                        "60 0 sched_switch prev_state=sleeping next=0/0/idle/0\n"
                        "70 1 timer_expire tid=1\n"
                        "71 1 sched_wakeup comm=one tid=1\n"
                        "80 0 sched_switch prev_state=ready next=1/1/one\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; [woken by waker 30] running 20-40; ready 40-50; running "
             "50-60; [woken by nobody 71] sleeping 60-71; ready 71-80; running 80-1000; "},
    {.what = "a thread that may have run while events were lost is unknown until an event tells; lost time "
             "belongs "
             "to no thread",
     .events = ONE_RUNS "30 0 syscall_entry number=6 tid=1\n"
                        "40 0 sched_switch prev_state=blocked_futex next=0/0/idle/0\n"
                        "50 1 sched_switch prev_state=ready next=2/2/two\n"
                        "100 1 !lost 5\n" /* but who ran before and after is the same */
                        "200 1 trace_context tid=2 pid=2 name=two\n"
                        "300 1 sched_wakeup comm=one tid=1\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; blocked_futex "
             "syscall 40-100; (syscall 6 30-100 ran 10 inner 0 irq 0 cut) [woken by two 300] unknown "
             "100-300; ready 300-1000; ",
     .sums = "one ran 20 switches 1 migrations 0; two ran 850 switches 1 migrations 0; cpu0 boot 0 busy 20 "
             "idle 980 lost 0; cpu1 boot 0 busy 850 idle 50 lost 100; process 1 of -1 10-0 status 0 -; "
             "process 2 of -1 50-0 status 0 -; "},
    {.what = "a switch from another thread than the one that ran, and one to a thread that runs elsewhere: "
             "others "
             "were lost",
     .events = ONE_RUNS "30 0 user_text text=seen\n"
                        "100 0 sched_switch prev_tid=5 prev_state=blocked_futex next=1/1/one\n"
                        "150 1 sched_switch prev_state=ready next=1/1/one\n"
                        "160 1 user_text text=seen\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; unknown 30-100; running 100-150; running "
             "150-1000; ",
     .sums = "one ran 910 switches 3 migrations 1; one ran 0 switches 0 migrations 0; cpu0 boot 0 busy 60 "
             "idle 20 lost 920; cpu1 boot 0 busy 850 idle 150 lost 0; process 1 of -1 10-0 status 0 -; "},
    {.what = "a thread whose death was lost ends with its process",
     .events = ONE_RUNS "30 1 !lost 5\n"
                        "40 1 trace_context name=idle/1\n"
                        "50 0 sched_switch prev_state=blocked_futex next=0/0/idle/0\n"
                        "55 1 !lost 5\n"
                        "60 1 trace_context name=idle/1\n"
                        "70 1 process_exit pid=1\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-50; blocked_futex 50-55; unknown 55-70; ",
     .sums = "cpu0 boot 0 busy 30 idle 970 lost 0; cpu1 boot 0 busy 0 idle 985 lost 15; process 1 of -1 "
             "10-70 ended status 0 -; "},
    {.what = "a handler ends the exception of the thread that it replies to",
     .events = ONE_RUNS "30 0 exception_entry vector=3 tid=1\n"
                        "35 0 ipc_call call_id=5 server_tid=2\n"
                        "40 0 sched_switch prev_state=blocked_fault next=2/2/pager\n"
                        "50 0 exception_exit vector=3 action=1\n"
                        "51 0 ipc_reply call_id=5 client_tid=1\n" ENDS,
     .told = "[handed by nobody 20] suspended 10-20; running 20-30; running exception 30-35; running "
             "exception 35-40; blocked_fault exception 40-51; (exception 3 30-51 ran 10 inner 0 irq 0) "
             "blocked_fault 51-1000; "},
    {.what = "a statedump tells the state of a thread, parents and programs of processes",
     .events = IDLE "50 0 lttng_statedump_process_state tid=1 pid=4 state=0x3000 cpu=1 name=one\n"
                    "55 0 state_process pid=4 parent_pid=1\n"
                    "60 0 process_create pid=9 parent_pid=4\n"
                    "61 0 process_exec pid=9 filename=/bin/nine\n"
                    "62 0 state_image pid=9 base=0x400000 size=0x1000 build_id_high=0x0102030405060708 "
                    "build_id_low=9 filename=/bin/nine\n"
                    "63 0 state_image base=0xffff800000000000 size=0x1000 filename=kernel\n"
                    "70 0 process_exit pid=9 status=-2\n" ENDS,
     .told = "blocked_futex 50-1000; ",
     .sums = "one ran 0 switches 0 migrations 0; cpu0 boot 0 busy 0 idle 1000 lost 0; cpu1 boot 0 busy 0 "
             "idle 1000 lost 0; process 4 of 1 50-0 status 0 -; process 9 of 4 created 60-70 ended status -2 "
             "/bin/nine; "},
};

/* ---- telling ---------------------------------------------------------------------------------------- */

static struct model model;

struct teller_of_story {
    struct model_observer observer;
    uint32_t tid;
    char text[TEXT_BYTES];
};

static void __attribute__((format(printf, 2, 3))) tell(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;

    va_start(values, format);
    vsnprintf(text + used, TEXT_BYTES - used, format, values);
    va_end(values);
}

/* "running syscall 100-110; " */
static void tell_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct teller_of_story *teller = (struct teller_of_story *)self;

    if (thread->tid != teller->tid || thread->is_idle)
        return;
    tell(teller->text, "%s", model_state_names[thread->state]);
    for (uint32_t i = 0; i < thread->depth; i++)
        tell(teller->text, " %s", model_activity_names[thread->frames[i].kind]);
    tell(teller->text, "%s %" PRIu64 "-%" PRIu64 "; ", thread->serving != NULL ? " serving" : "", from, to);
}

/* "(syscall 100-150 ran 30 inner 10 irq 5) " */
static void tell_leave_frame(struct model_observer *self, const struct model_thread *thread,
                             const struct model_frame *frame, uint64_t end)
{
    struct teller_of_story *teller = (struct teller_of_story *)self;

    if (thread->tid == teller->tid && !thread->is_idle)
        tell(teller->text,
             "(%s %u %" PRIu64 "-%" PRIu64 " ran %" PRIu64 " inner %" PRIu64 " irq %" PRIu64 "%s) ",
             model_activity_names[frame->kind], frame->detail, frame->begin, end, frame->ran, frame->inner,
             frame->interrupts, frame->is_cut ? " cut" : "");
}

static void tell_wakeup(struct model_observer *self, const struct model_thread *by,
                        const struct model_thread *thread, uint64_t ticks, bool is_direct)
{
    struct teller_of_story *teller = (struct teller_of_story *)self;

    if (thread->tid == teller->tid)
        tell(teller->text, "[%s by %s %" PRIu64 "] ", is_direct ? "handed" : "woken",
             by != NULL ? by->comm : "nobody", ticks);
}

static void tell_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                      bool has_ended)
{
    struct teller_of_story *teller = (struct teller_of_story *)self;

    if (call->client->tid == teller->tid && has_ended)
        tell(teller->text,
             "{%" PRIu64 " to %s: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " parked %" PRIu64 "} ",
             call->label, call->server != NULL ? call->server->comm : "nobody", call->called, call->received,
             call->replied, call->returned, call->parked);
}

static void ignore_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                          enum model_state state, const struct model_thread *next, uint64_t ticks)
{
}

/* "alpha of first: user_text; " */
static void tell_who_logs(char *text, const struct model_thread *thread, const char *event)
{
    const char *process = names_find(&model.names, thread->pid);

    tell(text, "%s of %s: %s; ", model_thread_name(&model, thread), process != NULL ? process : "nobody",
         event);
}

static void tell_sums(char *text)
{
    for (uint32_t tid = 1; tid < 10; tid++) {
        const struct model_thread *thread = model_find_thread(&model, tid);

        if (thread != NULL)
            tell(text, "%s ran %" PRIu64 " switches %" PRIu64 " migrations %" PRIu64 "; ", thread->comm,
                 thread->ran, thread->switches, thread->migrations);
    }
    for (unsigned i = 0; i < model.trace->stream_count; i++)
        tell(text, "cpu%u boot %" PRIu64 " busy %" PRIu64 " idle %" PRIu64 " lost %" PRIu64 "; ", i,
             model.cpus[i].boot, model.cpus[i].busy, model.cpus[i].idle, model.cpus[i].lost);
    for (uint32_t pid = 1; pid < 10; pid++) {
        const struct model_process *process = model_process(&model, pid);

        if (process != NULL)
            tell(text, "process %u of %d%s %" PRIu64 "-%" PRIu64 "%s status %d %s; ", pid,
                 (int)process->parent, process->was_created ? " created" : "", process->begin, process->end,
                 process->has_ended ? " ended" : "", process->status,
                 process->path != NULL ? process->path : "-");
    }
}

/* ---- tests ------------------------------------------------------------------------------------------ */

static void open_text(struct trace *trace, const char *text, const char *order)
{
    char directory[64];
    const struct synthetic_options options = {.order = order, .directory = directory};
    struct fail fail = {""};

    snprintf(directory, sizeof(directory), "%s/trace", scratch);
    if (!trace_text_write(&options, text, &fail) || !trace_open(trace, directory, &fail))
        bail_out(fail.text);
}

/* Leaves the model open. TEXT gets which threads log the events whose names begin with WHOSE; NULL: none. */
static void walk(const struct trace *trace, char *text, const char *whose)
{
    struct cursor *cursor, *moved;
    struct merge merge;

    merge_open(&merge, trace, NULL, 0, NULL);
    cursor = merge_next(&merge);
    walk_begin(&model, &merge);
    while (cursor != NULL) {
        const char *name = cursor->event.type->name;
        const struct model_thread *thread = model_apply(&model, moved = cursor);

        if (whose != NULL && strncmp(name, whose, strlen(whose)) == 0)
            tell_who_logs(text, thread, name);
        cursor = merge_next(&merge);
        walk_look_ahead(&model, moved);
    }
    merge_close(&merge);
    model_finish(&model);
}

static void expect(const char *order, const char *what, const char *got, const char *expected)
{
    check(strcmp(got, expected) == 0, "%s, %s", order, what);
    if (strcmp(got, expected) != 0)
        printf("# got: %s\n# not: %s\n", got, expected);
}

static void test_story(const struct story *story, const char *order)
{
    static struct teller_of_story teller;
    struct model_observer other = {.switched = ignore_switch, .only_scheduling = story->detail == SCHEDULING};
    char sums[TEXT_BYTES] = "";
    struct trace trace;

    teller = (struct teller_of_story){.observer = {.segment = tell_segment,
                                                   .leave = tell_leave_frame,
                                                   .wakeup = tell_wakeup,
                                                   .call = tell_call},
                                      .tid = story->tid != 0 ? story->tid : !story->who_logs};
    teller.observer.only_scheduling = story->detail != ALL;
    open_text(&trace, story->events, order);
    model_open(&model, &trace, story->from, END_OF_ALL);
    model_observe(&model, &teller.observer);
    if (story->detail != ALL)
        model_observe(&model, &other);
    walk(&trace, teller.text, story->who_logs ? "" : NULL);
    expect(order, story->what, teller.text, story->told);
    tell_sums(sums);
    if (story->sums != NULL)
        expect(order, "sums of the same", sums, story->sums);
    if (strstr(story->events, "state_image")) {
        const struct executable *executable = executables_find(&model.executables, 9, 0x400fff);

        check(executable != NULL && strcmp(executable->path, "/bin/nine") == 0 &&
                  executable->build_id[0] == 1 && executable->build_id[7] == 8 &&
                  executable->build_id[15] == 9 &&
                  executables_find(&model.executables, 9, 0x401000) == NULL &&
                  strcmp(executables_find(&model.executables, 9, 0xffff800000000010u)->path, "kernel") == 0,
              "executables: by address, and the kernel's in every process");
    }
    model_close(&model);
    trace_close(&trace);
}

static void test_bounds(void)
{
    char *events, told[TEXT_BYTES] = "";
    size_t size;
    FILE *file = open_memstream(&events, &size);
    struct trace trace;

    for (unsigned tid = 1; tid < MODEL_THREADS_MAX + 1000; tid++) {
        if (tid % 500 == 0) /* a packet is full */
            fprintf(file, "%u 0 !lost 0\n%u 0 trace_context tid=%u pid=%u name=many\n", tid, tid, tid - 1,
                    tid - 1);
        fprintf(file, "%u 0 sched_switch prev_state=ready next_tid=%u next_pid=%u next_comm=many\n", tid, tid,
                tid);
    }
    fprintf(file, "%u 0 user_text\n", MODEL_THREADS_MAX + 1000);
    fprintf(file, "%u 0 sched_switch prev_state=ready next_tid=77 next_pid=77 next_comm=early\n",
            MODEL_THREADS_MAX + 1001);
    fprintf(file, "%u 0 user_text\n", MODEL_THREADS_MAX + 1002);
    fclose(file);
    open_text(&trace, events, "le");
    model_open(&model, &trace, 0, UINT64_MAX);
    walk(&trace, told, "user_text");
    check(model.thread_count == MODEL_THREADS_MAX + 1, "the number of threads is limited");
    expect("le", "earlier threads are still known", told,
           "(unknown) of nobody: user_text; early of many: user_text; ");
    model_close(&model);
    trace_close(&trace);
    free(events);
}

int main(void)
{
    make_scratch();
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        test_story(&stories[i], "le");
        test_story(&stories[i], "be");
    }
    test_bounds();
    return finish_tests();
}
