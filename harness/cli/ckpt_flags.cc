// The options of `gauntlet ckpt` and its subcommands.
#include <array>

#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kHelp =
    R"(Look at checkpoints and use their models, without changing anything.
Usage: gauntlet ckpt SUBCOMMAND [OPTIONS]

  ls DIR         what a store holds, and which checkpoint a run goes on from
  verify PATH    read every byte of a store or of one checkpoint
                 (both exit with 2 where a run would be refused, and with 7
                 where no checkpoint can be loaded)
  diff A B       the first tensor, element and bit in which two checkpoints differ
  export CKPT DIR  the model as safetensors with a description in JSON
  predict CKPT   the class that the model gives each validation row
)";

struct PathFlags {
  std::vector<std::string> paths;
  DataPlace data;
  OutputFormat output = OutputFormat::kText;
};

Command MakeList(const PathFlags& told) {
  return CheckpointListCommand{.directory = told.paths[0],
                               .output = told.output};
}
Command MakeVerify(const PathFlags& told) {
  return CheckpointVerifyCommand{.path = told.paths[0], .output = told.output};
}
Command MakeDiff(const PathFlags& told) {
  return CheckpointDiffCommand{
      .left = told.paths[0], .right = told.paths[1], .output = told.output};
}

Command MakeExport(const PathFlags& told) {
  return CheckpointExportCommand{
      .path = told.paths[0], .directory = told.paths[1], .data = told.data};
}
Command MakePredict(const PathFlags& told) {
  return CheckpointPredictCommand{
      .path = told.paths[0], .data = told.data, .output = told.output};
}

// What a subcommand takes beside its paths.
enum class Takes : uint8_t { kJson, kData, kJsonAndData };

struct Subcommand {
  std::string name;
  std::string summary;
  std::vector<std::string> paths;  // what its arguments are called
  Takes takes = Takes::kJson;
  Command (*make)(const PathFlags&);
};

std::vector<Subcommand> AllSubcommands() {
  return {
      {"ls",
       "List what a checkpoint store holds.",
       {"DIR"},
       Takes::kJson,
       MakeList},
      {"verify",
       "Read and check every byte.",
       {"PATH"},
       Takes::kJson,
       MakeVerify},
      {"diff", "Compare two checkpoints.", {"A", "B"}, Takes::kJson, MakeDiff},
      {"export",
       "Write a checkpoint's model as safetensors and JSON.",
       {"CKPT", "DIR"},
       Takes::kData,
       MakeExport},
      {"predict",
       "Print the class that a checkpoint's model gives each validation "
       "row.",
       {"CKPT"},
       Takes::kJsonAndData,
       MakePredict}};
}

Result<Command> ParseSubcommand(const Subcommand& subcommand,
                                const VerbArguments& verb) {
  PathFlags told;
  Flags flags({.command = "ckpt " + subcommand.name,
               .summary = subcommand.summary,
               .examples = ""},
              verb);
  const size_t wanted = subcommand.paths.size();
  flags.Positionals(
      {"paths", fmt::format("{}", fmt::join(subcommand.paths, " ")),
       "what to look at"},
      {.least = wanted, .most = wanted}, told.paths);
  if (subcommand.takes != Takes::kData) {
    flags.Switch({"--json", "", "as JSON"},
                 [&told] { told.output = OutputFormat::kJson; });
  }
  if (subcommand.takes != Takes::kJson) {
    flags.Value({"--data", "DIR", "where the job's files lie now"},
                ReadText(told.data.directory));
    flags.Value(
        {"--validation", "DIR", "where its validation files lie now, if apart"},
        ReadText(told.data.validation_directory));
  }
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (told.paths.size() < wanted) {
    return InvalidArgument(fmt::format("expected {}: gauntlet ckpt {} {}",
                                       fmt::join(subcommand.paths, " and "),
                                       subcommand.name,
                                       fmt::join(subcommand.paths, " ")));
  }
  for (size_t i = 0; i < wanted; ++i) {
    RETURN_IF_ERROR(Annotate(CheckText(told.paths[i]), subcommand.paths[i]));
  }
  return subcommand.make(told);
}

}  // namespace

Result<Command> ParseCheckpoint(const VerbArguments& verb) {
  if (verb.arguments.empty()) {
    return InvalidArgument(
        "expected a subcommand: ls, verify, diff, export or predict");
  }
  const std::string& name = verb.arguments.front();
  if (name == "--help" || name == "-h")
    return Command(PrintTextCommand{std::string(kHelp)});
  std::vector<std::string> names;
  for (const Subcommand& subcommand : AllSubcommands()) {
    names.push_back(subcommand.name);
    if (subcommand.name != name) continue;
    Result<Command> command = ParseSubcommand(
        subcommand, {verb.arguments.subspan(1), verb.color, verb.notes});
    if (!command.ok()) return Annotate(command.status(), "ckpt " + name);
    return command;
  }
  const Status status =
      ExpectedValue("ls, verify, diff, export or predict", name);
  return InvalidArgument(status.message() + DidYouMean(name, names));
}

}  // namespace gauntlet
