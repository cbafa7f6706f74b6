#include "tests/reports/sample_result.h"

namespace gauntlet {
namespace {

CaseResult Passed() {
  return {.name = "crash-mid-save[workers=2]",
          .scenario = "crash-mid-save",
          .file = "scenarios/crash.yaml",
          .line = 2,
          .world = "real",
          .seconds = 1.94,
          .verdict = {.kind = VerdictKind::kPass,
                      .facts = {.faults_fired = 1,
                                .restarts = 1,
                                .resumed_from = 50,
                                .max_recomputed_steps = 1,
                                .distinct_recomputed_steps = 1,
                                .recomputations = 1}}};
}

StateDifference Difference() {
  return {.place = "the state loaded at step 50",
          .compared = 12,
          .differing = 2,
          .tensors = {{.name = "rng/key",
                       .elements = 1,
                       .differing = 1,
                       .first = {{.found = "18446744073709551614",
                                  .found_bits = "fffffffffffffffe",
                                  .expected = "1",
                                  .expected_bits = "0000000000000001"}}},
                      {.name = "dense1/kernel",
                       .elements = 4096,
                       .differing = 512,
                       .first = {{.index = "[3,17]",
                                  .found = "1.23",
                                  .found_bits = "3f9d70a4",
                                  .expected = "1.2299999",
                                  .expected_bits = "3f9d70a3",
                                  .ulps = 1}}}}};
}

LossDifferences Losses() {
  return {.compared = 40,
          .differing = 30,
          .first = {{.place = "step 51",
                     .worker = 1,
                     .incarnation = 2,
                     .found = "2.3025851",
                     .found_bits = "40135d8e",
                     .expected = "2.5",
                     .expected_bits = "40200000",
                     .ulps = 828018}}};
}

CaseResult Failed() {
  Verdict verdict{
      .kind = VerdictKind::kFail,
      .reason = "trajectory, restarts",
      .invariants = {{.invariant = "trajectory",
                      .instances = 300,
                      .violations = 7,
                      .findings = {{"trajectory", "state-digest",
                                    "after step 51 (worker 1, incarnation 2): "
                                    "state aa, expected bb"}}}},
      .broken_expectations = {{"expectation", "restarts",
                               "restarts: expected exactly 1, found 2"}},
      .timeline = {"worker 0, incarnation 1  step 50  tear: torn_write",
                   "worker 0, incarnation 2  resumed from step 50"}};
  return {.name = "torn-manifest",
          .scenario = "torn-manifest",
          .file = "scenarios/torn.yaml",
          .line = 12,
          .world = "real",
          .seconds = 2.2,
          .replay = "gauntlet replay 7f3a/torn-manifest",
          .timeline = "/runs/7f3a/timeline.json.gz",
          .cause = "the state loaded at step 50 differs: tensor rng/key",
          .differences = {Difference()},
          .consequences = {{"trajectory",
                            "each later state and loss is computed from what "
                            "differs"}},
          .losses = Losses(),
          .verdict = verdict};
}

CaseResult WithReason(VerdictKind kind, const char* name, const char* reason) {
  return {.name = name,
          .scenario = name,
          .file = "scenarios/torn.yaml",
          .line = 30,
          .world = "sim",
          .seconds = 0.0141,
          .verdict = {.kind = kind, .reason = reason}};
}

}  // namespace

RunResult SampleResult() {
  return {.run = "7f3a",
          .seed = 42,
          .build = "0.1.0",
          .scenarios = 4,
          .seconds = 11.84,
          .cases = {Passed(),
                    WithReason(VerdictKind::kSkip, "gpu-reset",
                               "needs a GPU, found 0"),
                    WithReason(VerdictKind::kError, "disk-full",
                               "full never fired: errno any at ckpt.begin"),
                    Failed()}};
}

CaseResult CaseLeft() {
  return WithReason(VerdictKind::kNotRun, "late", "enough cases had failed");
}

CaseResult UnmetCase() {
  return {
      .name = "disk-full-then-crash",
      .scenario = "disk-full-then-crash",
      .file = "full.yaml",
      .line = 2,
      .expect_line = 9,
      .world = "sim",
      .seconds = 0.0573,
      .cause = "the save of step 10 failed, 8.1 ms after it began",
      .summary = {.faults = "full: errno worker 0",
                  .recovery = "1 restart; resumed from step 5",
                  .training = "right",
                  .next = "if the run was right, set resumed_from: {step: 5} "
                          "under expect (full.yaml:9)"},
      .verdict = {.kind = VerdictKind::kFail,
                  .reason = "resumed_from",
                  .fails_only_expectations = true,
                  .invariants = {{.invariant = "trajectory", .instances = 158},
                                 {.invariant = "grace"},
                                 {.invariant = "store", .instances = 33}},
                  .broken_expectations =
                      {{"expectation", "resumed_from",
                        "resumed_from: expected step 10, found step 5",
                        "resumed_from: {step: 5}"}},
                  .facts = {.faults_fired = 2,
                            .restarts = 1,
                            .resumed_from = 5,
                            .max_recomputed_steps = 11,
                            .distinct_recomputed_steps = 11,
                            .recomputations = 11,
                            .failed_saves = 1}}};
}

CaseResult FlakyCase(FlakyVerdict verdict) {
  CaseResult failed = Failed();
  failed.directory = "/runs/7f3a/torn-manifest.real";
  CaseResult passed = failed;
  passed.seconds = 1.0;
  passed.directory = "/runs/7f3a/torn-manifest~try-2.real";
  passed.cause.clear();
  passed.verdict = {.kind = VerdictKind::kPass, .facts = {.faults_fired = 1}};
  return JoinTries({failed, passed}, verdict);
}

}  // namespace gauntlet
