#include "harness/cli/explore/case_command.h"

#include <string_view>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/text/units.h"
#include "harness/run/files/shell_word.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the first words of the command: those that select the base.
std::string CommandForBase(const ExploreCommand& command) {
  std::string text = "gauntlet explore";
  if (!command.base_file.empty()) text += " " + ShellWord(command.base_file);
  if (!command.name_filter.empty()) {
    text += " --name " + ShellWord(command.name_filter);
  }
  return text;
}

void Add(std::string_view option, const std::string& value, std::string& text) {
  text += fmt::format(" {} {}", option, value);
}

template <typename Number>
void AddUnlessDefault(std::string_view option, Number ExploreCommand::*number,
                      const ExploreCommand& command, std::string& text) {
  if (command.*number == ExploreCommand().*number) return;
  Add(option, std::to_string(command.*number), text);
}

template <typename Value>
void AddNames(std::string_view option, const std::vector<Value>& values,
              std::string_view (*name)(Value), std::string& text) {
  if (values.empty()) return;
  std::vector<std::string_view> names;
  for (const Value value : values) names.push_back(name(value));
  Add(option, fmt::to_string(fmt::join(names, ",")), text);
}

void AddPlanChoices(const ExploreCommand& command, std::string& text) {
  AddNames("--kinds", command.kinds, FaultKindName, text);
  AddNames("--points", command.points, PointName, text);
  AddUnlessDefault("--max-faults", &ExploreCommand::max_faults, command, text);
}

void AddCrashStateChoices(const ExploreCommand& command, std::string& text) {
  const CrashStateChoice& choice = command.crash_states;
  AddNames("--profiles", choice.profiles, ProfileName, text);
  if (choice.windows != AllCrashWindows()) {
    AddNames("--windows", choice.windows, CrashWindowName, text);
  }
  if (choice.save != 0) Add("--save", std::to_string(choice.save), text);
  if (choice.max_states)
    Add("--max-states", std::to_string(*choice.max_states), text);
  if (!choice.id.empty()) Add("--id", ShellWord(choice.id), text);
}

}  // namespace

std::string_view ExploreModeName(ExploreMode mode) {
  switch (mode) {
    case ExploreMode::kMixed:
      return "mixed";
    case ExploreMode::kRandom:
      return "random";
    case ExploreMode::kSweep:
      return "sweep";
    case ExploreMode::kCrashStates:
      return "crash-states";
  }
  return "";
}

std::string CommandForExploration(const ExploreCommand& command,
                                  uint64_t seed) {
  std::string text = CommandForBase(command);
  const bool has_plans = command.mode != ExploreMode::kCrashStates;
  if (command.mode != ExploreMode::kMixed) {
    Add("--mode", std::string(ExploreModeName(command.mode)), text);
  }
  if (has_plans) AddPlanChoices(command, text);
  AddCrashStateChoices(command, text);
  AddUnlessDefault("--verify-determinism-every",
                   &ExploreCommand::verify_determinism_every, command, text);
  if (has_plans) Add("--seed", std::to_string(seed), text);
  if (command.only_case)
    Add("--case", std::to_string(*command.only_case), text);
  AddUnlessDefault("--first-case", &ExploreCommand::first_case, command, text);
  if (command.shard.count > 1) {
    Add("--shard",
        fmt::format("{}/{}", command.shard.index, command.shard.count), text);
  }
  if (command.cases) Add("--cases", std::to_string(*command.cases), text);
  if (command.time_given) Add("--time", DurationToText(*command.time), text);
  AddUnlessDefault("--stop-after", &ExploreCommand::stop_after, command, text);
  AddUnlessDefault("--jobs", &ExploreCommand::jobs, command, text);
  if (command.require_goals) text += " --fail-on-missed-goals";
  if (command.show_uncovered) text += " --show-uncovered";
  return text;
}

std::string CommandForCase(const ExploreCommand& command, uint64_t seed,
                           uint64_t number) {
  if (command.mode == ExploreMode::kSweep) return "";
  std::string text = CommandForBase(command);
  AddPlanChoices(command, text);
  AddUnlessDefault("--verify-determinism-every",
                   &ExploreCommand::verify_determinism_every, command, text);
  Add("--seed", std::to_string(seed), text);
  Add("--case", std::to_string(number), text);
  return text;
}

std::string CommandForImage(const ExploreCommand& command,
                            const std::string& id) {
  const CrashStateChoice& choice = command.crash_states;
  std::string text = CommandForBase(command) + " --mode crash-states";
  if (choice.save != 0) text += fmt::format(" --save {}", choice.save);
  if (choice.max_states)
    text += fmt::format(" --max-states {}", *choice.max_states);
  return fmt::format("{} --id {}", text, id);
}

}  // namespace gauntlet
