#include "harness/trainer/run/trainer_command.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "engine/real/process/worker_environment.h"
#include "harness/run/files/shell_word.h"
#include "harness/trainer/python/python_command.h"

namespace gauntlet {
Status CheckTrainerCommand(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().empty()) {
    return InvalidArgument(
        "expected a command after --, such as: -- python train.py --output-dir "
        "{out}");
  }
  const bool has_out =
      std::ranges::any_of(arguments, [](const std::string& argument) {
        return argument.find(kOutPlace) != std::string::npos;
      });
  if (has_out) return OkStatus();
  return InvalidArgument(
      "expected {out} in the command, where it takes the directory that it "
      "writes to: found none in: " +
      ShellCommand(arguments));
}

void ReplaceAll(std::string& text, std::string_view what,
                std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string FillPlaces(std::string text, const CommandPlaces& places) {
  ReplaceAll(text, kOutPlace, places.out);
  ReplaceAll(text, kPortPlace, places.port);
  return text;
}

std::vector<std::string> FillPlaces(const std::vector<std::string>& arguments,
                                    const CommandPlaces& places) {
  std::vector<std::string> filled;
  for (const std::string& argument : arguments)
    filled.push_back(FillPlaces(argument, places));
  return filled;
}

std::vector<std::string> ArgumentsOfShellCommand(const std::string& command) {
  // Characters without a meaning for a shell; braces are those of placeholders.
  constexpr std::string_view kPlain = "-_./=:,@%+{} ";
  const bool is_plain = std::ranges::all_of(command, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || kPlain.find(c) != kPlain.npos;
  });
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(word);
  if (is_plain && ParsePythonCommand(words).ok()) return words;
  return {"/bin/sh", "-c", command};
}

std::string ShellCommand(const std::vector<std::string>& arguments) {
  std::string command;
  for (const std::string& argument : arguments) {
    if (!command.empty()) command += ' ';
    command += ShellWord(argument);
  }
  return command;
}

std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& changes) {
  std::set<std::string_view> changed;
  for (const std::string& entry : changes) changed.insert(VariableName(entry));
  std::vector<std::string> environment = ProcessEnvironment();
  std::erase_if(environment, [&](const std::string& entry) {
    return changed.contains(VariableName(entry));
  });
  environment.insert(environment.end(), changes.begin(), changes.end());
  return environment;
}

}  // namespace gauntlet
