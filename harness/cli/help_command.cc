#include "harness/cli/help_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "harness/cli/catalog.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/flags.h"
#include "harness/scenario/keys.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string PointsText() {
  return "Fault points: the named places in the engine where a fault can be "
         "put.\nA scenario says where in logical time: at: {worker: 1, "
         "incarnation: 1,\nstep: 40, point: NAME, occurrence: 3}: the third "
         "time that all the rest holds.\nAt the points of a save, save: 2 is "
         "the second that this incarnation begins. At the\npoints that end in "
         ".write an occurrence is one file: its first block, block: 2 (from "
         "0),\nor the write that reaches offset: 50% (or bytes); with block: "
         "any each block is one.\n\n" +
         RenderEntries(EntriesOf(Catalog::kPoints));
}

std::string FaultsText() {
  return "Faults: what a scenario can do (do: NAME). Those that real processes "
         "cannot\nsuffer say so; the simulated world has them all.\n\n" +
         RenderEntries(EntriesOf(Catalog::kFaults));
}

std::string InvariantsText() {
  return "Invariants: what the oracle checks of a run's record. A scenario "
         "names some of\nthem (expect: {invariants: […]}) or all. One that "
         "had nothing to check gives no\nverdict: it never passes. Where "
         "faults meet, one may take away another's effect or\nend its grace: "
         "by fault-fired run gives no verdict then, and calls grace broken;\n"
         "explore leaves both out of plans with two faults or more.\n\n" +
         RenderEntries(EntriesOf(Catalog::kInvariants));
}

// What may stand there, as far as it goes into a line.
std::string ValuesOf(const KeySpec& key) {
  if (!key.listed.empty()) return fmt::format(": {}", key.listed);
  const bool bounded = key.type == KeyType::kCount && key.high < KeySpec().high;
  return bounded ? fmt::format(", {} to {}", key.low, key.high) : "";
}

// From the table that the loader uses.
std::string ScenariosText() {
  std::string text =
      "Scenarios: YAML files, one claim each; a file may hold several, with "
      "--- "
      "between\nthem. Every key, with its default in parentheses:\n\n";
  for (const KeySpec& key : AllKeys()) {
    std::string doc(key.doc);
    doc += ValuesOf(key);
    if (!key.fallback.empty()) doc += fmt::format(" ({})", key.fallback);
    text += fmt::format("  {:<34} {}\n", key.path, doc);
  }
  return text +
         "\nmatrix: dotted paths of other keys, each with a list of values: "
         "{cluster.workers:\n[1, 2, 4]} gives three cases. A mutation test has "
         "planted_bugs: BUG\nand expect: {outcome: violates, invariants: "
         "[NAME]}. Examples: scenarios/smoke,\nscenarios/canary.\n";
}

std::string ExitCodesText() {
  std::string text = "Exit codes, of all commands:\n\n";
  for (const ExitCodeInfo& info : AllExitCodes()) {
    text +=
        fmt::format("  {:>3}  {}\n", static_cast<int>(info.code), info.meaning);
  }
  return text + "\nOf several, the first of 130, 2, 1, 3, 5, 6 counts.\n";
}

struct Topic {
  std::string_view name;
  std::string (*text)();
};

constexpr std::array kTopics = {
    Topic{"points", PointsText},         Topic{"faults", FaultsText},
    Topic{"invariants", InvariantsText}, Topic{"scenarios", ScenariosText},
    Topic{"exit-codes", ExitCodesText},
};

// What a command says to --help.
std::optional<std::string> CommandHelp(const std::string& topic) {
  const size_t space = topic.find(' ');
  const std::string name = topic.substr(0, space);
  const std::vector<std::string> names = CommandNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return std::nullopt;
  }
  std::vector<std::string> words = {name, "--help"};
  if (space != topic.npos) {
    // Only ckpt has subcommands.
    if (name != "ckpt") return std::nullopt;
    words.insert(words.begin() + 1, topic.substr(space + 1));
  }
  const Result<CommandLine> line = ParseCommandLine(words);
  if (!line.ok()) return std::nullopt;
  const PrintTextCommand* shown = std::get_if<PrintTextCommand>(&line->command);
  return shown == nullptr ? std::nullopt : std::optional(shown->text);
}

}  // namespace

int RunHelp(const HelpCommand& command, Console& console) {
  if (command.topic.empty()) {
    console.out << OverviewText();
    return static_cast<int>(ExitCode::kHeld);
  }
  std::vector<std::string> names = CommandNames();
  for (const Topic& topic : kTopics) {
    if (topic.name == command.topic) {
      console.out << topic.text();
      return static_cast<int>(ExitCode::kHeld);
    }
    names.emplace_back(topic.name);
  }
  if (const auto text = CommandHelp(command.topic)) {
    console.out << *text;
    return static_cast<int>(ExitCode::kHeld);
  }
  fmt::print(console.err, "gauntlet help: unknown topic {}{}\n",
             Quoted(command.topic), DidYouMean(command.topic, names));
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
