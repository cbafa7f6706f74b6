#include "harness/trainer/python/python_command.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kPlainFlags = "bBdEIOPqRsSuv";
constexpr std::string_view kFlagsWithValue = "WX";

bool IsPython(std::string_view program) {
  constexpr std::string_view kName = "python";
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name.starts_with(kName) &&
         std::ranges::all_of(name.substr(kName.size()), [](char c) {
           return (c >= '0' && c <= '9') || c == '.';
         });
}

Status UnsupportedFlag(std::string_view flag) {
  return FailedPrecondition(fmt::format("Python's {} is not supported", flag));
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments)
      : arguments_(arguments) {}

  Result<PythonCommand> Parse() {
    if (arguments_.empty() || !IsPython(arguments_.front()))
      return FailedPrecondition("not a Python command");
    command_.interpreter = arguments_.front();
    while (command_.kind.empty()) {
      if (next_ == arguments_.size())
        return FailedPrecondition("Python has no program to run");
      RETURN_IF_ERROR(Take(arguments_[next_++]));
    }
    command_.arguments.assign(
        arguments_.begin() + static_cast<ptrdiff_t>(next_), arguments_.end());
    return std::move(command_);
  }

 private:
  Status Take(const std::string& argument) {
    if (!argument.starts_with('-')) {
      command_.kind = "script";
      command_.target = argument;
      return OkStatus();
    }
    if (argument == "--check-hash-based-pycs" && next_ < arguments_.size()) {
      command_.flags.push_back(argument);
      command_.flags.push_back(arguments_[next_++]);
      return OkStatus();
    }
    if (argument == "-" || argument.starts_with("--"))
      return UnsupportedFlag(argument);
    return TakeFlags(argument);
  }

  // Parses flags such as "-uB", "-Wignore", "-m" and "-um".
  Status TakeFlags(const std::string& flags) {
    for (size_t i = 1; i < flags.size(); ++i) {
      if (kPlainFlags.find(flags[i]) != std::string_view::npos) continue;
      const bool has_value =
          kFlagsWithValue.find(flags[i]) != std::string_view::npos;
      const bool is_program = flags[i] == 'm' || flags[i] == 'c';
      if (!has_value && !is_program)
        return UnsupportedFlag(fmt::format("-{}", flags[i]));
      std::string value = flags.substr(i + 1);
      if (value.empty()) {
        if (next_ == arguments_.size()) return UnsupportedFlag(flags);
        value = arguments_[next_++];
      }
      if (has_value) {
        command_.flags.push_back(flags.substr(0, i + 1));
        command_.flags.push_back(std::move(value));
        return OkStatus();
      }
      if (i > 1) command_.flags.push_back(flags.substr(0, i));
      command_.kind = flags[i] == 'm' ? "module" : "code";
      command_.target = std::move(value);
      return OkStatus();
    }
    command_.flags.push_back(flags);
    return OkStatus();
  }

  const std::vector<std::string>& arguments_;
  size_t next_ = 1;
  PythonCommand command_;
};

}  // namespace

Result<PythonCommand> ParsePythonCommand(
    const std::vector<std::string>& arguments) {
  return Parser(arguments).Parse();
}

}  // namespace gauntlet
