#include "harness/scenario/writer/flow_map.h"

namespace gauntlet {

std::string QuotedYaml(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  const bool nothing = text == "null" || text == "Null" || text == "NULL";
  const bool plain = !text.empty() && text[0] != '-' && !nothing &&
                     text.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    // YAML reads a line break in quotes as a space, so write it as an escape.
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string QuotedYamlList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(QuotedYaml(text));
  return YamlList(quoted);
}

}  // namespace gauntlet
