#include "harness/cli/command_line.h"

#include <array>

#include "engine/numerics.h"
#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

enum class Shown : uint8_t { kInOverview, kHidden };

struct Verb {
  std::string_view name;
  std::string_view summary;
  Shown shown;
  Result<Command> (*parse)(const VerbArguments&);
};

constexpr std::array kVerbs = {
    Verb{"train", "train a model, with checkpoints and restarts",
         Shown::kInOverview, ParseTrain},
    Verb{"run", "run scenarios and judge what came of them", Shown::kInOverview,
         ParseRun},
    Verb{"explore", "search for faults that break recovery", Shown::kInOverview,
         ParseExplore},
    Verb{"replay", "repeat a case, and say where it goes another way",
         Shown::kInOverview, ParseReplay},
    Verb{"ckpt", "look at checkpoints: ls, verify, diff, export, predict",
         Shown::kInOverview, ParseCheckpoint},
    Verb{"evaluate", "evaluate the checkpoints of a run as they appear",
         Shown::kInOverview, ParseEvaluate},
    Verb{"list", "presets, points, faults, invariants, scenarios",
         Shown::kInOverview, ParseList},
    Verb{"doctor", "what this machine has, and what that costs",
         Shown::kInOverview, ParseDoctor},
    Verb{"judge", "judge the stored record of a case again", Shown::kInOverview,
         ParseJudge},
    Verb{"show", "print the events of a case as a table, and what led to what",
         Shown::kInOverview, ParseShow},
    Verb{"validate", "read scenario files and say what is wrong with them",
         Shown::kInOverview, ParseValidate},
    Verb{"upgrade", "print a scenario file of gauntlet/v1 as gauntlet/v2",
         Shown::kInOverview, ParseUpgrade},
    Verb{"help",
         "on a command, or: scenarios, points, faults, invariants, exit-codes",
         Shown::kInOverview, ParseHelp},
    Verb{"launch", "train by a file of options", Shown::kHidden, ParseLaunch},
    Verb{"worker", "one worker of a cluster", Shown::kHidden, ParseWorker},
};

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

Status UnknownWord(const std::string& word) {
  const bool option = word.starts_with('-');
  const std::vector<std::string> known =
      option ? std::vector<std::string>{"--help", "--version", "--color"}
             : CommandNames();
  return InvalidArgument(fmt::format("unknown {} {}{}",
                                     option ? "option" : "command",
                                     Quoted(word), DidYouMean(word, known)));
}

// Takes --color from the front, where it may stand before the command;
// returns what is left.
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

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments) {
  CommandLine line;
  ASSIGN_OR_RETURN(arguments, TakeColor(arguments, line.color));
  if (arguments.empty()) {
    line.command = PrintTextCommand{OverviewText()};
    return line;
  }
  const std::string& word = arguments.front();
  if (word == "--version") {
    line.command = PrintTextCommand{VersionText()};
    return line;
  }
  if (word == "--help" || word == "-h") {
    line.command = PrintTextCommand{OverviewText()};
    return line;
  }
  const Verb* verb = FindVerb(word);
  if (verb == nullptr) return UnknownWord(word);
  Result<Command> command =
      verb->parse({arguments.subspan(1), line.color, line.notes});
  if (!command.ok()) {
    // A subcommand has said so much.
    const bool said =
        command.status().message().starts_with(fmt::format("{} ", verb->name));
    return said ? command.status() : Annotate(command.status(), verb->name);
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
    if (verb.shown == Shown::kInOverview) names.emplace_back(verb.name);
  }
  return names;
}

std::string OverviewText() {
  std::string text =
      "Break a training run on purpose and prove that it comes back bit for "
      "bit.\n\n";
  for (const Verb& verb : kVerbs) {
    if (verb.shown == Shown::kHidden) continue;
    text += fmt::format("  {:<8} {}\n", verb.name, verb.summary);
  }
  text += R"(
Examples:
  gauntlet run --demo
  gauntlet train --epochs 4 --workers 2 --ckpt ckpt --save-every 50
  gauntlet ckpt verify ckpt

gauntlet COMMAND --help says more. Also: --version, --color WHEN.
)";
  return text;
}

std::string VersionText() {
  return fmt::format("gauntlet {} (numerics contract {})\n", GAUNTLET_VERSION,
                     numerics::kVersion);
}

}  // namespace gauntlet
