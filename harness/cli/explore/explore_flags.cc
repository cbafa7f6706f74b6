// The options of `gauntlet explore`.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/cli/flags/flags.h"
#include "engine/text/units.h"
#include "harness/cli/flags/comma_list.h"
#include "harness/cli/flags/shard_flag.h"
#include "harness/cli/flags/verbs.h"
#include "harness/scenario/format/fault_synonyms.h"
#include "harness/scenario/format/upgrade.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr std::string_view kExploreExamples =
    R"(Examples:
  gauntlet explore --time 60s
  gauntlet explore --mode sweep --points 'ckpt.*' --kinds crash,power_loss -j2
  gauntlet explore scenarios/canary/canary-loses-the-position.yaml -x
  gauntlet explore --seed 7 --case 2 --max-faults 3 --trace
  gauntlet explore --mode crash-states --profiles weak --windows save
  gauntlet explore --cases 60000 --shard 1/4
  gauntlet explore --first-case 1204

Every exploration writes report.html and one scenario file for each finding,
which gauntlet replay repeats. It overwrites no file of an earlier one.
The base first runs without faults and has to complete. Its own faults and
expectations are ignored. A case in which no fault fired is counted
separately and never as passed.
The options under "Crash states" require --mode crash-states.
Exit code 0: all cases passed, even if a limit ended the search; 1: a case
failed, or a goal was missed with --fail-on-missed-goals; 2: the call is wrong;
3: no verdict; 4: nothing to try; 130: interrupted.
docs/guides/exploration.md describes modes, set-ups, findings, shards and the
JSON.)";

struct NamedProfile {
  std::string_view name;
  DurabilityProfile profile;
};
// Returns all names, separated by commas. For short lists only.
template <typename Info>
std::string NamesOf(std::span<const Info> all) {
  std::vector<std::string_view> names;
  for (const Info& info : all) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Returns a reader of a comma-separated list of patterns (* and ?) of names in
// `all`. Errors refer to `listing` for the names.
template <typename Info, typename Value>
FlagReader ReadPatterns(std::vector<Value>& target, std::span<const Info> all,
                        Value Info::*value, const std::string& listing,
                        std::string_view path = "") {
  return [&target, all, value, listing,
          path](const std::string& text) -> Status {
    target.clear();
    for (const std::string& pattern : SplitAtCommas(text)) {
      bool any = false;
      std::vector<std::string> names;
      for (const Info& info : all) {
        const std::string& name = names.emplace_back(info.name);
        if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
        any = true;
        if (std::find(target.begin(), target.end(), info.*value) ==
            target.end()) {
          target.push_back(info.*value);
        }
      }
      if (!any) {
        const Status status = ExpectedValue(
            fmt::format("a name or a pattern that one has ({})", listing),
            pattern);
        const std::string_view renamed = NewNameOfValue(path, pattern);
        if (renamed.empty()) {
          return InvalidArgument(status.message() + DidYouMean(pattern, names));
        }
        return InvalidArgument(fmt::format("{}; {} is the name in gauntlet/v2",
                                           status.message(), renamed));
      }
    }
    std::sort(target.begin(), target.end());
    return OkStatus();
  };
}

// Returns the list of fault kinds with synonyms replaced by our names.
// kInvalidArgument: a name is ambiguous; the message names the kinds to
// use instead.
Result<std::string> WithOwnKinds(const std::string& text,
                                 std::vector<std::string>& notes) {
  std::vector<std::string> names = SplitAtCommas(text);
  for (std::string& name : names) {
    const std::string_view advice = AdviceOnFaultName(name);
    if (!advice.empty()) {
      return InvalidArgument(
          fmt::format("unknown fault kind {}: {}", Quoted(name), advice));
    }
    const std::optional<FaultSynonym> synonym = FindFaultSynonym(name);
    if (!synonym) continue;
    const std::string_view kind = FaultKindName(synonym->kind);
    notes.push_back(
        fmt::format("--kinds: {} is understood as {}{}", Quoted(name), kind,
                    synonym->parameter.empty()
                        ? ""
                        : fmt::format(", with any {}", synonym->parameter)));
    name = kind;
  }
  return fmt::format("{}", fmt::join(names, ","));
}

FlagReader ReadKinds(std::vector<FaultKind>& target,
                     std::vector<std::string>& notes) {
  return [&notes,
          read = ReadPatterns(target, AllFaultKinds(), &FaultKindInfo::kind,
                              "gauntlet list faults lists them",
                              "faults.do")](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const std::string names, WithOwnKinds(text, notes));
    return read(names);
  };
}

FlagReader ReadSeed(std::optional<uint64_t>& target) {
  return [&target](const std::string& text) -> Status {
    if (text == "random") {
      target.reset();
      return OkStatus();
    }
    const Result<uint64_t> seed = ParseWhole<uint64_t>(text, 0, UINT64_MAX);
    if (!seed.ok()) {
      return ExpectedValue(
          fmt::format("random or a whole number from 0 to {}", UINT64_MAX),
          text);
    }
    target = *seed;
    return OkStatus();
  };
}

FlagReader ReadExploreMode(ExploreMode& target,
                           std::vector<std::string>& notes) {
  return [&notes, read = ReadChoice<ExploreMode>(
                      target, {{"mixed", ExploreMode::kMixed},
                               {"random", ExploreMode::kRandom},
                               {"sweep", ExploreMode::kSweep},
                               {"crash-states", ExploreMode::kCrashStates}})](
             const std::string& text) -> Status {
    if (text != "nth") return read(text);
    notes.emplace_back(
        "--mode nth is deprecated and will be removed in the next release: use "
        "sweep");
    return read("sweep");
  };
}

void AddMode(Flags& flags, ExploreCommand& command,
             std::vector<std::string>& notes) {
  flags.Value({"--mode", "NAME",
               "Kind of search: random (plans of random faults), sweep (each "
               "fault at each point), crash-states (every on-disk state after "
               "a power loss) or mixed (random and crash-states in turns) "
               "(mixed)."},
              ReadExploreMode(command.mode, notes));
}

void AddExploreSelection(Flags& flags, ExploreCommand& command,
                         std::vector<std::string>& notes) {
  flags.Section("Selection");
  flags.Value({"-k,--name", "TEXT",
               "Explore the case of BASE whose name contains TEXT, if BASE has "
               "several."},
              ReadText(command.name_filter));
  AddMode(flags, command, notes);
  flags.Value({"--kinds", "NAMES",
               "Inject only faults of these kinds: crash,torn_* (all)."},
              ReadKinds(command.kinds, notes));
  flags.Value(
      {"--points", "NAMES",
       "Inject faults only at these points: ckpt.*,step.end (all)."},
      ReadPatterns(command.points, AllPoints(), &PointInfo::point,
                   "gauntlet list points lists them", "faults.at.point"));
  flags.Value({"--max-faults", "N",
               "Inject at most N faults in one plan. mixed, random: 0 injects "
               "none. sweep: 1 tries single faults, 2 pairs too, 3 also "
               "faults after a bit flip and a restart (3)."},
              ReadWhole(command.max_faults, 0, 16));
  flags.Value(
      {"--seed", "N|random", "Seed of all cases, or random to draw one (1)."},
      ReadSeed(command.seed));
  flags.Value({"--case", "N", "mixed, random: run only case N."},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.only_case, 0,
                                                           UINT64_MAX - 1));
  flags.Value(
      {"--first-case", "N",
       "mixed, random: begin with case N, to resume an interrupted "
       "exploration (0)."},
      ReadWhole<uint64_t, uint64_t>(command.first_case, 0, UINT64_MAX - 1));
  flags.Value({"--shard", "I/N",
               "Run only part I of N (TEST_SHARD_INDEX and TEST_TOTAL_SHARDS, "
               "or GoogleTest's GTEST_...)."},
              ReadShard(command.shard));
}

void AddLimits(Flags& flags, ExploreCommand& command) {
  flags.Section("Limits");
  flags.Value(
      {"--time", "TIME",
       "Stop after TIME, such as 60s or 10m, the base's own run included. "
       "Without any limit mixed and random stop 60s after that run, sweep and "
       "crash-states when all is tried."},
      ReadTime(command.time));
  flags.Value(
      {"--cases", "N",
       "Stop after N cases. mixed: crash states do not count; crash-states: "
       "each distinct state is a case."},
      ReadWhole<std::optional<uint64_t>, uint64_t>(command.cases, 1,
                                                   UINT64_MAX));
  flags.Value({"--stop-after", "N", "Stop after N findings; 0: never (10)."},
              ReadWhole<size_t, size_t>(command.stop_after, 0, 1'000'000));
  flags.Switch({"-x,--exit-first", "", "Stop after the first finding."},
               [&command] { command.stop_after = 1; });
}

void AddExecution(Flags& flags, ExploreCommand& command) {
  flags.Section("Execution");
  flags.Value(
      {"-j,--jobs", "N", "mixed, random, sweep: run plans in N threads (1)."},
      ReadWhole(command.jobs, 1, 256));
  flags.Value(
      {"--verify-determinism-every", "N",
       "Run every N-th case, or recover every N-th crash state, twice and "
       "compare both runs; 0: none (16).",
       "--twice"},
      ReadWhole<uint64_t, uint64_t>(command.verify_determinism_every, 0,
                                    UINT64_MAX));
}

constexpr uint64_t kMostBound = 1'000'000;

void AddCrashStateFlags(Flags& flags, CrashStateChoice& choice) {
  static constexpr std::array kProfiles = {
      NamedProfile{"ext4", DurabilityProfile::kExt4},
      NamedProfile{"weak", DurabilityProfile::kWeak},
      NamedProfile{"lying-fsync", DurabilityProfile::kLyingFsync},
      NamedProfile{"shared", DurabilityProfile::kShared}};
  flags.Section("Crash states");
  flags.Value(
      {"--profiles", "NAMES",
       "Disks to lose power on: ext4, weak, lying-fsync, shared (all)."},
      ReadPatterns(choice.profiles, std::span<const NamedProfile>(kProfiles),
                   &NamedProfile::profile,
                   NamesOf(std::span<const NamedProfile>(kProfiles))));
  constexpr std::span<const CrashWindowInfo> windows(kCrashWindows);
  const std::string names = NamesOf(windows);
  flags.Value(
      {"--windows", "NAMES",
       "Parts of the run to lose power in: " + names +
           " (a flipped bit instead of a power loss) (all)."},
      ReadPatterns(choice.windows, windows, &CrashWindowInfo::window, names));
  flags.Value({"--save", "N",
               "Lose power in the N-th save (the first that retires an older "
               "checkpoint)."},
              ReadWhole<uint64_t, uint64_t>(choice.save, 1, kMostBound));
  flags.Value({"--max-states", "N",
               "Try all states of the file names at a crash point, and all "
               "states of the contents for each, if there are at most N of "
               "them; else a selection (4096; lying-fsync 64).",
               "--bound"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(choice.max_states, 1,
                                                           kMostBound));
  flags.Value({"--id", "ID", "Try only the crash state of this name."},
              ReadText(choice.id));
}

// kInvalidArgument: an option was given that the mode would ignore.
Status CheckMode(const Flags& flags, ExploreMode mode) {
  struct Belongs {
    std::string name;
    bool random;
    bool sweep;
    bool crash_states;
  };
  static const std::array kOptions = {
      Belongs{"--case", true, false, false},
      Belongs{"--first-case", true, false, false},
      Belongs{"--trace", true, false, false},
      Belongs{"--seed", true, true, false},
      Belongs{"--jobs", true, true, false},
      Belongs{"--kinds", true, true, false},
      Belongs{"--points", true, true, false},
      Belongs{"--max-faults", true, true, false},
      Belongs{"--fail-on-missed-goals", true, true, false},
      Belongs{"--show-uncovered", true, true, false},
      Belongs{"--profiles", false, false, true},
      Belongs{"--windows", false, false, true},
      Belongs{"--save", false, false, true},
      Belongs{"--max-states", false, false, true},
      Belongs{"--id", false, false, true}};
  for (const Belongs& option : kOptions) {
    const bool fits = mode == ExploreMode::kSweep         ? option.sweep
                      : mode == ExploreMode::kCrashStates ? option.crash_states
                                                          : option.random;
    if (fits || !flags.Given(option.name)) continue;
    return InvalidArgument(fmt::format("{} requires --mode {}", option.name,
                                       option.crash_states ? "crash-states"
                                       : option.sweep ? "mixed, random or sweep"
                                                      : "mixed or random"));
  }
  return OkStatus();
}

// Refuses --profiles and --windows with --id, as a crash state's id contains
// both. If bit rot is the only window, refuses profiles without ext4, as bit
// rot is tried under that profile only.
Status CheckCrashStates(const Flags& flags, const CrashStateChoice& choice) {
  if (!choice.id.empty() &&
      (flags.Given("--profiles") || flags.Given("--windows"))) {
    return InvalidArgument(
        "--id cannot be combined with --profiles or --windows");
  }
  const bool only_rot = std::ranges::all_of(
      choice.windows,
      [](CrashWindow window) { return window == CrashWindow::kRot; });
  const bool has_ext4 =
      choice.profiles.empty() ||
      std::ranges::find(choice.profiles, DurabilityProfile::kExt4) !=
          choice.profiles.end();
  if (only_rot && !has_ext4) {
    return InvalidArgument(
        "--profiles: expected ext4 or none beside --windows rot, which is the "
        "same on each disk");
  }
  return OkStatus();
}

// Refuses --shard for a single case, and --shard without --seed, as all shards
// must have the same seed.
Status CheckShard(const ExploreCommand& command) {
  if (command.only_case && command.first_case > 0) {
    return InvalidArgument("--case cannot be combined with --first-case");
  }
  if (command.shard.count == 1) return OkStatus();
  if (command.only_case || !command.crash_states.id.empty()) {
    return InvalidArgument(
        "--shard cannot be combined with --case or --id, which are one case");
  }
  if (command.seed) return OkStatus();
  return InvalidArgument(
      "--shard: expected --seed N, the same for all shards, found random");
}

void AddExploreOutputFlags(Flags& flags, ExploreCommand& command) {
  flags.Section("Output");
  flags.Value({"--out", "DIR",
               "Folder for findings and report.html, new or empty, or, with "
               "--first-case, that of the exploration to resume "
               "(.gauntlet/runs/ID/findings and .gauntlet/runs/ID)."},
              ReadText(command.out_directory));
  flags.Switch({"--trace", "",
                "With --case: print its events too, as gauntlet show does."},
               [&command] { command.trace = true; });
  flags.Switch({"--show-uncovered", "",
                "List the points, kinds and coverage goals that were not "
                "reached, and for each point the kinds that never fired there.",
                "--gaps"},
               [&command] { command.show_uncovered = true; });
  flags.Switch(
      {"--fail-on-missed-goals", "",
       "Exit with code 1 if a coverage goal was not reached, rare ones aside.",
       "--require-marks"},
      [&command] { command.require_goals = true; });
  flags.Switch({"--json", "", "Print the result as one JSON object."},
               [&command] { command.output = OutputFormat::kJson; });
}

}  // namespace

Result<Command> ParseExplore(const VerbArguments& verb) {
  ExploreCommand command;
  std::vector<std::string> bases;
  Flags flags({.command = "explore",
               .summary = "Search for faults that break recovery, in the "
                          "simulated world.",
               .examples = std::string(kExploreExamples)},
              verb);
  flags.Positionals({"base", "BASE",
                     "A scenario file. Its faults are ignored (a built-in "
                     "scenario)."},
                    {.most = 1}, bases);
  AddExploreSelection(flags, command, verb.notes);
  AddLimits(flags, command);
  AddExecution(flags, command);
  AddCrashStateFlags(flags, command.crash_states);
  AddExploreOutputFlags(flags, command);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (!bases.empty()) {
    command.base_file = bases.front();
    // Refuses "": it is probably an unset shell variable, and must not select
    // the built-in base.
    if (command.base_file.empty()) {
      return InvalidArgument("BASE: expected a scenario file, found \"\"");
    }
  }
  RETURN_IF_ERROR(CheckMode(flags, command.mode));
  RETURN_IF_ERROR(CheckCrashStates(flags, command.crash_states));
  if (command.mode == ExploreMode::kSweep && command.max_faults == 0) {
    return InvalidArgument(
        "--max-faults: expected 1 or more with --mode sweep, found 0");
  }
  if (command.trace && !command.only_case) {
    return InvalidArgument(
        "--trace: expected --case N beside it, the one case to print");
  }
  if (command.only_case && command.cases) {
    return InvalidArgument("--case cannot be combined with --cases");
  }
  RETURN_IF_ERROR(CheckShard(command));
  command.time_given = command.time.has_value();
  const bool limited = command.time || command.cases || command.only_case;
  const bool endless = command.mode == ExploreMode::kMixed ||
                       command.mode == ExploreMode::kRandom;
  if (!limited && endless) {
    command.time = std::chrono::seconds(60);
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
