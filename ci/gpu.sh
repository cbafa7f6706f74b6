#!/usr/bin/env bash
# What is to be shown on a machine with a GPU. Sourced by run.sh, and the one
# script of a bundle (ci/run.sh gpu-bundle), where it is run by itself.
#
# gpu_checks PROGRAMS RESULTS SCENARIOS: PROGRAMS holds gauntlet,
# libgauntlet_cuda.so, engine_gpu_test and device_bench; SCENARIOS are those
# whose workers compute on a device. Ends with 0 where all held; 6 where there is
# no GPU and so nothing was shown.
set -euo pipefail

# The digest of the final state of a training, by ARGUMENTS.
final_digest() {  # PROGRAMS ARGUMENTS...
  local programs=$1
  shift
  "$programs/gauntlet" train --json --no-progress "$@" |
    sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p'
}

expect_equal() {  # WHAT EXPECTED FOUND
  if [ -n "$2" ] && [ "$2" = "$3" ]; then
    echo "held      $1: $2"
    return
  fi
  echo "VIOLATED  $1: expected ${2:-a digest}, found ${3:-none}"
  return 1
}

# The same job by the CPU and the GPU, by one worker and by two that share it.
same_digests() {  # PROGRAMS PRESET ARGUMENTS...
  local programs=$1 preset=$2 code=0 cpu workers
  shift 2
  local job=(--preset "$preset" --replicas 2 "$@")
  cpu=$(final_digest "$programs" "${job[@]}" --workers 1 --device cpu || true)
  for workers in 1 2; do
    expect_equal "$preset on the GPU, $workers workers" "$cpu" "$(
      final_digest "$programs" "${job[@]}" --workers "$workers" \
                   --device cuda || true)" || code=1
  done
  return "$code"
}

# CPU, then GPU, then CPU, in one checkpoint directory, saving beside the steps.
moves_between_lives() {  # PROGRAMS DIRECTORY
  local job=(--preset mlp --replicas 2 --workers 1 --steps 90) stop code=0
  local plain found
  plain=$(final_digest "$1" "${job[@]}" || true)
  job+=(--ckpt "$2" --ckpt-mode async --every 10)
  for stop in "30 cpu" "60 cuda"; do
    # shellcheck disable=SC2086  # two words
    set -- "$1" "$2" $stop
    final_digest "$1" "${job[@]}" --stop-at-step "$3" --device "$4" \
      >/dev/null || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 143 ] || return 1
  done
  found=$(final_digest "$1" "${job[@]}" --device cpu || true)
  expect_equal "CPU to GPU to CPU" "$plain" "$found"
}

# Each claim on the GPU; what is expected of it is the emulated device's.
breaks_and_recovers() {  # PROGRAMS SCENARIOS RUNS
  "$1/gauntlet" run "$2" --world real --device cuda --runs "$3"
}

gpu_checks() {  # PROGRAMS RESULTS SCENARIOS
  local programs=$1 results=$2 scenarios=$3 code=0 store
  mkdir -p "$results"
  "$programs/gauntlet" doctor | tee "$results/doctor.txt"
  if ! grep -q '^gpu *good' "$results/doctor.txt"; then
    echo "skipped: no GPU, so nothing of it is shown"
    return 6
  fi
  store=$(mktemp -d)
  {
    "$programs/engine_gpu_test" || code=1
    same_digests "$programs" mlp --steps 100 || code=1
    same_digests "$programs" cnn --steps 20 || code=1
    moves_between_lives "$programs" "$store/ckpt" || code=1
    breaks_and_recovers "$programs" "$scenarios" "$results/runs" || code=1
    TMPDIR=$store "$programs/device_bench" || code=1
  } > >(tee "$results/checks.txt") 2>&1
  rm -rf "$store"
  return "$code"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  here=$(cd "$(dirname "$0")" && pwd)
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  gpu_checks "$here" "${1:-$here/results}" "$here/scenarios/gpu"
fi
