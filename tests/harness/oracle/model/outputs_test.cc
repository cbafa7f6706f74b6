// Outputs of a run: curves and exported models.
#include "harness/oracle/model/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

class SpoiledOutputsTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedOutputsTest : public testing::TestWithParam<ExcusedRun> {};

TEST_P(SpoiledOutputsTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedOutputsTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}

// Returns the recovered run with all its outputs: a point of the loss curve per
// step.
ScriptedRun RunWithOutputs() {
  ScriptedRun run = RecoveredRun();
  run.facts.setup.curve_every = 1;
  run.facts.setup.exports = true;
  Leftovers& left = run.facts.left;
  left.outputs_listed = true;
  for (const GoldenEntry& entry : run.facts.golden.entries) {
    if (entry.kind == RecordKind::kStep) {
      left.curves.push_back(
          {.tag = "batch_loss", .step = entry.step, .bits = entry.loss_bits});
      left.curves.push_back({.tag = "time/compute", .step = entry.step});
    } else if (entry.kind == RecordKind::kEpochEnd) {
      left.curves.push_back(
          {.tag = "epoch_loss", .step = entry.step, .bits = entry.loss_bits});
    }
  }
  left.exported = ExportedModel{.is_complete = true,
                                .reason = "",
                                .step = kLastStep,
                                .digest = run.facts.golden.final_digest};
  return run;
}

CurvePoint& PointAt(ScriptedRun& run, uint64_t step) {
  return *std::ranges::find(run.facts.left.curves, step, &CurvePoint::step);
}

void ForgetAPoint(ScriptedRun& run) {
  std::erase_if(run.facts.left.curves,
                [](const CurvePoint& point) { return point.step == 6; });
}

INSTANTIATE_TEST_SUITE_P(
    Outputs, SpoiledOutputsTest,
    testing::Values(
        SpoiledRun{"CurveHasAStepTwice", RunWithOutputs, "outputs/repeated",
                   [](ScriptedRun& run) {
                     run.facts.left.curves.push_back(PointAt(run, 6));
                   }},
        SpoiledRun{"EventFileIsUnreadable", RunWithOutputs,
                   "outputs/unreadable",
                   [](ScriptedRun& run) {
                     run.facts.left.curves_damage = "a record is no event";
                   }},
        SpoiledRun{"CurveHasAnotherLoss", RunWithOutputs, "outputs/value",
                   [](ScriptedRun& run) { ++PointAt(run, 6).bits; }},
        SpoiledRun{"CurveHasAStepAfterTheEnd", RunWithOutputs,
                   "outputs/no-such-step",
                   [](ScriptedRun& run) {
                     run.facts.left.curves.push_back(
                         {.tag = "batch_loss", .step = kLastStep + 1});
                   }},
        SpoiledRun{"CurveLacksAStep", RunWithOutputs, "outputs/missing",
                   ForgetAPoint},
        SpoiledRun{"ModelIsHalfWritten", RunWithOutputs,
                   "outputs/half-exported",
                   [](ScriptedRun& run) {
                     run.facts.left.exported->is_complete = false;
                   }},
        SpoiledRun{"ModelIsMissing", RunWithOutputs, "outputs/not-exported",
                   [](ScriptedRun& run) { run.facts.left.exported.reset(); }},
        SpoiledRun{"ModelIsOfAnotherState", RunWithOutputs,
                   "outputs/other-model",
                   [](ScriptedRun& run) {
                     run.facts.left.exported->digest = kOtherDigest;
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Outputs, ExcusedOutputsTest,
    testing::Values(
        ExcusedRun{"FileIsDamaged", RunWithOutputs, "outputs/value",
                   [](ScriptedRun& run) { ++PointAt(run, 6).bits; },
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kOther, RecordKind::kFaultFired, 0, kOther,
                         {.kind = RecordKind::kDamaged,
                          .path = "/curves/events.out.tfevents.1.a",
                          .detail = "crash-w1"});
                   }},
        ExcusedRun{
            "WriteFailed", RunWithOutputs, "outputs/unreadable",
            [](ScriptedRun& run) {
              run.facts.left.curves_damage = "a torn record";
            },
            [](ScriptedRun& run) { run.facts.faults[0].kind = "errno"; }},
        ExcusedRun{"OtherWorkersHoldTheStepInMemory", RunWithOutputs,
                   "outputs/missing", ForgetAPoint,
                   [](ScriptedRun& run) { run.facts.setup.rejoins = true; }}),
    NameOfCase<ExcusedRun>);

}  // namespace
}  // namespace gauntlet
