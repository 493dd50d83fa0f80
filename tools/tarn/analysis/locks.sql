-- A wait counts where it ends, with all of its time. Waits for events (semaphores, conditions, ...) are in tables of their own:
-- threads often wait for them because they have nothing to do.
--: analysis locks: waits for locks: holders, causes, call chains; acquisitions and hold times
--: option depth N: distinguish call chains by their innermost N functions (4)
--: symbols
--: define USE_TERMS sum is_wait as waits, sum wait_dur as waited, max wait_dur as wait_max, sum is_sampled, sum spins,
--:  sum acquisitions, sum variance, sum is_hold as holds, sum hold_dur as held, max hold_dur as held_max
--: define WAITS sum(waits), ns(sum(waited)), ns(sum(waited) / sum(waits)), iif(sum(waits) > 0, ns(max(wait_max)), NULL)
--: define WAITS_COLUMNS waited_ns, wait_mean_ns:one, wait_max_ns:max
--: define USE $WAITS, sum(spins), nullif(sum(acquisitions), 0),
--:  iif(sum(acquisitions) > 0, $ERROR, NULL), 100.0 * sum(is_sampled) / sum(acquisitions),
--:  sum(holds), iif(sum(holds) > 0, ns(sum(held)), NULL), ns(sum(held) / sum(holds)), iif(sum(holds) > 0, ns(max(held_max)), NULL)
--: define USE_COLUMNS contentions, $WAITS_COLUMNS, spins, acquisitions, acquisitions_error:id, contended_percent:mean,
--:  holds, held_ns, held_mean_ns:one, held_max_ns:max
--: define CAUSE_TERMS sum running_dur as running, sum preempted_dur as preempted, sum blocked_dur as blocked, sum free_dur as free,
--:  sum unknown_dur as unknown
--: define CAUSES running, preempted, blocked, free, unknown
--: define CAUSES_COLUMNS running_ns:part, preempted_ns:part, blocked_ns:part, free_ns:part, unknown_ns:part
--: define IS_EVENT class IN (SELECT number FROM lock_class WHERE kind = 'event')
--: column acquisitions: acquisitions while the lock class was sampled
--: column acquisitions_error: 95 % bound of the error of acquisitions, if only one in N was logged
--: column address: address of the lock or event
--: column blocked_ns: part of the wait time in which the holder was blocked, asleep or in a call
--: column class: class of the lock or event
--: column contended_percent: share of acquisitions that had to wait, while the lock class was sampled
--: column contentions: waits that ended
--: column did: state of the holder meanwhile
--: column free_ns: part of the wait time in which the lock was free and the waiter was woken but not yet running
--: column held_max_ns: longest hold time
--: column held_mean_ns: mean hold time
--: column held_ns: sum of the hold times
--: column holder: thread that held the lock, or was waited for, longest during the wait
--: column holder in chain-holder: thread that held the lock, or was waited for
--: column holder in instead: thread that held the lock and was preempted
--: column holder in waiting: thread that held the lock when the wait began
--: column holder_process: process of the holder
--: column holder_tid: thread ID of the holder
--: column holds: releases with a known hold time: after a wait, or while the lock class was sampled
--: column instead: thread that ran longest on the CPU of a preempted holder
--: column instead_ran_ns: run time of that thread while the holder was preempted
--: column instead_tid: thread ID of that thread
--: column lock: address of the lock
--: column longest_ns: longest wait
--: column preempted_ns: part of the wait time in which the holder was ready but had no CPU
--: column running_ns: part of the wait time in which the holder ran
--: column since_ns: start of the wait, since the start of the trace
--: column spins: iterations of the loop in which the kernel waits for a spinlock, or in which a program retries a lock before it sleeps
--: column unknown_ns: part of the wait time in which the holder, or what it did, is unknown
--: column wait_max_ns: longest wait
--: column wait_mean_ns: mean wait
--: column wait_p99_ns: 99th percentile of the waits
--: column waited_ns: sum of the waits
--: column waited_ns in instead: time in which the thread ran in the holder's place while others waited for the lock
--: column waits: number of waits
--: column waker: thread that ended the wait: it released the lock, or signalled
--: column waker_tid: thread ID of that thread
--: column watch: sampling interval N: one of N acquisitions of the lock class is logged; empty: not sampled
CREATE VIRTUAL TABLE classes USING fold(lock_use, by class, $USE_TERMS, $CAUSE_TERMS, spread wait_dur as spread, max threshold as least);
--: for lock, event
CREATE VIRTUAL TABLE locks USING fold(lock_use, by pid, by lock, by class, $USE_TERMS, sum running_dur as running);
--: for chain, event-chain
CREATE VIRTUAL TABLE chains USING fold(lock_use, by chain_id, keep class, keep chain_pid, keep chain, $USE_TERMS);
--: for process, thread
CREATE VIRTUAL TABLE threads USING fold(lock_use, where is_event = 0, by utid, $USE_TERMS);
--: for waker
CREATE VIRTUAL TABLE wakers USING fold(lock_use, where is_woken = 1, by waker_utid, by class, sum is_wait as waits, sum wait_dur as waited,
                                       max wait_dur as wait_max);
--: for wait, hold
CREATE VIRTUAL TABLE spreads USING fold(lock_use, where is_event = 0, spread wait_dur as waits, spread hold_dur as holds);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(lock_use, where is_event = 0, top 100 wait_dur, keep ts, keep wait_dur as dur, keep utid,
                                        keep class, keep lock, keep holder_utid, $CAUSE_TERMS, keep instead_utid, keep instead_dur,
                                        keep waker_utid);
--: for holder
CREATE VIRTUAL TABLE holders USING fold(lock_blame, by holder_utid, by class, by cause, sum is_new_holder as waits, sum dur as waited,
                                        max holder_dur as longest);
--: for instead
CREATE VIRTUAL TABLE insteads USING fold(lock_blame, by instead_utid, by holder_utid, by class, sum dur as waited);
--: for chain-holder
CREATE VIRTUAL TABLE chain_holders USING fold(lock_blame, where is_event = 0, by chain_id, by holder_utid, by did, by instead_utid,
                                              keep class, keep chain_pid, keep chain, count as waits, sum dur as waited,
                                              max dur as longest);
--: for waiting
CREATE VIRTUAL TABLE waiting USING fold(lock_waiting, by utid, keep ts, keep lock, keep class, keep holder_utid);
--: answer lock
SELECT coalesce(lock_name(pid, lock), '(others)') || coalesce(' of ' || process_name(pid), '') || ' cost ' || amount(ns(sum(waited))) ||
       ' of waiting, ' || digits(100.0 * sum(waited) / (SELECT sum(waited) FROM locks WHERE NOT $IS_EVENT)) ||
       ' % of all; its holder worked ' || digits(100.0 * sum(running) / sum(waited)) || ' % of that.'
FROM locks WHERE lock NOTNULL AND NOT $IS_EVENT AND waited > 0 GROUP BY pid, lock, class ORDER BY sum(waited) DESC LIMIT 1;
--: table class, lock class, classes, by waited_ns: lock classes
--: columns number:id, $USE_COLUMNS, wait_p99_ns:one, watch:id
SELECT lock_class_name(class), class, $USE, percentile(spread, 99), nullif(watch, 0)
FROM classes LEFT JOIN lock_class ON number = class GROUP BY class;
--: table cause, what the holder did, classes, by waited_ns: state of the holder during the waits
--: columns contentions, waited_ns, $CAUSES_COLUMNS
SELECT lock_class_name(class), waits, ns(waited), $CAUSES FROM classes WHERE waits > 0 AND NOT ($IS_EVENT AND unknown >= waited);
--: table lock, lock, locks, by waited_ns: single locks
--: columns pid:id, class:text, $USE_COLUMNS, address:hex
SELECT coalesce(lock_name(pid, lock), '(others)'), pid, lock_class_name(class), $USE, lock FROM locks
WHERE class IS NULL OR NOT $IS_EVENT GROUP BY pid, lock, class;
--: table chain, call chain, chains, by waited_ns: call chains that waited
--: columns class:text, process:text, $USE_COLUMNS
SELECT call_chain(chain_pid, chain, coalesce(:depth, 4)) AS name, lock_class_name(class), process_name(chain_pid) AS process, $USE
FROM chains WHERE chain IS NOT NULL AND NOT $IS_EVENT GROUP BY class, process, name;
--: table chain-holder, call chain that waited, holders, by waited_ns: for each call chain of `chain`, the holders and what they did:
--:  user code, kernel or interrupt if they ran; the thread that ran instead if they were preempted; the state if they were blocked.
--:  The rows add up to the wait time of the chain. Threads of the same name in programs of the same name share a row; a wait counts
--:  for each of them that caused it
--: columns class:key, process:key, holder:key, holder_process:key, did:key, instead:key, waits, waited_ns, longest_ns:max
SELECT coalesce(call_chain(chain_pid, chain, coalesce(:depth, 4)), '(others)') AS name, lock_class_name(class) AS class_name,
       process_name(chain_pid) AS process, thread_name(holder_utid) AS holder, process_name(thread_pid(holder_utid)) AS holder_process,
       did, thread_name(instead_utid) AS instead, sum(waits), ns(sum(waited)), ns(max(longest))
FROM chain_holders GROUP BY name, class_name, process, holder, holder_process, did, instead;
--: table process, process, processes, by waited_ns: waits of each process
--: columns pid:id, $USE_COLUMNS
SELECT process_name(thread_pid(utid)), thread_pid(utid), $USE FROM threads WHERE utid IS NOT NULL GROUP BY 2;
--: table thread, thread, threads, by waited_ns, extra: waits of each thread
--: columns tid:id, pid:id, $USE_COLUMNS
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), $USE FROM threads WHERE utid IS NOT NULL GROUP BY utid;
--: table holder, holder, holders, by waited_ns: threads that others waited for
--: columns tid:id, pid:id, class:text, waits, waited_ns, longest_ns:max, running_ns:part, preempted_ns:part, blocked_ns:part, unknown_ns:part
SELECT thread_name(holder_utid), thread_tid(holder_utid), thread_pid(holder_utid), lock_class_name(class), sum(waits), ns(sum(waited)),
       ns(max(longest)), sum(iif(cause = 'running', waited, 0)), sum(iif(cause = 'preempted', waited, 0)),
       sum(iif(cause = 'blocked', waited, 0)), sum(iif(cause = 'unknown', waited, 0))
FROM holders WHERE holder_utid IS NOT NULL GROUP BY holder_utid, class;
--: table instead, ran in a holder's place, threads, by waited_ns: threads that ran on the CPUs of preempted holders while others waited
--:  for these
--: columns tid:id, pid:id, class:text, holder:text, holder_tid:id, waited_ns
SELECT thread_name(instead_utid), thread_tid(instead_utid), thread_pid(instead_utid), lock_class_name(class), thread_name(holder_utid),
       thread_tid(holder_utid), ns(waited)
FROM insteads WHERE instead_utid IS NOT NULL;
--: table event, waits for events, events, by waited_ns: waits for events
--: columns pid:id, class:text, address:hex, waits, $WAITS_COLUMNS
SELECT lock_name(pid, lock), pid, lock_class_name(class), lock, $WAITS FROM locks WHERE $IS_EVENT GROUP BY pid, lock, class;
--: table event-chain, call chain of waits for events, chains, by waited_ns: call chains that waited for events
--: columns class:text, process:text, waits, $WAITS_COLUMNS
SELECT call_chain(chain_pid, chain, coalesce(:depth, 4)) AS name, lock_class_name(class), process_name(chain_pid) AS process, $WAITS
FROM chains WHERE $IS_EVENT GROUP BY class, process, name;
--: table waker, waker, threads, by waited_ns: threads that ended waits: they released the lock, or signalled
--: columns tid:id, pid:id, class:text, waits, $WAITS_COLUMNS
SELECT coalesce(thread_name(waker_utid), '(time-out or unknown)'), thread_tid(waker_utid), thread_pid(waker_utid), lock_class_name(class),
       $WAITS
FROM wakers GROUP BY waker_utid, class;
--: table wait, wait, ranges, extra, histogram together(waits) FROM spreads: histogram of waits
--: table hold, held, ranges, extra, histogram together(holds) FROM spreads: histogram of hold times
--: table longest, longest waits, waits: the longest waits, with the thread that held the lock longest, the thread that ran longest while
--:  holders were preempted, and the waker
--: columns $LONGEST_COLUMNS, lock:hex, holder:text, holder_tid:id, $CAUSES_COLUMNS, instead:text, instead_tid:id, instead_ran_ns:one,
--:  waker:text, waker_tid:id
SELECT lock_class_name(class), $LONGEST, lock, thread_name(holder_utid), thread_tid(holder_utid), $CAUSES, thread_name(instead_utid),
       thread_tid(instead_utid), instead_dur, thread_name(waker_utid), thread_tid(waker_utid)
FROM longest;
--: table waiting, still waiting at the end, threads, by since_ns, extra: threads that still waited for a mutex at the end, and for whom;
--:  this shows deadlocks
--: columns since_ns:when, tid:id, pid:id, class:text, lock:hex, holder:text, holder_tid:id
SELECT thread_name(utid), since_start(ts), thread_tid(utid), thread_pid(utid), lock_class_name(class), lock, thread_name(holder_utid),
       thread_tid(holder_utid)
FROM waiting;
--: note
WITH missing AS (SELECT count(*) AS classes FROM classes LEFT JOIN lock_class ON number = class
                 WHERE waits > 0 AND acquisitions = 0 AND coalesce(watch, 0) = 0 AND kind IS NOT 'event'),
     threshold AS (SELECT ns(max(least)) AS ns FROM classes)
SELECT iif(ns > 0, printf('waits below %.3f us were not logged (`trace threshold`): all sums are of longer ones', ns / 1000.0),
           printf('%d contended lock %s not sampled: acquisitions are unknown%s', classes,
                  iif(classes = 1, 'class was', 'classes were'),
                  iif((SELECT value FROM trace WHERE name = 'system') <> 'Tarn', '',
                      '. To sample them, use `tarn ctl SOURCE watch all 64`, `trace watch all 64` in the guest, ' ||
                      'or boot option trace.watch=all/64')))
FROM missing, threshold WHERE ns > 0 OR classes > 0;
