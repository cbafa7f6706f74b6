#!/bin/sh
# isa_symbols_test.sh LIBRARY FILES SYMBOLS: the library's files that are
# compiled for an instruction set (FILES: their names without .cc, a regular
# expression) define no weak symbol. The linker could use a weak one as the only
# copy for the whole program, which would then run on processors without these
# instructions. The files must define SYMBOLS at least.
set -eu
found=$(nm --print-file-name --defined-only "$1" | grep -E ":($2)\.cc\.o:" |
  grep -E ' [WVui] ' | grep -v -E 'DW\.ref\.|GauntletEigen' || true)
symbols=$(nm --print-file-name --defined-only "$1" |
  grep -c -E ":($2)\.cc\.o:.* T ")
if [ "$symbols" -lt "$3" ]; then
  echo "expected $3 symbols of $2 in $1, found $symbols" >&2
  exit 1
fi
if [ -n "$found" ]; then
  echo "weak symbols of files compiled for one instruction set:" >&2
  echo "$found" | c++filt >&2
  exit 1
fi
