#include "harness/explore/diagnosis/divergence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explore/diagnosis/replay.h"
#include "harness/oracle/judge.h"
#include "harness/run/case_runner.h"
#include "harness/run/reference.h"
#include "harness/scenario/run_setup.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

// Returns a small case, whose layers are dense0, relu2, dropout3 and dense1.
Case BuggyCase(const std::string& bug) {
  return SmallCase("planted_bugs: " + bug + R"(
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: violates, invariants: [trajectory]}
)");
}

// Returns a case in which worker 1 uses the results of a device that fails.
Case CaseOfFailedDevice(const std::string& point, int step) {
  std::string text = SmallScenario(fmt::format(R"(seed: 7
planted_bugs: trust-a-failed-device
faults:
  - id: gpu
    at: {{worker: 1, step: {}, point: {}}}
    do: gpu_error
expect: {{outcome: recovers}}
)",
                                               step, point));
  const std::string workers = "{workers: 2}";
  text.replace(text.find(workers), workers.size(),
               "{workers: 2, device: emulated}");
  return LoadScenarios(text, "c.yaml").cases.at(0);
}

// Changes one output of an operation on a worker.
class Meddler final : public StepProbe {
 public:
  using Change = std::function<void(std::span<float>)>;
  struct Target {
    uint64_t step = 0;  // number of completed updates
    Phase phase = Phase::kInEpoch;
    std::string operation;
    int replica = -1;
  };
  Meddler(Target target, Change change)
      : target_(std::move(target)), change_(std::move(change)) {}
  bool Begin(uint64_t step, Phase phase,
             const std::vector<TensorView>&) override {
    return step == target_.step && phase == target_.phase;
  }
  void Saw(const OperationOutput& output, std::span<float> values) override {
    if (output.name == target_.operation && output.replica == target_.replica) {
      change_(values);
    }
  }
  void End(const std::vector<TensorView>&) override {}

 private:
  const Target target_;
  const Change change_;
};

// Flips the highest mantissa bit of the largest value: no sum rounds this away.
void FlipOneBit(std::span<float> values) {
  float& largest = *std::ranges::max_element(
      values, {}, [](float value) { return std::abs(value); });
  largest = std::bit_cast<float>(std::bit_cast<uint32_t>(largest) ^ (1u << 22));
}

void AddToAll(std::span<float> values) {
  for (float& value : values) value += 0.5f;
}

class DivergenceTest : public testing::Test {
 protected:
  Record Run(const Case& one, const ProbeOf& probe_of = nullptr) {
    const RunPlan plan = PlanOf(one);
    FiberPool pool;
    Record record = RecordHead(one);
    record.world = "sim";
    AdoptLog(RunProbed(pool, plan, *DataOf(one), probe_of), record);
    record.golden = **references_.GoldenFor(plan);
    return record;
  }

  std::shared_ptr<const DataSplit> DataOf(const Case& one) {
    return *references_.DataOf(one.train.job.data);
  }

  // Runs the whole diagnosis: runs the case, finds the first step that differs,
  // runs both again, and names the first operation that differs.
  std::string Explain(const Case& one, const ProbeOf& probe_of = nullptr) {
    const auto departure = FirstDeparture(Run(one, probe_of));
    if (!departure) return "";
    const auto divergence =
        FindDivergence(PlanOf(one), *DataOf(one), *departure, probe_of);
    return divergence.ok() ? DescribeDivergence(*divergence)
                           : divergence.status().message();
  }

  // Returns the result of the case in the simulated world, with its cause.
  CaseResult ExplainedResult(const Case& one) {
    const Record record = Run(one);
    const auto explanation = ExplainTrajectory(one, record, references_);
    CHECK(explanation.ok(), explanation.status().message());
    CaseResult result = {.verdict = Judge(record)};
    ExplainCase(record, *explanation, result);
    return result;
  }

  std::string ExplainMeddled(const Meddler::Target& target,
                             const Meddler::Change& change) {
    Meddler meddler(target, change);
    return Explain(CleanCase(), [&](int, int) { return &meddler; });
  }

  References references_{"", "test"};
};

TEST_F(DivergenceTest, CleanRunHasNone) { EXPECT_EQ(Explain(CleanCase()), ""); }

TEST_F(DivergenceTest, LookChangesNothing) {
  const Case one = BuggyCase("lose-rng-key");
  StepRecorder recorder(0, [](uint64_t, Phase) { return true; });
  EXPECT_EQ(Run(one, [&](int, int) { return &recorder; }).incarnations,
            Run(one).incarnations);
}

TEST_F(DivergenceTest, NamesTheLostRngKeyAndTheFirstWrongOperation) {
  EXPECT_THAT(
      Explain(BuggyCase("lose-rng-key")),
      testing::StrEq(
          "the state loaded at step 4 differs: rng/key (key of the random "
          "numbers) is 18446744073709551608, expected 7; worker 0, the same on "
          "worker 1. The first operation that then differs: samples of the "
          "batch"));
}

TEST_F(DivergenceTest, ExplanationListsTheFirstValues) {
  const Case one = BuggyCase("lose-rng-key");
  const auto found = ExplainTrajectory(one, Run(one), references_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->differences.size(), 2u);
  const StateDifference& loaded = found->differences[0];
  EXPECT_EQ(loaded.place, "the state loaded at step 4");
  EXPECT_EQ(loaded.differing, 1u);
  EXPECT_GT(loaded.compared, 10u);
  const DifferingElement& key = loaded.tensors.at(0).first.at(0);
  EXPECT_EQ(key.found_bits, "fffffffffffffff8");
  EXPECT_EQ(key.expected, "7");
  EXPECT_EQ(key.ulps, std::nullopt);
  const StateDifference& then = found->differences[1];
  EXPECT_EQ(then.operation, "samples of the batch");
  EXPECT_EQ(then.tensors.at(0).first.size(), kListedElements);
  EXPECT_GT(then.tensors.at(0).differing, kListedElements);
  EXPECT_TRUE(then.tensors.at(0).first.at(0).ulps.has_value());
}

TEST_F(DivergenceTest, RealRunIsExplainedInTheSimulatedWorld) {
  const Case one = BuggyCase("lose-rng-key");
  Record record = Run(one);
  record.world = "real";
  const auto found = ExplainTrajectory(one, record, references_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_THAT(found->cause,
              StartsWith("in the simulated world: the state loaded at step 4"));
}

TEST_F(DivergenceTest, LostMetricsAreNamedAndShowInTheBookkeeping) {
  const std::string text = Explain(BuggyCase("lose-metrics"));
  EXPECT_THAT(text,
              StartsWith("the state loaded at step 4 differs: metrics/correct "
                         "(running metrics of the epoch) is 0, expected "));
  EXPECT_THAT(text, HasSubstr("The first operation that then differs: "
                              "bookkeeping"));
}

TEST_F(DivergenceTest, LostPositionIsNamed) {
  EXPECT_THAT(Explain(BuggyCase("lose-position")),
              HasSubstr("position/sample (next sample of the epoch) is 0, "
                        "expected "));
}

TEST_F(DivergenceTest, OneBitInOneReplicasGradientIsFound) {
  const std::string text = ExplainMeddled(
      {.step = 8, .operation = "gradient of dense1/kernel", .replica = 3},
      FlipOneBit);
  EXPECT_THAT(text,
              StartsWith("first difference: step 9, operation gradient of "
                         "dense1/kernel, replica 3, worker 1, element ["));
  EXPECT_THAT(text, HasSubstr(" (4194304 ulp); 1 of 320 values differ"));
}

struct Planted {
  Meddler::Target target;
  std::string expected;
};

TEST_F(DivergenceTest, DistinguishesEachOperationOfAStep) {
  const std::vector<Planted> table = {
      {{.step = 0, .operation = "samples of the batch", .replica = 0},
       "first difference: step 1, operation samples of the batch, replica 0, "
       "worker 0, element [0,0]: "},
      {{.step = 5, .operation = "forward of dense0", .replica = 1},
       "first difference: step 6, operation forward of dense0, replica 1, "
       "worker 0, element [0,0]: "},
      {{.step = 5, .operation = "loss", .replica = 2},
       "first difference: step 6, operation loss, replica 2, worker 1, "
       "element [0,0]: "},
      {{.step = 2, .operation = "gradient of the loss", .replica = 2},
       "first difference: step 3, operation gradient of the loss, replica 2, "
       "worker 1, element [0,0]: "},
      {{.step = 2, .operation = "backward of dense1", .replica = 0},
       "first difference: step 3, operation backward of dense1, replica 0, "
       "worker 0, element [0,0]: "},
      {{.step = 6,
        .phase = Phase::kEvaluationDue,
        .operation = "evaluation",
        .replica = 3},
       "first difference: evaluation after step 6, operation evaluation, "
       "replica 3, worker 1: "},
  };
  for (const Planted& planted : table) {
    EXPECT_THAT(ExplainMeddled(planted.target, AddToAll),
                StartsWith(planted.expected));
  }
}

// The gradients of the replicas are correct; only their total is wrong.
TEST_F(DivergenceTest, WrongOrderOfTheSumShowsInTheSum) {
  class ReversedSum final : public StepProbe {
   public:
    bool Begin(uint64_t, Phase, const std::vector<TensorView>&) override {
      return true;
    }
    void Saw(const OperationOutput& output, std::span<float> values) override {
      const std::string name = "gradient of dense0/kernel";
      if (output.name == name) {
        replicas[output.replica] = {values.begin(), values.end()};
      }
      if (output.name != "sum over the replicas, " + name) return;
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = ((replicas[3][i] + replicas[2][i]) + replicas[1][i]) +
                    replicas[0][i];
      }
    }
    void End(const std::vector<TensorView>&) override {}
    std::map<int, std::vector<float>> replicas;
  };
  Case one = CleanCase();
  one.cluster.workers = 1;
  ReversedSum reversed;
  EXPECT_THAT(Explain(one, [&](int, int) { return &reversed; }),
              StartsWith("first difference: step 1, operation sum over the "
                         "replicas, gradient of dense0/kernel, worker 0, "
                         "element ["));
}

TEST_F(DivergenceTest, CauseNamesTheFaultThatFailedTheDevice) {
  struct FailedDevice {
    std::string point;
    int step = 0;
    std::string difference;
  };
  const std::string bias = ", tensor adam/m/dense0/bias, worker 1, element [0]";
  for (const FailedDevice& one : {
           FailedDevice{"step.begin", 5,
                        "step 5, operation forward of dense0, replica 2, "
                        "worker 1, element [0,0]"},
           FailedDevice{"step.end", 5, "the state after step 5" + bias},
           FailedDevice{"step.end", 6, "the state after step 6" + bias},
           FailedDevice{"epoch.end", 6, "evaluation after step 6" + bias},
           FailedDevice{"eval.begin", 6, "evaluation after step 6" + bias},
       }) {
    SCOPED_TRACE(fmt::format("{}, step {}", one.point, one.step));
    const CaseResult result =
        ExplainedResult(CaseOfFailedDevice(one.point, one.step));
    EXPECT_THAT(result.cause,
                StartsWith("with the planted bug trust-a-failed-device, first "
                           "difference: " +
                           one.difference + ": 0, expected "));
    EXPECT_THAT(
        result.cause,
        HasSubstr(fmt::format(
            "; fault gpu (gpu_error worker 1 at {}, step {}) fired in worker 1 "
            "at step {}; then worker 1 exited with code 1: save of step 8: ",
            one.point, one.step, one.step)));
    for (const char* invariant : {"trajectory", "replicas-agree"}) {
      EXPECT_THAT(result.consequences,
                  Contains(Field(&Consequence::invariant, invariant)));
    }
  }
}

// The save of step 8 ends the run before another operation starts.
TEST_F(DivergenceTest, DifferenceThatNoRecorderFinds_HasItsFault) {
  EXPECT_THAT(
      ExplainedResult(CaseOfFailedDevice("step.end", 8)).cause,
      StartsWith(
          "with the planted bug trust-a-failed-device, first difference: step "
          "8, worker 1, incarnation 1: the reported state or loss differs; in "
          "a repeated run, a recorder of the operations found no difference, "
          "so the state may have changed after them; fault gpu (gpu_error "
          "worker 1 at step.end, step 8) fired in worker 1 at step 8; then "
          "worker 1 exited with code 1: save of step 8: "));
}

TEST_F(DivergenceTest, StepThatTheReferenceDoesNotHaveIsAnError) {
  const Case one = CleanCase();
  const auto divergence = FindDivergence(
      PlanOf(one), *DataOf(one), {.kind = RecordKind::kStep, .step = 99});
  EXPECT_EQ(divergence.status().message(),
            "the reference run is never where step 99 begins (step 98, "
            "in_epoch)");
}

TEST_F(DivergenceTest, DepartureIsTheFirstInTime) {
  Record record = Run(BuggyCase("lose-rng-key"));
  const auto departure = FirstDeparture(record);
  ASSERT_TRUE(departure);
  EXPECT_EQ(departure->kind, RecordKind::kResumed);
  EXPECT_EQ(departure->step, 4u);
  EXPECT_EQ(departure->incarnation, 2);
  record.golden = {};
  EXPECT_FALSE(FirstDeparture(record));
}

TEST_F(DivergenceTest, ReplayNamesTheTrajectorysCause) {
  const Case one = BuggyCase("lose-rng-key");
  const auto text = ExplainTrajectory(one, Run(one), references_);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text->cause,
              HasSubstr("rng/key (key of the random numbers) is "));
  const auto none =
      ExplainTrajectory(CleanCase(), Run(CleanCase()), references_);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->cause, "");
}

TEST_F(DivergenceTest, ReplayOfTheSameRunHasNoDifference) {
  const Case one = BuggyCase("lose-rng-key");
  EXPECT_EQ(FirstReplayDifference(Run(one), Run(one)), "");
}

TEST_F(DivergenceTest, Replay_NamesTheFirstDifferentEvent) {
  const Case one = CleanCase();
  const Record recorded = Run(one);
  Record now = recorded;
  for (IncarnationEvents& incarnation : now.incarnations) {
    for (RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kStep && event.step >= 7) {
        event.digest = std::string(32, 'f');
      }
    }
  }
  const std::string text = FirstReplayDifference(recorded, now);
  EXPECT_THAT(text,
              testing::MatchesRegex(
                  "event [0-9]+ \\(worker [01], incarnation 1, step 7\\): "
                  "recorded step, at .*; now step, at .*, state f+.*"));
}

TEST_F(DivergenceTest, ReplayNamesMissingAndAdditionalEvents) {
  const Record recorded = Run(CleanCase());
  Record now = recorded;
  now.incarnations.back().events.pop_back();
  EXPECT_THAT(FirstReplayDifference(recorded, now),
              HasSubstr("recorded worker_exited, "));
  now = recorded;
  now.launchers.back().exit_code = 1;
  EXPECT_THAT(FirstReplayDifference(recorded, now),
              StartsWith("launcher 1: recorded exit code 0, 0 restarts, "));
  now = recorded;
  now.left.checkpoints.pop_back();
  EXPECT_THAT(FirstReplayDifference(recorded, now),
              StartsWith("checkpoints left: recorded step-"));
}

TEST_F(DivergenceTest, ReplayInRealProcessesIsHeldAgainstTheVerdictAlone) {
  const Record recorded = Run(CleanCase());
  Record now = recorded;
  now.world = "real";
  for (IncarnationEvents& incarnation : now.incarnations) {
    for (RecordEvent& event : incarnation.events) event.t_ns += 1000;
  }
  EXPECT_EQ(FirstReplayDifference(recorded, now), "");
  now.launchers.back().result->digest = std::string(32, '0');
  EXPECT_THAT(FirstReplayDifference(recorded, now),
              StartsWith("verdict: recorded PASS; now FAIL trajectory "));
}

TEST(VerdictLineTest, DistinguishesPlannedViolationsOnOneLine) {
  Verdict verdict = {.kind = VerdictKind::kFail,
                     .invariants = {{.invariant = "no-hang",
                                     .instances = 1,
                                     .violations = 1,
                                     .findings = {{.invariant = "no-hang",
                                                   .name = "timed-out",
                                                   .message = "a\nb"}}}}};
  EXPECT_EQ(VerdictLine(verdict), "FAIL no-hang timed-out: a");
  verdict.kind = VerdictKind::kPass;
  EXPECT_EQ(VerdictLine(verdict), "planted bug caught: no-hang timed-out: a");
  EXPECT_EQ(VerdictLine({.kind = VerdictKind::kPass}), "PASS");
  EXPECT_EQ(VerdictLine({.kind = VerdictKind::kError, .reason = "why"}),
            "INCONCLUSIVE: why");
}

TEST(VerdictLineTest, NamesEveryUnmetExpectationOnce) {
  EXPECT_EQ(VerdictLine({.kind = VerdictKind::kFail,
                         .broken_expectations =
                             {{"expectation", "outcome",
                               "outcome: expected completes, found recovers"},
                              {"expectation", "resumed_from",
                               "resumed_from: expected step 10, found step "
                               "5"}}}),
            "FAIL expectation outcome: expected completes, found recovers; "
            "resumed_from: expected step 10, found step 5");
}

}  // namespace
}  // namespace gauntlet
