#!/bin/sh
# The plugin exports only its entry points, and needs no CUDA library.
# usage: cuda_symbols_test.sh LIBRARY
set -eu
shown=$(nm -D --defined-only "$1" | awk '{print $3}')
for name in $shown; do
  case $name in
    gauntlet_cuda_device|gauntlet_cuda_collective) ;;
    *) echo "shows: $name"; exit 1 ;;
  esac
done
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
  case $name in
    libcu*|libnccl*|libnv*) echo "needs $name"; exit 1 ;;
  esac
done
