#include "harness/trainer/text/name_pattern.h"

#include <algorithm>
#include <cctype>

namespace gauntlet {
namespace {

bool IsDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

std::string ExactPattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos)
      pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string NamePattern(std::string_view path) {
  std::string pattern;
  for (size_t i = 0; i < path.size();) {
    if (!IsWordPart(path[i])) {
      pattern += ExactPattern(path.substr(i++, 1));
      continue;
    }
    size_t end = i;
    size_t digit = std::string_view::npos;
    for (; end < path.size() && IsWordPart(path[end]); ++end) {
      if (IsDigit(path[end]) && digit == std::string_view::npos) digit = end;
    }
    // Keeps the letters before the first digit: "step20" becomes "step*".
    pattern +=
        path.substr(i, (digit == std::string_view::npos ? end : digit) - i);
    if (digit != std::string_view::npos) pattern += '*';
    i = end;
  }
  return pattern;
}

std::string ExceptionClass(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(": "));
  const bool is_name = std::ranges::all_of(
      name, [](char c) { return IsWordPart(c) || c == '.' || c == '_'; });
  const bool is_exception = name.ends_with("Error") ||
                            name.ends_with("Exception") ||
                            name.ends_with("Interrupt");
  return is_name && is_exception ? std::string(name) : "";
}

std::string MessagePattern(std::string_view message) {
  std::string pattern;
  for (size_t i = 0; i < message.size();) {
    if (message[i] == '/') {
      while (i < message.size() &&
             (IsWordPart(message[i]) ||
              std::string_view("/._-{}").find(message[i]) !=
                  std::string_view::npos)) {
        ++i;
      }
      pattern += "<path>";
    } else if (IsDigit(message[i])) {
      while (i < message.size() && IsWordPart(message[i])) ++i;
      pattern += '#';
    } else {
      pattern += message[i++];
    }
  }
  return pattern;
}

}  // namespace gauntlet
