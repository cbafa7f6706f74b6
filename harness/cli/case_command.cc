#include "harness/cli/case_command.h"

#include <string_view>
#include <vector>

#include "harness/cli/shell_word.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// The beginning, which says what is explored.
std::string CommandForBase(const ExploreCommand& command) {
  std::string text = "gauntlet explore";
  if (!command.base_file.empty()) text += " " + ShellWord(command.base_file);
  if (!command.name_filter.empty()) {
    text += " --name " + ShellWord(command.name_filter);
  }
  return text;
}

}  // namespace

std::string CommandForCase(const ExploreCommand& command, uint64_t seed,
                           uint64_t number) {
  if (command.mode == ExploreMode::kNth) return "";
  std::string text = CommandForBase(command);
  const auto add = [&text](std::string_view option, const std::string& value) {
    text += fmt::format(" {} {}", option, value);
  };
  std::vector<std::string_view> kinds;
  for (const FaultKind kind : command.kinds) {
    kinds.push_back(FaultKindName(kind));
  }
  if (!kinds.empty()) add("--kinds", fmt::to_string(fmt::join(kinds, ",")));
  std::vector<std::string_view> points;
  for (const Point point : command.points) points.push_back(PointName(point));
  if (!points.empty()) add("--points", fmt::to_string(fmt::join(points, ",")));
  if (command.max_faults != ExploreCommand().max_faults) {
    add("--max-faults", std::to_string(command.max_faults));
  }
  if (command.twice_every != ExploreCommand().twice_every) {
    add("--verify-determinism-every", std::to_string(command.twice_every));
  }
  add("--seed", std::to_string(seed));
  add("--case", std::to_string(number));
  return text;
}

std::string CommandForImage(const ExploreCommand& command,
                            const std::string& id) {
  const CrashStateChoice& choice = command.crash_states;
  std::string text = CommandForBase(command) + " --mode crash-states";
  if (choice.save != 0) text += fmt::format(" --save {}", choice.save);
  if (choice.bound) text += fmt::format(" --max-states {}", *choice.bound);
  return fmt::format("{} --id {}", text, id);
}

}  // namespace gauntlet
