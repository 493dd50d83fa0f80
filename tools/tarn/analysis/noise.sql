--: analysis noise: cost of interrupts, faults and other threads for a computation, cause by cause
--: option quantum US: length of the equal parts of work, in microseconds (1000)
--: define CAUSE CASE kind WHEN 'interrupts' THEN 'irq ' || detail || coalesce(' ' || irq_name(detail), '')
--:  WHEN 'inter-processor interrupts' THEN 'ipi ' || name WHEN 'faults' THEN 'fault ' || coalesce(name, '(not seen)')
--:  WHEN 'exceptions' THEN 'exception ' || detail WHEN 'other threads' THEN 'another thread ran'
--:  WHEN 'delay after a wait' THEN 'woken, not yet running' ELSE '(others)' END
--: define ALL_WORK (SELECT sum(dur) FROM works WHERE kind = 'work')
--: define SUM_OF total(dur) FILTER (WHERE kind
--: define TAKEN $SUM_OF <> 'work')
--: column dispatch_ns: time from the end of a wait until the thread ran again
--: column exception_ns: time in exceptions other than page faults
--: column fault_ns: time in page faults
--: column ipi_ns: time in inter-processor interrupts
--: column irq_ns: time in device and timer interrupts
--: column kind in cause: group of causes
--: column preempted_ns: time in which other threads ran in its place
--: column quanta: equal parts of the work (--quantum)
--: column slowdown_percent: additional time of the parts, compared with their work alone
--: column taken_ns: time that noise took from the work
--: column taken_percent: time that noise took, as a share of the work
--: column work_ns: time that the thread ran its program and its system calls
CREATE VIRTUAL TABLE works USING fold(work, where quantum_us = :quantum, by utid, by kind, sum dur);
CREATE VIRTUAL TABLE causes USING fold(interruption, where quantum_us = :quantum, by kind, by detail, keep name, count, sum dur, spread dur as whole);
CREATE VIRTUAL TABLE parts USING fold(work_part, where quantum_us = :quantum, times times, by variant, count, sum dur, spread dur as whole);
CREATE VIRTUAL TABLE others USING fold(delay, by by_utid, by by_idle, count, sum dur, max dur as longest);
--: for slice
CREATE VIRTUAL TABLE slices USING fold(work_slice, where quantum_us = :quantum, times times, count, spread dur as whole);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(interruption, where quantum_us = :quantum, top 100 dur,
                                        keep kind, keep detail, keep name, keep ts, keep dur, keep utid);
--: answer
SELECT 'Noise took ' || amount(ns($TAKEN)) || ' from ' || amount(ns($SUM_OF = 'work'))) || ' of work of ' || count(DISTINCT utid) || ' threads' ||
       coalesce(', ' || digits(100 * $TAKEN / nullif($ALL_WORK, 0)) || ' %', '') || coalesce((SELECT '; most went to this: ' || $CAUSE || ', ' ||
       amount(ns(dur)) || ' in ' || count || ' interruptions' FROM causes WHERE kind NOTNULL ORDER BY dur DESC LIMIT 1), '') || '.'
FROM works;
--: table total, total, totals: all threads
--: columns threads, work_ns, taken_ns, taken_percent:mean
SELECT '', count(DISTINCT utid), ns($SUM_OF = 'work')), ns($TAKEN), coalesce(100 * $TAKEN / nullif($ALL_WORK, 0), 0) FROM works;
--: table cause, cause, causes, by total_ns: time taken from the work, by cause
--: columns kind:key, taken_percent:real, times, total_ns, $SPREAD_COLUMNS
SELECT $CAUSE, kind, coalesce(100.0 * dur / nullif($ALL_WORK, 0), 0), count, ns(dur), $SPREAD FROM causes GROUP BY kind, detail;
--: table thread, thread, threads, by taken_ns: time that each thread lost
--: columns tid:id, pid:id, work_ns, taken_ns, taken_percent:mean, irq_ns, ipi_ns, fault_ns, exception_ns, preempted_ns, dispatch_ns
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), ns($SUM_OF = 'work')), ns($TAKEN),
       coalesce(100 * $TAKEN / nullif($SUM_OF = 'work'), 0), 0), ns($SUM_OF = 'interrupts')),
       ns($SUM_OF = 'inter-processor interrupts')), ns($SUM_OF = 'faults')), ns($SUM_OF = 'exceptions')),
       ns($SUM_OF = 'other threads')), ns($SUM_OF = 'delay after a wait'))
FROM works GROUP BY utid;
--: table quantum, equal parts of work, rows, whole: the work in equal parts (--quantum), as in fixed-work-quantum benchmarks: how long
--:  each took, and how long it would have taken without each cause
--: columns quanta, total_ns, $SPREAD_COLUMNS, slowdown_percent:mean
WITH all_of_it AS (SELECT dur AS measured FROM parts WHERE variant = 'as measured'),
     alone AS (SELECT dur AS work FROM parts WHERE variant = 'the work alone')
SELECT variant, count, ns(dur), $SPREAD, coalesce(100.0 * (dur - work) / nullif(work, 0), 0)
FROM parts, all_of_it, alone WHERE variant NOT LIKE 'without %' OR dur <> measured
GROUP BY variant ORDER BY variant <> 'as measured', variant = 'the work alone', parts.rowid;
--: table who, thread that ran instead, threads, by total_ns: threads that ran in place of the selected ones
--: columns tid:id, pid:id, times, total_ns, max_ns:max
SELECT iif(by_idle, '(idle: not yet awake)', coalesce(thread_name(by_utid), '(unknown)')), thread_tid(by_utid), thread_pid(by_utid),
       count, ns(dur), ns(longest) FROM others;
--: table duration, duration of a part, ranges, extra, histogram together(whole) FROM parts WHERE variant = 'as measured':
--:  histogram of the durations of these parts
--: table slice, work per time slice, ranges, extra, histogram together(whole) FROM slices: histogram of the work in equal slices of time,
--:  without waiting, as in fixed-time-quantum benchmarks
--: table longest, longest interruptions, interruptions, extra: the longest interruptions
--: columns $LONGEST_COLUMNS
SELECT $CAUSE, $LONGEST FROM longest;
