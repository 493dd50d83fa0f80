-- Columns that are compared by default, and their divisors. command/diff.c makes these tables first:
--   setting (threshold, least, is_several, has_choice, has_columns, by_work)  of the command; has_choice: the user named tables or columns
--   shown (analysis, table_number, place, name, others, key, heading, is_count, is_time, is_real, is_hex, sum, is_order, is_whole,
--     is_histogram, is_named)                           a column of a table; sum: 1 added, 2 the largest, 3 the smallest

-- Lists of keys, the first of which that a table has counts. CPU time is divided by the first two kinds of work only.
CREATE VIEW fact AS
SELECT *, is_count OR is_time OR is_real AS is_number, nullif(instr(',ran_ns,running_ns,self_ns,time_ns,', ',' || key || ','), 0) AS processor,
       nullif(instr(',processes,calls,faults,contentions,taken,count,times,wakeups,waits,stretches,', ',' || key || ','), 0) AS work,
       nullif(instr(',processes,calls,', ',' || key || ','), 0) AS processor_work
FROM shown;

-- A table's main column is that by which it is sorted, or the first that adds up. If the order of its rows is fixed, they are the same
-- work done in different ways. The divisors are columns; -1: the unit of the run; -2: the number of rows of that name.
CREATE TABLE described AS
SELECT analysis, table_number, name, main, processor, has_parts, iif(has_samples, -1, coalesce(work, rest)) AS work,
       iif(has_samples, -1, coalesce(processor_work, rest)) AS processor_work,
       CASE WHEN has_ranges THEN 'ranges that differ' WHEN at < address THEN 'single events' WHEN address < 99 THEN 'addresses'
            WHEN main IS NULL THEN 'nothing to compare' END AS reason
FROM (SELECT analysis, table_number, name, max(is_histogram) AS has_ranges, max(key = 'wall_ns') AS has_parts, max(key = 'samples') AS has_samples,
             coalesce(max(place) FILTER (WHERE is_order AND is_number), max(place) FILTER (WHERE is_whole AND key = 'mean_ns'),
                      min(place) FILTER (WHERE is_number AND sum = 1)) AS main,
             coalesce(min(place) FILTER (WHERE key IN ('at_ns', 'after_ns')), 99) AS at, coalesce(min(place) FILTER (WHERE is_hex), 99) AS address,
             min(processor * 100 + place) % 100 AS processor, min(work * 100 + place) % 100 AS work,
             min(processor_work * 100 + place) % 100 AS processor_work, iif(max(key = 'pid'), -2, -1) AS rest
      FROM fact GROUP BY analysis, table_number);

-- By default CPU time or its parts, because waiting times and lifetimes depend on the length of the trace.
CREATE TABLE compared AS
SELECT row_number() OVER (ORDER BY c.analysis, c.table_number, c.place) - 1 AS number, c.analysis, c.table_number, c.place AS column_number, c.sum, c.is_time,
       c.processor NOTNULL AS is_of_processor, c.is_divided, divisor, divisor = -1 AS by_unit, c.name || '.' || c.key AS key,
       c.name || ': ' || c.heading || iif(divisor = -1 OR NOT is_divided, '', ', by number of ' || coalesce(w.key, c.others)) AS heading
FROM (SELECT fact.*, sum = 1 AND NOT (is_real AND (key LIKE '%percent%' OR key LIKE '%per_second%')) AS is_divided,
             CASE WHEN NOT by_work OR NOT is_time THEN -1 WHEN place = d.processor THEN d.processor_work ELSE d.work END AS divisor
      FROM fact JOIN described d USING (analysis, table_number) JOIN setting
      WHERE reason IS NULL AND is_number AND CASE WHEN has_columns THEN is_named WHEN d.processor NOTNULL THEN place = d.processor
            WHEN has_parts THEN key IN ('user_ns', 'posix_ns', 'syscalls_ns', 'faults_ns', 'interrupts_ns') ELSE place = main END) c
     LEFT JOIN shown w ON (w.analysis, w.table_number, w.place) = (c.analysis, c.table_number, divisor);
