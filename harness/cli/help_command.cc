#include "harness/cli/help_command.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/check.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/flags/flags.h"
#include "harness/cli/command_line.h"
#include "harness/cli/help/help_topics.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the help text of a command ("train"), of a subcommand ("ckpt ls"), or
// of one group of a command's options. Returns nullopt if the topic does not
// begin with a command. Errors: the command has no such subcommand or group.
Result<std::optional<std::string>> CommandHelp(const std::string& topic) {
  const size_t space = topic.find(' ');
  const std::string name = topic.substr(0, space);
  const std::vector<std::string> names = CommandNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return std::optional<std::string>();
  }
  std::vector<std::string> words = {name, "--help"};
  if (space != topic.npos) {
    const std::string part = topic.substr(space + 1);
    // Only ckpt has subcommands; the others have groups of options.
    if (name == "ckpt") {
      words.insert(words.begin() + 1, part);
    } else {
      words.back() += "=" + part;
    }
  }
  ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(words));
  const PrintTextCommand* shown = std::get_if<PrintTextCommand>(&line.command);
  CHECK(shown != nullptr, "--help gives a text");
  return std::optional(shown->text);
}

// Returns the error line for an unknown topic, with the nearest names.
std::string UnknownTopic(const std::string& topic) {
  std::vector<std::string> names = HelpTopics();
  std::ranges::move(CommandNames(), std::back_inserter(names));
  std::string nearest = DidYouMean(topic, names);
  if (nearest.empty()) nearest = DidYouMean(topic, DescribedNames());
  if (nearest.empty()) nearest = DidYouMeanNameWith(topic, names);
  return fmt::format(
      "gauntlet help: unknown topic {}{}\n", Quoted(topic),
      nearest.empty() ? "; gauntlet help lists topics and commands" : nearest);
}

}  // namespace

int RunHelp(const HelpCommand& command, Console& console) {
  if (command.topic.empty()) {
    console.out << OverviewText();
    return static_cast<int>(ExitCode::kOk);
  }
  std::optional<std::string> text = HelpOnTopic(command.topic);
  if (!text) {
    Result<std::optional<std::string>> help = CommandHelp(command.topic);
    if (!help.ok()) {
      fmt::print(console.err, "gauntlet help: {}\n", help.status().message());
      return static_cast<int>(ExitCode::kUsage);
    }
    text = *std::move(help);
  }
  if (!text) text = HelpOnName(command.topic);
  if (!text) {
    console.err << UnknownTopic(command.topic);
    return static_cast<int>(ExitCode::kUsage);
  }
  console.out << *text;
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
