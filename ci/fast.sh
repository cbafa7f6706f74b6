#!/usr/bin/env bash
# fast.sh TARGET...: builds the targets in build/fast for the highest speed: by
# clang with link-time and profile-guided optimisation, and with their code laid
# out by ci/bolt.sh. The profile comes from explorations by a separate build,
# build/counting, and is taken again when the program of that build has changed.
# ci/run.sh fast installs the tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
counting=$PWD/build/counting
program=$counting/gauntlet
counts=$counting/counts
merge=/usr/lib/llvm-19/bin/llvm-profdata

# Findings do not matter here: the profile is as good, and tests report them.
explore() {  # NAME ARGUMENTS...
  local name=$1 code=0
  shift
  LLVM_PROFILE_FILE="$counts.new/$name-%p.profraw" \
    "$program" explore --out "$counts.new/$name" "$@" >&2 || code=$?
  [ "$code" -le 1 ]
}

# The profile's name contains its digest: another profile recompiles everything.
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
