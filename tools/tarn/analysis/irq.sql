--: analysis irq: interrupts and IPIs: how many, how long, where; time from send to entry
--: define NAME coalesce(iif(kind = 'irq', 'irq ' || detail || coalesce(' ' || irq_name(detail), ''), 'ipi ' || name), '(others)')
--: define ROUTE sum(count), sum(taken), sum(joined), $SPREAD
--: define ROUTE_COLUMNS sent, taken, joined, $SPREAD_COLUMNS
--: column count in cpu, irq, thread: interrupts, including those seen only in part
--: column from_cpu: sending CPU
--: column joined: inter-processor interrupts that the CPU handled together with an earlier one of the same type
--: column sent: inter-processor interrupts sent
--: column taken: inter-processor interrupts handled, without those that joined an earlier one
--: column to_cpu: receiving CPU
CREATE VIRTUAL TABLE spans USING fold(activity, where kind in irq ipi, by kind, by detail, keep name, $SPAN_TERMS);
CREATE VIRTUAL TABLE cpus USING fold(activity, where kind in irq ipi, by cpu, $SPAN_TERMS);
--: for thread
CREATE VIRTUAL TABLE threads USING fold(activity, where kind in irq ipi, by utid, $SPAN_TERMS);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(activity, where kind in irq ipi, top 100 dur unless is_cut,
                                        keep kind, keep detail, keep name, keep ts, keep dur, keep utid, keep cpu);
--: for ipi, route, latency
CREATE VIRTUAL TABLE routes USING fold(ipi, by from_cpu, by to_cpu, by name, count, sum is_taken as taken,
                                       sum is_joined as joined, spread dur as whole);
--: answer
SELECT (SELECT sum(count) FROM spans) || ' interrupts took ' || (SELECT amount(ns(sum(dur))) FROM spans) || ', ' || $NAME || ' most: ' ||
       amount(ns(sum(dur))) || ' in ' || sum(count) || '.'
FROM spans GROUP BY kind, detail ORDER BY sum(dur) DESC LIMIT 1;
--: table irq, interrupt, interrupts, by total_ns: interrupts by number; inter-processor interrupts by type
--: columns count, $SPAN_COLUMNS
SELECT $NAME, $SPAN FROM spans GROUP BY kind, detail;
--: table ipi, from send to entry, kinds, by sent: inter-processor interrupts by type, from send to entry
--: columns $ROUTE_COLUMNS
SELECT coalesce(name, '(others)'), $ROUTE FROM routes GROUP BY name;
--: table cpu, CPU, CPUs, by cpu: interrupts of each CPU
--: columns cpu:id, count, $SPAN_COLUMNS
SELECT 'cpu ' || cpu, cpu, $SPAN FROM cpus GROUP BY cpu;
--: table thread, interrupted thread, threads, by total_ns, extra: interrupted threads
--: columns tid:id, pid:id, count, $SPAN_COLUMNS
SELECT coalesce(thread_name(utid), '(others)'), thread_tid(utid), thread_pid(utid), $SPAN FROM threads GROUP BY utid;
--: table route, from CPU to CPU, routes, by sent, extra: inter-processor interrupts by sending and receiving CPU
--: columns from_cpu:id, to_cpu:id, $ROUTE_COLUMNS
SELECT coalesce(name, '(others)'), from_cpu, to_cpu, $ROUTE FROM routes GROUP BY from_cpu, to_cpu, name;
--: table duration, handling time, ranges, histogram together(whole) FROM spans: histogram of handling times
--: table latency, IPI send to entry, ranges, extra, histogram together(whole) FROM routes: histogram of the times from send to entry
--: table longest, longest interrupts, interrupts, extra: the longest interrupts
--: columns $LONGEST_COLUMNS, cpu:id
SELECT $NAME, $LONGEST, cpu FROM longest;
