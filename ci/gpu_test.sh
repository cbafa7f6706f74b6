#!/usr/bin/env bash
# Checks the verdicts of ci/gpu.sh with stand-ins for the programs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/gpu.sh"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

expect() {  # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] && return
  echo "$1: expected '$2', found '$3'" >&2
  failures=$((failures + 1))
}

# A program that prints these lines and exits with 0.
stand_in() {  # NAME LINE...
  local file=$directory/$1
  shift
  { echo "#!/bin/sh"; printf "echo '%s'\n" "$@"; } >"$file"
  chmod +x "$file"
}

exit_code() {  # COMMAND ARGUMENTS...
  local code=0
  "$@" >"$directory/log" 2>&1 || code=$?
  echo "$code"
}

stand_in gauntlet 'driver    missing' 'plugin    good' 'gpu       missing'
expect "no driver" 6 \
  "$(exit_code gpu_checks "$directory" "$directory/results" .)"

stand_in gauntlet 'driver    good' 'plugin    missing' 'gpu       missing'
expect "a driver, and a plugin that does not load" 1 \
  "$(exit_code gpu_checks "$directory" "$directory/results" .)"
expect "its line" "RESULT doctor failed 0" \
  "$(cut -d ' ' -f 1-4 "$directory/results/results.txt")"

stand_in engine_gpu_test '[  PASSED  ] 3 tests.'
expect "CUDA tests that pass" 0 "$(exit_code cuda_tests "$directory")"
stand_in engine_gpu_test '[  SKIPPED ] 7 tests, listed below:' \
         '[  PASSED  ] 3 tests.'
expect "CUDA tests that are skipped" 1 "$(exit_code cuda_tests "$directory")"
stand_in engine_gpu_test '[  PASSED  ] 0 tests.'
expect "no CUDA tests" 1 "$(exit_code cuda_tests "$directory")"

results=$directory/stages failed=0
mkdir "$results"
stage quick 10 true >/dev/null
expect "after a stage that passes" 0 "$failed"
stage endless 1 sleep 60 >/dev/null 2>&1
expect "after a stage beyond its limit" 1 "$failed"
expect "the stages' lines" \
       "quick passed|endless failed time limit of 1 s" \
       "$(sed 's/^RESULT //; s/ [0-9][0-9]* / /; s/ $//' "$results/results.txt" |
            paste -sd '|')"

mkdir -p "$directory/site-packages/nvidia/nccl/lib"
expect "libraries of Python packages" "$directory/site-packages/nvidia/nccl/lib" \
       "$(PYTHONPATH=$directory/site-packages nvidia_wheel_folders |
            grep -F "$directory")"

cat >"$directory/result.json" <<'JSON'
      "scenario": "passes",
      "verdict": "PASS",
      "scenario": "needs more",
      "verdict": "SKIP",
JSON
expect "skipped cases" "needs more" "$(skipped_cases "$directory/result.json")"

exit "$((failures > 0))"
