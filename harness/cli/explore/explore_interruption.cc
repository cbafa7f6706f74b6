#include "harness/cli/explore/explore_interruption.h"

#include <algorithm>
#include <chrono>

#include "engine/text/counted.h"
#include "harness/cli/explore/case_command.h"
#include "harness/run/files/shell_word.h"
#include <fmt/format.h>

namespace gauntlet {

std::string CommandToResume(const ExploreCommand& command, uint64_t seed,
                            const CampaignReport& report) {
  ExploreCommand rest = command;
  const bool has_numbers = command.mode == ExploreMode::kMixed ||
                           command.mode == ExploreMode::kRandom;
  if (!has_numbers || command.only_case) {
    return CommandForExploration(command, seed);
  }
  rest.first_case = std::max(command.first_case, report.next_case);
  if (rest.cases) {
    const uint64_t done = rest.first_case - command.first_case;
    rest.cases = *rest.cases - std::min(done, *rest.cases - 1);
  }
  if (rest.time_given && report.end == CampaignEnd::kInterrupted) {
    const Duration spent = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(report.seconds));
    rest.time = std::chrono::ceil<std::chrono::seconds>(
        std::max<Duration>(*rest.time - spent, std::chrono::seconds(1)));
  }
  const std::string text = CommandForExploration(rest, seed);
  // Adds --out only with --first-case: only then may an exploration write into
  // the folder of an earlier one.
  return rest.first_case == 0 || rest.out_directory.empty()
             ? text
             : text + " --out " + ShellWord(rest.out_directory);
}

std::string RenderInterruption(const std::string& cases,
                               const StoredExploration& stored,
                               const std::string& how_to_go_on) {
  std::string text = fmt::format("interrupted after {}: ", cases);
  text +=
      stored.findings == 0
          ? "nothing was found"
          : fmt::format("{} stored in {}", Counted(stored.findings, "finding"),
                        stored.directory.string());
  if (!stored.report.empty()) {
    text += fmt::format(", report in {}", stored.report.string());
  }
  return fmt::format("{}; {}\n", text, how_to_go_on);
}

}  // namespace gauntlet
