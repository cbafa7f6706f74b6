// The runs that other tests spoil violate nothing before they are spoiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {
namespace {

struct BaseRun {
  const char* name;
  ScriptedRun (*run)();
};

class BaseRunTest : public testing::TestWithParam<BaseRun> {};

TEST_P(BaseRunTest, HasNoFinding) {
  const Verdict verdict = Judge(GetParam().run().record());
  for (const InvariantReport& report : verdict.invariants) {
    for (const Finding& finding : report.findings) {
      ADD_FAILURE() << finding.invariant << "/" << finding.name << ": "
                    << finding.message;
    }
  }
  EXPECT_EQ(verdict.kind, VerdictKind::kPass) << verdict.reason;
}

INSTANTIATE_TEST_SUITE_P(
    All, BaseRunTest,
    testing::Values(
        BaseRun{"Undisturbed", UndisturbedRun},
        BaseRun{"Recovered", RecoveredRun},
        BaseRun{"TwiceCrashed", TwiceCrashedRun},
        BaseRun{"Rejoined", RejoinedRun}, BaseRun{"Preempted", PreemptedRun},
        BaseRun{"TwoPhases", TwoPhasesRun}, BaseRun{"Deleted", DeletedRun},
        BaseRun{"DeletedTwice", DeletedTwiceRun},
        BaseRun{"PowerLoss", [] { return CutRun("ext4"); }},
        BaseRun{"PowerLossAfterALyingSync",
                [] { return CutRun("lying-fsync"); }},
        BaseRun{"FellBack", FellBackRun}, BaseRun{"Refused", RefusedRun},
        BaseRun{"Asynchronous", AsynchronousRun}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace gauntlet
