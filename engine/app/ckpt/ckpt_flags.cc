// The options of `gauntlet ckpt` and its subcommands.
#include <array>

#include "engine/app/parsers.h"
#include "engine/cli/flags/flags.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

struct PathFlags {
  std::vector<std::string> paths;
  DataPaths data;
  OutputFormat output = OutputFormat::kText;
};

AppCommand MakeList(const PathFlags& values) {
  return CheckpointListCommand{.directory = values.paths[0],
                               .output = values.output};
}
AppCommand MakeVerify(const PathFlags& values) {
  return CheckpointVerifyCommand{.path = values.paths[0],
                                 .output = values.output};
}
AppCommand MakeDiff(const PathFlags& values) {
  return CheckpointDiffCommand{.left = values.paths[0],
                               .right = values.paths[1],
                               .output = values.output};
}

AppCommand MakeExport(const PathFlags& values) {
  return CheckpointExportCommand{.path = values.paths[0],
                                 .directory = values.paths[1],
                                 .data = values.data};
}
AppCommand MakePredict(const PathFlags& values) {
  return CheckpointPredictCommand{
      .path = values.paths[0], .data = values.data, .output = values.output};
}

// Options that a subcommand has in addition to its paths.
enum class Takes : uint8_t { kJson, kData, kJsonAndData };

struct Subcommand {
  std::string name;
  std::string summary;
  std::vector<std::string> paths;  // names of the arguments
  std::string about;               // describes the arguments
  std::string example;
  Takes takes = Takes::kJson;
  AppCommand (*make)(const PathFlags&);
  std::string_view note = "";  // text at the end of the help page
};

// Explains the states that ls and verify print.
constexpr std::string_view kStatesNote =
    "Each checkpoint is current (a run may load it), fenced (a newer start\n"
    "resumed from another checkpoint, so no run loads it) or rejected (it was\n"
    "damaged, and a run set it aside). ls checks the sizes of files; verify\n"
    "checks their bytes too.";

std::vector<Subcommand> AllSubcommands() {
  return {
      {"ls",
       "List the checkpoints of a directory, and the one that a run would "
       "resume from. Exit code 2: a run would be refused; 7: no checkpoint can "
       "be loaded.",
       {"DIR"},
       "Checkpoint directory.",
       "ls ckpt",
       Takes::kJson,
       MakeList,
       kStatesNote},
      {"verify",
       "Read every byte of a checkpoint directory, or of one checkpoint. Exit "
       "code 1: a checkpoint is damaged or missing, and another can be loaded; "
       "2: a run would be refused; 7: no checkpoint can be loaded.",
       {"PATH"},
       "Checkpoint directory, or one checkpoint in it.",
       "verify ckpt",
       Takes::kJson,
       MakeVerify,
       kStatesNote},
      {"diff",
       "Compare two checkpoints: the first tensor, element and bit that "
       "differ. Exit code 1: they differ; 7: one of them is damaged.",
       {"A", "B"},
       "Two checkpoints.",
       "diff ckpt/step-000000400-g1 ckpt/step-000000800-g1",
       Takes::kJson,
       MakeDiff},
      {"export",
       "Write the model of a checkpoint as safetensors and JSON.",
       {"CKPT", "DIR"},
       "Checkpoint, or a directory of them, and the folder to write.",
       "export ckpt model",
       Takes::kData,
       MakeExport},
      {"predict",
       "Print the class that the model of a checkpoint gives each validation "
       "sample.",
       {"CKPT"},
       "Checkpoint, or a directory of them.",
       "predict ckpt",
       Takes::kJsonAndData,
       MakePredict}};
}

std::string OverviewOfSubcommands() {
  HelpGroup group = {
      .title = "Subcommands", .page = GroupPage::kFirst, .entries = {}};
  for (const Subcommand& one : AllSubcommands()) {
    group.entries.push_back(
        {fmt::format("{} {}", one.name, fmt::join(one.paths, " ")),
         one.summary});
  }
  return RenderHelpPage(
      {.command = "ckpt",
       .summary = "Inspect checkpoints and use their models. Nothing in a "
                  "checkpoint directory is changed.",
       .usage = "SUBCOMMAND [OPTIONS]",
       .groups = {std::move(group)},
       .examples = "Examples:\n  gauntlet ckpt ls ckpt\n"
                   "  gauntlet ckpt verify ckpt --json"});
}

Result<AppCommand> ParseSubcommand(const Subcommand& subcommand,
                                   const VerbArguments& verb) {
  PathFlags values;
  Flags flags({.command = "ckpt " + subcommand.name,
               .summary = subcommand.summary,
               .examples = fmt::format(
                   "Example:\n  gauntlet ckpt {}{}{}", subcommand.example,
                   subcommand.note.empty() ? "" : "\n\n", subcommand.note)},
              verb);
  const size_t wanted = subcommand.paths.size();
  flags.Positionals(
      {"paths", fmt::format("{}", fmt::join(subcommand.paths, " ")),
       subcommand.about},
      {.least = wanted, .most = wanted}, values.paths);
  if (subcommand.takes != Takes::kData) {
    flags.Switch({"--json", "", "Print JSON."},
                 [&values] { values.output = OutputFormat::kJson; });
  }
  if (subcommand.takes != Takes::kJson) {
    flags.Value(
        {"--data", "DIR", "Folder of the data files, if they were moved."},
        ReadText(values.data.directory));
    flags.Value({"--validation", "DIR",
                 "Folder of the validation files, if they were moved."},
                ReadText(values.data.validation_directory));
  }
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return AppCommand(PrintTextCommand{flags.Help()});
  if (values.paths.size() < wanted) {
    return InvalidArgument(fmt::format("expected {}: gauntlet ckpt {} {}",
                                       fmt::join(subcommand.paths, " and "),
                                       subcommand.name,
                                       fmt::join(subcommand.paths, " ")));
  }
  for (size_t i = 0; i < wanted; ++i) {
    RETURN_IF_ERROR(Annotate(CheckText(values.paths[i]), subcommand.paths[i]));
  }
  return subcommand.make(values);
}

}  // namespace

Result<AppCommand> ParseCheckpoint(const VerbArguments& verb) {
  if (verb.arguments.empty()) {
    return InvalidArgument(
        "expected a subcommand: ls, verify, diff, export or predict");
  }
  const std::string& name = verb.arguments.front();
  if (name == "--help" || name == "-h")
    return AppCommand(PrintTextCommand{OverviewOfSubcommands()});
  std::vector<std::string> names;
  for (const Subcommand& subcommand : AllSubcommands()) {
    names.push_back(subcommand.name);
    if (subcommand.name != name) continue;
    Result<AppCommand> command = ParseSubcommand(
        subcommand, {verb.arguments.subspan(1), verb.color, verb.notes});
    if (!command.ok()) return Annotate(command.status(), "ckpt " + name);
    return command;
  }
  const Status status =
      ExpectedValue("ls, verify, diff, export or predict", name);
  return InvalidArgument(status.message() + DidYouMean(name, names));
}

}  // namespace gauntlet
