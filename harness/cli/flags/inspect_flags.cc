// The options of the commands that only read: list, judge, upgrade, doctor,
// help.
#include <algorithm>
#include <string>

#include "engine/cli/flags/flags.h"
#include "harness/cli/flags/runs_flag.h"
#include "harness/cli/flags/verbs.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kCatalogNames =
    "presets, points, faults, invariants, planted-bugs or scenarios";

NamedChoices<Catalog> AllCatalogs() {
  return {{"presets", Catalog::kPresets},
          {"points", Catalog::kPoints},
          {"faults", Catalog::kFaults},
          {"invariants", Catalog::kInvariants},
          {"planted-bugs", Catalog::kPlantedBugs},
          {"scenarios", Catalog::kScenarios}};
}

Result<Catalog> FindCatalog(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, catalog] : AllCatalogs()) {
    if (known == name) return catalog;
    names.push_back(known);
  }
  const Status status = ExpectedValue(kCatalogNames, name);
  std::string hint = DidYouMean(name, names);
  if (hint.empty()) hint = DidYouMeanNameWith(name, names);
  return InvalidArgument(status.message() + hint);
}

}  // namespace

Result<Command> ParseList(const VerbArguments& verb) {
  std::vector<std::string> words;
  Flags flags({.command = "list",
               .summary = fmt::format("List {}.", kCatalogNames),
               .examples = "Examples:\n  gauntlet list presets\n"
                           "  gauntlet list points\n"
                           "  gauntlet list scenarios scenarios/smoke"},
              verb);
  flags.Positionals(
      {"what", "WHAT [PATH...]",
       fmt::format(
           "One of {}. scenarios takes files and folders (./scenarios).",
           kCatalogNames)},
      {.least = 1, .most = 10'000}, words);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (words.empty()) {
    return InvalidArgument(fmt::format("expected {}", kCatalogNames));
  }
  ListCommand command;
  ASSIGN_OR_RETURN(command.catalog, FindCatalog(words.front()));
  command.paths.assign(words.begin() + 1, words.end());
  if (command.catalog != Catalog::kScenarios && !command.paths.empty()) {
    return InvalidArgument(fmt::format("{}: unexpected argument '{}'",
                                       words.front(), command.paths.front()));
  }
  return Command(std::move(command));
}

Result<Command> ParseJudge(const VerbArguments& verb) {
  JudgeCommand command;
  Flags flags(
      {.command = "judge",
       .summary = "Judge stored records again.",
       .examples =
           "Examples:\n  gauntlet judge latest\n"
           "  gauntlet judge latest/crash-in-a-shard\n"
           "  gauntlet judge record.jsonl --json\n"
           "\nThe verdict is that on the record, whatever the case would do "
           "now. If a record\nfailed, its case is run again in the simulation, "
           "as gauntlet run does, to find\nthe cause.\n"
           "The comparison of the two worlds is not in a record: only "
           "gauntlet run makes it.\n"
           "A crash test of a program (a case with a trainer) has no record "
           "and is skipped,\nwith a note; --json has it as a case with the "
           "verdict SKIP.\nIf a record cannot be read, the other records are "
           "still judged; the exit code\nis then 2, even if a case failed.\n"
           "Exit codes: gauntlet help exit-codes."},
      verb);
  flags.Positionals(
      {"what", "WHAT...",
       "A record.jsonl, the folder of a case or a run, RUN or RUN/CASE (RUN: "
       "latest, or the start of a run's name)."},
      {.least = 1, .most = 10'000}, command.paths);
  AddRunsFlag(flags, command.runs_directory);
  flags.Switch({"--json", "", "Print JSON, like result.json of a run."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  const bool has_empty = std::ranges::any_of(
      command.paths, [](const std::string& path) { return path.empty(); });
  if (command.paths.empty() || has_empty) {
    return InvalidArgument(
        "WHAT: expected a record.jsonl, a folder, RUN or RUN/CASE, found "
        "nothing");
  }
  return Command(std::move(command));
}

Result<Command> ParseUpgrade(const VerbArguments& verb) {
  std::vector<std::string> words;
  Flags flags(
      {.command = "upgrade",
       .summary = "Print a scenario file of gauntlet/v1 as gauntlet/v2. "
                  "Comments and layout are kept.",
       .examples = "Example:\n  gauntlet upgrade old.yaml > new.yaml"},
      verb);
  flags.Positionals({"file", "FILE", "Scenario file."}, {.least = 1, .most = 1},
                    words);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (words.empty()) return InvalidArgument("expected a scenario file");
  return Command(UpgradeCommand{words.front()});
}

Result<Command> ParseValidate(const VerbArguments& verb) {
  ValidateCommand command;
  Flags flags(
      {.command = "validate",
       .summary = "Check scenario files and the data that they name, and print "
                  "their errors. Nothing is run.",
       .examples = "Example:\n  gauntlet validate scenarios\n"
                   "\nExit code 0: all are valid; 2: a file has an error; 4: "
                   "there is no scenario.\nWarnings do not change the code."},
      verb);
  flags.Positionals({"paths", "PATH", "Scenario files, or folders of them."},
                    {.most = 10'000}, command.paths);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (command.paths.empty()) {
    return InvalidArgument("expected a scenario file or folder");
  }
  return Command(std::move(command));
}

Result<Command> ParseDoctor(const VerbArguments& verb) {
  DoctorCommand command;
  Flags flags(
      {.command = "doctor",
       .summary = "Check this machine and print what it lacks, with the "
                  "scenarios that cannot run.",
       .examples = "Example:\n  gauntlet doctor"},
      verb);
  flags.Switch({"--json", "", "Print JSON."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  return Command(std::move(command));
}

Result<Command> ParseHelp(const VerbArguments& verb) {
  std::vector<std::string> words;
  Flags flags(
      {.command = "help",
       .summary = "Print help on a command, a group of its options or a topic.",
       .examples = "Examples:\n"
                   "  gauntlet help scenarios\n"
                   "  gauntlet help train checkpoints\n"
                   "  gauntlet help ckpt verify\n"
                   "  gauntlet help torn_write"},
      verb);
  flags.Positionals(
      {"topic", "TOPIC",
       "A command, with a subcommand or a group of options; a topic; or the "
       "name of a fault kind, a fault point, an invariant or a preset."},
      {.most = 2}, words);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  for (const std::string& word : words) {
    if (word.empty()) {
      return Annotate(ExpectedValue("a command or a topic", word), "TOPIC");
    }
  }
  return Command(HelpCommand{fmt::format("{}", fmt::join(words, " "))});
}

}  // namespace gauntlet
