#include "harness/cli/command_line.h"

#include <array>
#include <utility>
#include <variant>

#include "engine/app/parsers.h"
#include "engine/cli/flags/flags.h"
#include "engine/numerics.h"
#include "engine/real/storage/posix_storage.h"
#include "harness/cli/flags/verbs.h"
#include "harness/cli/help/help_topics.h"
#include "harness/cli/program/build_id.h"
#include "harness/scenario/reader/job_file.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

enum class VerbGroup : uint8_t { kRunAndSearch, kTrain, kSetUp, kHidden };

struct Verb {
  std::string_view name;
  std::string_view summary;
  VerbGroup group;
  Result<Command> (*parse)(const VerbArguments&);
};

// Converts a parsed command of the training program into a Command.
Result<Command> FromApp(Result<AppCommand> parsed) {
  ASSIGN_OR_RETURN(AppCommand command, std::move(parsed));
  return std::visit([](auto& one) { return Command(std::move(one)); }, command);
}

template <Result<AppCommand> (*parse)(const VerbArguments&)>
Result<Command> ParseApp(const VerbArguments& verb) {
  return FromApp(parse(verb));
}

// Parses `train`. Its --job file has the same keys as a scenario.
Result<AppCommand> ParseTrainCommand(const VerbArguments& verb) {
  return ParseTrain(
      verb, [](const std::string& path, const JobFileOverrides& overrides) {
        PosixStorage storage;
        return ReadJobFile(storage, path, overrides);
      });
}

using enum VerbGroup;

// All commands. Within a group, they have the order of the overview.
constexpr std::array kVerbs = {
    Verb{"run", "Run scenarios and judge the results.", kRunAndSearch,
         ParseRun},
    Verb{"explore", "Search for faults that break recovery.", kRunAndSearch,
         ParseExplore},
    Verb{"crash-test", "Crash any training program; check that it comes back.",
         kRunAndSearch, ParseCrashTest},
    Verb{"replay", "Rerun a case: reproduced, or the first divergence.",
         kRunAndSearch, ParseReplay},
    Verb{"judge", "Judge stored records again.", kRunAndSearch, ParseJudge},
    Verb{"show", "Print the events of a case as a table.", kRunAndSearch,
         ParseShow},
    Verb{"report", "Render, list, merge or compare results of runs.",
         kRunAndSearch, ParseReport},
    Verb{"bench", "Measure what checkpoints cost.", kRunAndSearch, ParseBench},
    Verb{"validate", "Check scenario files.", kRunAndSearch, ParseValidate},
    Verb{"list", "List presets, points, faults, invariants, bugs or scenarios.",
         kRunAndSearch, ParseList},
    Verb{"train", "Train a model, with checkpoints and restarts.", kTrain,
         ParseApp<ParseTrainCommand>},
    Verb{"evaluate", "Evaluate the checkpoints of a run as they appear.",
         kTrain, ParseApp<ParseEvaluate>},
    Verb{"ckpt", "Inspect checkpoints: ls, verify, diff, export, predict.",
         kTrain, ParseApp<ParseCheckpoint>},
    Verb{"launch", "Train from a file of options, as harnesses do.", kTrain,
         ParseApp<ParseLaunch>},
    Verb{"doctor", "Check this machine and print what it lacks.", kSetUp,
         ParseDoctor},
    Verb{"upgrade", "Print a scenario file of gauntlet/v1 as gauntlet/v2.",
         kSetUp, ParseUpgrade},
    Verb{"help", "Print help on a command or a topic.", kSetUp, ParseHelp},
    Verb{"worker", "Run one worker of a cluster.", kHidden,
         ParseApp<ParseWorker>},
};

struct VerbGroupInfo {
  VerbGroup group;
  std::string_view title;
};

constexpr std::array kVerbGroups = {
    VerbGroupInfo{kRunAndSearch, "Run and search"},
    VerbGroupInfo{kTrain, "Train"},
    VerbGroupInfo{kSetUp, "Set up"},
};

// Other tools' names for our commands.
struct VerbSynonym {
  std::string_view name;
  std::string_view meant;
};

constexpr std::array kVerbSynonyms = {
    VerbSynonym{"test", "run"},
    VerbSynonym{"fuzz", "explore"},
    VerbSynonym{"search", "explore"},
    VerbSynonym{"rerun", "replay"},
    VerbSynonym{"repro", "replay"},
    VerbSynonym{"timeline", "show"},
    VerbSynonym{"trace", "show"},
    VerbSynonym{"results", "report"},
    VerbSynonym{"merge", "report --merge"},
    VerbSynonym{"compare", "report --compare"},
    VerbSynonym{"benchmark", "bench"},
    VerbSynonym{"check", "validate"},
    VerbSynonym{"lint", "validate"},
    VerbSynonym{"resume", "train"},
    VerbSynonym{"fit", "train"},
    VerbSynonym{"eval", "evaluate"},
    VerbSynonym{"checkpoint", "ckpt"},
    VerbSynonym{"checkpoints", "ckpt"},
    VerbSynonym{"migrate", "upgrade"},
    VerbSynonym{"points", "help points"},
    VerbSynonym{"faults", "help faults"},
    VerbSynonym{"presets", "list presets"},
};

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

// Returns "; did you mean run?", or the list of all commands.
std::string HintOnCommand(const std::string& word) {
  for (const VerbSynonym& synonym : kVerbSynonyms) {
    if (synonym.name != word) continue;
    return fmt::format("; did you mean gauntlet {}?", synonym.meant);
  }
  if (word.ends_with(".yaml")) {
    return fmt::format("; did you mean gauntlet run {}?", word);
  }
  const std::string nearest = DidYouMean(word, CommandNames());
  return nearest.empty()
             ? fmt::format("; commands: {}", fmt::join(CommandNames(), ", "))
             : nearest;
}

Status UnknownWord(const std::string& word) {
  if (!word.starts_with('-')) {
    return InvalidArgument(
        fmt::format("unknown command {}{}", Quoted(word), HintOnCommand(word)));
  }
  return InvalidArgument(
      fmt::format("unknown option {}{}", Quoted(word),
                  DidYouMean(word, {"--help", "--version", "--color"})));
}

// Stores the value of --color in `color` if the option comes before the
// command. Returns the remaining arguments.
Result<std::span<const std::string>> TakeColor(
    std::span<const std::string> arguments, ColorChoice& color) {
  constexpr std::string_view kName = "--color";
  while (!arguments.empty() && arguments.front().starts_with(kName)) {
    const std::string& first = arguments.front();
    const bool joined = first.starts_with("--color=");
    if (!joined && first != kName) break;
    if (!joined && arguments.size() < 2) {
      return InvalidArgument("--color: expected a value after it");
    }
    const std::string value =
        joined ? first.substr(kName.size() + 1) : arguments[1];
    const std::optional<ColorChoice> choice = FindColorChoice(value);
    if (!choice) {
      return Annotate(ExpectedValue("one of auto, always, never", value),
                      kName);
    }
    color = *choice;
    arguments = arguments.subspan(joined ? 1 : 2);
  }
  return arguments;
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments,
                                     std::string_view commit) {
  CommandLine line;
  ASSIGN_OR_RETURN(arguments, TakeColor(arguments, line.color));
  if (arguments.empty()) {
    line.command = PrintTextCommand{OverviewText()};
    return line;
  }
  const std::string& word = arguments.front();
  const bool is_version =
      word == "--version" || word == "-V" || word == "version";
  const bool is_help = word == "--help" || word == "-h";
  if ((is_version || is_help) && arguments.size() > 1) {
    return InvalidArgument(fmt::format(
        "{}: expected nothing after it, found {}", word, Quoted(arguments[1])));
  }
  if (is_version) {
    line.command = PrintTextCommand{VersionText(commit)};
    return line;
  }
  if (is_help) {
    line.command = PrintTextCommand{OverviewText()};
    return line;
  }
  const Verb* verb = FindVerb(word);
  if (verb == nullptr) return UnknownWord(word);
  Result<Command> command =
      verb->parse({arguments.subspan(1), line.color, line.notes});
  if (!command.ok()) {
    // The message of a subcommand already begins with the command's name.
    const bool has_verb =
        command.status().message().starts_with(fmt::format("{} ", verb->name));
    return has_verb ? command.status() : Annotate(command.status(), verb->name);
  }
  line.command = *std::move(command);
  return line;
}

std::string ErrorLine(const Status& status) {
  const std::string& message = status.message();
  for (const Verb& verb : kVerbs) {
    const std::string_view next =
        message.starts_with(verb.name)
            ? std::string_view(message).substr(verb.name.size(), 1)
            : "";
    if (next == ":" || next == " ") return "gauntlet " + message;
  }
  return "gauntlet: " + message;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) {
    if (verb.group != kHidden) names.emplace_back(verb.name);
  }
  return names;
}

std::string OverviewText() {
  std::string text =
      "Break a training run on purpose and prove that it comes back bit for "
      "bit.\n\nStart: gauntlet run --demo\n";
  for (const auto& [group, title] : kVerbGroups) {
    text += fmt::format("\n{}:\n", title);
    for (const Verb& verb : kVerbs) {
      if (verb.group != group) continue;
      text += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
    }
  }
  return text + fmt::format(
                    "\nMore: gauntlet COMMAND --help; gauntlet --version; "
                    "--color auto|always|never\nTopics of gauntlet help: {}\n",
                    fmt::join(HelpTopics(), ", "));
}

std::string VersionText(std::string_view commit) {
  return fmt::format("gauntlet {} ({}{}build {}; numerics contract {})\n",
                     GAUNTLET_VERSION, commit, commit.empty() ? "" : "; ",
                     BuildId(), numerics::kVersion);
}

}  // namespace gauntlet
