#!/usr/bin/env bash
# A tree that does not depend on the number of ranks when rollouts come one by one, counts that hold
# when they do not, and a check that notices calls which run twice or never.
set -euo pipefail
program=$1
transport=$2
folder=$(mktemp -d)
export XDG_CONFIG_HOME=$folder/config  # for the secret of ranks that are started one by one
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  cat "$folder"/* >&2 2>/dev/null
  exit 1
}

for ranks in 1 3; do
  "$program" --ranks "$ranks" --transport "$transport" --size 4 --rollouts 60 --phase 1 \
    >"$folder/$ranks" 2>&1 || fail "one by one, $ranks ranks"
  cmp "$folder/1" "$folder/$ranks" || fail "$ranks ranks found another tree than one"
done
grep -q '^60 rollouts, .*, 960 playouts; best move ' "$folder/1" || fail "no summary"

# The middle of 3 by 3 wins whatever comes: a search that finds anything finds that.
"$program" --ranks 3 --transport "$transport" --size 3 --rollouts 1000 --phase 50 \
  >"$folder/middle" 2>&1 || fail "3 by 3"
grep -q '; best move b2$' "$folder/middle" || fail "not the middle"

for aggregate in none trad ovfl; do
  "$program" --ranks 4 --transport "$transport" --rollouts 300 --phase 100 \
    --aggregate "$aggregate" >"$folder/$aggregate" 2>&1 || fail "$aggregate"
done

for fault in run-twice drop; do
  status=0
  "$program" --ranks 2 --transport "$transport" --rollouts 100 --$fault 60 \
    >"$folder/$fault" 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "--$fault: status $status; expected 1"
  grep -q '^WRONG' "$folder/$fault" || fail "--$fault was not noticed"
done

# Ranks that were started one by one, so that each has its own addresses.
[ "$(od -An -tx2 -j16 -N2 "$program" | tr -d ' ')" = 0003 ] || fail "not position-independent"
# The port is kept from other tests, by what chose it, until this one ends.
coproc ports { PYTHONPATH=$(dirname "$0")/../tests/run PYTHONDONTWRITEBYTECODE=1 python3 -c \
  'import sys; from ports import free_port; print(free_port(), flush=True); sys.stdin.read()'; }
read -r port <&"${ports[0]}" || fail "no port is free"
root=127.0.0.1:$port
pids=()
for rank in 0 1 2; do
  "$program" --rank "$rank" --ranks 3 --root "$root" --transport "$transport" --size 4 \
    --rollouts 60 --phase 1 >"$folder/own-$rank" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a rank of its own"; done
cmp "$folder/1" "$folder/own-0" || fail "processes of their own found another tree"
