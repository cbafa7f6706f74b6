// Reads typed values from a map of a scenario, according to the table of keys.
//
// Each reader is for one map. Its constructor reports an error if the node is
// not a map, or has a key that the table does not list. If a key is missing, a
// method leaves its target unchanged; if the value is wrong, it also reports an
// error. Types and bounds are those of the table.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_MAP_READER_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_MAP_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/world/clock.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/keys.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

// Parses an offset in a file: "50%" (0 to 100), or a size.
std::optional<FileOffset> ParseFileOffset(std::string_view text);

// Returns a hint on a value where a list of maps was expected; "" if there is
// none.
std::string HintOnList(const YamlNode& found);

class MapReader {
 public:
  // `path` is the path of the map in the table, "" for a document. If `node` is
  // nullptr, the map is empty. `node` and `diagnostics` must outlive the
  // reader.
  MapReader(const YamlNode* node, std::string_view path,
            Diagnostics& diagnostics);

  // Returns the value of a key; nullptr if the key is missing.
  const YamlNode* Find(std::string_view key) const;
  // Returns the place for an error about the key: that of its value or, if the
  // key is missing, that of the map.
  Place PlaceOf(std::string_view key) const;
  // Returns the reader of a map within this map.
  MapReader Map(std::string_view key) const;
  // Returns the readers of a list of at most `most` maps.
  std::vector<MapReader> Maps(std::string_view key, size_t most) const;

  // Each of these returns true iff the key is present and its value is valid.
  bool Text(std::string_view key, std::string& out) const;
  bool TextList(std::string_view key, std::vector<std::string>& out) const;
  bool Count(std::string_view key, uint64_t& out) const;
  bool Count(std::string_view key, int& out) const;
  bool Count(std::string_view key, std::optional<uint64_t>& out) const;
  // Reads a count whose lower bound is `least` instead of that of the table.
  bool CountFrom(uint64_t least, std::string_view key,
                 std::optional<uint64_t>& out) const;
  bool Number(std::string_view key, float& out) const;
  bool CountList(std::string_view key, std::vector<uint64_t>& out) const;
  bool NumberList(std::string_view key, std::vector<float>& out) const;
  bool Flag(std::string_view key, bool& out) const;
  bool Time(std::string_view key, Duration& out) const;
  bool Size(std::string_view key, uint64_t& out) const;
  bool Offset(std::string_view key, FileOffset& out) const;
  // Reads one of the row's names.
  bool Choice(std::string_view key, std::string& out) const;
  // Reads one of the row's listed names into an enum whose values have the same
  // order.
  template <typename Enum>
  bool Choice(std::string_view key, Enum& out) const {
    std::string name;
    if (!Choice(key, name)) return false;
    const std::vector<std::string> names = ChoicesOf(Row(key));
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) out = static_cast<Enum>(i);
    }
    return true;
  }
  bool NameList(std::string_view key, std::vector<std::string>& out) const;
  // Reads a list of the row's listed names, which may repeat, into enums.
  template <typename Enum>
  bool ChoiceList(std::string_view key, std::vector<Enum>& out) const {
    std::vector<size_t> places;
    if (!ChoiceList(key, places)) return false;
    out.clear();
    for (const size_t place : places) out.push_back(static_cast<Enum>(place));
    return true;
  }

  void Error(Place place, std::string message, std::string hint = "") const;

 private:
  const KeySpec& Row(std::string_view key) const;
  // Reads each item of a list by `read`. `expected` is for errors: "a list of
  // numbers".
  template <typename T, typename Reader>
  bool List(std::string_view key, std::string_view expected,
            std::vector<T>& out, const Reader& read) const;
  bool ChoiceList(std::string_view key, std::vector<size_t>& places) const;
  bool OneCount(const KeySpec& row, const YamlNode& node, uint64_t& out) const;
  bool OneNumber(const YamlNode& node, float& out) const;
  // Reports an error: `node` is not the expected value. Returns false.
  bool Wrong(const YamlNode& node, std::string_view expected,
             std::string hint = "") const;
  // Does the same as Wrong, for values that must not be in quotes.
  bool WrongPlain(const YamlNode& node, std::string_view expected) const;
  bool OneName(const KeySpec& row, const YamlNode& node,
               std::string& out) const;

  const YamlNode* node_;
  std::string path_;
  Diagnostics* diagnostics_;
};

// Returns the noun for a message about an unknown name: "fault point", "fault
// kind", ….
std::string_view NounOf(const KeySpec& key);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_MAP_READER_H_
