#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares what babeltrace2 and tarn read from traces, event by event: time in cycles, name, packet context,
# every field and value, the order, and the warnings about discarded events and packets.
#
# usage: tests/host/compare_babeltrace.sh TRACE...
#
# `tarn list --babeltrace` prints what `babeltrace2 --clock-cycles --no-delta --names=all` prints, so the
# texts must be the same, but for one thing: babeltrace2 2.0 shows an empty string as whatever the field's
# memory held before (bt_field_string_clear leaves the old bytes), so where tarn has "" anything passes.
set -u
TARN=${TARN:-build/host/tarn}
TZ=UTC
export TZ
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

compare() {
    trace=$(realpath "$1")
    babeltrace2 --clock-cycles --no-delta --names=all "$trace" >"$work/expected" 2>"$work/expected.err" || {
        echo "babeltrace2 failed on $1:"; grep -v '^WARNING: Tracer' "$work/expected.err" | head -5; return 1; }
    "$TARN" list --babeltrace "$trace" >"$work/got" 2>"$work/got.err" || {
        echo "tarn failed on $1:"; head -5 "$work/got.err"; return 1; }
    excused=0
    if ! cmp -s "$work/expected" "$work/got"; then
        # Pair the lines; where tarn has = "" cut the same field's value out of babeltrace2's line.
        excused=$(awk -v other="$work/expected" '
            function fail(line, expected, got) {
                if (bad++ < 5) {
                    print "line " line ":" > "/dev/stderr"
                    print "  babeltrace2: " expected > "/dev/stderr"
                    print "  tarn:        " got > "/dev/stderr"
                }
            }
            {
                if ((getline expected < other) <= 0) { fail(NR, "(end)", $0); exit }
                if (expected == $0) next
                text = $0; rest = expected; same = 1
                while ((at = index(text, " = \"\"")) > 0) {
                    head = substr(text, 1, at + 3)
                    if (substr(rest, 1, at + 3) != head) { same = 0; break }
                    rest = substr(rest, at + 4); text = substr(text, at + 5)
                    if (!match(rest, /^([^"\\]|\\.)*"/)) { same = 0; break }
                    rest = substr(rest, RLENGTH + 1)
                }
                if (same && text == rest) excused++; else fail(NR, expected, $0)
            }
            END {
                if (!bad && (getline expected < other) > 0) fail(NR + 1, expected, "(end)")
                print excused + 0
                exit bad ? 1 : 0
            }' "$work/got") || return 1
    fi
    grep '^WARNING: Tracer' "$work/expected.err" | sort >"$work/expected.losses"
    grep '^WARNING: Tracer' "$work/got.err" | sort >"$work/got.losses"
    if ! diff "$work/expected.losses" "$work/got.losses" >"$work/diff"; then
        echo "losses differ on $1 (< babeltrace2, > tarn):"; head -10 "$work/diff"; return 1
    fi
    echo "same: $1: $(wc -l <"$work/got") events, $(wc -l <"$work/got.losses") losses" \
        "($excused empty strings that babeltrace2 misprints)"
}

[ $# -gt 0 ] || { echo "usage: $0 TRACE..." >&2; exit 2; }
command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed" >&2; exit 2; }
for one in "$@"; do compare "$one" || status=1; done
exit $status
