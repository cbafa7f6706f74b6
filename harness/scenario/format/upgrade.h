// Reads files of schema gauntlet/v1 as gauntlet/v2.
//
// v2 renames some keys and values and changes two defaults. First, at the
// points of a write, `occurrence` counts files, where `hit` of v1 counted
// blocks. Second, a kill happens exactly at its point. Files of v1 are still
// accepted for one release, with a note. Names of a matrix's cases change too,
// as they have the names of keys in them.
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

// A spelling of v1 and its place. If v2 changed a default there, `added` is the
// entry to insert before the key at that place, so that the meaning stays the
// same.
struct OldSpelling {
  Place place;
  std::string old_name;
  std::string new_name;        // equal to old_name if an entry is only added
  std::string added = {};      // "block: any"
  std::string separator = {};  // between `added` and the key
};

// Returns true iff the document has `schema: gauntlet/v1`, or no schema, as a
// job file may.
bool MayBeOld(const YamlNode& document);

// Replaces the spellings of v1 in the document, including its `schema`. Returns
// them in the order of the file. Reports an error if a map has a key in both
// spellings.
std::vector<OldSpelling> Upgrade(YamlNode& document, Diagnostics& diagnostics);

// Returns the text of a file with all documents of v1 upgraded, and comments
// and layout unchanged. kInvalidArgument, one line: the text is not valid YAML,
// a document is neither a scenario nor a job file, or an old spelling is
// written in a form that cannot be replaced in place.
Result<std::string> UpgradeText(std::string_view text, std::string_view file);

// Returns the name in v2 of a key of v1; "" if the name is the same or there is
// no such key. `map` is the path in v2 of the key's map.
std::string_view NewNameOfKey(std::string_view map, std::string_view key);

// Does the same as NewNameOfKey for a value of the key at a path in v2: returns
// "asymmetric_partition" for "one_way" at "faults.do".
std::string_view NewNameOfValue(std::string_view path, std::string_view value);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_UPGRADE_H_
