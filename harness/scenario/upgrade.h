// Files of schema gauntlet/v1, read as gauntlet/v2.
//
// v2 spells some keys and names in another way and changes no meaning. A file
// of v1 is read by its old spellings for one release.
#ifndef GAUNTLET_HARNESS_SCENARIO_UPGRADE_H_
#define GAUNTLET_HARNESS_SCENARIO_UPGRADE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/scenario/yaml_tree.h"

namespace gauntlet {

inline constexpr std::string_view kScenarioSchema = "gauntlet/v2";
inline constexpr std::string_view kOldScenarioSchema = "gauntlet/v1";

struct OldSpelling {
  Place place;
  std::string old_name;
  std::string new_name;
};

// Returns true iff the document says `schema: gauntlet/v1`.
bool IsOldSchema(const YamlNode& document);

// Replaces the spellings of v1 in the document, its `schema` included. Returns
// them in the order of the file.
std::vector<OldSpelling> Upgrade(YamlNode& document);

// Returns the text of a file with all documents of v1 upgraded; comments and
// layout stay. kInvalidArgument, one line: the text is no YAML, or an old
// spelling is written in a form that cannot be replaced in place.
Result<std::string> UpgradeText(std::string_view text, std::string_view file);

// Returns the name in v2 of a key of v1; "" if it has the same or there is no
// such key. `map` is the path of its map in v2.
std::string_view NewNameOfKey(std::string_view map, std::string_view key);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_UPGRADE_H_
