#!/bin/sh
# isa_symbols_test.sh LIBRARY: the files of engine_math that are compiled for an
# instruction set define no weak symbol, which the linker could keep as the one
# copy for the whole program and so run where the instructions are missing.
set -eu
found=$(nm --print-file-name --defined-only "$1" |
  grep -E ':(scalar|avx2|avx512|eigen_[a-z0-9]*)\.cc\.o:' |
  grep -E ' [WVui] ' | grep -v -E 'DW\.ref\.|GauntletEigen' || true)
members=$(nm --print-file-name --defined-only "$1" |
  grep -c -E ':(scalar|avx2|avx512|eigen_[a-z0-9]*)\.cc\.o:.* T ')
if [ "$members" -lt 6 ]; then
  echo "expected the symbols of 6 files in $1, found $members" >&2
  exit 1
fi
if [ -n "$found" ]; then
  echo "weak symbols of files compiled for one instruction set:" >&2
  echo "$found" | c++filt >&2
  exit 1
fi
