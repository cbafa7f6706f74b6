// The options of `gauntlet show`.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/text/units.h"
#include "harness/cli/flags/runs_flag.h"
#include "harness/cli/flags/verbs.h"
#include "harness/cli/record/show_command.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string ShowExamples() {
  return fmt::format(
      R"(Examples:
  gauntlet show latest/crash-in-a-shard
  gauntlet show .gauntlet/runs/latest/crash-in-a-shard.sim --from 5 --to 12
  gauntlet show record.jsonl --all --worker 1 --from 120ms
  gauntlet show latest/crash-in-a-shard --trace timeline.json.gz

A row is one event, or several routine ones: steps, evaluations, epochs and
saves ("steps 3-7; saved 5"), with the time of the first. Workers with equal
events at the same time share a row. If like events of a worker repeat, they are
in the row of the first, with ranges of the numbers that differ: "incarnation
2..9 starts (8 times until 0.490s) <7". The arrows on the left lead from a fault
to its detection, the restart and the resume; "<12" after an event names the
row of its cause. Causes are inferred from the order of the events. For the
verdict of the checks, see gauntlet judge.
With --all, each event has a row.
--from and --to take a step, or a time since the first event. The step of an
event is the last one that its worker had reached. Consequences of a shown
event, such as the restart and the resume after a crash, are shown too.
On a terminal, a text of more than {} lines ends in "..."; with --all, and in a
file or a pipe, texts are complete. Without UTF-8, or if NO_COLOR is set, the
arrows are ASCII.
Exit code 2: there is no such record, or it is damaged; 4: no event in the
range.)",
      kMostLinesOnTerminal);
}

constexpr int kMostShownWorkers = 1'000'000;

Status ReadWorkers(const std::vector<std::string>& words,
                   std::vector<int>& workers) {
  for (const std::string& word : words) {
    if (word == EmitterName(kLauncherColumn)) {
      workers.push_back(kLauncherColumn);
      continue;
    }
    const Result<int> worker = ParseWhole<int>(word, 0, kMostShownWorkers);
    if (!worker.ok()) {
      return Annotate(ExpectedValue("a worker's number, or launcher", word),
                      "--worker");
    }
    workers.push_back(*worker);
  }
  return OkStatus();
}

FlagReader ReadBound(std::optional<TimelineBound>& target) {
  return [&target](const std::string& text) -> Status {
    const Result<uint64_t> step = ParseWhole<uint64_t>(text, 0, UINT64_MAX);
    if (step.ok()) {
      target = {.unit = TimelineBound::Unit::kStep, .value = *step};
      return OkStatus();
    }
    const std::optional<Duration> time = ParseDuration(text);
    if (!time || *time < Duration::zero()) {
      return ExpectedValue("a step such as 12 or a time such as 1.5s", text);
    }
    target = {.unit = TimelineBound::Unit::kNanoseconds,
              .value = static_cast<uint64_t>(time->count())};
    return OkStatus();
  };
}

// Returns "12" for a step, "1.5s" for a time.
std::string BoundText(const TimelineBound& bound) {
  return bound.unit == TimelineBound::Unit::kStep
             ? fmt::to_string(bound.value)
             : DurationToText(Duration(static_cast<int64_t>(bound.value)));
}

// Refuses a range that is empty.
Status CheckRange(const TimelineFilter& filter) {
  if (filter.from && filter.to && filter.from->unit == filter.to->unit &&
      filter.from->value > filter.to->value) {
    return InvalidArgument(
        fmt::format("--to: expected {} or later, as --from, found {}",
                    BoundText(*filter.from), BoundText(*filter.to)));
  }
  return OkStatus();
}

// Refuses options that have no effect on a trace.
Status CheckTraceOptions(const Flags& flags) {
  if (!flags.Given("--trace")) return OkStatus();
  for (const char* option : {"--all", "--worker", "--from", "--to"}) {
    if (!flags.Given(option)) continue;
    return InvalidArgument(fmt::format(
        "{} cannot be combined with --trace, which writes all events", option));
  }
  for (const char* option : {"--width", "--json"}) {
    if (!flags.Given(option)) continue;
    return InvalidArgument(
        fmt::format("{} cannot be combined with --trace, which writes a file "
                    "in place of the rows",
                    option));
  }
  return OkStatus();
}

}  // namespace

Result<Command> ParseShow(const VerbArguments& verb) {
  ShowCommand command;
  std::vector<std::string> words;
  std::vector<std::string> workers;
  Flags flags(
      {.command = "show",
       .summary = "Print the events of a case as a table: time, a column for "
                  "each worker, and what led to what.",
       .examples = ShowExamples()},
      verb);
  flags.Positionals(
      {"what", "WHAT",
       "RUN/CASE (RUN: latest, or the start of a run's name), the "
       "folder of a case, or a record.jsonl."},
      {.least = 1, .most = 1}, words);
  flags.Section("Selection");
  flags.Switch(
      {"--all", "",
       "Print one row for each event, routine ones included, and the whole "
       "of long texts."},
      [&command] { command.filter.routine = RoutineEvents::kListed; });
  flags.Values({"--worker", "N",
                "Only this worker, or launcher; may be repeated (all)."},
               workers);
  flags.Value({"--from", "WHEN", "First step (12) or time (1.5s)."},
              ReadBound(command.filter.from));
  flags.Value({"--to", "WHEN", "Last step or time, inclusive."},
              ReadBound(command.filter.to));
  flags.Value(
      {"--world", "NAME",
       "Show the record of this world, real or sim (sim if the case ran in "
       "both)."},
      ReadChoice<WorldChoice>(
          command.world,
          {{"real", WorldChoice::kReal}, {"sim", WorldChoice::kSimulated}}));
  AddRunsFlag(flags, command.runs_directory);
  flags.Section("Output");
  flags.Value({"--trace", "FILE",
               "Write a Chrome trace for ui.perfetto.dev instead of the table, "
               "compressed if the name ends in .gz."},
              ReadText(command.trace_file));
  flags.Value({"--width", "N", "Characters of a line (the terminal's)."},
              ReadWhole<std::optional<int>, int>(command.width, 40, 10'000));
  flags.Switch({"--json", "", "Print the rows as one JSON object."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (words.empty() || words.front().empty()) {
    return InvalidArgument(
        "WHAT: expected RUN/CASE, the folder of a case or a record.jsonl, "
        "found nothing");
  }
  command.target = words.front();
  RETURN_IF_ERROR(ReadWorkers(workers, command.filter.workers));
  RETURN_IF_ERROR(CheckRange(command.filter));
  RETURN_IF_ERROR(CheckTraceOptions(flags));
  return Command(std::move(command));
}

}  // namespace gauntlet
