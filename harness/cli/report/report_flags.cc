// The options of `gauntlet report`.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/cli/output_file.h"
#include "harness/cli/flags/runs_flag.h"
#include "harness/cli/flags/verbs.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReportExamples =
    R"(Examples:
  gauntlet report
  gauntlet report latest --html report.html --junit junit.xml
  gauntlet report 20261121T1043 --github
  gauntlet report --list
  gauntlet report --merge shard-1 shard-2 --out merged --github
  gauntlet report --compare 20261120T0900 latest

RUN may be a copied folder; its records are read from there. --merge joins the
results of shards of one build and one --seed, and copies their records: --out
becomes the folder of a run. --compare prints the changes from the first RUN to
the second. A case is slower if it takes over 20 % and over 0.1 s longer. A
flaky case counts as failed, or as passed in a run with --flaky pass.
Exit code: that of the verdicts, as of gauntlet run without --strict (0 passed,
1 failed, 3 inconclusive or not run, 4 no case). --compare: 1 if a case fails
that did not fail before, or was not run; else 0. --list: 0. All: 2 if a result
cannot be read.)";

void AddTasks(Flags& flags, ReportCommand& command) {
  flags.Section("Task");
  flags.Switch({"--list", "", "List all runs in --runs, the newest first."},
               [&command] { command.task = ReportTask::kList; });
  flags.Switch(
      {"--merge", "", "Merge the results and records of all RUNs into --out."},
      [&command] { command.task = ReportTask::kMerge; });
  flags.Switch({"--compare", "",
                "Compare two RUNs: newly failing, passing, not run, slower."},
               [&command] { command.task = ReportTask::kCompare; });
  flags.Value({"--out", "DIR", "New or empty folder for --merge."},
              ReadText(command.out_directory));
  AddRunsFlag(flags, command.runs_directory);
}

void AddOutputs(Flags& flags, ReportCommand& command) {
  flags.Section("Output");
  flags.Value({"--html", "FILE", "Write the report as one HTML page."},
              ReadText(command.html_file));
  flags.Value({"--junit", "FILE", "Write the verdicts as JUnit XML."},
              ReadText(command.junit_file));
  flags.Value({"--summary", "FILE", "Write a summary as Markdown."},
              ReadText(command.summary_file));
  flags.Switch({"--github", "",
                "Append the summary to $GITHUB_STEP_SUMMARY and print failures "
                "as annotations, for GitHub Actions."},
               [&command] { command.github = true; });
  flags.Switch({"--json", "", "Print the result, list or comparison as JSON."},
               [&command] { command.output = OutputFormat::kJson; });
}

// kInvalidArgument: the number of RUNs does not fit the task.
Status CheckRuns(ReportCommand& command) {
  for (const std::string& run : command.runs) {
    // Refuses "": it is probably an unset shell variable, and must not select a
    // default.
    if (run.empty()) return ExpectedValue("RUN: a run or its folder", run);
  }
  const size_t count = command.runs.size();
  switch (command.task) {
    case ReportTask::kRender:
      if (count == 0) command.runs = {"latest"};
      if (count <= 1) return OkStatus();
      return InvalidArgument(
          fmt::format("expected one RUN, found {}; --merge and --compare take "
                      "several",
                      count));
    case ReportTask::kList:
      if (count == 0) return OkStatus();
      return InvalidArgument("--list: unexpected argument " +
                             Quoted(command.runs.front()));
    case ReportTask::kMerge:
      if (count > 0) return OkStatus();
      return InvalidArgument("--merge: expected the folders of runs");
    case ReportTask::kCompare:
      if (count == 2) return OkStatus();
      return InvalidArgument(
          fmt::format("--compare: expected two RUNs, found {}", count));
  }
  return OkStatus();
}

// kInvalidArgument: an option has no effect on this task.
Status CheckOptions(const Flags& flags, const ReportCommand& command) {
  const int tasks = static_cast<int>(flags.Given("--list")) +
                    static_cast<int>(flags.Given("--merge")) +
                    static_cast<int>(flags.Given("--compare"));
  if (tasks > 1) {
    return InvalidArgument("expected one of --list, --merge and --compare");
  }
  const bool is_merge = command.task == ReportTask::kMerge;
  if (is_merge != !command.out_directory.empty()) {
    return InvalidArgument(is_merge ? "--merge requires --out DIR"
                                    : "--out is for --merge");
  }
  for (const char* output : {"--html", "--junit", "--summary", "--github"}) {
    if (tasks == 0 || is_merge || !flags.Given(output)) continue;
    return InvalidArgument(
        fmt::format("{} cannot be combined with --list or --compare", output));
  }
  const std::pair<std::string_view, const std::string*> files[] = {
      {"--html", &command.html_file},
      {"--junit", &command.junit_file},
      {"--summary", &command.summary_file}};
  for (const auto& [option, file] : files) {
    RETURN_IF_ERROR(Annotate(CheckFileName(*file), option));
  }
  if (command.github && command.output == OutputFormat::kJson) {
    return InvalidArgument(
        "--github cannot be combined with --json: both print to standard "
        "output");
  }
  return OkStatus();
}

}  // namespace

Result<Command> ParseReport(const VerbArguments& verb) {
  ReportCommand command;
  Flags flags({.command = "report",
               .summary = "Render, list, merge or compare results of runs. "
                          "Nothing is run.",
               .examples = std::string(kReportExamples)},
              verb);
  flags.Positionals({"run", "RUN",
                     "latest, the start of a run's name, the folder of a run, "
                     "or a result.json (latest)."},
                    {.most = 100'000}, command.runs);
  AddTasks(flags, command);
  AddOutputs(flags, command);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  RETURN_IF_ERROR(CheckOptions(flags, command));
  RETURN_IF_ERROR(CheckRuns(command));
  return Command(std::move(command));
}

}  // namespace gauntlet
