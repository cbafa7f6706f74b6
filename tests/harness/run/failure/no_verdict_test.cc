// Advice on inconclusive cases whose reason is no fault.
#include "harness/run/failure/no_verdict.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(NoVerdictTest, ErrorOfTheMachine_NamesTheLimitToRaise) {
  struct Row {
    const char* error;
    const char* advice;
  };
  const Row rows[] = {
      {"/r/record.jsonl: cannot be written: File too large (ulimit -f, or the "
       "file system's own limit)",
       "raise the limit on file sizes (ulimit -f) and repeat the run"},
      {"descriptor: dup: Too many open files (ulimit -n)",
       "raise the limit on open files (ulimit -n) and repeat the run"},
      {"/r/logs/a.log: gauntlet: out of threads, or of memory for one (ulimit "
       "-u or -v, or the cgroup's pids.max)",
       "raise that limit, or run fewer cases at a time (-j), and repeat the "
       "run"},
      {"/r/logs/a.log: gauntlet: out of memory",
       "free memory or raise its limit (ulimit -v, or the cgroup's), or run "
       "fewer cases at a time (-j), and repeat the run"},
      {"/r/record.jsonl: cannot be written: No space left on device",
       "free space and repeat the run"},
      {"/r/record.jsonl: cannot be written: No such file or directory",
       "repeat the run, and leave its folder in place until it ends"},
      {"no port", ""}};
  for (const Row& row : rows) {
    EXPECT_EQ(AdviceOnMachineError(row.error), row.advice);
    Record record;
    record.harness_error = row.error;
    EXPECT_EQ(AdviceWithoutVerdict(record, {}), row.advice);
  }
}

TEST(NoVerdictTest, RunWithoutAnEvent_HasOutputAndLogs) {
  Record record;
  CaseResult result = {.world = "real",
                       .directory = "/r/c.real",
                       .verdict = {.kind = VerdictKind::kError,
                                   .reason = "no worker emitted an event"}};
  EXPECT_EQ(AdviceWithoutVerdict(record, result), "") << "nothing was started";
  record.launchers.resize(1);
  EXPECT_EQ(AdviceWithoutVerdict(record, result),
            "see the output of the launcher (/r/c.real/launch-1.json) and of "
            "the workers (/r/c.real/logs)");
  record.incarnations = {
      {.worker = 0, .number = 1, .events = {{.kind = RecordKind::kStep}}}};
  EXPECT_EQ(AdviceWithoutVerdict(record, result),
            "see what each worker did (gauntlet show RUN/CASE --all)");
}

}  // namespace
}  // namespace gauntlet
