#include "harness/cli/scenario/validate_command.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/text/counted.h"
#include "harness/cli/scenario/case_selection.h"
#include "harness/cli/scenario/scenario_files.h"
#include "harness/scenario/save_schedule.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// Returns "; 6 steps in an epoch, 24 in all" for a single case. Returns "" if
// there are several cases, if the case has a trainer of its own or several
// launches, or if the number of samples is not known without reading the data.
std::string StepsText(const std::vector<Case>& cases) {
  if (cases.size() != 1) return "";
  const Case& one = cases.front();
  if (one.trainer || !one.launches.empty()) return "";
  const uint64_t epoch = ShapeOfEpoch(one.train.job).steps;
  const std::optional<uint64_t> total = TotalSteps(one);
  if (epoch == 0 || !total) return "";
  return fmt::format("; {} in an epoch, {} in all", Counted(epoch, "step"),
                     *total);
}

}  // namespace

int RunValidate(const ValidateCommand& command, Console& console) {
  const Result<LoadedScenarios> loaded = LoadScenarioFiles(command.paths);
  if (!loaded.ok()) {
    fmt::print(console.err, "gauntlet validate: {}\n",
               loaded.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  console.err << TextOf(loaded->notes) << loaded->errors;
  if (!loaded->errors.empty()) return static_cast<int>(ExitCode::kUsage);
  if (loaded->cases.empty()) {
    fmt::print(console.err,
               "gauntlet validate: nothing selected of 0 cases: {}\n",
               NoScenarioFileIn(command.paths));
    return static_cast<int>(ExitCode::kNothingSelected);
  }
  std::vector<const Case*> cases;
  for (const Case& one : loaded->cases) cases.push_back(&one);
  if (const std::string error = DataError(cases); !error.empty()) {
    console.err << error;
    return static_cast<int>(ExitCode::kUsage);
  }
  // Counts each case in both worlds, as `gauntlet run` does.
  fmt::print(
      console.out, "{}, {}: valid{}\n", Counted(loaded->scenarios, "scenario"),
      Counted(2 * loaded->cases.size(), "case"), StepsText(loaded->cases));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
