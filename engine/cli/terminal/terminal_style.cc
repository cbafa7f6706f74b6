#include "engine/cli/terminal/terminal_style.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

// ECMA-48, "select graphic rendition".
std::string_view Sgr(Ink ink) {
  switch (ink) {
    case Ink::kGood:
      return "32";
    case Ink::kBad:
      return "1;31";
    case Ink::kWarning:
      return "33";
    case Ink::kFaint:
      return "2";
    case Ink::kStrong:
      return "1";
  }
  return "0";
}

bool Colored(ColorChoice choice, const TerminalFacts& facts) {
  switch (choice) {
    case ColorChoice::kOn:
      return true;
    case ColorChoice::kOff:
      return false;
    case ColorChoice::kAuto:
      break;
  }
  return facts.is_terminal && !facts.no_color && !facts.is_dumb;
}

}  // namespace

std::optional<ColorChoice> FindColorChoice(std::string_view name) {
  if (name == "auto") return ColorChoice::kAuto;
  if (name == "always") return ColorChoice::kOn;
  if (name == "never") return ColorChoice::kOff;
  return std::nullopt;
}

TerminalStyle::TerminalStyle(ColorChoice choice, const TerminalFacts& facts)
    : is_terminal_(facts.is_terminal),
      colored_(Colored(choice, facts)),
      animates_(facts.is_terminal && !facts.is_dumb),
      utf8_(facts.utf8),
      columns_(facts.columns) {}

std::string TerminalStyle::Paint(Ink ink, std::string_view text) const {
  if (!colored_) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", Sgr(ink), text);
}

}  // namespace gauntlet
