#!/usr/bin/env bash
# fast.sh TARGET...: builds these in build/fast, as fast as they get: compiled
# and optimised at link time by clang, by counts of what runs how often, and
# laid out (ci/bolt.sh). The counts are a build's of its own, build/counting,
# from explorations, and are taken anew where the program has changed since.
# ci/run.sh fast installs what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
counting=$PWD/build/counting
program=$counting/gauntlet
counts=$counting/counts
merge=/usr/lib/llvm-19/bin/llvm-profdata

# What an exploration finds is for the tests to say: its counts are as good.
explore() {  # NAME ARGUMENTS...
  local name=$1 code=0
  shift
  LLVM_PROFILE_FILE="$counts.new/$name-%p.profraw" \
    "$program" explore --out "$counts.new/$name" "$@" >&2 || code=$?
  [ "$code" -le 1 ]
}

# Under another name where the counts are others: all is compiled anew then.
count() {
  local merged=$counts.new/merged
  rm -rf "$counts.new"
  mkdir "$counts.new"
  explore random --cases 2000 --max-faults 6 -j 2
  explore crash-states --mode crash-states
  "$merge" merge -o "$merged" "$counts.new"/*.profraw
  mv "$merged" "$counts.new/$(sha256sum <"$merged" | head -c 16).profdata"
  rm -rf "$counts"
  mv "$counts.new" "$counts"
}

profile() {
  find "$counts" -name '*.profdata' "$@" 2>/dev/null || true
}

cmake --preset counting >&2
ninja -C "$counting" --quiet gauntlet >&2
[ -n "$(profile -newer "$program")" ] || count
cmake --preset fast -D GAUNTLET_COUNTS="$(profile)" >&2
ninja -C build/fast --quiet "$@" >&2
