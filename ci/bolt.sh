#!/bin/sh
# bolt.sh BOLT PROGRAM ARGUMENT...: runs the program once with these, counts
# which code follows which, and puts the program's code in that order: what runs
# together lies together, and what never ran lies apart. What it computes is the
# same. PROGRAM was linked with its relocations (--emit-relocs).
#
# A simulated life goes through some 600 KiB of code, many times what the first
# cache holds, and each switch of a task comes to other code.
#
# Speed is all that is at stake: where anything fails, as a run of a program
# with a bug may, the program stays as it is linked, and its tests say why.
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
