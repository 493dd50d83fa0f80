--: analysis counters: hardware counters: instructions, cycles, ... by thread, process, system call and interval
--: define COUNT_TERMS sum times, sum count0, sum count1, sum count2, sum count3
--: define IPC sum(CASE instructions WHEN 0 THEN count0 WHEN 1 THEN count1 WHEN 2 THEN count2 WHEN 3 THEN count3 END) * 1.0
--:  / sum(CASE cycles WHEN 0 THEN count0 WHEN 1 THEN count1 WHEN 2 THEN count2 WHEN 3 THEN count3 END)
--: define COUNTS sum(times), $IPC, sum(count0), sum(count1), sum(count2), sum(count3)
--: define COUNTS_COLUMNS ipc:mean, count0, count1, count2, count3
--: define MEANS sum(times), $IPC, sum(count0), 1.0 * sum(count0) / sum(times), sum(count1), 1.0 * sum(count1) / sum(times),
--:  sum(count2), 1.0 * sum(count2) / sum(times), sum(count3), 1.0 * sum(count3) / sum(times)
--: define MEANS_COLUMNS ipc:mean, count0, mean0:mean, count1, mean1:mean, count2, mean2:mean, count3, mean3:mean
--: column bits: width of the counter, which counts modulo 2^bits
--: column calls: calls that were counted from begin to end
--: column count0: count of the counter in slot 0; the heading is its name
--: column count1: count of the counter in slot 1; the heading is its name
--: column count2: count of the counter in slot 2; the heading is its name
--: column count3: count of the counter in slot 3; the heading is its name
--: column id: number of the interval, which the program chose
--: column intervals: intervals that were counted
--: column ipc: instructions per cycle, if both are counted
--: column mean0: count0 divided by the number of calls or intervals
--: column mean1: count1 divided by the number of calls or intervals
--: column mean2: count2 divided by the number of calls or intervals
--: column mean3: count3 divided by the number of calls or intervals
--: column number: system call number
--: column per_second: total divided by the length of the trace or range
--: column runs: times that the thread was switched away from
--: column slot: slot that the counter is bound to
--: column total: its count on all CPUs, idle ones included
CREATE VIRTUAL TABLE slots USING fold(counter, by slot, keep name, keep bits, keep binding);
CREATE VIRTUAL TABLE runs USING fold(counted, where kind = run, by binding, by tid, by pid, keep utid, $COUNT_TERMS);
CREATE VIRTUAL TABLE others USING fold(counted, where kind in syscall interval, by binding, by kind, by number, keep name, $COUNT_TERMS);
-- Counts from before the last binding are left out: they do not add up with later ones.
CREATE VIEW now AS SELECT count(*) AS bound, coalesce(max(binding), 0) AS binding, min(slot) FILTER (WHERE name = 'instructions') AS instructions,
                          min(slot) FILTER (WHERE name = 'cycles') AS cycles FROM slots;
--: headings
WITH places(place) AS (VALUES (0), (1), (2), (3)), names AS
(SELECT place, iif(slot IS NULL, NULL, coalesce(name, 'slot ' || slot)) AS heading FROM places LEFT JOIN slots ON slot = place)
SELECT 'count' || place, heading FROM names UNION ALL SELECT 'mean' || place, 'mean ' || heading FROM names;
--: answer
SELECT iif(tid = 0, '(idle)', process_name(pid)) || ' counted most: ' || digits(100.0 * sum(count0) / (SELECT sum(count0) FROM runs NATURAL JOIN now)) ||
       ' % of the ' || coalesce((SELECT name FROM slots WHERE slot = 0), 'counter') || coalesce(', ' || digits($IPC) || ' instructions per cycle', '') || '.'
FROM runs NATURAL JOIN now GROUP BY tid = 0, iif(tid = 0, 0, pid) HAVING sum(count0) > 0 ORDER BY sum(count0) DESC LIMIT 1;
--: table counter, counter, counters: the counters, and what they counted on all CPUs
--: columns slot:id, bits:id, total, per_second:real
SELECT coalesce(name, 'slot ' || slot), slot, bits, total, total / seconds()
FROM (SELECT slot, name, bits, (SELECT coalesce(sum(CASE slot WHEN 0 THEN count0 WHEN 1 THEN count1 WHEN 2 THEN count2
                                                    ELSE count3 END), 0) FROM runs NATURAL JOIN now) AS total FROM slots);
--: table thread, thread, threads, by count0: counts while each thread ran
--: columns tid:id, pid:id, runs, $COUNTS_COLUMNS
SELECT iif(tid = 0, '(idle)', coalesce(thread_name(utid), '(unknown)')), tid, pid, $COUNTS FROM runs NATURAL JOIN now GROUP BY tid, pid;
--: table process, process, processes, by count0: counts while the threads of each process ran
--: columns pid:id, runs, $COUNTS_COLUMNS
SELECT iif(tid = 0, '(idle)', process_name(pid)), pid, $COUNTS FROM runs NATURAL JOIN now GROUP BY tid = 0, iif(tid = 0, 0, pid);
--: table syscall, system call, system calls, by count0: counts of each system call
--: columns number:id, calls, $MEANS_COLUMNS
SELECT name, number, $MEANS FROM others NATURAL JOIN now WHERE kind = 'syscall' GROUP BY number;
--: table interval, interval, intervals, by count0: counts of each interval that programs logged
--: columns id:id, intervals, $MEANS_COLUMNS
SELECT name, number, $MEANS FROM others NATURAL JOIN now WHERE kind = 'interval' GROUP BY number;
--: note
SELECT iif(bound = 0, 'the trace has no counts; to get them, boot the guest with trace.counters=instructions,cycles or use ' ||
                            '`tarn ctl SOURCE counters instructions,cycles`',
           'slots got other counters in this trace; counts from before the last change are left out')
FROM now WHERE bound = 0 OR binding > 0;
