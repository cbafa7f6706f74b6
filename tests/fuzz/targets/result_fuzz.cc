#include "engine/check.h"
#include "harness/record/result/result_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzResult(std::string_view input) {
  const Parsed<RunResult> result = ReadResult(input, "result.json");
  if (!result.ok()) return CheckErrorLine(result.error);
  CHECK(result.error.empty(), result.error);
  const std::string written = ResultToJson(*result.value);
  const Parsed<RunResult> again = ReadResult(written, "result.json");
  CHECK(again.ok(), again.error);
  CHECK(*again.value == *result.value, written);
  CheckSameText(written, ResultToJson(*again.value), "result");
}

std::vector<std::string> ResultSeeds() {
  const Finding finding = {.invariant = "trajectory",
                           .name = "step-digest",
                           .message = "step 7: expected a, found b",
                           .met = "restarts: {exactly: 1}"};
  Verdict verdict = {.kind = VerdictKind::kFail, .reason = "1 finding"};
  verdict.invariants = {{.invariant = "trajectory",
                         .instances = 24,
                         .violations = 1,
                         .findings = {finding}}};
  verdict.broken_expectations = {finding};
  verdict.facts.resumed_from = 5;
  verdict.timeline = {"crash of worker 1"};
  RunResult result = {.run = "r1", .seed = 7, .scenarios = 1, .seconds = 0.5};
  result.cases = {{.name = "kill", .scenario = "kill", .verdict = verdict}};
  return {ResultToJson(result), ResultToJson(RunResult())};
}

}  // namespace gauntlet
