#include "harness/scenario/reader/matrix.h"

#include <algorithm>
#include <map>

#include "harness/scenario/format/keys.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Axis {
  std::string path;
  std::string label;  // last part of the path, or all of it if ambiguous
  Place place;
  std::vector<YamlNode> values;
};

// Returns the paths of the keys that a matrix may vary: seed, preset, and all
// keys of job, cluster and checkpoint that have a single value. Keys of layers
// are left out: a path cannot select one of several layers.
std::vector<std::string> AxisPaths() {
  std::vector<std::string> paths;
  for (const KeySpec& key : AllKeys()) {
    const std::string_view top = key.path.substr(0, key.path.find('.'));
    if (key.path.starts_with("job.layers.")) continue;
    if (top == "seed" || top == "preset" ||
        (key.type != KeyType::kMap &&
         (top == "job" || top == "cluster" || top == "checkpoint"))) {
      paths.emplace_back(key.path);
    }
  }
  return paths;
}

std::string LastPart(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

std::vector<Axis> ReadAxes(const YamlNode& matrix, Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  const std::vector<std::string> paths = AxisPaths();
  std::map<std::string, int> uses;
  for (const YamlEntry& entry : matrix.entries) {
    if (std::find(paths.begin(), paths.end(), entry.key) == paths.end()) {
      diagnostics.Error(
          entry.place,
          ShortQuote(entry.key) + " is no key that a matrix can vary",
          SuggestName(entry.key, paths));
      continue;
    }
    if (entry.value.kind != YamlKind::kList || entry.value.items.empty()) {
      diagnostics.Error(entry.value.place,
                        fmt::format("expected a list of values, found {}",
                                    entry.value.kind == YamlKind::kList
                                        ? "an empty one"
                                        : DescribeYaml(entry.value)));
      continue;
    }
    axes.push_back({entry.key, "", entry.place, entry.value.items});
    ++uses[LastPart(entry.key)];
  }
  for (Axis& axis : axes) {
    axis.label =
        uses[LastPart(axis.path)] == 1 ? LastPart(axis.path) : axis.path;
  }
  return axes;
}

// Sets the value at a dotted path. Creates maps on the way that are missing.
void SetPath(YamlNode& node, std::string_view path, const YamlNode& value) {
  const size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  const auto found =
      std::find_if(node.entries.begin(), node.entries.end(),
                   [&](const YamlEntry& entry) { return entry.key == key; });
  YamlNode* child = nullptr;
  if (found != node.entries.end()) {
    child = &found->value;
  } else {
    node.entries.push_back({std::string(key), value.place, {}});
    child = &node.entries.back().value;
    child->kind = YamlKind::kMap;
    child->place = value.place;
  }
  if (dot == std::string_view::npos) {
    *child = value;
  } else if (child->kind == YamlKind::kMap) {
    SetPath(*child, path.substr(dot + 1), value);
  }
}

// Returns the value as text for case names, which appear on command lines and
// in file names.
std::string ValueLabel(const YamlNode& value) {
  std::string label;
  for (const char c : YamlToText(value)) {
    if (c == ' ' || c == '{' || c == '}') continue;
    label += c == '/' ? '_' : c;
  }
  return label;
}

}  // namespace

std::vector<Combination> ExpandMatrix(const YamlNode& document,
                                      Diagnostics& diagnostics) {
  YamlNode bare = document;
  std::erase_if(bare.entries,
                [](const YamlEntry& entry) { return entry.key == "matrix"; });
  const YamlNode* matrix = document.Find("matrix");
  if (matrix == nullptr) return {{"", std::move(bare)}};
  if (matrix->kind != YamlKind::kMap) {
    diagnostics.Error(matrix->place, fmt::format("expected a map, found {}",
                                                 DescribeYaml(*matrix)));
    return {};
  }
  const size_t errors = diagnostics.size();
  const std::vector<Axis> axes = ReadAxes(*matrix, diagnostics);
  if (diagnostics.size() != errors) return {};

  size_t cases = 1;
  for (const Axis& axis : axes) {
    cases *= axis.values.size();
    if (cases > kMaxCases) {
      diagnostics.Error(axis.place,
                        fmt::format("expected at most {} cases, found {} with "
                                    "this list and those above it",
                                    kMaxCases, cases));
      return {};
    }
  }
  std::vector<Combination> combinations = {{"", std::move(bare)}};
  for (const Axis& axis : axes) {
    std::vector<Combination> next;
    for (const Combination& before : combinations) {
      for (const YamlNode& value : axis.values) {
        Combination one = before;
        SetPath(one.document, axis.path, value);
        one.label += fmt::format("{}{}={}", one.label.empty() ? "" : ",",
                                 axis.label, ValueLabel(value));
        next.push_back(std::move(one));
      }
    }
    combinations = std::move(next);
  }
  for (Combination& one : combinations) {
    if (!one.label.empty()) one.label = fmt::format("[{}]", one.label);
  }
  return combinations;
}

}  // namespace gauntlet
