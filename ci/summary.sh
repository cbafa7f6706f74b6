# Counts the outcomes of a test run or a scenario suite, and lists what failed.
# Sourced by run.sh. The functions *_counts print "PASSED FAILED SKIPPED"; a run
# without a complete report counts as one failure.

# ctest's own totals count a test whose program is missing as "skipped". Here
# only a test that reports a skip itself, or is switched off, is skipped.
ctest_counts() {  # JUNIT_FILE
  [ -s "$1" ] || { echo "0 1 0"; return; }
  awk '
    /<testcase .*status="run"/      { passed++ }
    /<testcase .*status="fail"/     { failed++ }
    /<testcase .*status="notrun"/   { failed++ }
    /<testcase .*status="disabled"/ { skipped++ }
    /<skipped message="SKIP_/       { failed--; skipped++ }
    /<\/testsuite>/                 { complete = 1 }
    END {
      if (!complete) failed++
      print passed + 0, failed + 0, skipped + 0
    }' "$1"
}

# A case that is flaky, inconclusive or was not run counts as failed.
suite_counts() {  # RESULT_JSON
  [ -s "$1" ] || { echo "0 1 0"; return; }
  awk '
    /^    "passed": [0-9]+/       { passed += $2 }
    /^    "failed": [0-9]+/       { failed += $2 }
    /^    "flaky": [0-9]+/        { failed += $2 }
    /^    "inconclusive": [0-9]+/ { failed += $2 }
    /^    "not_run": [0-9]+/      { failed += $2 }
    /^    "skipped": [0-9]+/      { skipped += $2 }
    /^}/                          { complete = 1 }
    END {
      if (!complete) failed++
      print passed + 0, failed + 0, skipped + 0
    }' "$1"
}

# The lists below have a line for each failed test or case.
failed_tests() {  # JUNIT_FILE
  python3 - "$1" <<'PYTHON'
import sys, xml.etree.ElementTree as xml
try:
    for test in xml.parse(sys.argv[1]).iter("testcase"):
        skip = test.find("skipped")
        skips = skip is not None and skip.get("message", "").startswith("SKIP_")
        if test.get("status") in ("fail", "notrun") and not skips:
            print("failed: test", test.get("name"))
except (OSError, xml.ParseError) as error:
    print(f"failed: no complete report of the tests: {error}")
PYTHON
}

failed_cases() {  # RESULT_JSON SUITE
  python3 - "$@" <<'PYTHON'
import json, sys
try:
    with open(sys.argv[1]) as file: cases = json.load(file)["cases"]
    for case in cases:
        verdict = "flaky" if case.get("flaky") else case["verdict"]
        if verdict not in ("PASS", "SKIP"):
            print("failed:", verdict, case["name"],
                  f"({case['world']}) of {sys.argv[2]}: {case['reason']}")
except (OSError, ValueError, KeyError) as error:
    print(f"failed: no complete result of {sys.argv[2]}: {error}")
PYTHON
}
