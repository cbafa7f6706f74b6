#include "harness/scenario/format/upgrade.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "chaos/inject/plan/plan.h"
#include "engine/text/nearest_names.h"
#include "harness/scenario/format/keys.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A key that v2 renames, by its path in v1. Parameters of a fault kind are
// below "faults.with.<kind>"; "faults.with.*" stands for all kinds.
struct RenamedKey {
  std::string_view path;
  std::string_view new_name;
};

// A value that v2 renames. `path` is the path of its key in v1.
struct RenamedValue {
  std::string_view path;
  std::string_view old_name;
  std::string_view new_name;
};

constexpr RenamedKey kRenamedKeys[] = {
    {"use", "preset"},
    {"plant", "planted_bugs"},
    {"before", "warm_start"},
    {"cluster.workers_by_life", "workers_per_attempt"},
    {"cluster.device_by_life", "device_per_attempt"},
    {"cluster.hosts", "topology"},
    {"checkpoint.at_success", "on_success"},
    {"faults.at.life", "incarnation"},
    {"faults.at.hit", "occurrence"},
    {"faults.with.*.times", "repeat"},
    {"faults.with.errno.hits", "consecutive"},
    {"faults.with.one_way.way", "direction"},
    {"expect.lost_steps", "recomputed_steps"},
    {"expect.failed_checkpoints", "failed_saves"},
};

constexpr RenamedValue kValues[] = {
    {"schema", kOldScenarioSchema, kScenarioSchema},
    {"cluster.hosts", "one", "one_host"},
    {"cluster.hosts", "separate", "one_host_per_worker"},
    {"faults.do", "stop", "pause"},
    {"faults.do", "one_way", "asymmetric_partition"},
    {"faults.do", "drop", "packet_loss"},
    {"faults.do", "reset", "connection_reset"},
    {"faults.do", "clock_jump", "wall_clock_jump"},
    {"faults.with.one_way.way", "out", "outbound"},
    {"faults.with.one_way.way", "in", "inbound"},
    {"faults.at.point", "comm.allreduce", "comm.allreduce.begin"},
    {"faults.at.point", "comm.done", "comm.allreduce.end"},
    {"faults.at.point", "ckpt.agree", "ckpt.compare_digests"},
    {"expect.outcome", "gives-up", "fails"},
    {"expect.invariants", "deaths-explained", "no-spontaneous-exit"},
    {"expect.invariants", "events-merge", "history-consistent"},
    {"expect.invariants", "backup-deleted", "checkpoints-deleted"},
};

// A finding that v2 renames. Labels of scenarios that an exploration wrote name
// it: "found:deaths-explained/worker".
struct RenamedFinding {
  std::string_view old_name;  // "invariant/finding"
  std::string_view new_name;
};

constexpr RenamedFinding kFindings[] = {
    {"resume-point/from-nowhere", "resume-point/unknown-checkpoint"},
    {"resume-point/not-the-same", "resume-point/ranks-disagree"},
    {"resume-point/too-old", "resume-point/stale-resume"},
    {"bounded-loss/redone-after-rejoin",
     "bounded-loss/recomputed-after-rejoin"},
    {"bounded-loss/too-much", "bounded-loss/excess-rework"},
    {"clean-refusal/needless", "clean-refusal/unneeded-refusal"},
    {"clean-refusal/nothing-left", "clean-refusal/no-evidence-kept"},
    {"deaths-explained/left", "deaths-explained/unexplained-exit"},
    {"deaths-explained/worker", "deaths-explained/unexplained-death"},
    {"no-cold-start/started-afresh", "no-cold-start/cold-start"},
    {"history-consistent/lives", "history-consistent/incarnations"},
    {"replicas-agree/differ", "replicas-agree/replica-mismatch"},
    {"samples/twice", "samples/duplicate-sample"},
    {"store/other-moment", "store/wrong-save-position"},
    {"store/newest-lost", "store/lost-checkpoint"},
};

// Returns the label "found:…" as v2 spells it.
std::string NewLabel(std::string_view label) {
  constexpr std::string_view kFound = "found:";
  if (!label.starts_with(kFound)) return std::string(label);
  std::string_view finding = label.substr(kFound.size());
  const auto* renamed =
      std::ranges::find(kFindings, finding, &RenamedFinding::old_name);
  if (renamed != std::end(kFindings)) finding = renamed->new_name;
  const size_t slash = std::min(finding.find('/'), finding.size());
  std::string_view invariant = finding.substr(0, slash);
  for (const RenamedValue& value : kValues) {
    if (value.path == "expect.invariants" && value.old_name == invariant) {
      invariant = value.new_name;
    }
  }
  return fmt::format("{}{}{}", kFound, invariant, finding.substr(slash));
}

std::string Join(std::string_view map, std::string_view key) {
  return map.empty() ? std::string(key) : fmt::format("{}.{}", map, key);
}

// Returns the new name of the key at a path of v1; "" if v2 does not rename it.
std::string_view NewKey(std::string_view old_path) {
  constexpr std::string_view kParameters = "faults.with.";
  constexpr std::string_view kOfAnyKind = "faults.with.*.";
  const size_t last = old_path.rfind('.') + 1;
  for (const RenamedKey& one : kRenamedKeys) {
    if (one.path == old_path) return one.new_name;
    if (old_path.starts_with(kParameters) && one.path.starts_with(kOfAnyKind) &&
        old_path.substr(last) == one.path.substr(kOfAnyKind.size())) {
      return one.new_name;
    }
  }
  return "";
}

// Returns the path in v2 of a path of v1: "cluster.hosts" is
// "cluster.topology".
std::string NewPath(std::string_view old_path) {
  std::string path;
  for (size_t begin = 0; begin <= old_path.size();) {
    const size_t end = std::min(old_path.find('.', begin), old_path.size());
    const std::string_view renamed = NewKey(old_path.substr(0, end));
    path = Join(
        path, renamed.empty() ? old_path.substr(begin, end - begin) : renamed);
    begin = end + 1;
  }
  return path;
}

class Upgrader {
 public:
  explicit Upgrader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<OldSpelling> Run(YamlNode& document) {
    Map(document, "");
    std::ranges::sort(found_, {}, &OldSpelling::place);
    return std::move(found_);
  }

 private:
  void Replace(std::string& text, Place place, std::string_view new_name) {
    if (new_name.empty() || new_name == text) return;
    found_.push_back(
        {.place = place, .old_name = text, .new_name = std::string(new_name)});
    text = new_name;
  }

  // An entry to add to a map of v1 so that it means the same in v2, and the
  // entry before which to insert it.
  struct Addition {
    std::string key;
    YamlNode value;
    const YamlEntry* before;
  };

  static YamlNode Scalar(Place place, std::string_view text) {
    YamlNode node;
    node.kind = YamlKind::kScalar;
    node.place = place;
    node.scalar = text;
    return node;
  }

  static const YamlEntry* EntryOf(const YamlNode& map, std::string_view key) {
    const auto found = std::ranges::find(map.entries, key, &YamlEntry::key);
    return found == map.entries.end() ? nullptr : &*found;
  }

  // Returns "block: any" if the map `at` needs it. In v1, each block of a file
  // counted as a hit, unless the fault had an offset.
  static std::optional<Addition> BlockOf(const YamlNode& at) {
    const YamlEntry* point = EntryOf(at, "point");
    if (point == nullptr || at.Find("offset") != nullptr ||
        at.Find("block") != nullptr) {
      return std::nullopt;
    }
    const std::optional<Point> found = FindPoint(point->value.scalar);
    if (!found || !HasBlocks(*found)) return std::nullopt;
    const YamlEntry* hit = EntryOf(at, "hit");
    const YamlEntry* before = hit == nullptr ? point : hit;
    return Addition{"block", Scalar(before->place, "any"), before};
  }

  // Returns "latency: 0s" if the map `with` of a kill needs it. In v1, a kill
  // did not stop the process exactly at its point, even without a latency.
  static std::optional<Addition> LatencyOf(const YamlNode& with) {
    if (with.entries.empty() || with.Find("latency") != nullptr) {
      return std::nullopt;
    }
    const YamlEntry* before = &with.entries.front();
    return Addition{"latency", Scalar(before->place, "0s"), before};
  }

  static std::optional<Addition> WithOf(const YamlNode& fault) {
    const YamlEntry* kind = EntryOf(fault, "do");
    if (kind == nullptr || kind->value.scalar != "kill" ||
        fault.Find("with") != nullptr) {
      return std::nullopt;
    }
    YamlNode with;
    with.kind = YamlKind::kMap;
    with.place = kind->place;
    with.entries.push_back({"latency", kind->place, Scalar(kind->place, "0s")});
    return Addition{"with", std::move(with), kind};
  }

  static std::optional<Addition> AdditionTo(const YamlNode& map,
                                            std::string_view path) {
    if (path == "faults") return WithOf(map);
    if (path == "faults.at") return BlockOf(map);
    if (path == "faults.with.kill") return LatencyOf(map);
    return std::nullopt;
  }

  // Gives the entry its new name. If the addition belongs before this entry,
  // records an old spelling even if the key keeps its name.
  void ReplaceKey(const YamlNode& map, YamlEntry& entry,
                  const std::string& renamed,
                  const std::optional<Addition>& addition) {
    if (!addition || addition->before != &entry) {
      return Replace(entry.key, entry.place, renamed);
    }
    const std::string& new_name = renamed.empty() ? entry.key : renamed;
    found_.push_back(
        {.place = entry.place,
         .old_name = entry.key,
         .new_name = new_name,
         .added =
             fmt::format("{}: {}", addition->key, YamlToText(addition->value)),
         .separator = map.in_braces
                          ? ", "
                          : "\n" + std::string(entry.place.column - 1, ' ')});
    entry.key = new_name;
  }

  void Map(YamlNode& map, const std::string& path) {
    std::optional<Addition> addition = AdditionTo(map, path);
    // Reads the name of the fault kind in v1 now, because the loop below
    // renames it.
    const YamlNode* const kind = path == "faults" ? map.Find("do") : nullptr;
    const std::string kind_name = kind == nullptr ? "" : kind->scalar;
    for (YamlEntry& entry : map.entries) {
      const bool is_axis = path == "matrix";
      const std::string below =
          is_axis ? entry.key : Join(path, std::string_view(entry.key));
      const std::string renamed(is_axis ? NewPath(below) : NewKey(below));
      if (!renamed.empty() && renamed != entry.key &&
          map.Find(renamed) != nullptr) {
        diagnostics_.Error(
            entry.place,
            fmt::format("'{}' and '{}' are one key: expected "
                        "one of them",
                        entry.key, renamed),
            fmt::format("{} calls it {}", kScenarioSchema, renamed));
        continue;
      }
      ReplaceKey(map, entry, renamed, addition);
      Value(entry.value,
            below == "faults.with" ? Join(below, kind_name) : below);
    }
    if (!addition) return;
    const Place place = addition->before->place;
    map.entries.push_back(
        {std::move(addition->key), place, std::move(addition->value)});
  }

  void Value(YamlNode& node, const std::string& path) {
    if (path == "faults.with.kill" && node.kind == YamlKind::kMap &&
        node.entries.empty()) {
      found_.push_back(
          {.place = node.place, .old_name = "{}", .new_name = "{latency: 0s}"});
      node.entries.push_back({"latency", node.place, Scalar(node.place, "0s")});
      return;
    }
    if (path == "labels" && node.kind == YamlKind::kScalar) {
      Replace(node.scalar, node.place, NewLabel(node.scalar));
    }
    for (const RenamedValue& value : kValues) {
      if (node.kind != YamlKind::kScalar || value.path != path ||
          value.old_name != node.scalar) {
        continue;
      }
      Replace(node.scalar, node.place, value.new_name);
      break;
    }
    for (YamlNode& item : node.items) Value(item, path);
    Map(node, path);
  }

  Diagnostics& diagnostics_;
  std::vector<OldSpelling> found_;
};

// Places in the file do not count these bytes as part of the first line.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Reports an error for a document that is neither a scenario nor a job file: it
// is no map, has another schema or, without a schema, an unknown key.
void CheckIsScenarioOrJob(const YamlNode& document, Diagnostics& diagnostics) {
  if (document.kind != YamlKind::kMap) {
    diagnostics.Error(document.place,
                      fmt::format("not a scenario: expected a map, found {}",
                                  DescribeYaml(document)));
    return;
  }
  const std::string expected =
      fmt::format("expected `schema: {}` or `schema: {}`", kOldScenarioSchema,
                  kScenarioSchema);
  if (const YamlNode* const schema = document.Find("schema")) {
    if (schema->scalar == kOldScenarioSchema ||
        schema->scalar == kScenarioSchema) {
      return;
    }
    diagnostics.Error(schema->place, fmt::format("{}, found {}", expected,
                                                 DescribeYaml(*schema)));
    return;
  }
  const std::vector<std::string> known = KeysOf("");
  for (const YamlEntry& entry : document.entries) {
    if (std::ranges::count(known, entry.key) > 0 ||
        !NewKey(entry.key).empty()) {
      continue;
    }
    const std::string near = NearestName(entry.key, known);
    diagnostics.Error(
        entry.place,
        fmt::format("not a scenario: {}, or only keys of a job file; found the "
                    "key {}",
                    expected, ShortQuote(entry.key)),
        near.empty() ? "name another file"
                     : fmt::format("did you mean {}?", near));
    return;
  }
}

// Splits the text into lines that include their line ends.
std::vector<std::string> LinesWithEnds(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Replaces the old name at its place, in quotes or not. Returns false if
// another text is at that place.
bool ReplaceOldName(std::vector<std::string>& lines, const OldSpelling& one) {
  if (one.place.line > lines.size()) return false;
  std::string& line = lines[one.place.line - 1];
  const size_t mark = one.place.line == 1 && line.starts_with(kByteOrderMark)
                          ? kByteOrderMark.size()
                          : 0;
  for (const size_t quotes : {size_t{0}, size_t{1}}) {
    const size_t begin = mark + one.place.column - 1 + quotes;
    if (begin > line.size() ||
        line.compare(begin, one.old_name.size(), one.old_name) != 0) {
      continue;
    }
    line.replace(begin, one.old_name.size(), one.new_name);
    line.insert(begin - quotes, one.added + one.separator);
    return true;
  }
  return false;
}

}  // namespace

bool MayBeOld(const YamlNode& document) {
  const YamlNode* schema = document.Find("schema");
  return schema == nullptr || schema->scalar == kOldScenarioSchema;
}

std::vector<OldSpelling> Upgrade(YamlNode& document, Diagnostics& diagnostics) {
  return Upgrader(diagnostics).Run(document);
}

Result<std::string> UpgradeText(std::string_view text, std::string_view file) {
  Diagnostics diagnostics;
  std::vector<YamlNode> documents = ParseYaml(text, diagnostics);
  if (!diagnostics.empty()) return ToStatus(diagnostics, file);
  if (documents.empty())
    diagnostics.Error({}, "not a scenario: expected a map, found nothing");
  std::vector<std::string> lines = LinesWithEnds(text);
  for (YamlNode& document : documents) {
    const size_t errors = diagnostics.size();
    CheckIsScenarioOrJob(document, diagnostics);
    if (diagnostics.size() != errors || !MayBeOld(document)) continue;
    const std::vector<OldSpelling> found = Upgrade(document, diagnostics);
    // Begins with the last spelling, because a replacement moves the text after
    // it in its line.
    for (auto old = found.rbegin(); old != found.rend(); ++old) {
      if (ReplaceOldName(lines, *old)) continue;
      diagnostics.Error(
          old->place,
          fmt::format("cannot rewrite this spelling of {}: expected a plain "
                      "word; change it to {} by hand",
                      old->old_name, old->new_name));
    }
  }
  if (!diagnostics.empty()) return ToStatus(diagnostics, file);
  std::string upgraded;
  for (const std::string& line : lines) upgraded += line;
  return upgraded;
}

std::string_view NewNameOfKey(std::string_view map, std::string_view key) {
  std::string path(map);
  constexpr std::string_view kWith = "with.";
  if (map.starts_with(kWith)) {
    std::string_view kind = map.substr(kWith.size());
    for (const RenamedValue& value : kValues) {
      if (value.path == "faults.do" && value.new_name == kind) {
        kind = value.old_name;
      }
    }
    path = fmt::format("faults.with.{}", kind);
  }
  return NewKey(Join(path, key));
}

std::string_view NewNameOfValue(std::string_view path, std::string_view value) {
  for (const RenamedValue& one : kValues) {
    if (one.old_name == value && NewPath(one.path) == path) {
      return one.new_name;
    }
  }
  return "";
}

}  // namespace gauntlet
