// Builds pieces of YAML text that the loader reads back.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_FLOW_MAP_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_FLOW_MAP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "engine/world/clock.h"
#include "harness/scenario/format/keys.h"
#include <fmt/format.h>

namespace gauntlet {

// Returns YAML for the text, quoted only where necessary.
std::string QuotedYaml(std::string_view text);
// YamlList returns "[a, b]" with the texts unchanged. QuotedYamlList puts each
// text in quotes where this is necessary.
template <typename Texts>
std::string YamlList(const Texts& texts) {
  std::string out;
  for (const auto& text : texts) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", text);
  }
  return fmt::format("[{}]", out);
}
std::string QuotedYamlList(const std::vector<std::string>& texts);

// Returns the name of an enum's value, as the loader spells it for the key at
// `path`.
template <typename Enum>
std::string ChoiceName(std::string_view path, Enum value) {
  return ChoicesOf(*FindKey(path)).at(static_cast<size_t>(value));
}

// A map on one line: "{worker: 1, occurrence: 3}". Leaves out default values.
class FlowMap {
 public:
  void Add(std::string_view key, std::string_view value) {
    body_ += fmt::format("{}{}: {}", body_.empty() ? "" : ", ", key, value);
  }
  template <typename T>
  void AddUnless(const T& fallback, std::string_view key, const T& value) {
    if (value != fallback) Add(key, fmt::format("{}", value));
  }
  void AddUnless(Duration fallback, std::string_view key, Duration value) {
    if (value != fallback) Add(key, DurationToText(value));
  }
  template <typename T>
  void AddIf(std::string_view key, const std::optional<T>& value) {
    if (value) Add(key, fmt::format("{}", *value));
  }
  void AddMap(std::string_view key, const FlowMap& map) {
    if (!map.empty()) Add(key, map.Text());
  }
  bool empty() const { return body_.empty(); }
  std::string Text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_FLOW_MAP_H_
