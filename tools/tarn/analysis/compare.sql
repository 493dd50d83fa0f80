-- SPDX-License-Identifier: BSD-2-Clause
-- Compares two sides for compare.c: cells(side, run, name, value, work) has the rows of one table in each run, and runs(side, run, unit)
-- what to divide by; without a unit, it is the row's own work. :sum is how rows of one name are merged (enum column_sum).
WITH sums AS MATERIALIZED
(SELECT side, run, name, CASE :sum WHEN 1 THEN sum(value) WHEN 2 THEN max(value) WHEN 3 THEN min(value)
                         ELSE iif(count(*) = 1, max(value), NULL) END AS whole, sum(work) AS work
 FROM cells GROUP BY side, run, name),
-- A missing row counts as 0 if the column adds up.
found AS MATERIALIZED
(SELECT side, run, names.name, whole, CASE WHEN sums.work IS NULL THEN iif(:sum = 1, 0.0, NULL) WHEN :adds AND whole <> 0
                                      THEN whole / iif(coalesce(unit, work) > 0, coalesce(unit, work), NULL) ELSE whole END AS value
 FROM (SELECT DISTINCT name FROM sums) AS names CROSS JOIN runs LEFT JOIN sums USING (side, run, name)),
means AS MATERIALIZED
(SELECT side, name, total(whole) AS whole, count(*) AS runs, count(value) AS n, min(value) AS least, avg(value) AS mean,
        avg(ln(value)) AS log_mean FROM found GROUP BY side, name),
-- The noise of times is proportional to them, so logarithms are compared.
sides AS MATERIALIZED
(SELECT means.*, iif(:is_time, round(mean), mean) AS shown, coalesce(sqrt(sum((value - mean) * (value - mean)) / (n - 1)), 0) AS deviation,
        sqrt(sum((ln(value) - log_mean) * (ln(value) - log_mean)) / (n - 1)) AS log_deviation
 FROM means JOIN found USING (side, name) GROUP BY side, name),
totals AS MATERIALIZED (SELECT side, :least * total(whole) AS least FROM means GROUP BY side)
SELECT name, a.shown, b.shown, b.shown - a.shown AS change, b.shown / nullif(a.shown, 0),
       iif(a.n > 1, 100 * a.deviation / abs(nullif(a.mean, 0)), NULL), iif(b.n > 1, 100 * b.deviation / abs(nullif(b.mean, 0)), NULL),
       iif(min(a.n, b.n) > 1 AND a.n = a.runs AND b.n = b.runs AND min(a.least, b.least) > 0,
           chance(a.n, a.log_mean, a.log_deviation, b.n, b.log_mean, b.log_deviation), NULL)
FROM sides AS a JOIN sides AS b USING (name)
WHERE a.side = 0 AND b.side = 1 AND abs(change) > 0 AND abs(change) >= max(abs(a.shown), abs(b.shown)) * :threshold AND
      (:least = 0 OR NOT :adds OR a.whole >= (SELECT least FROM totals WHERE side = 0) OR b.whole >= (SELECT least FROM totals WHERE side = 1))
ORDER BY abs(change) DESC, name;
