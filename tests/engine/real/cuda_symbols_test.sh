#!/bin/sh
# The plugin shows its entry alone, and needs no CUDA library.
# usage: cuda_symbols_test.sh LIBRARY
set -eu
shown=$(nm -D --defined-only "$1" | awk '{print $3}')
[ "$shown" = gauntlet_cuda_device ] || { echo "shows: $shown"; exit 1; }
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
  case $name in
    libcu*|libnccl*|libnv*) echo "needs $name"; exit 1 ;;
  esac
done
