#!/usr/bin/env bash
# What was inserted is there, and nothing else; and the check notices an insert that is lost, and a
# call that runs twice.
set -euo pipefail
program=$1
transport=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  cat "$folder/said" >&2
  exit 1
}

there='all are there, with their values, and nothing else'
for ranks in 1 2 4; do
  "$program" --ranks "$ranks" --keys 300 --transport "$transport" >"$folder/said" 2>&1 ||
    fail "$ranks ranks"
  grep -q "^calls: $((300 * ranks)) keys of $ranks ranks: $there\$" "$folder/said" || fail "calls"
  grep -q "^one-sided: $((300 * ranks)) keys of $ranks ranks: $there\$" "$folder/said" ||
    fail "one-sided"
done
for aggregate in trad ovfl; do
  "$program" --ranks 3 --keys 5000 --style calls --transport "$transport" \
    --aggregate "$aggregate" >"$folder/said" 2>&1 || fail "$aggregate"
  grep -q "$there" "$folder/said" || fail "$aggregate"
done

status=0
"$program" --ranks 3 --keys 200 --lose 100 --transport "$transport" >"$folder/said" 2>&1 ||
  status=$?
[ "$status" -eq 1 ] || fail "an insert was lost: status $status; expected 1"
grep -q '^calls: .* WRONG$' "$folder/said" || fail "a lost insert was not noticed"

status=0
"$program" --ranks 2 --keys 200 --style calls --run-twice 100 --transport "$transport" \
  >"$folder/said" 2>&1 || status=$?
[ "$status" -eq 3 ] || fail "a call ran twice: status $status; expected 3"
grep -q "an answer to a call that was never made, or a second one" "$folder/said" || fail "not noticed"

status=0
"$program" --style none >"$folder/said" 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "status $status for a style that is none; expected 2"
