#!/usr/bin/env bash
# A file comes to all receivers; and to the survivors when one dies half-way.
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

head -c 50000001 /dev/urandom >"$folder/file"
mkdir "$folder/out"

"$program" "$folder/file" --output "$folder/out" --receivers 3 --transport "$transport" \
  >"$folder/said" || fail "expected 0"
for receiver in 1 2 3; do
  cmp "$folder/file" "$folder/out/receiver-$receiver" || fail "receiver $receiver"
done
grep -q '^root: 3 of 3 receivers have .* after 1 attempt$' "$folder/said" || fail "no summary"

rm "$folder"/out/*
"$program" "$folder/file" --output "$folder/out" --receivers 4 --kill 2 --transport "$transport" \
  >"$folder/said" || fail "expected 0"
for receiver in 1 3 4; do
  cmp "$folder/file" "$folder/out/receiver-$receiver" || fail "receiver $receiver"
done
grep -q '^root: attempt 2: 50000001 bytes to receivers 1 3 4$' "$folder/said" || fail "no attempt"
grep -q '^root: 3 of 4 receivers have .* after 2 attempts$' "$folder/said" || fail "no summary"

: >"$folder/empty"
"$program" "$folder/empty" --output "$folder/out" --receivers 1 --transport "$transport" \
  >"$folder/said" || fail "expected 0"
cmp "$folder/empty" "$folder/out/receiver-1" || fail "the empty file"

status=0
"$program" "$folder/none" --output "$folder/out" --receivers 1 --transport "$transport" \
  >"$folder/said" 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "status $status for a file that is not there; expected 2"
