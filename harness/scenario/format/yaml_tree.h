// YAML text as a plain tree with places: the strict part of YAML that scenarios
// are written in.
//
// Refused, by name: anchors, aliases, tags, merge keys, keys that are no
// scalars, duplicate keys, control characters, files over 1 MiB and nesting
// over 32 levels (both before the parser sees the text).
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_TREE_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/format/diagnostic.h"

namespace gauntlet {

struct YamlEntry;

enum class YamlKind : uint8_t { kNothing, kScalar, kList, kMap };

struct YamlNode {
  YamlKind kind = YamlKind::kNothing;
  Place place;
  std::string scalar;
  bool quoted = false;     // a quoted scalar is text, whatever it looks like
  bool in_braces = false;  // a map or list on one line, {…} or […]
  std::vector<YamlNode> items;     // kList
  std::vector<YamlEntry> entries;  // kMap, in the order of the file

  // The value of a map's key; nullptr if there is none.
  const YamlNode* Find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Place place;  // of the key
  YamlNode value;
};

inline constexpr size_t kMaxScenarioBytes = size_t{1} << 20;
inline constexpr int kMaxYamlDepth = 32;

// The documents of the text. After an error the list holds what came before.
std::vector<YamlNode> ParseYaml(std::string_view text,
                                Diagnostics& diagnostics);

// "{steps: 50}" and the like, on one line: a node for people to read.
std::string YamlToText(const YamlNode& node);
// "nothing", "'abc'", "a list", "a map".
std::string DescribeYaml(const YamlNode& node);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_TREE_H_
