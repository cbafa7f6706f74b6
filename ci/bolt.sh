#!/bin/sh
# bolt.sh BOLT PROGRAM ARGUMENT...: runs the program once with these arguments,
# counts its branches, and reorders its code by them: hot code is contiguous,
# and code that never ran is set apart. Results stay the same. PROGRAM was
# linked with its relocations (--emit-relocs).
#
# A simulated process executes some 600 KiB of code, many times the size of the
# first-level cache, and each task switch continues in other code.
#
# The layout affects only speed: if anything fails, as a run of a program with a
# bug may, the program stays as linked, and its tests report the reason.
set -eu
bolt=$1 program=$(realpath "$2")
shift 2
work=$program.layout
longest_run_s=120
rm -rf "$work"
mkdir "$work"
cd "$work"

quietly() {  # COMMAND...
  "$@" >log 2>&1 && return
  echo "$program: '$*' failed:" >&2
  tail -n 20 log >&2
  return 1
}

lay_out() {  # ARGUMENT...
  quietly "$bolt" "$program" -o counting -instrument \
          -instrumentation-file="$work/profile" &&
    quietly timeout "$longest_run_s" ./counting "$@" &&
    quietly "$bolt" "$program" -o program -data=profile \
            -reorder-blocks=ext-tsp -reorder-functions=hfsort+ \
            -split-functions -split-all-cold -split-eh &&
    chmod --reference="$program" program &&
    mv program "$program"
}

lay_out "$@" || echo "$program: stays as it is linked" >&2
cd /
rm -rf "$work"
