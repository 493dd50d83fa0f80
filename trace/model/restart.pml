/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/model/restart.pml - the protocol of restartable logging (trace/ring/restart.h, restart.c, read_rules.h),
 * for spin. README.md says what is modelled and what is not, `prove` runs it.
 *
 * Contexts. What runs on a CPU is a stack: a thread, above it an interrupt (or a message from another CPU), above
 * that an NMI. Each is a process here, and executes a step only while runs[cpu] names it. A block's program counter
 * is a variable, pc[k], so what enters above it can set it back.
 *
 * Memory. own[] is a ring as its CPU has stored it, vis[] as others see it. A store changes own[]. A fence copies
 * all of own[] to vis[]. A load by another CPU may first copy just the word that it loads. So stores that no fence
 * separates become visible in any order. Nothing is missing in this:
 *
 *   - Nobody sees a word before it loads it, so the choice "visible yet?" can wait until then.
 *   - A CPU loads its own stores from own[], as hardware forwards them.
 *   - A fence here makes visible; a real one only orders. The difference is a delay of all that the writer does,
 *     and another schedule has the same effect, because the writer loads nothing that depends on its readers'
 *     progress but `consumed`.
 *   - A reader's loads are in order between its own fences. What it read from a newer lap makes it see the newer
 *     index at its second look, whatever was first (that is what is to be proved), so the order of the copy's
 *     loads does not matter.
 *
 * Steps. Each step is what one CPU does between two points at which anybody else can make a difference. A fence and
 * the store behind it are one step: the store is then in own[] and not yet in vis[], as if it were still to come.
 * Several stores between two fences are one step where interrupts can do nothing in between but count.
 *
 * Ghosts are variables of the proof, named g_: no process decides by them.
 */

/* ---- sizes: -D of `prove` ------------------------------------------------------------------------- */

#ifndef CPUS
#define CPUS 1 /* with rings; the reader and the initiator run on further ones */
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef WORDS
#define WORDS 7 /* of a buffer: header 3, context 1, two words for events, one for END */
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef THREAD_EVENTS
#define THREAD_EVENTS 3
#endif
#ifndef IRQS
#define IRQS 1
#endif
#ifndef BEATS
#define BEATS 0 /* interrupts that log a heartbeat */
#endif
#ifndef NMIS
#define NMIS 1 /* events of NMIs, on each CPU */
#endif
#ifndef READS
#define READS 2 /* packets that the reader tries while others log; 0: only when all is done */
#endif
#ifndef CLEARS
#define CLEARS 0
#endif
#ifndef DIES
#define DIES false
#endif
#ifndef WORDS_LATER
#define WORDS_LATER WORDS /* geometry after a change */
#define BUFFERS_LATER BUFFERS
#endif
#if WORDS > WORDS_LATER
#define WORDS_MAX WORDS
#else
#define WORDS_MAX WORDS_LATER
#endif
#ifndef MEMORY
#define MEMORY (WORDS * BUFFERS) /* words of a ring: of the larger geometry */
#endif
#ifndef PACKETS
#define PACKETS 9 /* numbers, at most */
#endif
#define EVENTS 24 /* on a CPU, at most, with contexts and heartbeats */

/* ---- properties ----------------------------------------------------------------------------------- */

/* Each assertion names its property by a number, which `prove` finds in what spin prints. */
#define EVENT 901    /* each event is logged once, or counted as discarded once, or came while the ring was stopped */
#define LOSS 902     /* a packet's events_discarded counts the losses before its first event: none lies inside it */
#define PACKET 903   /* what a reader accepts holds all events of the packet, whole, once and in order */
#define TIMES 904    /* a reader computes each event's full time from the low part that is stored */
#define NO_GAP 905   /* in mode stream a reader gets each packet */
#define READY 906    /* a packet that the index has left is whole, unless it was cleared or the index has come round to it */
#define ACCEPTED 907 /* when all is quiet a reader accepts all packets that the ring holds */
#define SUM 908      /* events read and before + discarded = all that happened */
#define SNAPSHOT 909 /* an open packet's snapshot is not cut without need */
#define BOUNDED 910  /* a ring changes packets no more often than its events need: each retry ends */

/* ---- formats -------------------------------------------------------------------------------------- */

/* Words of a packet. Those that are stored between the same fences, and that readers use together, are one. */
#define SEQ 0  /* packet_seq_num */
#define COM 1  /* committed: */
#define IN_ORDER 0
#define WHOLE 1
#define DISC 2 /* events_discarded */
#define CTX 3  /* the context event; holds events_before */
#define OWN_WORDS 4
#define NO_PACKET 255

/* A word: of a context 64 + events_before, of data 32 + id, a header 128 + 16 * time + id. Even ids have two words. */
#define WRAP 8
#define CONTEXT(before) (64 + ((before) & 63))
#define DATA(id) (32 + (id))
#define HEADER(id, time) (128 + 16 * ((time) % WRAP) + (id))
#define BEAT 13
#define END 15
#define LENGTH(id) (((id) % 2) -> 1 : 2)

/* An index: position, bit CLOSED, events: KEPT and a bit for the carry. */
#define STEP(words) ((words) * 32 + 1)
#define CLOSED 16
#define KEPT 8
#define POSITION(index) ((index) / 32)
#define IS_CLOSED(index) (((index) / CLOSED) % 2)
#define COUNT(index) ((index) % CLOSED)
#define AT(position, events) ((position) * 32 + (events) % KEPT)
#define NUMBER(index) (POSITION(index) / words)
#define BOUND(position) (((position) / words * words + words - 1) * 32 + 15)
#define PLACE(cpu, position) ((cpu) * MEMORY + (position) % (words * buffers))
#define EVENTS_SINCE_BOOT(index, about) ((about) - 1 + (COUNT(index) + 1 + KEPT - (about) % KEPT) % KEPT)

/* ---- state ---------------------------------------------------------------------------------------- */

/* Contexts: threads, then these for each CPU. */
#define IRQ(cpu) (THREADS + (cpu))
#define NMI(cpu) (THREADS + CPUS + (cpu))
#define IPI(cpu) (THREADS + 2 * CPUS + (cpu))
#define CONTEXTS (THREADS + 3 * CPUS)
#define IDLE CONTEXTS

byte runs[CPUS];   /* the context that executes */
byte under_irq[CPUS], under_nmi[CPUS]; /* what it interrupted */
byte cpu_of[CONTEXTS];
bool is_dead[THREADS];

/* A context's registers. */
byte pc[CONTEXTS];
bool in_kernel[CONTEXTS]; /* a thread after a trap: interrupts are off */
byte ring[CONTEXTS];
short old[CONTEXTS];
byte now[CONTEXTS];

/* Control page and kernel's state; nobody but the CPU loads them, the index excepted. */
short own_index[CPUS], vis_index[CPUS], bound[CPUS];
byte limit[CPUS], discarded[CPUS], events[CPUS], last_time[CPUS];
bool busy[CPUS], stopped[CPUS];

byte own[CPUS * MEMORY];
#if READS > 0
byte vis[CPUS * MEMORY];
#else
#define vis own
#endif

/* Info page. */
byte words = WORDS, buffers = BUFFERS;
byte geometry; /* changes; even ones have (geometry / 2) % 2 as their sizes */
byte consumed[CPUS];
byte clock;

/* Messages to CPUs, from the initiator of a clear. */
#define STOP 1
#define OPEN 2
byte message[CPUS], fresh[CPUS];

byte running = 0; /* writers that have not ended */

/* ---- ghosts --------------------------------------------------------------------------------------- */

byte g_log[CPUS * EVENTS]; /* ids of committed events, in order; 128 + number: a context */
byte g_logged[CPUS];
byte g_begin[CPUS * PACKETS], g_count[CPUS * PACKETS]; /* of packets */
byte g_lost[CPUS];
byte g_word[CPUS * PACKETS * WORDS_MAX]; /* what each packet must hold */
#define G_WORD(cpu, position) g_word[(cpu) * PACKETS * WORDS_MAX + (position) / words * WORDS_MAX + (position) % words]
byte g_done[16]; /* by id: 1 logged, 2 discarded, 3 skipped because the ring was stopped */
#ifdef TIME
byte g_time[CPUS * EVENTS];
byte begin_time[CPUS * BUFFERS], end_time[CPUS * BUFFERS]; /* of packets, 64 bits */
#endif

/* ---- helpers -------------------------------------------------------------------------------------- */

/* What the kernel's part is called for. */
#define ASKS 1   /* a block has no space */
#define BEATS_ 2 /* a heartbeat */
#define OPENS 3  /* a fresh ring */
#define ENDS 4   /* the packet cannot go on: there is a loss in it */

#define IS_THREAD(k_) ((k_) < THREADS)
#define c cpu_of[k] /* of the context that executes */
#define ON (runs[c] == k)

#if READS > 0
inline fence(cpu)
{
    d_step {
        f = 0;
        do
        :: f < MEMORY -> vis[(cpu) * MEMORY + f] = own[(cpu) * MEMORY + f]; f++
        :: else -> break
        od;
        f = 0;
        vis_index[cpu] = own_index[cpu]
    }
}
#else
inline fence(cpu) { skip }
#endif

/* Sets a program counter back that lies in a restartable sequence: a block, or the end of leave(). */
#ifdef M_REWIND_LATE
#define BLOCK_END 7
#else
#define BLOCK_END 6
#endif
inline rewind(k_)
{
    if
    :: k_ < CONTEXTS && pc[k_] > 0 && pc[k_] <= BLOCK_END -> pc[k_] = 0; old[k_] = 0; now[k_] = 0; ring[k_] = 0
    :: else
    fi
}

inline note(cpu, what)
{
    g_log[(cpu) * EVENTS + g_logged[cpu]] = what;
#ifdef TIME
    g_time[(cpu) * EVENTS + g_logged[cpu]] = now[k];
#endif
    g_logged[cpu]++;
    g_count[(cpu) * PACKETS + NUMBER(own_index[cpu])]++
}

/* Where a step ends and the next one begins. */
#define NEXT }; atomic { ON ->
#define NEXT_IN_BLOCK(n) } :: atomic { ON && pc[k] == n ->

/* ---- a block -------------------------------------------------------------------------------------- */

#ifdef TIME
#ifndef CLOCK_MAX
#define CLOCK_MAX 16
#endif
/* The clock goes on by itself, by nothing or by about half of what a timestamp can tell, or by much more. */
inline tick()
{
    if
    :: skip
    :: clock < CLOCK_MAX -> clock = clock + 5
    :: clock < CLOCK_MAX -> clock = clock + 11
    fi
}
#define IS_LATE(cpu, t) (t > limit[cpu])
#ifdef M_NEAR_NOT_TESTED
#define IS_NEAR(cpu, t) true
#else
#define IS_NEAR(cpu, t) (t - last_time[cpu] < WRAP)
#endif
#define LIMIT(t) ((t) / WRAP * WRAP + WRAP - 1)
#else
inline tick() { skip }
#define IS_LATE(cpu, t) false
#define IS_NEAR(cpu, t) true
#define LIMIT(t) 0
#endif

inline log_event()
{
    do
    :: atomic { ON && pc[k] == 0 -> ring[k] = c;
#if CPUS > 1 || defined(M_NO_REWIND_IRQ)
        pc[k] = 1 }
    :: atomic { ON && pc[k] == 1 ->
#endif
        old[k] = own_index[ring[k]]; pc[k] = 2 }
    :: atomic { ON && pc[k] == 2 -> tick(); now[k] = clock;
#ifdef M_LIMIT_NOT_TESTED
        pc[k] = 3 }
#else
        if
        :: IS_LATE(ring[k], now[k]) -> pc[k] = 10; in_kernel[k] = true
        :: else -> pc[k] = 3
        fi }
#endif
    :: atomic { ON && pc[k] == 3 ->
        if
        :: old[k] + STEP(LENGTH(id)) > bound[ring[k]] -> pc[k] = 10; in_kernel[k] = true
        :: else -> pc[k] = 3 + LENGTH(3 - LENGTH(id)) /* 5 with one word, 4 with two */
        fi }
    :: atomic { ON && pc[k] == 4 -> own[PLACE(ring[k], POSITION(old[k]) + 1)] = DATA(id); pc[k] = 5 }
    :: atomic { ON && pc[k] == 5 -> own[PLACE(ring[k], POSITION(old[k]))] = HEADER(id, now[k]); pc[k] = 6 }
    :: atomic { ON && pc[k] == 6 ->
#ifndef M_NO_FENCE_INDEX
        fence(ring[k]);
#endif
        own_index[ring[k]] = old[k] + STEP(LENGTH(id));
        assert(EVENT && g_done[id] == 0);
        g_done[id] = 1;
        note(ring[k], id);
        G_WORD(ring[k], POSITION(old[k])) = HEADER(id, now[k]);
        if
        :: LENGTH(id) == 2 -> G_WORD(ring[k], POSITION(old[k]) + 1) = DATA(id)
        :: else
        fi;
        assert(LOSS && own[PLACE(ring[k], NUMBER(old[k]) * words) + DISC] == g_lost[ring[k]]);
        pc[k] = 7 NEXT_IN_BLOCK(7)
        pc[k] = 0; old[k] = 0; now[k] = 0; ring[k] = 0; break } /* the jump to the exit */
    :: atomic { k < THREADS && ON && pc[k] > 0 && pc[k] <= 6 && DIES -> /* dies in the block */
        is_dead[k] = true; pc[k] = 0; old[k] = 0; now[k] = 0; ring[k] = 0; count = 0; break }
    :: pc[k] >= 10 && pc[k] < 20 -> why = ASKS; break
    od
}

/* ---- the kernel's part ---------------------------------------------------------------------------- */

#ifdef M_CONSUMED_NOT_TESTED
#define IS_FREE(cpu, number) true
#else
#define IS_FREE(cpu, number) ((number) >= consumed[cpu] && (number) - consumed[cpu] < buffers)
#endif

inline close(index)
{
    if
    :: IS_CLOSED(index)
    :: else ->
        e = (POSITION(index) / words) * words;
#ifdef TIME
        e2 = (now[k] < limit[c] -> now[k] : limit[c]);
#ifdef M_END_NOT_LIMITED
        e2 = now[k];
#endif
        end_time[c * BUFFERS + (e / words) % buffers] = e2;
#else
        e2 = 0;
#endif
        own[PLACE(c, POSITION(index))] = HEADER(END, e2);
        G_WORD(c, POSITION(index)) = HEADER(END, e2);
        fence(c);
        own[PLACE(c, e) + COM] = WHOLE; e = 0; e2 = 0
    fi
}

/* From the trap, or the interrupt, to the return. */
inline kernel_part()
{
    /* enter(): busy is tested and set in one step; an NMI in between would have ended when it is set */
    atomic { ON ->
        has_space = false;
        if
        :: why == OPENS -> busy[c] = true
        :: why != OPENS && stopped[c] -> g_done[id] = (why == ASKS -> 3 : g_done[id]); goto out
#ifndef M_BUSY_NOT_TESTED
        :: why != OPENS && !stopped[c] && busy[c] -> goto discard
#endif
        :: else -> busy[c] = true
        fi }
entered:
#ifndef M_BOUND_NOT_CLEARED
    atomic { ON -> bound[c] = 0 };
#endif
    atomic { ON ->
        index = own_index[c]; tick(); now[k] = clock;
        if
        :: why == OPENS -> start = fresh[c] * words; goto announce
        :: why == ASKS && IS_LATE(c, now[k]) && IS_NEAR(c, now[k]) && !IS_CLOSED(index) && index + STEP(1) <= BOUND(POSITION(index)) ->
            goto append
        :: why == ASKS && !IS_LATE(c, now[k]) && !IS_CLOSED(index) && POSITION(index) % words == OWN_WORDS -> has_space = true; goto leave
        :: why == BEATS_ && IS_NEAR(c, now[k]) && !IS_CLOSED(index) && index + STEP(1) <= BOUND(POSITION(index)) -> goto append
        :: else
        fi NEXT
        start = (NUMBER(index) + 1) * words;
        if
#ifdef STREAM
        :: !IS_FREE(c, NUMBER(index) + 1) -> goto give_up
#endif
        :: else
        fi NEXT
        close(index) /* change() */
    };
announce:
    atomic { ON ->
        events_ = EVENTS_SINCE_BOOT(index, events[c]);
#ifdef M_CARRY_KEPT
        events_ = COUNT(index);
#endif
#ifndef M_NO_ANNOUNCE
#ifndef M_NO_RELEASE_ANNOUNCE
        fence(c);
#endif
#ifndef M_ANNOUNCE_LATE
        own_index[c] = AT(start, events_) NEXT
#ifndef M_NO_FENCE_ANNOUNCE
        fence(c);
#endif
#endif
#endif
        events[c] = events_ NEXT
        e = PLACE(c, start);
        own[e + DISC] = discarded[c];
        own[e + CTX] = CONTEXT(events_);
        own[e + COM] = IN_ORDER;
        own[e + SEQ] = start / words;
#ifdef M_ANNOUNCE_LATE
        fence(c);
        own_index[c] = AT(start, events_);
#endif
#ifdef TIME
        begin_time[c * BUFFERS + (start / words) % buffers] = now[k];
#ifndef M_LIMIT_NOT_RAISED
        limit[c] = LIMIT(now[k]);
#endif
        last_time[c] = now[k];
#endif
        e = 0 };
    atomic { ON ->
#ifndef M_NO_FENCE_OPEN
        fence(c);
#endif
        own_index[c] = AT(start, events_) + STEP(OWN_WORDS);
        assert(BOUNDED && start / words < PACKETS);
        g_begin[c * PACKETS + start / words] = g_logged[c];
        g_count[c * PACKETS + start / words] = 0;
        note(c, 128 + start / words);
        G_WORD(c, start + SEQ) = start / words;
        G_WORD(c, start + COM) = WHOLE;
        G_WORD(c, start + DISC) = own[PLACE(c, start) + DISC];
        G_WORD(c, start + CTX) = CONTEXT(g_begin[c * PACKETS + start / words]);
        if
        :: why == OPENS -> stopped[c] = false
        :: else
        fi;
        has_space = (why == ENDS -> has_space : true); /* the event may already be counted as discarded */
        index = 0; start = 0; events_ = 0 };
    if
    :: why == BEATS_ -> index = own_index[c]; goto append
    :: else -> goto leave
    fi;

append:
    atomic { ON -> own[PLACE(c, POSITION(index))] = HEADER(BEAT, now[k]) NEXT
        fence(c);
#ifdef TIME
#ifndef M_LIMIT_NOT_RAISED_BY_BEAT
        limit[c] = LIMIT(now[k]);
#endif
        last_time[c] = now[k];
#endif
        own_index[c] = index + STEP(1);
        note(c, BEAT);
        G_WORD(c, POSITION(index)) = HEADER(BEAT, now[k]);
        has_space = true; index = 0 };
    goto leave;

give_up:
    atomic { ON -> close(index) };
    atomic { ON ->
#ifndef M_NO_RELEASE_GIVE_UP
        fence(c);
#endif
        own_index[c] = (start - 1) * 32 + CLOSED + COUNT(index);
        index = 0; start = 0;
        if
        :: why != ASKS -> goto leave /* no event was lost */
        :: else -> has_space = false
        fi };
#ifdef M_COUNT_TWICE
    atomic { ON -> discarded[c]++ };
#endif
#ifdef M_COUNT_NOT_ATOMIC
    atomic { ON -> d = discarded[c] };
    atomic { ON -> discarded[c] = d + 1; d = 0; g_lost[c]++;
#else
    atomic { ON -> discarded[c]++; g_lost[c]++;
#endif
        if :: why == ASKS -> assert(EVENT && g_done[id] == 0); g_done[id] = 2 :: else fi };
    goto leave;

discard:
    /* Who changes the ring may not have stored bound = 0 yet: no shorter event may follow this loss. */
#ifndef M_LOSS_KEEPS_BOUND
    atomic { ON -> bound[c] = 0 };
#endif
#ifdef M_COUNT_NOT_ATOMIC
    atomic { ON -> d = discarded[c] };
    atomic { ON -> discarded[c] = d + 1; d = 0; g_lost[c]++;
#else
    atomic { ON -> discarded[c]++; g_lost[c]++;
#endif
        if :: why == ASKS -> assert(EVENT && g_done[id] == 0); g_done[id] = 2 :: else fi };
    goto out;

leave:
    /* Not busy from here on: an NMI that finds no space makes it, instead of counting a loss after the look at
     * `discarded`. What is stored here after such an NMI is old, but harmless: the bound is then too low. */
    atomic { ON ->
#ifndef M_BUSY_LAST
        busy[c] = false NEXT
#endif
        index = own_index[c] NEXT
        d = discarded[c];
        if
        :: IS_CLOSED(index) || stopped[c] -> d = 0; index = 0; busy[c] = false; goto out
        :: else
        fi NEXT
        e = PLACE(c, NUMBER(index) * words) + DISC;
        if
        :: POSITION(index) % words == OWN_WORDS ->
            own[e] = d;
            G_WORD(c, NUMBER(index) * words + DISC) = d
#ifndef M_LOSS_INSIDE
        :: POSITION(index) % words != OWN_WORDS && own[e] != d -> busy[c] = true; index = 0; d = 0; e = 0; why = ENDS; goto entered
#endif
        :: else
        fi NEXT
        bound[c] = BOUND(POSITION(index)) NEXT
#ifdef M_BUSY_LAST
        busy[c] = false;
#endif
        index = 0; d = 0; e = 0 };
out:
    skip
}

/* ---- contexts ------------------------------------------------------------------------------------- */

/* Where a context may begin. */
#define CAN_INTERRUPT(cpu) (runs[cpu] == IDLE || (IS_THREAD(runs[cpu]) && !in_kernel[runs[cpu]]))
#define CAN_NMI(cpu) (runs[cpu] != NMI(cpu))

proctype context(byte k, first, count, beats)
{
    byte id, why, d, e, e2, f, events_, k2;
    short index, start;
    bool has_space;
    do
    :: count + beats > 0 ->
        /* entry */
        if
        :: IS_THREAD(k) -> atomic { ON -> id = first; first++; count--; why = 0 }
        :: k >= IRQ(0) && k < NMI(0) -> atomic { CAN_INTERRUPT(c) -> k2 = runs[c]; under_irq[c] = k2;
#ifndef M_NO_REWIND_IRQ
            rewind(k2);
#endif
            k2 = 0; runs[c] = k;
            if
            :: count > 0 -> id = first; first++; count--; why = 0
            :: beats > 0 -> beats--; why = BEATS_
            fi }
        :: k >= NMI(0) && k < IPI(0) -> atomic { CAN_NMI(c) -> k2 = runs[c]; under_nmi[c] = k2;
#ifdef M_NO_REWIND_NMI
            if
            :: k2 < CONTEXTS && pc[k2] < 7
            :: else -> rewind(k2)
            fi;
#else
            rewind(k2);
#endif
            k2 = 0; runs[c] = k; id = first; first++; count--; why = 0 }
        :: k >= IPI(0) -> atomic { message[c] != 0 && CAN_INTERRUPT(c) -> k2 = runs[c]; under_irq[c] = k2;
#ifndef M_NO_REWIND_IPI
            rewind(k2);
#endif
            k2 = 0; runs[c] = k; count--;
            if
            :: message[c] == STOP -> goto stop
            :: else -> why = OPENS
            fi }
        fi;
again:
        if
        :: why == 0 -> log_event()
        :: else
        fi;
        if
        :: why != 0 ->
            kernel_part();
            atomic { ON ->
                if
                :: pc[k] == 10 -> pc[k] = 0
                :: else
                fi;
                index = 0; start = 0; events_ = 0; now[k] = 0; old[k] = 0; ring[k] = 0;
                in_kernel[k] = false;
                if
#ifdef M_RESTART_DISCARDED
                :: id > 0 -> why = 0; goto again
#else
                :: id > 0 && has_space -> why = 0; has_space = false; goto again
#endif
                :: else -> has_space = false
                fi }
        :: else
        fi;
        if
        :: false ->
stop:       atomic { ON -> stopped[c] = true };
            atomic { ON ->
                bound[c] = 0
                }
        :: true
        fi;
        /* exit; a thread's next event may come on another CPU */
        atomic { ON || (IS_THREAD(k) && is_dead[k % THREADS]) -> why = 0;
            if
            :: id > 0 -> assert(EVENT && (g_done[id] != 0 || (IS_THREAD(k) && is_dead[k % THREADS])))
            :: else
            fi;
            id = 0;
            if
            :: IS_THREAD(k)
            :: k >= IRQ(0) && k < NMI(0) -> runs[c] = under_irq[c]; under_irq[c] = 0
            :: k >= NMI(0) && k < IPI(0) -> runs[c] = under_nmi[c]; under_nmi[c] = 0
            :: k >= IPI(0) -> fence(c); runs[c] = under_irq[c]; under_irq[c] = 0; message[c] = 0
            fi }
    :: else -> break
    od;
    atomic { /* a thread that has ended leaves its CPU */
        if
        :: IS_THREAD(k) -> is_dead[k % THREADS] = true
        :: else
        fi;
        running--
    }
}

#ifdef SCHEDULER
/* Preempts at any step, and lets any thread run on any idle CPU. */
#define PREEMPT(cpu) \
    :: atomic { runs[cpu] != IDLE && IS_THREAD(runs[cpu]) && !in_kernel[runs[cpu]] -> t = runs[cpu]; REWIND_PREEMPTED(t); \
        runs[cpu] = IDLE; t = 0 }
#define DISPATCH(cpu, t_) \
    :: atomic { runs[cpu] == IDLE && !is_dead[t_] && !is_running[t_] -> runs[cpu] = t_; cpu_of[t_] = cpu; \
        is_running[t_] = true }
#ifdef M_NO_REWIND_PREEMPT
#define REWIND_PREEMPTED(t_) is_running[t_] = false
#else
#define REWIND_PREEMPTED(t_) rewind(t_); is_running[t_] = false
#endif
bool is_running[THREADS];

proctype scheduler()
{
    byte t;
end:
    do
    PREEMPT(0)
    DISPATCH(0, 0)
#if THREADS > 1
    DISPATCH(0, 1)
#endif
#if CPUS > 1
    PREEMPT(1)
    DISPATCH(1, 0)
#if THREADS > 1
    DISPATCH(1, 1)
#endif
#endif
    od
}
#endif

/* ---- clear and resize ----------------------------------------------------------------------------- */

#if CLEARS > 0

proctype initiator()
{
    byte n, cpu, b;
    do
    :: n < CLEARS -> n++;
#ifndef M_CLEAR_NO_STOP
        cpu = 0;
        do
        :: cpu < CPUS -> message[cpu] = STOP; message[cpu] == 0; cpu++
        :: else -> break
        od;
#endif
#ifndef M_GEOMETRY_NOT_ODD
        geometry++;
#endif
        atomic { words = WORDS_LATER; buffers = BUFFERS_LATER };
        cpu = 0;
        do
        :: cpu < CPUS ->
            /* forget_packets(), and where the ring goes on */
            atomic {
                fresh[cpu] = NUMBER(own_index[cpu]) + 2;
                b = 0;
                do
                :: b < buffers -> own[cpu * MEMORY + b * words + SEQ] = NO_PACKET; own[cpu * MEMORY + b * words + COM] = WHOLE; b++
                :: else -> break
                od;
                b = 0
            };
            consumed[cpu] = fresh[cpu];
            message[cpu] = OPEN;
            message[cpu] == 0;
            cpu++
        :: else -> break
        od;
#ifdef M_GEOMETRY_NOT_ODD
        geometry++;
#endif
        geometry++
    :: else -> break
    od;
    running--
}
#endif

/* ---- the reader ----------------------------------------------------------------------------------- */

#ifndef COPIED
#define COPIED 1 /* words, in a step */
#endif
#define R_WORD(at_) g_word[q * PACKETS * WORDS_MAX + number * WORDS_MAX + (at_)]

/* Makes a word visible, or not. */
#if READS > 0
#define SEE(a) if :: vis[a] != own[a] -> vis[a] = own[a] :: true fi
#define SEE_INDEX if :: vis_index[0] != own_index[0] -> vis_index[0] = own_index[0] :: true fi
#else
#define SEE(a) skip
#define SEE_INDEX skip
#define vis_index own_index
#endif

#define R_WORDS (r_geometry < 2 -> WORDS : WORDS_LATER)
#define R_BUFFERS (r_geometry < 2 -> BUFFERS : BUFFERS_LATER)
#define R_NUMBER(index) (POSITION(index) / r_words)
#define R_PLACE ((q * MEMORY) + (number % r_buffers) * r_words)

proctype reader()
{
    byte tries = READS, q = 0, number, next, expect, at, n, word, id, time, r_geometry, r_words, r_buffers, upto, upto2;
    short index, again;
    bool open, last, bad;
next_try:
    if
    :: last
    :: !last && tries > 0 && running > 0 -> tries--
    :: !last && running == 0 ->
        /* all are done: now each ring, one packet after the other */
        d_step {
            last = true; tries = 0;
#if READS > 0
            at = 0;
            do
            :: at < CPUS * MEMORY -> vis[at] = own[at]; at++
            :: else -> break
            od;
            at = 0;
            vis_index[0] = own_index[0]
#endif
        }
    fi;
    atomic {
        r_geometry = geometry;
        if
        :: r_geometry % 2 == 1 -> r_geometry = 0; goto rejected
        :: else
        fi;
        r_words = R_WORDS; r_buffers = R_BUFFERS
    };
    /* which packet */
    atomic {
        SEE_INDEX;
        index = vis_index[q];
        number = (next + r_buffers > R_NUMBER(index) -> next : R_NUMBER(index) - r_buffers + 1);
#if CLEARS > 0
        if
        :: last && number < fresh[q] -> number = fresh[q] /* those before were cleared */
        :: else
        fi;
#endif
#ifndef STREAM
        do
        :: !last && number < R_NUMBER(index) -> number++
        :: break
        od;
#endif
        if
        :: number > R_NUMBER(index) || (number == R_NUMBER(index) && !IS_CLOSED(index) && POSITION(index) % r_words < OWN_WORDS) ->
            goto rejected
        :: else
        fi;
        open = (number == R_NUMBER(index) && !IS_CLOSED(index));
        upto = (open -> POSITION(index) % r_words : r_words)
    };
    if
    :: !open ->
        atomic { SEE(R_PLACE + SEQ);
            if
            :: vis[R_PLACE + SEQ] != number -> goto refused
            :: else
            fi };
        atomic { SEE(R_PLACE + COM);
            if
            :: vis[R_PLACE + COM] != WHOLE -> goto refused
            :: else
            fi }
    :: else
    fi;
    at = 0; id = 0;
    do
    :: at < upto && id != END ->
        atomic {
            upto2 = (at + COPIED < upto -> at + COPIED : upto);
            do
            :: at < upto2 && id != END -> SEE(R_PLACE + at);
                word = vis[R_PLACE + at];
                /* is compared at once, so that it needs not be kept; events_discarded of an open packet may still change */
                if
                :: word != R_WORD(at) && !(open && (at == COM || (at == DISC && upto == OWN_WORDS))) -> bad = true
                :: else
                fi;
                if
                :: at >= OWN_WORDS && word >= 128 -> id = word % 16 /* END ends the copy: what is behind it is filler */
                :: else
                fi;
                word = 0; at++
            :: else -> break
            od;
            upto2 = 0
        }
    :: else -> break
    od;
    atomic {
        SEE_INDEX;
        again = vis_index[q];
#ifndef M_NO_SECOND_LOOK
        if
        :: R_NUMBER(again) - number >= r_buffers -> goto rejected
        :: else
        fi;
#endif
        if
        :: open && (R_NUMBER(again) != number || IS_CLOSED(again)) -> goto rejected
        :: else
        fi;
#ifndef M_NO_SECOND_GEOMETRY
        if
        :: geometry != r_geometry -> goto rejected
        :: else
        fi;
#endif
        assert(PACKET && !bad);
        at = OWN_WORDS; n = 1;
#ifdef TIME
        time = begin_time[q * BUFFERS + number % r_buffers];
        assert(TIMES && time == g_time[q * EVENTS + g_begin[q * PACKETS + number]]);
#endif
        do
        :: open && at == upto -> break
        :: else ->
            assert(PACKET && at < r_words);
            word = R_WORD(at);
            assert(PACKET && word >= 128);
            id = word % 16;
#ifdef TIME
            time = time + (word / 16 + WRAP - time % WRAP) % WRAP;
#endif
            if
            :: id == END ->
#ifdef TIME
                assert(TIMES && time == end_time[q * BUFFERS + number % r_buffers]);
#endif
                break
            :: else
            fi;
            assert(PACKET && g_log[q * EVENTS + g_begin[q * PACKETS + number] + n] == id);
#ifdef TIME
            assert(TIMES && g_time[q * EVENTS + g_begin[q * PACKETS + number] + n] == time);
#endif
            if
            :: LENGTH(id) == 2 -> assert(PACKET && R_WORD(at + 1) == DATA(id))
            :: else
            fi;
            at = at + LENGTH(id); n++
        od;
        assert(PACKET && open == (id != END));
        if
        :: open -> assert(PACKET && n % KEPT == (COUNT(index) + KEPT - g_begin[q * PACKETS + number] % KEPT) % KEPT)
        :: else -> assert(PACKET && n == g_count[q * PACKETS + number])
        fi;
        if
        :: !open || last ->
#if defined(STREAM) && CLEARS == 0
            assert(NO_GAP && g_begin[q * PACKETS + number] == expect);
#endif
            next = number + 1;
            expect = g_begin[q * PACKETS + number] + n
        :: else
        fi;
        n = 0; at = 0; word = 0; id = 0; time = 0
    };
#ifdef STREAM
    if
    :: !open -> consumed[q] = next
    :: else
    fi;
#endif
    goto rejected;
refused:
        atomic {
        again = vis_index[q];
        SEE_INDEX;
        again = vis_index[q];
        assert(READY && (R_NUMBER(again) - number >= r_buffers || geometry != r_geometry || number < fresh[q]))
    };
rejected:
    atomic {
        if
        :: last ->
            assert(ACCEPTED && (next == number + 1 || number > R_NUMBER(index)));
            if
            :: number >= R_NUMBER(index) ->
                assert(SUM && expect == g_logged[q]);
                assert(SUM && discarded[q] == g_lost[q]);
                q++; next = 0; expect = 0;
                if
                :: q == CPUS -> goto finished
                :: else
                fi
            :: else
            fi
        :: else
        fi;
        at = 0; again = 0; index = 0; upto = 0; r_words = 0; r_buffers = 0; number = 0; open = false; bad = false; id = 0; r_geometry = 0;
        goto next_try
    };
finished:
    skip
}

#define START(k_, n_, beats_) cpu_of[k_] = ((k_) < THREADS -> 0 : ((k_) - THREADS) % CPUS); running++; run context(k_, i, n_, beats_)
#ifdef M_CLEAR_NO_STOP
#define IPIS CLEARS
#else
#define IPIS (2 * CLEARS)
#endif

init {
    byte i, b;
    atomic {
        i = 0;
        do
        :: i < CPUS ->
            own[i * MEMORY + SEQ] = 0; own[i * MEMORY + COM] = IN_ORDER; own[i * MEMORY + CTX] = CONTEXT(0);
            b = 1;
            do
            :: b < BUFFERS -> own[i * MEMORY + b * WORDS + SEQ] = NO_PACKET; b++
            :: else -> break
            od;
            own_index[i] = AT(0, 0) + STEP(OWN_WORDS);
            g_word[i * PACKETS * WORDS_MAX + COM] = WHOLE; g_word[i * PACKETS * WORDS_MAX + CTX] = CONTEXT(0);
            g_log[i * EVENTS] = 128; g_logged[i] = 1; g_count[i * PACKETS] = 1;
            bound[i] = BOUND(0); limit[i] = LIMIT(0);
            runs[i] = IDLE;
            i++
        :: else -> break
        od;
#if READS > 0
        i = 0;
        do
        :: i < CPUS * MEMORY -> vis[i] = own[i]; i++
        :: else -> break
        od;
        vis_index[0] = own_index[0];
#endif
        i = 1; /* the next id */
        b = 0;
        do
        :: b < THREADS -> START(b, THREAD_EVENTS, 0); i = i + THREAD_EVENTS; b++
        :: else -> break
        od;
        b = 0;
        do
        :: b < CPUS ->
            if
            :: IRQS + BEATS > 0 -> START(IRQ(b), IRQS, BEATS); i = i + IRQS
            :: else
            fi;
            if
            :: NMIS > 0 -> START(NMI(b), NMIS, 0); i = i + NMIS
            :: else
            fi;
            if
            :: CLEARS > 0 -> START(IPI(b), IPIS, 0)
            :: else
            fi;
            b++
        :: else -> break
        od;
        assert(i <= 13);
#ifdef SCHEDULER
        run scheduler();
#else
        runs[0] = 0;
#endif
#if CLEARS > 0
        running++;
        run initiator();
#endif
        run reader();
        i = 0; b = 0
    }
}
