// Formats and parses times, which are nanoseconds since the start of the trace.

export const SECOND = 1e9, MINUTE = 60e9, HOUR = 3600e9;

const UNITS = [["h", HOUR], ["m", MINUTE], ["s", SECOND], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

// Formats a duration with about four digits: 12.34 ms.
export function formatSpan(ns) {
  const size = Math.abs(ns);
  if (size < 0.5)
    return "0 ns";
  if (size >= HOUR)
    return `${Math.trunc(ns / HOUR)} h ${Math.floor((size % HOUR) / MINUTE)} m`;
  if (size >= MINUTE)
    return `${Math.trunc(ns / MINUTE)} m ${((size % MINUTE) / SECOND).toFixed(1)} s`;
  const [name, unit] = UNITS.slice(2).find(([, u]) => size >= u * 0.9995) ?? UNITS[5];
  const value = ns / unit;
  const decimals = unit === 1 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  return `${value.toFixed(decimals)} ${name}`;
}

// Formats a time, to the nanosecond or rounded to `grain` ns. Thin spaces that do not break make groups of three digits.
export function formatTime(ns, grain = 1) {
  const digits = Math.min(9, Math.floor(Math.log10(Math.max(grain, 1)) + 1e-9)), decimals = 9 - digits, unit = 10 ** digits;
  const whole = Math.round(ns / unit) * unit, sign = whole < 0 ? "-" : "", size = Math.abs(whole);
  const seconds = Math.floor(size / SECOND), rest = String(size - seconds * SECOND).padStart(9, "0").slice(0, decimals);
  const fraction = rest ? "." + rest.replace(/(\d{3})(?=\d)/g, "$1\u202f") : "";
  if (seconds < 60)
    return `${sign}${seconds}${fraction} s`;
  const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60, s = String(seconds % 60).padStart(2, "0");
  return h ? `${sign}${h}:${String(m).padStart(2, "0")}:${s}${fraction}` : `${sign}${m}:${s}${fraction}`;
}

// Parses user input: 1.5, 1.5s, 20ms, 1h2m3s, 1:02:03.5, 1.234 567 s. NaN if it is not a time.
export function parseTime(text) {
  const plain = text.replace(/[\s\u202f_']/g, "").replace(/us/g, "µs").replace(/μ/g, "µ");
  if (/^\d+(:\d{1,2}){1,2}(\.\d+)?s?$/.test(plain))
    return Math.round(plain.replace("s", "").split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * SECOND);
  if (/^\d+(\.\d*)?$/.test(plain))
    return Math.round(Number(plain) * SECOND);
  if (!/^(\d+(\.\d*)?(h|min|m|s|ms|µs|ns))+$/.test(plain))
    return NaN;
  const unit = Object.fromEntries([...UNITS, ["min", MINUTE]]);
  let sum = 0;
  for (const [, number, name] of plain.matchAll(/([\d.]+)(h|min|ms|m|s|µs|ns)/g))
    sum += Number(number) * unit[name];
  return Math.round(sum);
}

const STEPS = [];
for (let unit = 1; unit < SECOND; unit *= 10)
  STEPS.push(unit, 2 * unit, 5 * unit);
STEPS.push(...[1, 2, 5, 10, 15, 30].map((s) => s * SECOND), ...[1, 2, 5, 10, 15, 30].map((m) => m * MINUTE),
           ...[1, 2, 3, 6, 12, 24, 48, 120, 240].map((h) => h * HOUR));

// The step of a ruler whose labels are at least `least` ns apart.
export function rulerStep(least) {
  return STEPS.find((step) => step >= least) ?? STEPS.at(-1);
}

// The base of labels: below a second, the next larger unit, which is printed once.
export function rulerBase(step) {
  return step >= SECOND ? 0 : step >= 1e6 ? SECOND : step >= 1e3 ? 1e6 : 1e3;
}

// A label: the full time at a base, else the offset from it.
export function rulerLabel(t, step) {
  const base = rulerBase(step), offset = base ? t % base : 0;
  if (offset === 0)
    return formatTime(t, base ? Math.min(base, SECOND) : SECOND);
  const [name, unit] = step >= 1e6 ? UNITS[3] : step >= 1e3 ? UNITS[4] : UNITS[5];
  return `+${Math.round(offset / unit)} ${name}`;
}
