#include "harness/scenario/format/map_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/check.h"
#include "engine/text/units.h"
#include "harness/scenario/format/fault_synonyms.h"
#include "harness/scenario/format/upgrade.h"
#include <fmt/format.h>

namespace gauntlet {

std::string_view NounOf(const KeySpec& key) {
  switch (key.names) {
    case Names::kPresets:
      return "preset";
    case Names::kPoints:
      return "fault point";
    case Names::kFaultKinds:
      return "fault kind";
    case Names::kBugs:
      return "planted bug";
    case Names::kInvariants:
      return "invariant";
    case Names::kFeatures:
      return "feature";
    case Names::kListed:
      break;
  }
  const size_t dot = key.path.rfind('.');
  return dot == std::string_view::npos ? key.path : key.path.substr(dot + 1);
}

namespace {

// Returns the topic of `gauntlet help` that lists these names; "" if none does.
std::string_view TopicOf(Names names) {
  switch (names) {
    case Names::kPoints:
      return "points";
    case Names::kFaultKinds:
      return "faults";
    case Names::kBugs:
      return "planted-bugs";
    case Names::kInvariants:
      return "invariants";
    default:
      return "";
  }
}

// Returns a hint on an unknown name: a similar name or, if there is none, the
// command that lists the known names.
std::string HintOnName(const KeySpec& row, const std::string& name,
                       std::vector<std::string> known) {
  const std::string_view renamed = NewNameOfValue(row.path, name);
  if (!renamed.empty()) {
    return fmt::format("{} is the name in gauntlet/v2", renamed);
  }
  if (row.names == Names::kFaultKinds) {
    const std::string_view advice = AdviceOnFaultName(name);
    if (!advice.empty()) return std::string(advice);
    for (const FaultSynonym& synonym : AllFaultSynonyms()) {
      known.emplace_back(synonym.name);
    }
  }
  std::string hint = SuggestName(name, known);
  if (hint.empty() && !TopicOf(row.names).empty()) {
    hint = fmt::format("gauntlet help {} lists them", TopicOf(row.names));
  }
  return hint;
}

// Returns a hint for the value `found`, which stands in place of a name: "do:
// slow, with: {…}" for a fault that is written as {slow: {…}}; else "".
std::string HintOnNameInMap(const KeySpec& row, const YamlNode& found,
                            const std::vector<std::string>& known) {
  if (row.names != Names::kFaultKinds || found.kind != YamlKind::kMap ||
      found.entries.empty() ||
      std::ranges::count(known, found.entries.front().key) == 0) {
    return "";
  }
  return fmt::format("do: {}, with: {{…}}", found.entries.front().key);
}

// Keys that are most likely meant if a scalar stands in place of their map.
constexpr std::array<std::string_view, 5> kLikelyKeys = {
    "cluster.workers", "timeout.total", "preemption.grace", "disk.capacity",
    "expect.restarts.exactly"};

// Returns the scalar as a value of this type, such as "5s" for 5 where a
// duration is expected; "" if the type has no such value.
std::string AsValueOf(KeyType type, const std::string& scalar) {
  const bool is_number = ParseWholeNumber(scalar).has_value();
  const bool fits = type == KeyType::kDuration
                        ? ParseDuration(scalar).has_value()
                    : type == KeyType::kSize ? ParseSize(scalar).has_value()
                                             : is_number;
  if (fits) return scalar;
  return is_number && type == KeyType::kDuration ? scalar + "s" : "";
}

// Returns a hint for the value `found`, which stands in place of a map: the map
// to write, such as "{step: 10}". Returns "" unless `found` is a scalar, and
// the map has a single key or one of kLikelyKeys whose type fits.
std::string HintOnMap(std::string_view path, const YamlNode& found) {
  if (found.kind != YamlKind::kScalar) return "";
  const std::vector<std::string> keys = KeysOf(path);
  if (keys.size() == 1) {
    return fmt::format("{{{}: {}}}", keys.front(), found.scalar.substr(0, 40));
  }
  for (const std::string_view likely : kLikelyKeys) {
    const size_t dot = likely.rfind('.');
    if (likely.substr(0, dot) != path) continue;
    const std::string value =
        AsValueOf(FindKey(likely)->type, found.scalar.substr(0, 40));
    if (value.empty()) continue;
    return fmt::format("{{{}: {}}}", likely.substr(dot + 1), value);
  }
  return "";
}

// Returns a hint for the value `found`, which stands in place of a duration:
// "with a unit: 5s or 5ms" if it is a number without a unit; else "".
std::string HintOnDuration(const YamlNode& found) {
  if (found.kind != YamlKind::kScalar || !ParseWholeNumber(found.scalar))
    return "";
  return fmt::format("with a unit: {0}s or {0}ms", found.scalar.substr(0, 20));
}

// Returns a hint for an unknown key in the map at `path`: "`do` belongs beside
// `at`, not in it" if the enclosing map may have this key; else "".
std::string HintOnPlace(std::string_view path, std::string_view key) {
  std::string_view owner;
  std::string_view name = path;
  if (path.starts_with("with.")) {
    owner = "faults";
    name = "with";
  } else if (const size_t dot = path.rfind('.'); dot != path.npos) {
    owner = path.substr(0, dot);
    name = path.substr(dot + 1);
  }
  if (name.empty() || std::ranges::count(KeysOf(owner), key) == 0) return "";
  return fmt::format("`{}` belongs beside `{}`, not in it", key, name);
}

// Returns a hint for an unknown key of a fault: "`latency` belongs in `with`,
// not beside it" if it is a parameter of the fault's kind; else "".
std::string HintOnParameter(const YamlNode& map, std::string_view path,
                            std::string_view key) {
  const YamlNode* const kind = path == "faults" ? map.Find("do") : nullptr;
  if (kind == nullptr || kind->scalar.empty()) return "";
  const std::string with = fmt::format("with.{}", kind->scalar);
  if (std::ranges::count(KeysOf(with), key) == 0) return "";
  return fmt::format("`{}` belongs in `with`, not beside it", key);
}

// Returns the place of a map as a scenario writes it: "'cluster'", or "'with'
// of crash" for the table's "with.crash".
std::string DescribePath(std::string_view path) {
  constexpr std::string_view kWith = "with.";
  if (!path.starts_with(kWith)) return fmt::format("'{}'", path);
  return fmt::format("'with' of {}", path.substr(kWith.size()));
}

}  // namespace

std::optional<FileOffset> ParseFileOffset(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent = ParseWholeNumber(text.substr(0, text.size() - 1));
    if (!percent || *percent > 100) return std::nullopt;
    return FileOffset{*percent, OffsetUnit::kPercent};
  }
  const auto bytes = ParseSize(text);
  if (!bytes) return std::nullopt;
  return FileOffset{*bytes, OffsetUnit::kBytes};
}

std::string HintOnList(const YamlNode& found) {
  if (found.kind == YamlKind::kNothing) {
    return "remove the key, or give it a list; [] is the empty list";
  }
  return found.kind == YamlKind::kMap ? "put the map in a list: [ ] around it, "
                                        "or `- ` before its first key"
                                      : "";
}

MapReader::MapReader(const YamlNode* node, std::string_view path,
                     Diagnostics& diagnostics)
    : node_(node), path_(path), diagnostics_(&diagnostics) {
  if (node_ == nullptr) return;
  if (node_->kind != YamlKind::kMap) {
    Error(node_->place,
          fmt::format("expected a map, found {}", DescribeYaml(*node_)),
          HintOnMap(path_, *node_));
    node_ = nullptr;
    return;
  }
  std::vector<std::string> known = KeysOf(path_);
  if (path_.empty()) std::erase(known, "with");
  for (const YamlEntry& entry : node_->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) {
      continue;
    }
    const std::string where =
        path_.empty() ? "" : fmt::format(" in {}", DescribePath(path_));
    const std::string_view renamed = NewNameOfKey(path_, entry.key);
    std::string hint = HintOnPlace(path_, entry.key);
    if (hint.empty()) hint = HintOnParameter(*node_, path_, entry.key);
    if (!renamed.empty()) {
      hint = fmt::format("{} is the name in gauntlet/v2", renamed);
    } else if (hint.empty()) {
      hint = SuggestName(entry.key, known);
    }
    Error(entry.place,
          fmt::format("unknown key {}{}", ShortQuote(entry.key), where),
          std::move(hint));
  }
}

const YamlNode* MapReader::Find(std::string_view key) const {
  return node_ == nullptr ? nullptr : node_->Find(key);
}

Place MapReader::PlaceOf(std::string_view key) const {
  const YamlNode* found = Find(key);
  if (found != nullptr) return found->place;
  return node_ == nullptr ? Place{} : node_->place;
}

MapReader MapReader::Map(std::string_view key) const {
  return MapReader(Find(key), Row(key).path, *diagnostics_);
}

std::vector<MapReader> MapReader::Maps(std::string_view key,
                                       size_t most) const {
  std::vector<MapReader> maps;
  const YamlNode* node = Find(key);
  if (node == nullptr) return maps;
  if (node->kind != YamlKind::kList) {
    Wrong(*node, fmt::format("a list of at most {} maps", most),
          HintOnList(*node));
    return maps;
  }
  if (node->items.size() > most) {
    Error(node->place, fmt::format("expected at most {} maps, found {}", most,
                                   node->items.size()));
    return maps;
  }
  for (const YamlNode& item : node->items) {
    maps.emplace_back(&item, Row(key).path, *diagnostics_);
  }
  return maps;
}

bool MapReader::Text(std::string_view key, std::string& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  if (node->kind != YamlKind::kScalar) return Wrong(*node, "text");
  out = node->scalar;
  return true;
}

bool MapReader::OneCount(const KeySpec& row, const YamlNode& node,
                         uint64_t& out) const {
  std::optional<uint64_t> value;
  if (node.kind == YamlKind::kScalar && !node.quoted) {
    value = ParseWholeNumber(node.scalar);
  }
  if (!value || *value < row.low || *value > row.high) {
    return WrongPlain(
        node, fmt::format("a whole number from {} to {}", row.low, row.high));
  }
  out = *value;
  return true;
}

bool MapReader::OneNumber(const YamlNode& node, float& out) const {
  std::optional<double> value;
  if (node.kind == YamlKind::kScalar && !node.quoted) {
    value = ParseNumber(node.scalar);
  }
  if (!value || *value > 3e38 || *value < -3e38) {
    return WrongPlain(node, "a number");
  }
  out = static_cast<float>(*value);
  return true;
}

template <typename T, typename Reader>
bool MapReader::List(std::string_view key, std::string_view expected,
                     std::vector<T>& out, const Reader& read) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  if (node->kind != YamlKind::kList) return Wrong(*node, expected);
  std::vector<T> values;
  for (const YamlNode& item : node->items) {
    if (!read(item, values.emplace_back())) return false;
  }
  out = std::move(values);
  return true;
}

bool MapReader::TextList(std::string_view key,
                         std::vector<std::string>& out) const {
  return List(key, "a list of texts", out,
              [&](const YamlNode& item, std::string& value) {
                if (item.kind != YamlKind::kScalar) return Wrong(item, "text");
                value = item.scalar;
                return true;
              });
}

bool MapReader::CountList(std::string_view key,
                          std::vector<uint64_t>& out) const {
  return List(key, "a list of numbers", out,
              [&](const YamlNode& item, uint64_t& value) {
                return OneCount(Row(key), item, value);
              });
}

bool MapReader::NumberList(std::string_view key,
                           std::vector<float>& out) const {
  return List(key, "a list of numbers", out,
              [&](const YamlNode& item, float& value) {
                return OneNumber(item, value);
              });
}

bool MapReader::Count(std::string_view key, uint64_t& out) const {
  const YamlNode* node = Find(key);
  return node != nullptr && OneCount(Row(key), *node, out);
}

bool MapReader::Count(std::string_view key, int& out) const {
  uint64_t value = 0;
  if (!Count(key, value)) return false;
  CHECK(value <= 0x7fffffff, "an int's row needs an int's bounds");
  out = static_cast<int>(value);
  return true;
}

bool MapReader::Count(std::string_view key,
                      std::optional<uint64_t>& out) const {
  return Find(key) != nullptr && CountFrom(Row(key).low, key, out);
}

bool MapReader::CountFrom(uint64_t least, std::string_view key,
                          std::optional<uint64_t>& out) const {
  const YamlNode* node = Find(key);
  KeySpec row = Row(key);
  row.low = least;
  uint64_t value = 0;
  if (node == nullptr || !OneCount(row, *node, value)) return false;
  out = value;
  return true;
}

bool MapReader::Number(std::string_view key, float& out) const {
  const YamlNode* node = Find(key);
  return node != nullptr && OneNumber(*node, out);
}

bool MapReader::Flag(std::string_view key, bool& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  const bool plain = node->kind == YamlKind::kScalar && !node->quoted;
  if (!plain || (node->scalar != "true" && node->scalar != "false")) {
    return WrongPlain(*node, "true or false");
  }
  out = node->scalar == "true";
  return true;
}

bool MapReader::Time(std::string_view key, Duration& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  const auto value = ParseDuration(node->scalar);
  if (node->kind != YamlKind::kScalar || !value) {
    return Wrong(*node, "a duration such as 200ms, 1s or 2m, at most 24h",
                 HintOnDuration(*node));
  }
  const Duration least(Row(key).low);
  if (*value < least) {
    return Wrong(*node, "a duration of at least " + DurationToText(least));
  }
  out = *value;
  return true;
}

bool MapReader::Size(std::string_view key, uint64_t& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  const auto value = ParseSize(node->scalar);
  if (node->kind != YamlKind::kScalar || !value) {
    return Wrong(*node,
                 fmt::format("a size such as 64KiB or 4096, in B, KiB, MiB or "
                             "GiB, at most {}GiB",
                             kLargestSize >> 30));
  }
  out = *value;
  return true;
}

bool MapReader::Offset(std::string_view key, FileOffset& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  const auto value = ParseFileOffset(node->scalar);
  if (node->kind != YamlKind::kScalar || !value) {
    return Wrong(*node, "an offset such as 64KiB, 4096 or 50%, at most 100%");
  }
  out = *value;
  return true;
}

bool MapReader::OneName(const KeySpec& row, const YamlNode& node,
                        std::string& out) const {
  const std::vector<std::string> names = ChoicesOf(row);
  if (node.kind != YamlKind::kScalar) {
    return Wrong(node, "a name", HintOnNameInMap(row, node, names));
  }
  if (!names.empty() &&
      std::find(names.begin(), names.end(), node.scalar) == names.end()) {
    Error(node.place,
          fmt::format("unknown {} {}", NounOf(row), ShortQuote(node.scalar)),
          HintOnName(row, node.scalar, names));
    return false;
  }
  out = node.scalar;
  return true;
}

bool MapReader::Choice(std::string_view key, std::string& out) const {
  const YamlNode* node = Find(key);
  return node != nullptr && OneName(Row(key), *node, out);
}

bool MapReader::ChoiceList(std::string_view key,
                           std::vector<size_t>& places) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  if (node->kind != YamlKind::kList || node->items.empty()) {
    return Wrong(*node, "a list of names");
  }
  const std::vector<std::string> names = ChoicesOf(Row(key));
  for (const YamlNode& item : node->items) {
    std::string name;
    if (!OneName(Row(key), item, name)) return false;
    const auto found = std::find(names.begin(), names.end(), name);
    places.push_back(static_cast<size_t>(found - names.begin()));
  }
  return true;
}

bool MapReader::NameList(std::string_view key,
                         std::vector<std::string>& out) const {
  const YamlNode* node = Find(key);
  if (node == nullptr) return false;
  const KeySpec& row = Row(key);
  std::vector<std::string> names;
  bool good = true;
  const auto add = [&](const YamlNode& item) {
    std::string name;
    if (!OneName(row, item, name)) {
      good = false;
    } else if (std::find(names.begin(), names.end(), name) != names.end()) {
      good = false;
      Error(item.place, fmt::format("'{}' stands there twice", name));
    } else {
      names.push_back(name);
    }
  };
  if (node->kind == YamlKind::kList) {
    for (const YamlNode& item : node->items) add(item);
  } else {
    add(*node);
  }
  if (good) out = std::move(names);
  return good;
}

void MapReader::Error(Place place, std::string message,
                      std::string hint) const {
  diagnostics_->Error(place, std::move(message), std::move(hint));
}

const KeySpec& MapReader::Row(std::string_view key) const {
  const KeySpec* row = FindKey(
      path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
  CHECK(row != nullptr, fmt::format("no key {}.{} in the table", path_, key));
  return *row;
}

bool MapReader::Wrong(const YamlNode& node, std::string_view expected,
                      std::string hint) const {
  Error(node.place,
        fmt::format("expected {}, found {}", expected, DescribeYaml(node)),
        std::move(hint));
  return false;
}

bool MapReader::WrongPlain(const YamlNode& node,
                           std::string_view expected) const {
  if (!node.quoted) return Wrong(node, expected);
  Error(node.place,
        fmt::format("expected {}, found {} in quotes", expected,
                    DescribeYaml(node)),
        "what is in quotes is text");
  return false;
}

}  // namespace gauntlet
