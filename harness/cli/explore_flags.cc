// The options of `gauntlet explore`.
#include <algorithm>
#include <span>

#include "chaos/inject/plan.h"
#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"
#include "harness/scenario/units.h"
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet explore --time 60s
  gauntlet explore --mode nth --points 'ckpt.*' --kinds crash,power_loss -j2
  gauntlet explore scenarios/canary/canary-loses-the-position.yaml -x
  gauntlet explore --seed 7 --case 1377 --max-faults 3
What is found is left as scenario files; the last lines say where.)";

// Names of `all` that a comma-separated list of patterns (* and ?) takes.
template <typename Info, typename Value>
FlagReader ReadPatterns(std::vector<Value>& target, std::span<const Info> all,
                        Value Info::*value) {
  return [&target, all, value](const std::string& text) -> Status {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t comma = std::min(text.find(',', begin), text.size());
      const std::string pattern = text.substr(begin, comma - begin);
      bool any = false;
      for (const Info& info : all) {
        const std::string name(info.name);
        if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
        any = true;
        if (std::find(target.begin(), target.end(), info.*value) ==
            target.end()) {
          target.push_back(info.*value);
        }
      }
      if (!any)
        return ExpectedValue("a name or a pattern that one has", pattern);
      begin = comma + 1;
    }
    std::sort(target.begin(), target.end());
    return OkStatus();
  };
}

FlagReader ReadSeed(std::optional<uint64_t>& target) {
  return [&target](const std::string& text) -> Status {
    if (text == "random") {
      target.reset();
      return OkStatus();
    }
    ASSIGN_OR_RETURN(target, ParseWhole<uint64_t>(text, 0, UINT64_MAX));
    return OkStatus();
  };
}

void AddWhat(Flags& flags, ExploreCommand& command,
             std::vector<std::string>& bases) {
  flags.Positionals({"base", "BASE",
                     "a scenario file; its faults do not count "
                     "(a built-in one)"},
                    1, bases);
  flags.Value({"-k,--name", "TEXT", "the one case of it with this in its name"},
              ReadText(command.name_filter));
  flags.Value({"--mode", "NAME", "random, nth or crash-states (random)"},
              ReadChoice<ExploreMode>(
                  command.mode, {{"random", ExploreMode::kRandom},
                                 {"nth", ExploreMode::kNth},
                                 {"crash-states", ExploreMode::kCrashStates}}));
  flags.Value(
      {"--kinds", "NAMES", "only these faults: crash,torn_*"},
      ReadPatterns(command.kinds, AllFaultKinds(), &FaultKindInfo::kind));
  flags.Value({"--points", "NAMES", "only these points: ckpt.*,step.end"},
              ReadPatterns(command.points, AllPoints(), &PointInfo::point));
  flags.Value({"--max-faults", "N", "in one plan; 0: undisturbed runs (3)"},
              ReadWhole(command.max_faults, 0, 16));
}

void AddHow(Flags& flags, ExploreCommand& command) {
  flags.Value({"--time", "TIME", "so long (60s where no other limit is given)"},
              ReadTime(command.time));
  flags.Value({"--cases", "N", "so many"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.cases, 1,
                                                           UINT64_MAX));
  flags.Value({"--case", "N", "random: only the one of this number"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.only_case, 0,
                                                           UINT64_MAX - 1));
  flags.Value({"--seed", "N", "a number, or random (1)"},
              ReadSeed(command.seed));
  flags.Value({"-j,--jobs", "N", "threads (1)"},
              ReadWhole(command.jobs, 1, 256));
  flags.Value(
      {"--twice", "N",
       "run every N-th case twice and compare; 0: none "
       "(16)"},
      ReadWhole<uint64_t, uint64_t>(command.twice_every, 0, UINT64_MAX));
  flags.Value({"--stop-after", "N",
               "stop after so many findings; 0: never "
               "(10)"},
              ReadWhole<size_t, size_t>(command.stop_after, 0, 1'000'000));
  flags.Switch({"-x,--exit-first", "", "stop after the first finding"},
               [&command] { command.stop_after = 1; });
  flags.Switch(
      {"--require-marks", "", "situations that were never met are exit code 1"},
      [&command] { command.require_marks = true; });
}

void AddOutput(Flags& flags, ExploreCommand& command) {
  flags.Value({"--out", "DIR",
               "where findings go "
               "(.gauntlet/runs/ID/findings)"},
              ReadText(command.out_directory));
  flags.Switch({"--gaps", "", "list every place that no fault came to"},
               [&command] { command.all_gaps = true; });
  flags.Switch({"--json", "", "the result as one JSON object"},
               [&command] { command.output = OutputFormat::kJson; });
}

}  // namespace

Result<Command> ParseExplore(const VerbArguments& verb) {
  ExploreCommand command;
  std::vector<std::string> bases;
  Flags flags({.command = "explore",
               .summary = "Search for faults that break recovery, in the "
                          "simulated world.",
               .examples = std::string(kExamples)},
              verb.color);
  AddWhat(flags, command, bases);
  AddHow(flags, command);
  AddOutput(flags, command);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(ShowCommand{flags.Help()});
  if (!bases.empty()) command.base_file = bases.front();
  if (command.only_case && command.mode != ExploreMode::kRandom) {
    return InvalidArgument("--case: expected --mode random beside it");
  }
  const bool limited = command.time || command.cases || command.only_case;
  if (!limited && command.mode == ExploreMode::kRandom) {
    command.time = std::chrono::seconds(60);
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
