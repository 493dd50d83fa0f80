--: analysis sched: scheduling: waits for a CPU and their causes, runs, migrations
--: define WHO ns(total(waited)), total(times), mean(waits), percentile(waits, 90), percentile(waits, 99), percentile(waits, 100),
--:  ns(total(ran)), mean(runs), percentile(runs, 100), total(switches), total(migrations), total(preempted), total(handed)
--: define WHO_COLUMNS waited_ns, waits, mean_ns:one, p90_ns:one, p99_ns:one, max_ns:max,
--:  ran_ns, run_mean_ns:one, run_max_ns:max, switches, migrations, preempted, handed
--: define BY iif(by_idle, '(idle)', coalesce(thread_name(by_utid), '(unknown)'))
--: column arrived: switches to a thread that last ran on another CPU: migrations to this CPU
--: column boot_ns: time until the CPU first slept or ran a thread; part of its busy time
--: column busy_ns: time in which the CPU did not sleep
--: column by: thread that ran longest on the CPU meanwhile
--: column by_ran_ns: run time of that thread meanwhile
--: column by_tid: thread ID of the thread that ran meanwhile
--: column by_tid in waker: thread ID of the waker
--: column delayed: thread that waited for the CPU
--: column handed: times that an IPC handed the CPU over to the thread, so that it did not wait
--: column lost_ns: time for which the running thread is unknown because events were lost
--: column max_at_ns: start of the longest one, since the start of the trace
--: column preempted: times that the thread stopped running while still runnable: for another thread, or at the end of its time slice
--: column run_max_ns: longest run
--: column run_mean_ns: mean length of a run
--: column stretches in end: runs that ended for this reason
--: column waited_ns: time in which the thread was ready and waited for a CPU
--: column waits: waits for a CPU seen from begin to end
--: column wakeups: waits for a CPU that began with a wake-up by this thread
--: column woken: thread that was woken
CREATE VIRTUAL TABLE ran USING fold(sched, where is_idle = 0, by utid, sum dur);
CREATE VIRTUAL TABLE switches USING fold(switch, where is_idle = 0, by utid, by cpu, count, sum is_migration as migrations, sum is_handed as handed);
CREATE VIRTUAL TABLE woken USING fold(wakeup, where is_idle = 0, where is_direct = 0, by utid);
CREATE VIRTUAL TABLE runs USING fold(run, by utid, by end_reason, by is_cut, count, sum dur, sum is_preempted as preempted, spread dur as whole);
CREATE VIRTUAL TABLE waits USING fold(wait, where is_ended = 1, by utid, by cpu, count, sum dur, spread dur as whole);
CREATE VIRTUAL TABLE delays USING fold(delay, by by_utid, by by_idle, by utid, count, sum dur, max dur as longest, at ts);
--: for waker, wakeup
CREATE VIRTUAL TABLE wakers USING fold(wait, where is_ended = 1, where is_woken = 1, by waker_utid, by utid, count, sum dur, spread dur as whole);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(wait, top 100 dur, keep ts, keep dur, keep utid, keep by_utid, keep by_idle, keep by_dur);
--: for thread, process
-- Facts about threads, in rows that add up.
CREATE VIEW parts(utid, switches, migrations, handed, preempted, ran, runs, waited, times, waits) AS
          SELECT utid, count, migrations, handed, 0, 0, NULL, 0, 0, NULL FROM switches
UNION ALL SELECT utid, 0, 0, 0, preempted, 0, whole, 0, 0, NULL FROM runs
UNION ALL SELECT utid, 0, 0, 0, 0, dur, NULL, 0, 0, NULL FROM ran
UNION ALL SELECT utid, 0, 0, 0, 0, 0, NULL, dur, 0, NULL FROM delays
UNION ALL SELECT utid, 0, 0, 0, 0, 0, NULL, 0, count, whole FROM waits
UNION ALL SELECT utid, 0, 0, 0, 0, 0, NULL, 0, 0, NULL FROM woken;
--: answer
WITH waited AS MATERIALIZED (SELECT utid, sum(dur) AS dur FROM delays WHERE utid NOTNULL GROUP BY utid ORDER BY 2 DESC),
     ran AS (SELECT iif(by_idle, 'the CPU was idle or woke up', $BY || ' ran there') AS did, sum(dur) AS dur FROM delays WHERE utid NOTNULL GROUP BY by_utid, by_idle ORDER BY 2 DESC)
SELECT 'Threads waited ' || amount(ns(sum(dur))) || ' for a CPU, longest ' || (SELECT thread_name(utid) || ' (tid ' || thread_tid(utid) ||
       '): ' || amount(ns(dur)) FROM waited LIMIT 1) || '. Meanwhile ' || (SELECT did || ' for ' || digits(100.0 * dur /
       (SELECT sum(dur) FROM waited)) FROM ran LIMIT 1) || ' % of that.'
FROM waited HAVING sum(dur) > 0;
--: table cpu, CPU, CPUs, by cpu: use of each CPU, and waits of threads for it
--: columns cpu:id, busy_ns, boot_ns, idle_ns, lost_ns, busy_percent:mean, switches, arrived, waits, total_ns, $SPREAD_COLUMNS
WITH w AS MATERIALIZED (SELECT cpu, sum(count) AS count, sum(dur) AS dur, together(whole) AS whole FROM waits GROUP BY cpu),
     s AS MATERIALIZED (SELECT cpu, sum(migrations) AS arrived FROM switches GROUP BY cpu)
SELECT 'cpu ' || cpu, cpu, busy_dur, boot_dur, idle_dur, lost_dur, 100.0 * busy_dur / max(busy_dur + idle_dur + lost_dur, 1),
       switches, coalesce(arrived, 0), coalesce(count, 0), ns(coalesce(dur, 0)), $SPREAD
FROM cpu LEFT JOIN w USING (cpu) LEFT JOIN s USING (cpu) GROUP BY cpu;
--: table thread, thread, threads, by waited_ns: waits and runs of each thread
--: columns tid:id, pid:id, $WHO_COLUMNS, prio:id
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), $WHO, (SELECT prio FROM thread WHERE thread.utid = parts.utid)
FROM parts GROUP BY utid;
--: table process, process, processes, by waited_ns, extra: waits and runs of each process
--: columns pid:id, threads, $WHO_COLUMNS
SELECT process_name(thread_pid(utid)), thread_pid(utid), count(DISTINCT utid), $WHO FROM parts GROUP BY 2;
--: table delay, thread that ran meanwhile, pairs, by total_ns: which thread ran on the CPU in whose queue a thread waited, and for how
--:  long; (idle) is a CPU that slept and had to be woken, or whose idle thread did the kernel's work
--: columns by_tid:id, delayed:key, tid:id, times, total_ns, max_ns:max, max_at_ns:when
SELECT iif(utid IS NULL, '(others)', $BY), thread_tid(by_utid), coalesce(thread_name(utid), '(others)'), thread_tid(utid),
       count, ns(dur), ns(longest), since_start(ts)
FROM delays;
--: table waker, waker, pairs, by total_ns: waits that began with a wake-up, by waker
--: columns by_tid:id, woken:key, tid:id, wakeups, total_ns, $SPREAD_COLUMNS
SELECT coalesce(thread_name(waker_utid), iif(utid IS NULL, '(others)', '(timer or interrupt)')), thread_tid(waker_utid),
       coalesce(thread_name(utid), '(others)'), thread_tid(utid), count, ns(dur), $SPREAD
FROM wakers GROUP BY waker_utid, utid;
--: table end, why a run ended, reasons, by stretches: reasons for the ends of runs
--: columns stretches, total_ns, $SPREAD_COLUMNS
SELECT end_reason, sum(count), ns(sum(dur)), $SPREAD FROM runs WHERE is_cut = 0 GROUP BY end_reason;
--: table wait, ready until running, ranges, histogram together(whole) FROM waits: histogram of waits
--: table wakeup, woken until running, ranges, extra, histogram together(whole) FROM wakers: histogram of waits that began with a wake-up
--: table run, length of a run, ranges, extra, histogram together(whole) FROM runs: histogram of runs
--: table longest, longest waits, waits, extra: the longest waits, and the thread that delayed each most
--: columns $LONGEST_COLUMNS, by:text, by_tid:id, by_ran_ns
SELECT thread_name(utid), $LONGEST, $BY, thread_tid(by_utid), by_dur FROM longest;
