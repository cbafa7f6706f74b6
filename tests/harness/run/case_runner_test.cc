#include "harness/run/case_runner.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

class CaseRunnerTest : public testing::Test {
 protected:
  CaseOutcome Run(const Case& one) {
    return RunCase(one, {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_);
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

TEST_F(CaseRunnerTest, PassesExpectedResults) {
  for (const Case& one : {CleanCase(), CrashCase()}) {
    const CaseOutcome outcome = Run(one);
    EXPECT_EQ(outcome.result.verdict.kind, VerdictKind::kPass)
        << outcome.result.verdict.reason;
    EXPECT_EQ(outcome.final_digest,
              references_.GoldenFor(PlanOf(one)).value()->final_digest);
    EXPECT_GT(outcome.result.reference_seconds, 0);
    EXPECT_LT(outcome.result.reference_seconds, outcome.result.seconds);
    EXPECT_EQ(outcome.result.world, "sim");
    EXPECT_EQ(outcome.result.replay, "gauntlet run c.yaml -k 'c' --world sim");
  }
}

TEST_F(CaseRunnerTest, FailsUnexpectedResults) {
  const Verdict verdict = Run(WrongCase()).result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(verdict.reason, "exit_code");
}

// A case that failed before the record was written counts as failed.
TEST_F(CaseRunnerTest, HasNoVerdict_IfTheRecordCannotBeWritten) {
  const auto verdict = [this](const Case& one) {
    return RunCase(one, {.directory = scratch_ / "none"},
                   {.world = WorldKind::kSimulated}, references_)
        .result.verdict;
  };
  EXPECT_EQ(verdict(CleanCase()).kind, VerdictKind::kError);
  EXPECT_THAT(verdict(CleanCase()).reason,
              HasSubstr("record.jsonl: cannot be written: No such file"));
  EXPECT_EQ(verdict(WrongCase()).kind, VerdictKind::kFail);
}

// The program is a launcher that fails after the first event of its worker.
TEST_F(CaseRunnerTest, FailureWhoseRecordCannotBeWritten_IsNotExplained) {
  namespace fs = std::filesystem;
  const std::string program = scratch_ / "program";
  std::ofstream(program) << R"(#!/bin/sh
file=$7/worker-0-incarnation-1.jsonl
echo '{"kind":"header","schema":"gauntlet.events/v2","worker":0,"incarnation":1}' > "$file"
echo '{"kind":"worker_started","t_ns":1}' >> "$file"
exit 7
)";
  fs::permissions(program, fs::perms::owner_all);
  const auto run_in = [&](const std::string& directory) {
    return RunCase(WrongCase(),
                   {.world = WorldKind::kReal,
                    .program = program,
                    .directory = directory},
                   {.world = WorldKind::kReal}, references_)
        .result;
  };
  fs::create_directory(scratch_ / "writable");
  const CaseResult failed = run_in(scratch_ / "writable");
  EXPECT_EQ(failed.verdict.kind, VerdictKind::kFail) << failed.verdict.reason;
  EXPECT_NE(failed.summary, FailureSummary());
  fs::create_directories(scratch_ / "full/record.jsonl");
  const CaseResult result = run_in(scratch_ / "full");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_THAT(result.verdict.reason,
              HasSubstr("record.jsonl: cannot be written: Is a directory"));
  EXPECT_EQ(result.cause, "");
  EXPECT_EQ(result.summary, FailureSummary());
}

// The program reports a full disk: in its event file, or in the message that
// its event log has ended early.
TEST_F(CaseRunnerTest, FullDisk_IsTheReason_UnlessAnErrorCameBefore) {
  const auto run = [this](const std::string& folder,
                          const std::string& script) {
    const std::string program = scratch_ / folder + ".sh";
    std::ofstream(program) << "#!/bin/sh\n" << script << "exit 7\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::filesystem::create_directory(scratch_ / folder);
    return RunCase(CleanCase(),
                   {.world = WorldKind::kReal,
                    .program = program,
                    .directory = scratch_ / folder},
                   {.world = WorldKind::kReal}, references_);
  };
  const std::string full = "No space left on device";
  const CaseOutcome plain = run(
      "plain", "printf '" + full + "' > \"$7/worker-0-incarnation-1.jsonl\"\n");
  EXPECT_TRUE(plain.disk_full);
  EXPECT_EQ(plain.result.verdict.reason,
            scratch_ / "plain" + ": cannot be written: " + full);
  EXPECT_EQ(plain.result.summary.next, "free space and repeat the run");
  const std::string earlier = "event log: e: write: " + full + "; it ends here";
  const CaseOutcome cut = run("cut", "echo '" + earlier + "'\n");
  EXPECT_TRUE(cut.disk_full);
  EXPECT_EQ(cut.result.verdict.reason, earlier);
  EXPECT_EQ(cut.result.summary.next, "free space and repeat the run");
}

TEST_F(CaseRunnerTest, HasNoVerdict_IfAFaultNeverFired) {
  const Verdict verdict = Run(IdleCase()).result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(verdict.reason, HasSubstr("crash never fired"));
}

// Worker 1 crashes in the second save, so worker 0 writes no manifest of it.
TEST_F(CaseRunnerTest, Reason_ExplainsAnUnfiredFaultOfABegunSave) {
  const Verdict verdict = Run(SmallCase(R"(faults:
  - id: full
    at: {worker: 0, save: 2, point: ckpt.manifest.write}
    do: errno
    with: {error: ENOSPC}
  - id: dead
    at: {worker: 1, save: 2, point: ckpt.shard.write}
    do: crash
expect: {outcome: recovers}
)"))
                              .result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(
      verdict.reason,
      HasSubstr("full never fired: errno worker 0 at "
                "ckpt.manifest.write, save 2, error ENOSPC; saves begun: "
                "2 in incarnation 1, "));
  EXPECT_THAT(verdict.reason,
              HasSubstr("; save 2 (step 8) was begun in incarnation 1, but the "
                        "process ended before the save was acknowledged"));
}

TEST_F(CaseRunnerTest, HasNoVerdict_IfTheReferenceRunFails) {
  Case one = CleanCase();
  one.train.job.data = {.kind = DataKind::kIdx, .path = "/nowhere"};
  const Verdict verdict = Run(one).result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(verdict.reason, HasSubstr("/nowhere"));
}

TEST_F(CaseRunnerTest, BeginsWithTheModelOfTheRunBefore) {
  Case one = CrashCase();
  one.before = {.workers = 3, .epochs = 1};
  const CaseOutcome outcome = Run(one);
  EXPECT_EQ(outcome.result.verdict.kind, VerdictKind::kPass)
      << outcome.result.verdict.reason;
  EXPECT_NE(outcome.final_digest, Run(CrashCase()).final_digest);
}

// One step of 64 replicas with 4 samples each needs more samples than the 96 of
// the data.
TEST_F(CaseRunnerTest, HasNoVerdict_IfTheRunBeforeFails) {
  Case one = CleanCase();
  one.before = {.workers = 64};
  const Verdict verdict = Run(one).result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(verdict.reason, HasSubstr("the run before did not finish"));
}

TEST_F(CaseRunnerTest, SkipsImpossibleCases) {
  Case one = CleanCase();
  one.needs.gpus = 2;
  const Verdict verdict = Run(one).result.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kSkip);
  EXPECT_EQ(verdict.reason, "needs 2 GPUs, found 0");
}

TEST_F(CaseRunnerTest, CatchesAPlantedBug) {
  const Case one = SmallCase(R"(planted_bugs: lose-metrics
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: violates, invariants: [epochs]}
)");
  EXPECT_EQ(Run(one).result.verdict.kind, VerdictKind::kPass);
}

TEST_F(CaseRunnerTest, WrittenRecord_HasTheSameVerdict) {
  const CaseOutcome outcome = Run(CrashCase());
  const std::string file = scratch_ / "record.jsonl";
  const Parsed<Record> record = ReadRecord(TextOf(file), file);
  ASSERT_TRUE(record.ok()) << record.error;
  EXPECT_EQ(record.value->world, "sim");
  EXPECT_EQ(Judge(*record.value), outcome.result.verdict);
}

}  // namespace
}  // namespace gauntlet
