-- Changes between the tables of two sides. diff_columns.sql makes the table `compared`, and command/diff.c fills these:
--   setting (threshold, least, is_several, has_choice)  of the command; has_choice: the user named tables or columns
--   run (side, run, unit)
--   cell (number, side, run, name, value, work)         the values of a column; work: their divisor, unless by_unit

-- Rows of one name are one, such as the threads of a program. Sums of a damaged trace may exceed an integer.
CREATE TABLE merged AS
SELECT number, side, run, name, total(work) AS work,
       CASE sum WHEN 1 THEN iif(count(value), total(value), NULL) WHEN 2 THEN max(value) WHEN 3 THEN min(value) ELSE iif(count(*) = 1, value, NULL) END AS value
FROM cell JOIN compared USING (number) GROUP BY number, side, run, name;

-- A row that one run lacks counts as 0 there if the column adds up.
CREATE TABLE measured AS
SELECT number, name, side, run, value AS whole,
       CASE WHEN merged.run IS NULL THEN iif(sum = 1, 0.0, NULL)
            WHEN is_divided AND value <> 0 THEN value * 1.0 / CASE WHEN by_unit THEN unit WHEN work > 0 THEN work END
            ELSE value * 1.0 END AS value
FROM (SELECT DISTINCT number, name FROM merged) JOIN run JOIN compared USING (number) LEFT JOIN merged USING (number, name, side, run);

-- The noise of times is proportional to them, so logarithms are compared: unless all runs have one, the chance is unknown.
CREATE TABLE sample AS
SELECT number, name, side, iif(is_time, round(mean), mean) AS mean, total(whole) AS whole,
       100 * sqrt(sum((value - mean) * (value - mean)) / (count(value) - 1)) / abs(mean) AS spread,
       iif(count(log) = count(*), count(*), 0) AS logs, log_mean,
       sqrt(sum((log - log_mean) * (log - log_mean)) / (count(log) - 1)) AS log_deviation
FROM (SELECT *, ln(value) AS log, avg(value) OVER runs AS mean, avg(ln(value)) OVER runs AS log_mean
      FROM measured WINDOW runs AS (PARTITION BY number, name, side))
     JOIN compared USING (number)
GROUP BY number, name, side;

CREATE TABLE changed AS
WITH part AS (SELECT number, name, side, mean, spread, logs, log_mean, log_deviation,
                     whole >= sum(whole) OVER (PARTITION BY number, side) * least / 100 AS is_enough
              FROM sample JOIN setting)
SELECT number, a.name AS name, a.mean AS a, b.mean AS b, b.mean - a.mean AS change, b.mean / a.mean AS ratio,
       a.spread AS spread_a, b.spread AS spread_b,
       iif(a.logs > 1 AND b.logs > 1,
           chance(a.logs, a.log_mean, a.log_deviation, b.logs, b.log_mean, b.log_deviation), NULL) AS chance
FROM part a JOIN part b USING (number, name) JOIN compared USING (number) JOIN setting
WHERE a.side = 0 AND b.side = 1 AND a.mean <> b.mean
      AND abs(b.mean - a.mean) >= max(abs(a.mean), abs(b.mean)) * threshold / 100
      AND (least = 0 OR NOT is_divided OR a.is_enough OR b.is_enough);

-- Unless it was chosen, a column is left out that has the rows of an earlier one of its analysis, such as programs of processes.
CREATE TABLE repeated AS
WITH whole AS (SELECT number, (SELECT analysis FROM compared WHERE compared.number = sorted.number) AS analysis,
                      group_concat(name || '|' || a || '|' || b || '|' || ifnull(chance, ''), char(10)) AS rows
               FROM (SELECT * FROM changed ORDER BY number, name) sorted GROUP BY number)
SELECT later.number FROM whole later JOIN setting
WHERE NOT has_choice AND EXISTS (SELECT 1 FROM whole WHERE analysis = later.analysis AND number < later.number AND rows = later.rows);

DELETE FROM changed WHERE number IN repeated;
DELETE FROM compared WHERE number IN repeated;

-- Bonferroni's correction: of many unchanged rows, a few look significant by chance.
UPDATE changed SET chance = min(1, chance * judged) FROM (SELECT count(chance) AS judged FROM changed);

CREATE TABLE ranked AS
SELECT *, CASE WHEN chance < 0.05 THEN 'significant' WHEN chance NOTNULL THEN 'noise' END AS verdict,
       row_number() OVER (PARTITION BY number ORDER BY ifnull(chance, 1) < 0.05 DESC, abs(change) DESC, name) AS place
FROM changed;
CREATE INDEX ranks ON ranked (number);
