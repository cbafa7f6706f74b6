#include "harness/cli/scenario/validate_command.h"

#include "engine/cli/exit_code.h"
#include "engine/text/counted.h"
#include "harness/cli/scenario/case_selection.h"
#include "harness/cli/scenario/scenario_files.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {

int RunValidate(const ValidateCommand& command, Console& console) {
  const Result<LoadedScenarios> loaded = LoadScenarioFiles(command.paths);
  if (!loaded.ok()) {
    fmt::print(console.err, "gauntlet validate: {}\n",
               loaded.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  console.err << loaded->notes << loaded->errors;
  if (!loaded->errors.empty()) return static_cast<int>(ExitCode::kUsage);
  if (loaded->cases.empty()) {
    fmt::print(console.err,
               "gauntlet validate: nothing selected of 0 cases: {}\n",
               NoScenarioFileIn(command.paths));
    return static_cast<int>(ExitCode::kNothingSelected);
  }
  // Counts each case in both worlds, as `gauntlet run` does.
  fmt::print(console.out, "{}, {}: valid\n",
             Counted(loaded->scenarios, "scenario"),
             Counted(2 * loaded->cases.size(), "case"));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
