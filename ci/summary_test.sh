#!/usr/bin/env bash
# Checks the counts and lists of ci/summary.sh on made-up reports.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/summary.sh"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

expect() {  # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] && return
  echo "$1: expected '$2', found '$3'" >&2
  failures=$((failures + 1))
}

# As ctest 3.25 writes it; each attribute of testsuite stands on its own line.
cat >"$directory/ctest.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)"
	tests="8"
	failures="2"
	disabled="1"
	skipped="3"
	>
	<testcase name="good" classname="good" time="0.1" status="run">
		<system-out>&lt;testcase status="fail"</system-out>
	</testcase>
	<testcase name="better" classname="better" time="0.1" status="run">
	</testcase>
	<testcase name="bad" classname="bad" time="0.1" status="fail">
		<failure message=""/>
	</testcase>
	<testcase name="slow" classname="slow" time="1.0" status="fail">
		<failure message=""/>
	</testcase>
	<testcase name="not built" classname="x" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
	</testcase>
	<testcase name="no fixture" classname="x" time="0" status="notrun">
		<skipped message="Fixture dependency failed"/>
	</testcase>
	<testcase name="off" classname="off" time="0" status="disabled">
	</testcase>
	<testcase name="skips itself" classname="x" time="0" status="notrun">
		<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
	</testcase>
</testsuite>
XML
expect "a mixed report" "2 4 2" "$(ctest_counts "$directory/ctest.xml")"

expect "the failed tests" "failed: test bad
failed: test slow
failed: test not built
failed: test no fixture" "$(failed_tests "$directory/ctest.xml")"

head -n 9 "$directory/ctest.xml" >"$directory/torn.xml"
expect "a torn report" "1 1 0" "$(ctest_counts "$directory/torn.xml")"

: >"$directory/empty.xml"
expect "an empty report" "0 1 0" "$(ctest_counts "$directory/empty.xml")"
expect "no report" "0 1 0" "$(ctest_counts "$directory/none.xml")"
for name in torn empty none; do
  expect "$name, as a list" "failed: no complete report of the tests" \
    "$(failed_tests "$directory/$name.xml" | cut -d : -f 1,2)"
done

cat >"$directory/result.json" <<'JSON'
{
  "schema": "gauntlet.result/v2",
  "counts": {
    "passed": 14,
    "flaky": 1,
    "failed": 2,
    "inconclusive": 1,
    "not_run": 4,
    "skipped": 3
  },
  "cases": [
    {
      "name": "    \"passed\": 99,", "verdict": "PASS", "flaky": false
    },
    {
      "name": "twice", "verdict": "PASS", "flaky": true, "world": "real",
      "reason": "1 of 2 tries failed"
    },
    {
      "name": "lost", "verdict": "FAIL", "flaky": false, "world": "sim",
      "reason": "save-durable: missing"
    }
  ]
}
JSON
expect "a suite" "14 8 3" "$(suite_counts "$directory/result.json")"
expect "the failed cases" "failed: flaky twice (real) of smoke: 1 of 2 tries failed
failed: FAIL lost (sim) of smoke: save-durable: missing" \
  "$(failed_cases "$directory/result.json" smoke)"
head -n 4 "$directory/result.json" >"$directory/torn.json"
expect "a torn result" "14 1 0" "$(suite_counts "$directory/torn.json")"
expect "no result" "0 1 0" "$(suite_counts "$directory/none.json")"
for name in torn none; do
  expect "$name, as a list" "failed: no complete result of smoke" \
    "$(failed_cases "$directory/$name.json" smoke | cut -d : -f 1,2)"
done

exit "$((failures > 0))"
