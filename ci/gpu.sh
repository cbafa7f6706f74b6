#!/usr/bin/env bash
# Checks on a machine with a GPU. Sourced by run.sh; in a bundle
# (ci/run.sh gpu-bundle) it is the script to run.
#
# gpu_checks PROGRAMS RESULTS SCENARIOS: PROGRAMS holds gauntlet,
# libgauntlet_cuda.so, engine_gpu_test and device_bench; SCENARIOS is the suite
# whose workers compute on a device. Runs the stages below, each under its own
# time limit, 10 minutes in all at most. Each stage leaves RESULTS/STAGE.txt and
# adds one line to RESULTS/results.txt as soon as it ends:
#
#   RESULT STAGE passed|failed|skipped SECONDS DETAIL
#
# Exit codes: 0 all stages passed (cuBLAS, NCCL and compute-sanitizer may be
# missing: their stages are skipped by name), 1 a stage failed, or there is a
# driver and the plugin does not load, 6 there is no GPU.
set -euo pipefail

# Scenarios of scenarios/gpu that only the simulation can run.
simulated_only='power-cut-on-devices'

# Folders in which pip installs NVIDIA's libraries: site-packages/nvidia/*/lib.
# The loader does not search them by default.
nvidia_wheel_folders() {
  local packages folder
  packages=$(python3 -c '
import site, sys
print("\n".join(site.getsitepackages() + [site.getusersitepackages()] + sys.path))
' 2>/dev/null || true)
  for folder in $packages "${VIRTUAL_ENV:-/nowhere}"/lib/python3*/site-packages \
                "${CONDA_PREFIX:-/nowhere}"/lib/python3*/site-packages \
                /opt/conda/lib/python3*/site-packages \
                /usr/lib/python3*/dist-packages \
                /usr/local/lib/python3*/{dist,site}-packages; do
    find "$folder"/nvidia -maxdepth 2 -type d -name lib 2>/dev/null || true
  done | awk '!seen[$0]++'
}

# Prints the digest of the final state of a training run with these ARGUMENTS.
final_digest() {  # PROGRAMS ARGUMENTS...
  local programs=$1
  shift
  "$programs/gauntlet" train --json --no-progress "$@" |
    sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p'
}

expect_equal() {  # WHAT EXPECTED FOUND
  if [ -n "$2" ] && [ "$2" = "$3" ]; then
    echo "equal     $1: $2"
    return
  fi
  echo "DIFFERENT $1: expected ${2:-a digest}, found ${3:-none}"
  return 1
}

# Trains the same job on the CPU and the GPU, with one worker and with two that
# share the GPU. Expects equal digests.
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

# Trains a job on the CPU, then on the GPU, then on the CPU again, in one
# checkpoint directory, with asynchronous checkpoints.
moves_between_attempts() {  # PROGRAMS DIRECTORY
  local job=(--preset mlp --replicas 2 --workers 1 --steps 90) stop code=0
  local plain found
  plain=$(final_digest "$1" "${job[@]}" || true)
  job+=(--ckpt "$2" --ckpt-mode async --save-every 10)
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

# Runs the CUDA tests. A skipped one counts as failed, as there is a GPU.
cuda_tests() {  # PROGRAMS
  local log code=0
  log=$(mktemp)
  "$1/engine_gpu_test" --gtest_filter='*uda*' | tee "$log" || code=$?
  if grep -q '^\[  SKIPPED \]' "$log"; then
    echo "CUDA tests were skipped on a machine with a GPU"
    code=1
  fi
  grep -q '^\[  PASSED  \] [1-9]' "$log" || code=1
  rm -f "$log"
  return "$code"
}

digests() {  # PROGRAMS
  local code=0 store
  store=$(mktemp -d)
  same_digests "$1" mlp --steps 100 || code=1
  same_digests "$1" cnn-short --steps 20 || code=1
  moves_between_attempts "$1" "$store/ckpt" || code=1
  rm -rf "$store"
  return "$code"
}

skipped_cases() {  # RESULT_JSON
  awk -F '"' '$2 == "scenario" { name = $4 }
              $2 == "verdict" && $4 == "SKIP" { print name }' "$1"
}

# Runs each scenario on the GPU. Its expectations are those of the emulated
# device.
recovery() {  # PROGRAMS SCENARIOS RUNS
  local skipped
  "$1/gauntlet" run "$2" --world real --device cuda -j 4 --runs "$3" || return
  skipped=$(skipped_cases "$3/latest/result.json" |
              grep -vxE "$simulated_only" || true)
  [ -z "$skipped" ] && return
  echo "skipped on a machine with a GPU:" "${skipped//$'\n'/, }"
  return 1
}

# Runs the kernels on small arrays; racecheck and synccheck cover shared memory.
sanitizer() {  # PROGRAMS
  local tool code=0
  for tool in memcheck racecheck synccheck; do
    echo "== compute-sanitizer --tool $tool"
    GAUNTLET_SMALL_DEVICE_TESTS=1 compute-sanitizer --tool "$tool" \
      --error-exitcode 1 "$1/engine_gpu_test" --gtest_filter='*uda*' \
      --gtest_brief=1 || code=1
  done
  return "$code"
}

# Runs a stage in a process of its own and records how it ended.
stage() {  # NAME LIMIT_SECONDS COMMAND ARGUMENTS...
  local name=$1 limit=$2 code=0 verdict begin detail
  shift 2
  begin=$(date +%s)
  echo "== $name (at most $limit s)"
  timeout --kill-after=5 "$limit" bash "$gpu_script" --stage "$@" \
    >"$results/$name.txt" 2>&1 || code=$?
  cat "$results/$name.txt"
  case $code in
    0) verdict=passed ;;
    *) verdict=failed failed=1 ;;
  esac
  detail=$(grep -E 'ratio|RESULT|DIFFERENT|passed|PASSED|FAILED' \
             "$results/$name.txt" | tail -n 1 || true)
  [ "$code" -ne 124 ] || detail="time limit of $limit s"
  note "$name" "$verdict" "$(($(date +%s) - begin))" "$detail"
}

note() {  # NAME VERDICT SECONDS DETAIL
  echo "RESULT $*" | tee -a "$results/results.txt"
}

# Sets LD_LIBRARY_PATH so that cuBLAS and NCCL are found.
find_libraries() {
  local folder
  for folder in $(nvidia_wheel_folders); do
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
}

# Returns true iff the loader finds one of these libraries.
loads() {  # LIBRARY...
  local library
  for library in "$@"; do
    python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$library" \
      2>/dev/null && return
  done
  return 1
}

gpu_checks() {  # PROGRAMS RESULTS SCENARIOS
  local programs=$1 results=$2 scenarios=$3 failed=0
  mkdir -p "$results"
  : >"$results/results.txt"
  find_libraries
  "$programs/gauntlet" doctor | tee "$results/doctor.txt" || true
  if grep -q '^driver *good' "$results/doctor.txt" &&
     ! grep -q '^plugin *good' "$results/doctor.txt"; then
    note doctor failed 0 "there is a CUDA driver, and the plugin does not load"
    return 1
  fi
  if ! grep -q '^gpu *good' "$results/doctor.txt"; then
    note doctor skipped 0 "no GPU: nothing was checked"
    return 6
  fi
  note doctor passed 0 "$(grep '^gpu *good' "$results/doctor.txt" | head -n 1)"

  stage cuda-tests 60 cuda_tests "$programs"
  stage digests 60 digests "$programs"
  if loads libcublas.so.13 libcublas.so.12; then
    stage products 90 "$programs/device_bench" products
    stage steps 30 "$programs/device_bench" steps
  else
    note products skipped 0 "no libcublas.so.13 or .12 to compare with"
    note steps skipped 0 "no libcublas.so.13 or .12 to compare with"
  fi
  stage saves 90 "$programs/device_bench" saves
  stage recovery 150 recovery "$programs" "$scenarios" "$results/runs"
  if command -v compute-sanitizer >/dev/null; then
    stage sanitizer 100 sanitizer "$programs"
  else
    note sanitizer skipped 0 "no compute-sanitizer on PATH"
  fi
  if grep -q '^nccl *good' "$results/doctor.txt"; then
    note nccl passed 0 "$(grep '^nccl' "$results/doctor.txt")"
  else
    note nccl skipped 0 "NCCL does not load"
  fi
  echo
  cat "$results/results.txt"
  return "$failed"
}

gpu_script=$(realpath "${BASH_SOURCE[0]}")
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  if [ "${1:-}" = --stage ]; then
    shift
    "$@"
    exit
  fi
  here=$(dirname "$gpu_script")
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  gpu_checks "$here" "${1:-$here/results}" "$here/scenarios/gpu"
fi
