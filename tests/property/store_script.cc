#include "tests/property/store_script.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, kStoreVerbs> kVerbNames = {
    "live",   "gone", "error",   "stay",   "late", "race",
    "damage", "edit", "misedit", "forget", "power"};

}  // namespace

std::string ScriptToText(const StoreScript& script) {
  std::string text =
      script.profile == DurabilityProfile::kWeak ? "weak\n" : "ext4\n";
  for (const StoreAction& action : script.actions) {
    text += fmt::format("{} {} {} {} {}\n",
                        kVerbNames.at(static_cast<size_t>(action.verb)),
                        action.saves, action.keep, action.at, action.byte);
  }
  return text;
}

Result<StoreScript> ScriptFromText(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string word;
  in >> word;
  if (word != "weak" && word != "ext4") {
    return InvalidArgument("expected weak or ext4, found " + word);
  }
  StoreScript script = {.profile = word == "weak" ? DurabilityProfile::kWeak
                                                  : DurabilityProfile::kExt4,
                        .actions = {}};
  while (in >> word) {
    const auto found = std::ranges::find(kVerbNames, word);
    StoreAction action;
    in >> action.saves >> action.keep >> action.at >> action.byte;
    if (found == kVerbNames.end() || !in) {
      return InvalidArgument("expected a verb and four numbers: " + word);
    }
    action.verb = static_cast<StoreVerb>(found - kVerbNames.begin());
    script.actions.push_back(action);
  }
  return script;
}

}  // namespace gauntlet
