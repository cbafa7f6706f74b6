#include "harness/scenario/upgrade.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// A key: `path` is its path in v1. The parameters of all fault kinds are below
// "faults.with".
struct RenamedKey {
  std::string_view path;
  std::string_view new_name;
};

// A value: `path` is its key's in v1.
struct RenamedValue {
  std::string_view path;
  std::string_view old_name;
  std::string_view new_name;
};

constexpr RenamedKey kKeys[] = {
    {"use", "preset"},
    {"plant", "planted_bugs"},
    {"before", "warm_start"},
    {"cluster.workers_by_life", "workers_per_attempt"},
    {"cluster.device_by_life", "device_per_attempt"},
    {"cluster.hosts", "topology"},
    {"checkpoint.at_success", "on_success"},
    {"faults.at.life", "incarnation"},
    {"faults.with.times", "repeat"},
    {"faults.with.hits", "consecutive"},
    {"faults.with.way", "direction"},
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
    {"faults.with.way", "out", "outbound"},
    {"faults.with.way", "in", "inbound"},
    {"faults.at.point", "comm.allreduce", "comm.allreduce.begin"},
    {"faults.at.point", "comm.done", "comm.allreduce.end"},
    {"faults.at.point", "ckpt.agree", "ckpt.compare_digests"},
    {"expect.outcome", "gives-up", "fails"},
    {"expect.invariants", "deaths-explained", "no-spontaneous-exit"},
    {"expect.invariants", "events-merge", "history-consistent"},
    {"expect.invariants", "backup-deleted", "checkpoints-deleted"},
};

// Names of findings, in the labels of scenarios that an exploration wrote:
// "found:deaths-explained/worker".
struct RenamedFinding {
  std::string_view old_name;  // with that of its invariant
  std::string_view new_name;
};

constexpr RenamedFinding kFindings[] = {
    {"resume-point/from-nowhere", "resume-point/unknown-checkpoint"},
    {"resume-point/not-the-same", "resume-point/ranks-disagree"},
    {"resume-point/too-old", "resume-point/stale-resume"},
    {"bounded-loss/too-much", "bounded-loss/excess-rework"},
    {"clean-refusal/needless", "clean-refusal/unneeded-refusal"},
    {"clean-refusal/nothing-left", "clean-refusal/no-evidence-kept"},
    {"deaths-explained/left", "deaths-explained/unexplained-exit"},
    {"deaths-explained/worker", "deaths-explained/unexplained-death"},
    {"no-cold-start/started-afresh", "no-cold-start/cold-start"},
    {"replicas-agree/differ", "replicas-agree/replica-mismatch"},
    {"samples/twice", "samples/duplicate-sample"},
};

// Returns the label that v2 has for a finding's of v1.
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

std::string_view NewKey(std::string_view old_path) {
  const auto* found = std::ranges::find(kKeys, old_path, &RenamedKey::path);
  return found == std::end(kKeys) ? "" : found->new_name;
}

// Spells the path of a key of v1 as v2 does: "cluster.device_by_life".
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

  void Map(YamlNode& map, const std::string& path) {
    for (YamlEntry& entry : map.entries) {
      const bool is_axis = path == "matrix";
      const std::string below =
          is_axis ? entry.key : Join(path, std::string_view(entry.key));
      Replace(entry.key, entry.place, is_axis ? NewPath(below) : NewKey(below));
      Value(entry.value, below);
    }
  }

  void Value(YamlNode& node, const std::string& path) {
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

  std::vector<OldSpelling> found_;
};

// Lines with their ends, so that their sum is the text.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Returns true iff the old name stood at its place, in quotes or not.
bool ReplaceIn(std::vector<std::string>& lines, const OldSpelling& one) {
  if (one.place.line > lines.size()) return false;
  std::string& line = lines[one.place.line - 1];
  for (const size_t quotes : {size_t{0}, size_t{1}}) {
    const size_t begin = one.place.column - 1 + quotes;
    if (begin > line.size() ||
        line.compare(begin, one.old_name.size(), one.old_name) != 0) {
      continue;
    }
    line.replace(begin, one.old_name.size(), one.new_name);
    return true;
  }
  return false;
}

Status BadText(std::string_view file, Place place, std::string_view message) {
  return InvalidArgument(
      fmt::format("{}:{}:{}: {}", file, place.line, place.column, message));
}

}  // namespace

bool IsOldSchema(const YamlNode& document) {
  const YamlNode* schema = document.Find("schema");
  return schema != nullptr && schema->scalar == kOldScenarioSchema;
}

std::vector<OldSpelling> Upgrade(YamlNode& document) {
  return Upgrader().Run(document);
}

Result<std::string> UpgradeText(std::string_view text, std::string_view file) {
  Diagnostics diagnostics;
  std::vector<YamlNode> documents = ParseYaml(text, diagnostics);
  if (!diagnostics.empty()) {
    const Diagnostic first = diagnostics.Sorted().front();
    return BadText(file, first.place, first.message);
  }
  std::vector<std::string> lines = LinesOf(text);
  for (YamlNode& document : documents) {
    if (!IsOldSchema(document)) continue;
    // Backwards: what stands behind a place moves.
    std::vector<OldSpelling> found = Upgrade(document);
    for (const OldSpelling& one : std::views::reverse(found)) {
      if (ReplaceIn(lines, one)) continue;
      return BadText(file, one.place,
                     fmt::format("expected {} as a plain word, which can be "
                                 "replaced by {}",
                                 one.old_name, one.new_name));
    }
  }
  std::string upgraded;
  for (const std::string& line : lines) upgraded += line;
  return upgraded;
}

std::string_view NewNameOfKey(std::string_view map, std::string_view key) {
  for (const RenamedKey& one : kKeys) {
    const size_t dot = one.path.rfind('.');
    const bool is_top = dot == std::string_view::npos;
    const std::string_view parent = is_top ? "" : one.path.substr(0, dot);
    const std::string_view name = is_top ? one.path : one.path.substr(dot + 1);
    const bool is_parameter =
        parent == "faults.with" && map.starts_with("with.");
    if (name == key && (parent == map || is_parameter)) return one.new_name;
  }
  return "";
}

}  // namespace gauntlet
