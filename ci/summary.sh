# Counts the outcomes of a test run or a scenario suite. Sourced by run.sh.
# Every function prints "PASSED FAILED SKIPPED"; a run without a complete report
# counts as one failure.

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
