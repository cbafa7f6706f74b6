#!/usr/bin/env bash
# Checks the messages of ci/run.sh, with stubs in place of the programs it runs.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

expect() {  # WHAT PATTERN FOUND
  grep -qE -- "$2" <<<"$3" && return
  echo "$1: expected '$2', found '$3'" >&2
  failures=$((failures + 1))
}

stub() {  # NAME BODY
  printf '#!/bin/bash\n%s\n' "$2" >"$directory/bin/$1"
  chmod +x "$directory/bin/$1"
}

mkdir "$directory/bin"
cp -r "$(dirname "${BASH_SOURCE[0]}")" "$directory/ci"
for tool in bash cat chmod comm dirname env grep mkdir realpath sed sort touch \
  wc; do
  ln -s "$(command -v "$tool")" "$directory/bin/$tool"
done

run() {  # ARGUMENTS...
  local code=0
  PATH=$directory/bin "$directory/ci/run.sh" "$@" 2>&1 || code=$?
  echo "exit code $code"
}

stub id 'echo 1000'
stub dpkg-query 'exit 1'
found=$(run setup)
expect "neither root nor sudo" \
  '^ci/run.sh: packages are missing, .*as root, run apt-get install .* cmake ' \
  "$found"
expect "neither root nor sudo, lines" '^2$' "$(wc -l <<<"$found")"
expect "neither root nor sudo" '^exit code 1$' "$found"

stub id 'echo 0'
stub apt-get 'echo "apt-get $1: output"; [ "$1" = update ]'
found=$(run setup)
expect "failed installation" '^installing .*: .*cmake ' "$found"
expect "failed installation" '^apt-get install: output$' "$found"
expect "failed installation" '^exit code 1$' "$found"
stub apt-get 'echo "apt-get $1: output"'
found=$(run setup)
expect "installation, lines" '^2$' "$(wc -l <<<"$found")"
expect "installation" '^exit code 0$' "$found"

stub dpkg-query 'shift 3; printf "installed %s\n" "$@"'
stub cmake 'mkdir -p build/release; touch build/release/build.ninja'
# Compiles the program that the demo runs.
# shellcheck disable=SC2016
stub ninja '
if [ "$3" = -t ]; then
  printf "c++ -o %s.o -c %s.cc\n" a a b b; echo "c++ a.o b.o -o gauntlet"; exit
fi
echo "ninja $*"
cat >build/release/gauntlet <<PROGRAM
#!/bin/bash
echo "gauntlet \$*"; mkdir -p .gauntlet/runs/latest
touch .gauntlet/runs/latest/report.html; exit 3
PROGRAM
chmod +x build/release/gauntlet'
found=$(run demo)
expect "first demo" '^compiling 2 files: 5 to 25 minutes on two cores$' "$found"
expect "first demo" '^ninja -C build/release --quiet gauntlet$' "$found"
expect "first demo" '^gauntlet run --demo$' "$found"
expect "first demo" "^report: $directory/.gauntlet/runs/latest/report.html$" \
  "$found"
expect "first demo" "^to call .* run: export PATH=$directory/build/release:" \
  "$found"
expect "first demo" '^next: the tutorial, docs/tutorial.md$' "$found"
expect "first demo" '^exit code 3$' "$found"

found=$(run demo --runs elsewhere)
expect "second demo" '^0$' "$(grep -cE 'compiling|report:' <<<"$found" || true)"
expect "second demo" '^gauntlet run --demo --runs elsewhere$' "$found"

# A terminal gets the status line.
found=$(PATH=$directory/bin:$PATH script -qec "$directory/ci/run.sh demo" \
          /dev/null </dev/null | tr -d "\r" || true)
expect "demo on a terminal" '^ninja -C build/release gauntlet$' "$found"

found=$(run dmo)
expect "mistyped command" "^ci/run.sh: unknown command 'dmo'; .*--help " "$found"
expect "mistyped command, lines" '^2$' "$(wc -l <<<"$found")"
expect "mistyped command" '^exit code 2$' "$found"

# A stub clock of a minute, in which a file is compiled each second.
ln -s "$(command -v find)" "$directory/bin/find"
mkfifo "$directory/ended"
# shellcheck disable=SC2016
stub sleep '
read -r now <build/clock; echo $((++now)) >build/clock
>"build/release/$now.o"
[ "$now" -ne 61 ] || echo >ended'
# shellcheck disable=SC2016
stub ninja '
if [ "$3" = -t ]; then
  for ((i = 0; i < 120; ++i)); do echo "c++ -o $i.o -c $i.cc"; done; exit
fi
read -r _ <ended
cp "${0%/*}/id" build/release/gauntlet'
ln -s "$(command -v cp)" "$directory/bin/cp"
rm "$directory/build/release/gauntlet"
echo 0 >"$directory/build/clock"
found=$(GAUNTLET_PROGRESS_SECONDS=12 run demo)
expect "long build" '^compiled 12 of 120, after 0 min$' "$found"
expect "long build" '^compiled 60 of 120, after 1 min$' "$found"

[ "$failures" -eq 0 ] && echo "ci/run.sh: messages are as expected"
