#include "harness/cli/crash_test/crash_test_files.h"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/run_folders/stored_runs.h"
#include "harness/run/failure/inconclusive_advice.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/writer/write_scenario.h"
#include "harness/trainer/crash_test.h"
#include "harness/trainer/trainer_case.h"
#include "harness/trainer/verdict/crash_test_json.h"
#include "reports/crash_test/crash_junit.h"
#include "reports/crash_test/crash_page.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

class NoProgress final : public CrashTestProgress {
 public:
  void OnStage(std::string_view) override {}
  void OnTrial(const CrashTrial&, uint64_t) override {}
};

// Crash-tests the training program of the case, and writes its scenario to the
// case's directory and the result to `folder`.
Result<CrashTestResult> RunTrainer(const Case& one, const CasePlace& place,
                                   const fs::path& folder) {
  ASSIGN_OR_RETURN(CrashTestPlan plan, PlanOfTrainer(*one.trainer));
  plan.version = GAUNTLET_VERSION;
  plan.time = one.timeouts.total;
  // The report of the run shows this scenario, and the command that repeats the
  // case reads it.
  ASSIGN_OR_RETURN(const std::string scenario, WriteScenario(one, {}));
  RETURN_IF_ERROR(
      WriteTextFile(fs::path(place.directory) / kScenarioFileName, scenario));
  std::error_code error;
  fs::create_directories(folder, error);
  NoProgress progress;
  ASSIGN_OR_RETURN(
      CrashTestResult result,
      RunCrashTest(plan,
                   {.program = place.program, .interrupted = place.interrupted},
                   folder, progress));
  RETURN_IF_ERROR(WriteCrashTestFiles(result, folder));
  return result;
}

}  // namespace

Status WriteCrashTestFiles(const CrashTestResult& result,
                           const fs::path& folder) {
  RETURN_IF_ERROR(
      WriteTextFile(folder / kResultFileName, CrashTestResultToJson(result)));
  RETURN_IF_ERROR(
      WriteTextFile(folder / kReportFileName, RenderCrashPage(result)));
  return WriteTextFile(folder / kJunitFileName, RenderCrashJunit(result));
}

CaseOutcome RunTrainerCase(const Case& one, const CasePlace& place) {
  const auto begin = std::chrono::steady_clock::now();
  CaseOutcome outcome = {.result = ResultBeforeRun(one, place)};
  const fs::path folder = fs::path(place.directory) / kCrashTestOfCase;
  const Result<CrashTestResult> result = RunTrainer(one, place, folder);
  if (result.ok()) {
    outcome.result.verdict = VerdictOnTrainer(*result);
    outcome.result.cause = CauseOnTrainer(*result);
    if (outcome.result.verdict.kind != VerdictKind::kPass) {
      outcome.result.summary.next = AdviceOnTrainer(*result, folder.string());
    }
  } else {
    outcome.result.verdict = {.kind = VerdictKind::kError,
                              .reason = result.status().message()};
    std::error_code ignored;
    std::string& next = outcome.result.summary.next;
    next = AdviceOnMachineError(result.status().message());
    if (next.empty()) {
      next = AdviceOnStartError(result.status(),
                                fs::current_path(ignored).string());
    }
    outcome.disk_full = result.status().code() == Code::kResourceExhausted;
  }
  outcome.result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return outcome;
}

}  // namespace gauntlet
