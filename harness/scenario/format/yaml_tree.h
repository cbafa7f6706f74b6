// Parses YAML text into a tree with positions. Supports the strict subset of
// YAML that scenarios use.
//
// Reports by name what it refuses: anchors, aliases, tags, merge keys, keys
// that are not scalars, duplicate keys, control characters, files over 1 MiB
// and nesting over 32 levels (the last two before parsing).
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
  bool quoted = false;             // a quoted scalar is always text
  bool in_braces = false;          // a map or list on one line, {…} or […]
  std::vector<YamlNode> items;     // kList
  std::vector<YamlEntry> entries;  // kMap, in the order of the file

  // Returns the value of a map's key; nullptr if the key is missing.
  const YamlNode* Find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Place place;  // of the key
  YamlNode value;
};

inline constexpr size_t kMaxScenarioBytes = size_t{1} << 20;
inline constexpr int kMaxYamlDepth = 32;

// Returns the documents of the text; after an error, only those before it.
// Leaves out empty documents at the end: they follow a `---` that separates
// nothing.
std::vector<YamlNode> ParseYaml(std::string_view text,
                                Diagnostics& diagnostics);

// Returns a node as one line for people: "{steps: 50}".
std::string YamlToText(const YamlNode& node);
// Returns the text in quotes. A long text is cut, and ends with "…".
std::string ShortQuote(std::string_view text);
// Returns "nothing", "'abc'", "a list" or "a map".
std::string DescribeYaml(const YamlNode& node);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_TREE_H_
