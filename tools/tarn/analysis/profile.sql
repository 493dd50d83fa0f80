-- SPDX-License-Identifier: BSD-2-Clause
-- Weights are of samples: their time, their number, or what was counted. $NOW has the chosen one and the sum of all.
--: analysis profile: where CPUs spent their time, by sampling: functions, lines, call chains
--: option weight WHAT=source|time|samples|instructions|counted: weight of a sample: time, samples, instructions (if the CPUs count them),
--:  counted (what the hardware counter counted that drove the sampling), or source: counted if a counter drove it, else time (the
--:  default)\nIt applies to shares, folded stacks and flame graphs
--: option least PERCENT: omit branches of calls and callers below this share (1)
--: option folded: print folded stacks: one line per call chain, with its weight (times in nanoseconds)\nFunctions are separated by
--:  semicolons; those of the kernel end in `_[k]`
--: option flame FILE: write a flame graph as SVG; -: standard output\nIn a browser, a click zooms in to a box, and `/` searches
--: symbols
--: define FACT SELECT value FROM trace WHERE name =
--: define NOW (SELECT unit, ($FACT 'sampling_counts_instructions') = '1' AS has_instructions, counter, all_samples, all_counted,
--:  CASE unit WHEN 'time' THEN time WHEN 'samples' THEN all_samples WHEN 'instructions' THEN all_instructions ELSE all_counted END AS whole
--:  FROM (SELECT *, iif(:weight <> 'source', :weight, iif(all_counted > 0, 'counted', 'time')) AS unit,
--:  iif(all_counted > 0, ($FACT 'sampling_counter'), NULL) AS counter
--:  FROM (SELECT total(samples) AS all_samples, total(dur) AS time, total(instructions) AS all_instructions, total(counted) AS all_counted
--:  FROM threads))) AS now
--: define OWN_TERMS keep samples, keep dur, keep instructions, keep counted
--: define TOTAL_TERMS keep total_samples, keep total_dur, keep total_instructions, keep total_counted
--: define OWN CASE unit WHEN 'time' THEN dur WHEN 'samples' THEN samples WHEN 'instructions' THEN instructions ELSE counted END
--: define TOTAL CASE unit WHEN 'time' THEN total_dur WHEN 'samples' THEN total_samples WHEN 'instructions' THEN total_instructions
--:  ELSE total_counted END
--: define SUMS sum(samples), sum(dur), coalesce(100.0 * sum($OWN) / whole, 0.0), iif(has_instructions, sum(instructions), NULL)
--: define SUMS_COLUMNS samples, time_ns, share_percent:real2, instructions
--: define MODES total(dur * (1 - is_kernel)), total(dur * is_kernel)
--: define EXECUTABLE iif(executable = '', '(no executable)', executable)
-- The nodes of the tree that WANTED names, each before those below it, heavy branches first.
--: define STEP replace(replace(calls.name, ';', ':'), char(10), ':') || iif(calls.is_kernel, '_[k]', '')
--: define TREE calls AS MATERIALIZED (SELECT *, $OWN AS own, $TOTAL AS total FROM nodes JOIN wanted USING (tree) JOIN $NOW
--:  WHERE 100.0 * $TOTAL >= least * whole),
--:  found AS (SELECT *, 0 AS depth, $STEP AS path FROM calls WHERE parent = 0 UNION ALL
--:  SELECT calls.*, depth + 1, path || ';' || $STEP FROM found JOIN calls ON calls.parent = found.node ORDER BY depth DESC, total DESC, name)
--: define CALLS SELECT name, total_dur, 100.0 * total / whole, dur, samples, depth, executable, depth FROM found
--: define CALLS_COLUMNS total_ns:one, total_percent:mean2, self_ns, samples, depth:id, executable:text

CREATE VIRTUAL TABLE threads USING fold(sample, by utid, by is_kernel, count as samples, sum dur, sum instructions, sum counted);
CREATE VIRTUAL TABLE lateness USING fold(sample, spread late_dur as late);
CREATE VIRTUAL TABLE functions USING fold(sample_function, by number, keep name, keep executable, keep is_kernel, $OWN_TERMS, $TOTAL_TERMS);
CREATE VIRTUAL TABLE lines USING fold(sample_line, by number, keep file, keep line, keep function, keep executable, $OWN_TERMS);
CREATE VIRTUAL TABLE nodes USING fold(sample_call, by tree, by node, keep parent, keep name, keep executable, keep is_kernel, $OWN_TERMS,
                                      $TOTAL_TERMS);
--: table total, all, totals: all samples
--: columns samples, time_ns:time=worked, programs_ns:time=in programs, kernel_ns:time=in the kernel, period_ns:one=mean period,
--:  late_p50_ns:one=late (median), late_p99_ns:one=late (p99), late_max_ns:max=late (max), instructions,
--:  counted:count=counted (the weight of samples), period_count:id=mean count of a period, counter:text=drove the sampling
WITH period(ticks) AS (SELECT nullif(CAST(value AS INTEGER), 0) FROM trace WHERE name = 'sampling_period')
SELECT '', total(samples), total(dur), $MODES, iif(counter IS NULL, ns(ticks), NULL), coalesce(percentile(late, 50), 0),
       coalesce(percentile(late, 99), 0), coalesce(percentile(late, 100), 0), iif(has_instructions, total(instructions), NULL),
       iif(counter IS NOT NULL, all_counted, NULL), iif(counter IS NOT NULL, ticks, NULL), counter
FROM $NOW JOIN period LEFT JOIN lateness LEFT JOIN threads;

--: table process, process, processes, by share_percent: time of each process
--: columns pid:id, $SUMS_COLUMNS, programs_ns, kernel_ns
SELECT process_name(thread_pid(utid)), thread_pid(utid), $SUMS, $MODES FROM threads JOIN $NOW GROUP BY 2;

--: table thread, thread, threads, by share_percent, extra: time of each thread
--: columns tid:id, pid:id, $SUMS_COLUMNS, programs_ns, kernel_ns
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), $SUMS, $MODES FROM threads JOIN $NOW GROUP BY utid;

--: table executable, executable, executables, by share_percent: time in each executable
--: columns $SUMS_COLUMNS
SELECT $EXECUTABLE, $SUMS FROM functions JOIN $NOW WHERE samples > 0 GROUP BY 1;

--: table function, function, functions, by self_percent: time in each function itself, and with its callees; inlined functions count
--:  separately
--: columns samples, self_ns, self_percent:real2, total_ns:one, total_percent:mean2, instructions, executable:text, mode:text
SELECT name, samples, dur, coalesce(100.0 * $OWN / whole, 0.0), total_dur, coalesce(100.0 * $TOTAL / whole, 0.0),
       iif(has_instructions, instructions, NULL), $EXECUTABLE, iif(is_kernel, 'kernel', 'user') FROM functions JOIN $NOW;

--: table line, line, lines, by share_percent: time in each source line
--: columns $SUMS_COLUMNS, function:text, executable:text
SELECT file || ':' || line, $SUMS, function, executable FROM lines JOIN $NOW GROUP BY number;

--: table calls, calls from the outermost, calls, extra, whole: tree of calls from the outermost function
--: columns $CALLS_COLUMNS
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, coalesce(:least, 1.0) + 0 AS least), $TREE $CALLS;

--: table callers, callers of the innermost, callers, extra, whole: tree of callers from the innermost function
--: columns $CALLS_COLUMNS
WITH RECURSIVE wanted AS (SELECT 'callers' AS tree, coalesce(:least, 1.0) + 0 AS least), $TREE $CALLS;

--: table lateness, late, ranges, extra, whole: histogram of sampling delays
--: columns histogram
SELECT * FROM histogram((SELECT together(late) FROM lateness));

--: print flame
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, 0 AS least), $TREE
SELECT flame(CASE unit WHEN 'time' THEN 'CPU time' WHEN 'samples' THEN 'Samples' WHEN 'instructions' THEN 'Instructions'
             ELSE coalesce(counter, 'Counts') END, unit, depth + 1, total, name, executable, is_kernel) FROM found;

--: print folded
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, 0 AS least), $TREE
SELECT path || ' ' || own FROM found WHERE own > 0;

--: note
SELECT CASE WHEN all_samples = 0 THEN 'the trace has no samples; to take them, boot the guest with trace.profile=1000 or use `tarn ctl ' ||
                                      'SOURCE profile 1000`'
            WHEN unit = 'instructions' AND whole = 0 THEN 'the CPUs of this machine do not count instructions, so samples cannot be ' ||
                                                          'weighted by them'
            WHEN unit = 'counted' AND counter IS NULL THEN 'the clock drove the sampling, so there are no counts; `tarn ctl SOURCE ' ||
                                                           'profile 1000000 instructions` samples by a counter' END AS text
FROM $NOW WHERE text IS NOT NULL;
