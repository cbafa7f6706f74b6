#!/usr/bin/env bash
# Runs the same commands by hand and in CI. Works on a bare Debian 12, as root
# or with sudo.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=ci/summary.sh
. ci/summary.sh
# shellcheck source=ci/gpu.sh
. ci/gpu.sh
program=build/release/gauntlet

usage() {
  cat <<'USAGE'
usage: ci/run.sh COMMAND
  setup   install the Debian packages of ci/packages.txt that are missing (`test`
          also those of ci/test_packages.txt)
  demo    build the program and run its demo
  test    build everything, run all tests and the scenario suites, explore for
          about a minute
  sim     explore in the simulated world for about ten minutes: random plans,
          each fault at each point, and the crash states of a save
  fast    build the fastest program, build/fast/gauntlet, run tests of its
          bits, and compare the records of its simulated runs with those of
          build/release
  bench [OPTION...]  run the CPU benchmarks, in about four minutes: kernels,
          training steps, all-reduce, digests and checkpoints (each beside
          Eigen, memcpy or the disk), shrinking, simulation and crash states
          (these two as `fast` builds them). Prints the path of the results in
          JSON. Options are Google Benchmark's (--benchmark_filter=REGEX)
  compare-peers [OPTION...]  install PyTorch, JAX, Orbax, TensorFlow and oneDNN
          in a virtual environment, build/peers, and compare Gauntlet's speed
          with theirs: matrix products, training steps, two workers, saves,
          restores and recovery from kill -9. --help: its options. Half an hour
          to an hour on an idle machine, depending on its disk
  crash-test-bench  install frameworks and ckpt-chaos in a virtual environment,
          build/survey, and measure crash-test: the overhead of its recording,
          the tracer's calls a second, and the crash states that it judges a
          minute compared with ckpt-chaos. About an hour on an idle machine
  survey [OPTION...]  install other training libraries in a virtual environment,
          build/survey, crash a small trainer of each by `gauntlet crash-test`,
          and print what each recovers from. --help: its options. About an hour
          and a half
  rank-table [OPTION...]  install PyTorch in a virtual environment, build/survey,
          crash-test two ranks under torchrun 20 times, and compare the tables
          of (rank, operation, verdict). --help: its options. About an hour
  gpu     on a machine with a GPU, in at most 10 minutes: CUDA tests, bits equal
          to the CPU's, recovery from device faults (scenarios/gpu), products in
          turn with cuBLAS, saves, compute-sanitizer; a RESULT line for each;
          exit code 6 where there is no GPU
  gpu-bundle [FILE]  all of that in an archive for a machine that has a GPU and
          no package registry (build/gauntlet-gpu.tar.gz); unpacks it once and
          checks that the program in it loads the plugin
  lint [BASE]  check the format of all sources, and for what clang does not take;
          run clang-tidy on the program's sources that differ from the commit
          BASE (HEAD~1)
  sanitize [SECONDS]  build the program with ASan and UBSan, then with TSan, and
          explore with each for so long (60), from a seed that it prints
  mutants [OPTION...]  build the program with the bug bank (tests/mutants) and
          explore with each modelled bug, for a minute at most; exit code 1 if
          one is not found. --mechanical: each fsync, rename, digest check and
          status check taken out in turn, and exit code 1 if one is found that
          tests/mutants/explained.toml explains; --help: more. Takes up to an
          hour
  fuzz [SECONDS]  build the fuzzers with clang and run each for so long (60)
Each command runs setup first; it touches nothing when nothing is missing.
USAGE
}

missing_packages() {  # [MORE...]
  local wanted installed
  wanted=$({ grep -Ev '^(#|$)' ci/packages.txt; printf '%s\n' "$@"; } |
             sed '/^$/d' | sort)
  # shellcheck disable=SC2086  # one word a package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted \
                2>/dev/null | sed -n 's/^installed //p' | sort -u || true)
  comm -23 <(echo "$wanted") <(echo "$installed")
}

setup() {  # [MORE_PACKAGES...]
  local missing as_root=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    # shellcheck disable=SC2086  # one word a package
    command -v sudo >/dev/null || {
      echo "ci/run.sh: packages are missing, and there is no sudo: as root," \
           "run apt-get install --no-install-recommends" $missing >&2
      return 1
    }
    as_root=(sudo)
  fi
  # sudo drops the environment, so the variable is set after it.
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  mkdir -p build
  echo "installing $(wc -w <<<"$missing") packages, a minute or two (output in" \
       "build/packages.log):" $missing >&2
  # shellcheck disable=SC2086
  { "${as_root[@]}" apt-get update -q &&
      "${as_root[@]}" apt-get install -q -y --no-install-recommends $missing
  } >build/packages.log 2>&1 || {
    cat build/packages.log >&2
    return 1
  }
}

# Prints a line each minute until the process ends. Estimates no time: it depends
# on what else the machine does.
report_progress() {  # PID FILES
  local seconds=0 interval=${GAUNTLET_PROGRESS_SECONDS:-60} compiled linking
  while sleep 1 && kill -0 "$1" 2>/dev/null; do
    seconds=$((seconds + 1))
    [ $((seconds % interval)) -eq 0 ] || continue
    compiled=$(find build/release -name '*.o' | wc -l)
    linking=""
    [ "$compiled" -lt "$2" ] || linking=", linking"
    echo "compiled $compiled of $2$linking, after $((seconds / 60)) min" >&2
  done
}

# Configures the preset once; ninja detects later changes. What CMake prints goes
# to build/PRESET/configure.log, and is printed if it fails.
configure() {  # PRESET
  [ ! -f "build/$1/build.ninja" ] || return 0
  mkdir -p "build/$1"
  cmake --preset "$1" >"build/$1/configure.log" 2>&1 || {
    cat "build/$1/configure.log" >&2
    return 1
  }
}

# Writes to standard error, as standard output belongs to the program.
build() {  # TARGET...
  local files="" quiet=(--quiet)
  configure release || return
  if [ ! -e "$program" ]; then
    files=$(ninja -C build/release -t commands "$@" | grep -c '\.o -c ' || true)
    echo "compiling $files files: 5 to 25 minutes on two cores" >&2
  fi
  # On a terminal, ninja shows its progress in one line.
  [ ! -t 2 ] || quiet=()
  if [ -t 2 ] || [ -z "$files" ]; then
    ninja -C build/release "${quiet[@]}" "$@" >&2
  else
    ninja -C build/release "${quiet[@]}" "$@" >&2 &
    report_progress $! "$files"
    wait $!
  fi
}

demo() {  # [OPTION...]
  local code=0
  setup
  build gauntlet
  "$program" run --demo "$@" || code=$?
  # An option may store the run elsewhere.
  if [ $# -eq 0 ] && [ -e .gauntlet/runs/latest/report.html ]; then
    echo "report: $root/.gauntlet/runs/latest/report.html" >&2
    echo "to call the program by its name, run:" \
         "export PATH=$root/build/release:\$PATH" >&2
    echo "next: the tutorial, docs/tutorial.md" >&2
  fi
  return "$code"
}

# Adds the counts of a run; a run that failed without a failed case counts as
# one failure.
passed=0 failed=0 skipped=0
failures=""  # a line for each, or for a run without a failed case
add_counts() {  # EXIT_CODE PASSED FAILED SKIPPED
  passed=$((passed + $2))
  failed=$((failed + $3))
  skipped=$((skipped + $4))
  if [ "$1" -ne 0 ] && [ "$3" -eq 0 ]; then failed=$((failed + 1)); fi
}

# Runs the command, which lists the failures, only if the stage failed.
add_failures() {  # EXIT_CODE STAGE [COMMAND...]
  local list=""
  [ "$1" -ne 0 ] || return 0
  [ $# -eq 2 ] || list=$("${@:3}") || list=""
  failures+=${list:-failed: $2: exit code $1}$'\n'
}

unit_tests() {
  local code=0 begin=$SECONDS
  rm -f build/release/ctest.xml
  ctest --preset release -j 2 --output-junit ctest.xml || code=$?
  echo "unit tests: $((SECONDS - begin)) s"
  # shellcheck disable=SC2046  # three numbers
  add_counts "$code" $(ctest_counts build/release/ctest.xml)
  add_failures "$code" "the tests" failed_tests build/release/ctest.xml
}

add_suite() {  # EXIT_CODE SUITE
  local result=.gauntlet/runs/latest/result.json
  # shellcheck disable=SC2046
  add_counts "$1" $(suite_counts "$result")
  add_failures "$1" "$2" failed_cases "$result" "$2"
}

scenario_suite() {  # NAME
  local code=0
  echo "== scenarios/$1"
  # Removes the link to the latest run. If this run makes no new link, no result
  # of an earlier run is taken for its own.
  rm -f .gauntlet/runs/latest
  "$program" run "scenarios/$1" --world both -j 2 || code=$?
  add_suite "$code" "scenarios/$1"
}

# The models of scenarios/peers are too large for an emulated device.
small_suites() {
  find scenarios -mindepth 1 -maxdepth 1 -type d ! -name peers | sort
}

# Devices must end in the same states as the CPU, whatever the faults.
suites_on_devices() {
  local code=0 suites
  suites=$(small_suites)
  echo "== all but scenarios/peers, on emulated devices"
  rm -f .gauntlet/runs/latest
  # shellcheck disable=SC2086  # several words
  "$program" run $suites --world sim --device emulated || code=$?
  add_suite "$code" "the suites on emulated devices"
}

# Explorations are bounded by cases, not by time, so that they are the same on
# every machine.
explore_stage() {  # NAME ARGUMENTS...
  local code=0 name=$1
  shift
  echo "== explore: $name"
  "$program" explore "$@" || code=$?
  if [ "$code" -eq 0 ]; then
    add_counts 0 1 0 0
  else
    add_counts 1 0 1 0
    add_failures "$code" "explore: $name"
  fi
}

# FACTOR is 1 in `test`, where the stages take about a minute, and 10 in `sim`.
explore_stages() {  # FACTOR
  local factor=$1
  explore_stage "random plans and crash states" --cases $((6000 * factor)) --seed 1 -j 2 \
                --fail-on-missed-goals
  explore_stage "rejoining workers" scenarios/explore/elastic.yaml \
                --cases $((12000 * factor)) --seed 1 -j 2 --fail-on-missed-goals
  explore_stage "asynchronous checkpoints" scenarios/explore/async.yaml \
                --cases $((3000 * factor)) --seed 1 -j 2
  explore_stage "checkpoints without a copy" scenarios/explore/zero-copy.yaml \
                --cases $((3000 * factor)) --seed 1 -j 2
  explore_stage "numbers that are not finite" \
                scenarios/explore/not-finite.yaml \
                --cases $((1500 * factor)) --seed 1 -j 2
  explore_stage "hosts apart" scenarios/explore/hosts-apart.yaml \
                --cases $((3000 * factor)) --seed 1 --max-faults 5 -j 2
  explore_stage "a file server" scenarios/explore/file-server.yaml \
                --cases $((3000 * factor)) --seed 1 -j 2
  explore_stage "workers on devices" scenarios/explore/device.yaml \
                --cases $((1000 * factor)) --seed 1 -j 2
  explore_stage "asynchronous checkpoints on devices" \
                scenarios/explore/device-async.yaml \
                --cases $((1000 * factor)) --seed 1 -j 2
  explore_stage "gradients from device to device" \
                scenarios/explore/collective.yaml \
                --cases $((1500 * factor)) --seed 1 -j 2
  explore_stage "each fault at each point" --mode sweep --max-faults 1 \
                --cases $((1500 * factor)) -j 2
  explore_stage "crash states" --mode crash-states
}

# Runs the explorations that take too long for `test`.
long_explore_stages() {
  explore_stages 10
  explore_stage "each fault in a recovery" --mode sweep -j 2 \
                --points 'step.begin,ckpt.load*,ckpt.reject'
}

sim() {
  setup
  build gauntlet
  long_explore_stages
  echo -n "$failures"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# Builds with clang 19, by profile-guided and link-time optimisation.
build_fast() {  # TARGET...
  setup bolt-19 clang-19 libclang-rt-19-dev lld-19 llvm-19
  ci/fast.sh "$@"
}

# Prints a digest of each record of a program's simulated runs, except those of
# large models. Records do not depend on the machine or the time.
simulated_records() {  # PROGRAM FOLDER ARGUMENTS...
  local of=$1 folder=$2
  shift 2
  rm -rf "$folder"
  # shellcheck disable=SC2046  # several words
  "$of" run $(small_suites) --world sim --runs "$folder" "$@" >&2
  (cd "$folder/latest/" && find . -name record.jsonl -exec sha256sum {} +) |
    sort -k 2
}

same_records() {  # BUILD NAME ARGUMENTS...
  local other=build/$1/gauntlet runs=build/$1/runs/$2
  shift 2
  mkdir -p "$runs"
  simulated_records "$program" "$runs/release" "$@" >"$runs/of-release"
  simulated_records "$other" "$runs/other" "$@" >"$runs/of-other"
  [ -s "$runs/of-other" ] || { echo "$other: no records" >&2; return 1; }
  diff "$runs/of-release" "$runs/of-other"
  echo "$other: $(wc -l <"$runs/of-other") records, each byte for byte that of" \
       "$program"
}

# Prints the result of an exploration, without its times.
explored() {  # PROGRAM
  "$1" explore --cases 3000 --seed 1 --json 2>/dev/null | python3 -c '
import json, sys
result = json.load(sys.stdin)
for key in "seconds", "per_second", "per_second_per_thread": del result[key]
print(json.dumps(result, indent=1))'
}

fast() {
  local tests=(digest_test engine_math_test model_test)
  build_fast gauntlet "${tests[@]}"
  for name in "${tests[@]}"; do
    "$(find build/fast/tests -name "$name" -type f)" --gtest_brief=1
  done
  build gauntlet
  same_records fast cpu
  same_records fast emulated --device emulated
  explored "$program" >build/fast/runs/explored-by-release
  explored build/fast/gauntlet >build/fast/runs/explored-by-fast
  diff build/fast/runs/explored-by-release build/fast/runs/explored-by-fast
  echo "build/fast/gauntlet: explores as $program does"
}

# Merges all benchmarks into one file in Google Benchmark's format, with the
# context of the first. A program without a benchmark that matches the filter
# leaves an empty file.
merge_benchmarks() {  # RESULTS_JSON...
  python3 - "$@" <<'PYTHON'
import json, os, sys
parts = []
for path in filter(os.path.getsize, sys.argv[1:]):
    with open(path) as file: parts.append(json.load(file))
if not parts: sys.exit("bench: no benchmark matches the filter")
context = parts[0]["context"]
context["executable"] = " ".join(p["context"]["executable"] for p in parts)
benchmarks = [one for part in parts for one in part["benchmarks"]]
json.dump({"context": context, "benchmarks": benchmarks}, sys.stdout, indent=1)
PYTHON
}

bench() {  # OPTION...
  local benchmark results=build/bench in_release=build/release/tests/bench
  build {kernels,steps,ring,digest,store,shrink}_bench
  build_fast {simulation,crash_states}_bench
  rm -rf "$results"
  mkdir -p "$results"
  for benchmark in "$in_release"/{kernels,steps,ring,digest,store,shrink}_bench \
                 build/fast/tests/bench/{simulation,crash_states}_bench; do
    "$benchmark" --benchmark_min_time=0.5 --benchmark_out_format=json \
      --benchmark_out="$results/${benchmark##*/}.json" \
      --benchmark_context=commit="$(git rev-parse --short HEAD)" "$@"
  done
  merge_benchmarks "$results"/*_bench.json >"$results/results.json"
  echo "results: $results/results.json"
}

# Installs packages from PyPI in the folder.
make_virtual_environment() {  # FOLDER REQUIREMENTS
  setup python3-venv
  [ -x "$1/bin/python" ] || python3 -m venv "$1" >&2
  "$1/bin/python" -m pip install --quiet --requirement "$2" >&2
}

compare_peers() {  # OPTION...
  make_virtual_environment build/peers tests/peers/requirements.txt
  build gauntlet kernels_bench
  build/peers/bin/python -B tests/peers/compare_peers.py --program "$program" "$@"
}

survey() {  # OPTION...
  make_virtual_environment build/survey tests/survey/requirements.txt
  build gauntlet
  build/survey/bin/python -B tests/survey/survey.py --program "$program" "$@"
}

rank_table() {  # OPTION...
  make_virtual_environment build/survey tests/survey/requirements.txt
  build gauntlet
  build/survey/bin/python -B tests/survey/rank_table.py --program "$program" "$@"
}

crash_test_bench() {
  local code=0 python=build/survey/bin/python
  make_virtual_environment build/survey tests/survey/requirements.txt
  build gauntlet trace_bench
  build/release/tests/bench/trace_bench --benchmark_min_time=0.5 || code=1
  "$python" -B tests/survey/recording_overhead.py --program "$program" || code=1
  "$python" -B tests/survey/beside_ckpt_chaos.py --program "$program" || code=1
  return "$code"
}

# Runs the bug bank: with no mutant switched on, the program does the same as
# that of build/release; then each mutant is hunted. Results are stored in
# build/mutants/results.json.
mutants() {  # ARGUMENTS...
  setup
  configure mutants || return
  ninja -C build/mutants --quiet gauntlet engine_ckpt_test store_prop \
    cluster_test engine_train_test >&2
  case " $* " in
    *" --list "* | *" --help "*) ;;
    *)
      build gauntlet
      same_records mutants cpu
      ;;
  esac
  python3 -B tests/mutants/mutants.py "$@"
}

run_tests() {
  local files begin=$SECONDS build_seconds packages
  mapfile -t packages < <(grep -Ev '^(#|$)' ci/test_packages.txt)
  setup "${packages[@]}"
  build all || { echo "0 passed, 1 failed"; return 1; }
  build_seconds=$((SECONDS - begin))
  unit_tests
  for suite in scenarios/*/; do
    files=$(find "$suite" -name '*.yaml' | head -n 1)
    [ -z "$files" ] || scenario_suite "$(basename "$suite")"
  done
  suites_on_devices
  explore_stages 1
  echo "build: $build_seconds s, tests: $((SECONDS - begin - build_seconds)) s"
  [ "$skipped" -eq 0 ] || echo "$skipped skipped"
  echo -n "$failures"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

build_gpu() {
  setup
  configure gpu || return
  ninja -C build/gpu --quiet gauntlet engine_gpu_test device_bench >&2
  [ -f build/gpu/libgauntlet_cuda.so ] ||
    { echo "gpu: nvcc was not found, so there is no plugin" >&2; return 1; }
  cp build/gpu/tests/engine/gpu/engine_gpu_test build/gpu/
}

gpu() {
  build_gpu
  gpu_checks build/gpu build/gpu/results scenarios/gpu
}

# Unpacks the bundle and checks that its program loads the plugin; needs no GPU.
check_bundle() {  # FILE
  local folder code=0
  folder=$(mktemp -d)
  tar -C "$folder" -xzf "$1"
  (cd "$folder/gauntlet-gpu" &&
     LD_LIBRARY_PATH=$PWD/lib ./gauntlet doctor) >"$folder/doctor.txt" || true
  grep '^plugin *good' "$folder/doctor.txt" || code=1
  [ "$code" -eq 0 ] ||
    { echo "gpu-bundle: the plugin does not load:"; cat "$folder/doctor.txt"; } >&2
  rm -rf "$folder"
  return "$code"
}

# Bundles every library except the C library, which every Linux has, and CUDA's.
gpu_bundle() {  # [FILE]
  local file=${1:-build/gauntlet-gpu.tar.gz} top=build/gauntlet-gpu size
  build_gpu
  rm -rf "$top"
  mkdir -p "$top/lib"
  for name in gauntlet engine_gpu_test device_bench libgauntlet_cuda.so; do
    strip -o "$top/$name" "build/gpu/$name"
    ldd "build/gpu/$name"
  done | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/lib(c|m|dl|rt|pthread|cuda|cublas|cudart|nccl)\.so' |
    xargs cp -L -t "$top/lib"
  cp -r scenarios "$top/"
  cp ci/gpu.sh "$top/"
  chmod +x "$top/gpu.sh"
  tar -C build -czf "$file" gauntlet-gpu
  check_bundle "$file"
  size=$(($(stat -c %s "$file") >> 20))
  echo "$file: $size MiB"
  [ "$size" -le 60 ]
}

# clang-tidy takes about 20 seconds for a source.
tidy() {  # BASE
  local changed headers
  git rev-parse --quiet --verify "$1^{commit}" >/dev/null ||
    { echo "lint: expected a commit, found '$1'" >&2; return 2; }
  # Leaves out files that are compiled for other processors or devices.
  changed=$({ git diff --name-only --diff-filter=d "$1"
              git ls-files --others --exclude-standard; } |
              grep -E '^(engine|chaos|harness|reports)/.*\.cc$' |
              grep -Ev 'avx|cuda|nccl|cublas|emulated_device' || true)
  [ -n "$changed" ] || return 0
  setup clang-tidy
  configure release || return
  headers=$(ninja -C build/release -t targets all |
              sed -n 's/^\(generated.*\.pb\.h\):.*/\1/p')
  # shellcheck disable=SC2086  # several words
  ninja -C build/release --quiet $headers >&2
  echo "lint: clang-tidy checks $(wc -l <<<"$changed") sources" >&2
  xargs -I FILE -P 2 clang-tidy --quiet FILE -- -std=c++20 -I. \
    -isystem build/release/generated -isystem /usr/include/hdf5/serial \
    -DFMT_SHARED -DGAUNTLET_VERSION='""' <<<"$changed" \
    2> >(grep -v ' warnings generated' >&2)
}

lint() {  # [BASE]
  # clang 14 does not compile what these return, a view or subrange of
  # libstdc++ 12.
  local returns='std::(views::reverse|ranges::(unique|(stable_)?partition'
  returns+='|remove(_if)?|rotate|search(_n)?|find_end|equal_range))\b'
  # Comments must begin with their subject or a verb, so not with these words.
  local openers='^ *// (What|Whether|Who|Of|Where|That)\b'
  setup
  find engine chaos harness reports tests -name '*.h' -o -name '*.cc' \
       -o -name '*.cu' | sort | xargs -r clang-format --dry-run -Werror
  if grep -rnE "$returns" engine chaos harness reports tests \
       --include='*.h' --include='*.cc' --include='*.cu' >&2; then
    echo "lint: not with clang 14: take the algorithm of namespace std" >&2
    return 1
  fi
  if grep -rnE "$openers" engine chaos harness reports tests \
       --include='*.h' --include='*.cc' --include='*.cu' >&2; then
    echo "lint: expected comments that name their subject or begin with a verb" >&2
    return 1
  fi
  tidy "${1:-HEAD~1}"
  echo "lint: clean"
}

# A sanitizer's report sets the exit code.
sanitize() {  # [SECONDS_PER_BUILD]
  local code=0 preset
  setup
  for preset in dev tsan; do
    configure "$preset" || return
    ninja -C "build/$preset" --quiet gauntlet >&2
    echo "== explore: preset $preset"
    # Libraries of the system are not instrumented.
    TSAN_OPTIONS=ignore_noninstrumented_modules=1 "build/$preset/gauntlet" \
      explore --time "${1:-60}s" --seed random -j 2 --stop-after 0 || code=1
  done
  return "$code"
}

# Findings are kept: inputs in build/fuzz/corpus, crashes in build/fuzz/found.
fuzz_target() {  # SECONDS NAME DICTIONARY
  local corpus=build/fuzz/corpus/$2 log=build/fuzz/$2.log code=0
  local flags=(-max_total_time="$1" -max_len=65536 -timeout=10
               -rss_limit_mb=1024 -malloc_limit_mb=256
               -artifact_prefix="build/fuzz/found/$2-")
  [ -z "$3" ] || flags+=(-dict="tests/fuzz/dictionaries/$3")
  mkdir -p "$corpus" build/fuzz/found
  "$fuzzer" --target="$2" --write-seeds="$corpus" || return
  "$fuzzer" --target="$2" "${flags[@]}" "$corpus" >"$log" 2>&1 || code=$?
  if [ "$code" -eq 0 ]; then
    echo "fuzz $2: $(grep -a '^Done' "$log" | tail -n 1)"
  else
    echo "fuzz $2: FAILED, exit code $code, see $log" \
         "$(grep -a 'Test unit written to' "$log" | tail -n 1)"
  fi
  return "$code"
}

fuzz() {  # [SECONDS_PER_TARGET]
  local code=0 name dictionary
  local fuzzer=build/fuzz/tests/fuzz/gauntlet_fuzz
  setup clang libclang-rt-dev
  configure fuzz || return
  ninja -C build/fuzz --quiet gauntlet_fuzz >&2
  while read -r name dictionary; do
    fuzz_target "${1:-60}" "$name" "$dictionary" </dev/null || code=1
  done < <("$fuzzer" --list)
  return "$code"
}

main() {
  local command=${1:-}
  [ $# -eq 0 ] || shift
  case "$command" in
    setup | demo | sim | fast | bench | survey | lint | sanitize | mutants | fuzz)
      "$command" "$@"
      ;;
    test) run_tests "$@" ;;
    compare-peers) compare_peers "$@" ;;
    crash-test-bench) crash_test_bench "$@" ;;
    rank-table) rank_table "$@" ;;
    gpu) gpu "$@" ;;
    gpu-bundle) gpu_bundle "$@" ;;
    -h | --help | help) usage ;;
    "") usage >&2; exit 2 ;;
    *)
      echo "ci/run.sh: unknown command '$command'; ci/run.sh --help lists the" \
           "commands" >&2
      exit 2
      ;;
  esac
}

main "$@"
