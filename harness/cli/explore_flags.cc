// The options of `gauntlet explore`.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan.h"
#include "harness/cli/flags.h"
#include "harness/cli/shard_flag.h"
#include "harness/cli/verbs.h"
#include "harness/scenario/units.h"
#include "harness/scenario/upgrade.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet explore --time 60s
  gauntlet explore --mode sweep --points 'ckpt.*' --kinds crash,power_loss -j2
  gauntlet explore scenarios/canary/canary-loses-the-position.yaml -x
  gauntlet explore --seed 7 --case 2 --max-faults 3 --trace
  gauntlet explore --mode crash-states --profiles weak --windows save
  gauntlet explore --cases 60000 --shard 1/4
  gauntlet explore --first-case 1204
Every exploration leaves report.html: coverage over time, goals, findings, and
what was not tried.
The base is first run undisturbed; it has to complete. Its faults and what it
expects do not count. Beside it as it is, other numbers of workers and of kept
checkpoints, deletion at the end, separate hosts, other jobs, saves at the ends
of epochs and a grace are tried; all have restarts for many faults and short
limits, and what of the base's own that replaces is said at the start.
mixed tries random plans of faults, and in between what a power loss can leave
of the base's own checkpoints: at most 16 states of the names and of the
contents at each crash point. With --case, --kinds, --points or --max-faults it
tries plans alone.
What is found is left as scenario files, never over older ones: NAME.yaml, which
`gauntlet replay` takes and whose head has the command that finds it once more
(random); NAME.plan.json, the faults and the base's planted bugs alone, for
`gauntlet train --plan` where real processes can do them; NAME.original.json, the faults before they were shrunk.
crash-states leaves NAME.crash.json, which `gauntlet replay` takes too.
Shrinking replaces faults by plainer ones that break the same, also of kinds and
at points other than those of --kinds and --points. An interruption cuts it
short, and so does a limit of 10 s and 1000 tries: then it says so.
Shards share the seed. In mixed and random, --cases N counts those of all shards
together, and shard I has the cases whose number leaves I - 1 when divided by
the number of shards. In sweep each shard runs all single faults, as the pairs
follow from them, and counts and judges its own; each pair is run by one shard.
With --max-faults 1, which has no pairs, shards of a sweep save no time.
In crash-states each distinct state is recovered in one shard. There, and in
sweep, --cases counts those of the shard.
--first-case resumes an exploration that was interrupted, or goes on behind one
that is done: the cases are a function of base, seed and number. Crash states
and findings begin anew.
A case in which no fault fired is counted as `fired nothing`: it shows nothing.
crash-states counts as "left out" the on-disk states beyond --max-states, which
it did not try.
--json prints one object at the end, and nothing if no search began; the rest
goes to stderr. All modes have schema, base, mode, end, cases, seconds,
per_second, findings (each with its file, or why_no_file), failed, ran_twice,
nondeterministic, points_hit and points_total (null: crash-states has no
points). mixed, random and sweep add the coverage that was reached and missed (*_missed;
with --show-uncovered also gaps, by place) and what is left; crash-states adds
complete, unfinished and parts, each with the number of states it left out;
mixed has these in crash_states (null: none were tried).
Exit code 0: all that was tried passed, though a limit may have ended it early;
1: something failed, or a goal of --fail-on-missed-goals was not reached; 2: a
mistake in the call; 3: nothing was shown; 4: nothing to try; 130: interrupted.)";

struct NamedProfile {
  std::string_view name;
  DurabilityProfile profile;
};
// Of a few; all of them.
template <typename Info>
std::string NamesOf(std::span<const Info> all) {
  std::vector<std::string_view> names;
  for (const Info& info : all) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Names of `all` that a comma-separated list of patterns (* and ?) takes.
// `listing` says which there are.
template <typename Info, typename Value>
FlagReader ReadPatterns(std::vector<Value>& target, std::span<const Info> all,
                        Value Info::*value, const std::string& listing,
                        std::string_view path = "") {
  return [&target, all, value, listing,
          path](const std::string& text) -> Status {
    target.clear();
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
      if (!any) {
        const Status status = ExpectedValue(
            fmt::format("a name or a pattern that one has ({})", listing),
            pattern);
        const std::string_view renamed = NewNameOfValue(path, pattern);
        if (renamed.empty()) return status;
        return InvalidArgument(fmt::format("{}; {} is the name in gauntlet/v2",
                                           status.message(), renamed));
      }
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

void AddWhat(Flags& flags, ExploreCommand& command,
             std::vector<std::string>& bases) {
  flags.Positionals({"base", "BASE",
                     "a scenario file; its faults do not count "
                     "(a built-in one)"},
                    {.most = 1}, bases);
  flags.Value({"-k,--name", "TEXT", "the one case of it with this in its name"},
              ReadText(command.name_filter));
  flags.Value({"--mode", "NAME",
               "mixed (random plans and crash states in turns), random, sweep "
               "or crash-states (mixed)"},
              ReadChoice<ExploreMode>(
                  command.mode, {{"mixed", ExploreMode::kMixed},
                                 {"random", ExploreMode::kRandom},
                                 {"sweep", ExploreMode::kNth},
                                 {"nth", ExploreMode::kNth},
                                 {"crash-states", ExploreMode::kCrashStates}}));
  flags.Value({"--kinds", "NAMES", "only these faults: crash,torn_*"},
              ReadPatterns(command.kinds, AllFaultKinds(), &FaultKindInfo::kind,
                           "gauntlet list faults lists them", "faults.do"));
  flags.Value(
      {"--points", "NAMES", "only these points: ckpt.*,step.end"},
      ReadPatterns(command.points, AllPoints(), &PointInfo::point,
                   "gauntlet list points lists them", "faults.at.point"));
  flags.Value({"--max-faults", "N",
               "in one plan; sweep: 1 means no pairs, 2 none behind damage; "
               "mixed, random: 0 for undisturbed runs (3)"},
              ReadWhole(command.max_faults, 0, 16));
}

void AddHow(Flags& flags, ExploreCommand& command) {
  flags.Value(
      {"--time", "TIME",
       "so long, the base's undisturbed run included (mixed, random: 60s "
       "behind it where no other limit is given; else until all is "
       "done)"},
      ReadTime(command.time));
  flags.Value(
      {"--cases", "N",
       "stop after N cases; crash-states: after N distinct states; mixed: "
       "crash states do not count"},
      ReadWhole<std::optional<uint64_t>, uint64_t>(command.cases, 1,
                                                   UINT64_MAX));
  flags.Value({"--case", "N", "mixed, random: only the one of this number"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.only_case, 0,
                                                           UINT64_MAX - 1));
  flags.Value(
      {"--first-case", "N",
       "mixed, random: begin with this number, to resume (0)"},
      ReadWhole<uint64_t, uint64_t>(command.first_case, 0, UINT64_MAX - 1));
  flags.Value({"--shard", "I/N",
               "only the I-th of N parts (TEST_TOTAL_SHARDS and "
               "TEST_SHARD_INDEX, or GoogleTest's GTEST_...)"},
              ReadShard(command.shard));
  flags.Switch({"--trace", "",
                "with --case: also print its events, as gauntlet show does"},
               [&command] { command.trace = true; });
  flags.Value({"--seed", "N", "a number, or random (1)"},
              ReadSeed(command.seed));
  flags.Value(
      {"-j,--jobs", "N", "mixed, random and sweep: threads for the plans (1)"},
      ReadWhole(command.jobs, 1, 256));
  flags.Value(
      {"--verify-determinism-every", "N",
       "run every N-th case, or recover every N-th crash state, twice and "
       "compare; 0: none (16)",
       "--twice"},
      ReadWhole<uint64_t, uint64_t>(command.twice_every, 0, UINT64_MAX));
  flags.Value({"--stop-after", "N",
               "stop after so many findings; 0: never "
               "(10)"},
              ReadWhole<size_t, size_t>(command.stop_after, 0, 1'000'000));
  flags.Switch({"-x,--exit-first", "", "stop after the first finding"},
               [&command] { command.stop_after = 1; });
  flags.Switch(
      {"--fail-on-missed-goals", "",
       "exit with code 1 if a coverage goal was not reached, rare ones aside",
       "--require-marks"},
      [&command] { command.require_marks = true; });
}

constexpr uint64_t kMostBound = 1'000'000;

void AddCrashStates(Flags& flags, CrashStateChoice& choice) {
  static constexpr std::array kProfiles = {
      NamedProfile{"ext4", DurabilityProfile::kExt4},
      NamedProfile{"weak", DurabilityProfile::kWeak},
      NamedProfile{"lying-fsync", DurabilityProfile::kLyingFsync},
      NamedProfile{"shared", DurabilityProfile::kShared}};
  flags.Value(
      {"--profiles", "NAMES",
       "crash-states: on these disks: ext4, weak, lying-fsync, shared "
       "(all)"},
      ReadPatterns(choice.profiles, std::span<const NamedProfile>(kProfiles),
                   &NamedProfile::profile,
                   NamesOf(std::span<const NamedProfile>(kProfiles))));
  constexpr std::span<const CrashWindowInfo> windows(kCrashWindows);
  const std::string names = NamesOf(windows);
  flags.Value(
      {"--windows", "NAMES", "crash-states: within these: " + names + " (all)"},
      ReadPatterns(choice.windows, windows, &CrashWindowInfo::window, names));
  flags.Value(
      {"--save", "N",
       "crash-states: the N-th save (the first at which an older one is "
       "retired)"},
      ReadWhole<uint64_t, uint64_t>(choice.save, 1, kMostBound));
  flags.Value({"--max-states", "N",
               "crash-states: limit for each crash point: try all "
               "combinations of up to N states of the names, and for each "
               "up to N states of the contents (4096; lying-fsync 64)",
               "--bound"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(choice.bound, 1,
                                                           kMostBound));
  flags.Value({"--id", "ID", "crash-states: only the crash state of this name"},
              ReadText(choice.id));
}

// What another mode has no use for is not to be ignored.
Status CheckMode(const Flags& flags, ExploreMode mode) {
  struct Belongs {
    std::string name;
    bool random;
    bool nth;
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
    const bool fits = mode == ExploreMode::kNth           ? option.nth
                      : mode == ExploreMode::kCrashStates ? option.crash_states
                                                          : option.random;
    if (fits || !flags.Given(option.name)) continue;
    return InvalidArgument(fmt::format("{} requires --mode {}", option.name,
                                       option.crash_states ? "crash-states"
                                       : option.nth ? "mixed, random or sweep"
                                                    : "mixed or random"));
  }
  return OkStatus();
}

// An image's name has both; bits rot on one disk as on another.
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

// Shards divide the cases of one exploration.
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

void AddOutput(Flags& flags, ExploreCommand& command) {
  flags.Value({"--out", "DIR",
               "where findings and report.html go: an empty folder, or none "
               "yet (.gauntlet/runs/ID/findings and .gauntlet/runs/ID)"},
              ReadText(command.out_directory));
  flags.Switch({"--show-uncovered", "",
                "list the points, kinds and coverage goals that were not "
                "reached, and the kinds that never fired at a point where "
                "others did",
                "--gaps"},
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
              verb);
  AddWhat(flags, command, bases);
  AddHow(flags, command);
  AddCrashStates(flags, command.crash_states);
  AddOutput(flags, command);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (!bases.empty()) {
    command.base_file = bases.front();
    // A variable that is not set, say: not the built-in one.
    if (command.base_file.empty()) {
      return InvalidArgument("BASE: expected a scenario file, found \"\"");
    }
  }
  RETURN_IF_ERROR(CheckMode(flags, command.mode));
  RETURN_IF_ERROR(CheckCrashStates(flags, command.crash_states));
  if (command.mode == ExploreMode::kNth && command.max_faults == 0) {
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
