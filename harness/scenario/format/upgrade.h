// Reads files of schema gauntlet/v1 as gauntlet/v2.
//
// v2 renames some keys and values, and two defaults are others: at a point of a
// write `occurrence` counts files where `hit` counted blocks, and a kill comes
// exactly at its point. A file of v1 is still read for one release,
// with a note. Names of cases of a matrix change with their keys.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_UPGRADE_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_UPGRADE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

inline constexpr std::string_view kScenarioSchema = "gauntlet/v2";
inline constexpr std::string_view kOldScenarioSchema = "gauntlet/v1";

// A spelling of v1 and its place. Where v2 has another default, `added` is what
// v2 has to say in front of the key at that place to mean the same.
struct OldSpelling {
  Place place;
  std::string old_name;
  std::string new_name;        // the same where something is only added
  std::string added = {};      // "block: any"
  std::string separator = {};  // what comes after it in the text
};

// Returns true iff the document says `schema: gauntlet/v1`, or no schema, as a
// job file may.
bool MayBeOld(const YamlNode& document);

// Replaces the spellings of v1 in the document, its `schema` included. Returns
// them in the order of the file. An old key beside the new one is an error.
std::vector<OldSpelling> Upgrade(YamlNode& document, Diagnostics& diagnostics);

// Returns the text of a file with all documents of v1 upgraded; comments and
// layout stay. kInvalidArgument, one line: the text is not valid YAML,
// or an old spelling is written in a form that cannot be replaced in place.
Result<std::string> UpgradeText(std::string_view text, std::string_view file);

// Returns the name in v2 of a key of v1; "" if it has the same or there is no
// such key. `map` is the path of its map in v2.
std::string_view NewNameOfKey(std::string_view map, std::string_view key);

// The same for a value of the key at a path in v2: "asymmetric_partition" for
// "one_way" at "faults.do".
std::string_view NewNameOfValue(std::string_view path, std::string_view value);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_UPGRADE_H_
