// Every key that a scenario may have, in one table: the source of the loader's
// checks, its error messages and the JSON Schema for editors.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_KEYS_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_KEYS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

enum class KeyType : uint8_t {
  kMap,         // a map; its keys are the rows below its path
  kText,        // any text
  kTexts,       // a list of texts
  kChoice,      // one of ChoicesOf
  kCount,       // a whole number from `low` to `high`
  kNumber,      // a finite number
  kNumbers,     // a list of finite numbers
  kFlag,        // true or false
  kDuration,    // 200ms, 1s, 2m
  kSize,        // 64KiB, 1MiB
  kOffset,      // 50%, 64KiB, 4096
  kNames,       // one of ChoicesOf, or a list of them
  kCounts,      // a list of whole numbers from `low` to `high`
  kGroups,      // a list of lists of whole numbers
  kWorker,      // a worker's number, all, any or chief
  kCountOrAny,  // a number, or any
  kEvery,       // {steps: n}, {epochs: n}, {seconds: n} or never
  kMaps,        // a list of maps; their keys are the rows below its path
  kFaults,      // a list of maps with the keys below "faults"
  kWith,        // a map with the keys below "with.<kind>"
  kAxes,        // dotted paths of other keys, each with a list of values
};

// Source of the names that kChoice and kNames accept.
enum class Names : uint8_t {
  kListed,   // the row's `listed`, separated by '|'
  kPresets,  // of jobs
  kPoints,   // fault points
  kFaultKinds,
  kBugs,  // planted bugs
  kInvariants,
  kFeatures,
};

struct KeySpec {
  std::string_view path;  // "cluster.heartbeat.every"
  KeyType type = KeyType::kText;
  std::string_view doc;       // one line
  std::string_view fallback;  // the default, as a scenario would write it
  Names names = Names::kListed;
  std::string_view listed;
  // Bounds of counts. `low` also bounds durations, in nanoseconds.
  uint64_t low = 0;
  uint64_t high = uint64_t{1} << 53;  // exact in JSON up to here
};

// Returns all keys. The keys of a map directly follow the map.
std::span<const KeySpec> AllKeys();
// Returns the row of a path; nullptr if there is no such key.
const KeySpec* FindKey(std::string_view path);
// Returns the names of the keys of the map at a path ("": the document itself).
std::vector<std::string> KeysOf(std::string_view map_path);
// Returns the names that a kChoice or kNames accepts; empty: any name.
std::vector<std::string> ChoicesOf(const KeySpec& key);

// A feature that only one of the worlds has, for `requires: {features: …}`.
struct FeatureInfo {
  std::string_view name;
  std::string_view description;
};
std::span<const FeatureInfo> AllFeatures();

// Returns a JSON Schema (draft 2020-12) of a scenario, for editors. `gauntlet
// help json-schema` prints it.
std::string ScenarioJsonSchema();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_KEYS_H_
