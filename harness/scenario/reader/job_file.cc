#include "harness/scenario/reader/job_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/format/upgrade.h"
#include "harness/scenario/reader/read_setup.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 7> kTopKeys = {
    "schema", "preset", "seed", "job", "cluster", "preemption", "checkpoint"};

// Keys of scenarios that have no effect on the job itself, only on the harness.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6>
    kKeysOfHarness = {{{"cluster", "workers_per_attempt"},
                       {"cluster", "device_per_attempt"},
                       {"cluster", "topology"},
                       {"cluster", "link"},
                       {"cluster", "step_time"},
                       {"preemption", "requeue"}}};

void RefuseKeysOfHarness(const YamlNode& document, Diagnostics& diagnostics) {
  const std::vector<std::string> known = KeysOf("");
  for (const YamlEntry& entry : document.entries) {
    // A key that scenarios do not have either is unknown; other code reports
    // it.
    if (std::ranges::find(known, entry.key) == known.end()) continue;
    if (std::ranges::find(kTopKeys, entry.key) != kTopKeys.end()) continue;
    diagnostics.Error(
        entry.place,
        fmt::format("'{}' is of scenarios, not of jobs", entry.key),
        fmt::format("one of {}", fmt::join(kTopKeys, ", ")));
  }
  for (const auto& [map, key] : kKeysOfHarness) {
    const YamlNode* const node = document.Find(map);
    if (node == nullptr || node->Find(key) == nullptr) continue;
    diagnostics.Error(
        node->Find(key)->place,
        fmt::format("'{}.{}' is of scenarios, not of jobs", map, key));
  }
}

YamlEntry& EntryOf(YamlNode& map, const std::string& key) {
  for (YamlEntry& entry : map.entries) {
    if (entry.key == key) return entry;
  }
  YamlEntry entry = {.key = key, .place = map.place, .value = {}};
  entry.value.place = map.place;
  return map.entries.emplace_back(std::move(entry));
}

void SetScalar(YamlNode& map, const std::string& key, std::string value) {
  YamlNode& node = EntryOf(map, key).value;
  const Place place = node.place;
  node = {.kind = YamlKind::kScalar,
          .place = place,
          .scalar = std::move(value),
          .items = {},
          .entries = {}};
}

// Sets a key in the map with the name `map`; creates the map if it is missing.
// If another value than a map has that name, changes nothing: its reader
// reports the error.
void SetIn(YamlNode& document, const std::string& map, const std::string& key,
           const std::optional<int>& value) {
  if (!value) return;
  YamlNode& node = EntryOf(document, map).value;
  if (node.kind == YamlKind::kNothing) node.kind = YamlKind::kMap;
  if (node.kind == YamlKind::kMap) SetScalar(node, key, std::to_string(*value));
}

void Apply(const JobFileOverrides& overrides, YamlNode& document) {
  if (overrides.preset) SetScalar(document, "preset", *overrides.preset);
  SetIn(document, "cluster", "workers", overrides.workers);
  SetIn(document, "job", "replicas", overrides.replicas);
}

// Returns the cluster of a run of `gauntlet train` whose job file is empty.
ClusterSetup DefaultCluster() {
  const LauncherOptions launcher;
  return {.workers = launcher.workers,
          .policy = launcher.restart,
          .max_restarts = launcher.max_restarts,
          .backoff = launcher.backoff,
          .start_timeout = launcher.start_timeout};
}

JobFile ReadDocument(const YamlNode& document, Diagnostics& diagnostics) {
  Case one;
  one.train = TrainOptions();
  one.train.checkpoint.keep_every_hours = kTrainKeepEveryHours;
  one.cluster = DefaultCluster();
  const MapReader reader(&document, "", diagnostics);
  std::string schema;
  reader.Choice("schema", schema);
  reader.Count("seed", one.seed);
  ReadSetup(reader, one, diagnostics);
  JobFile read = {.train = one.train, .launcher = LauncherOf(one.cluster)};
  reader.Choice("preset", read.preset);
  const MapReader job = reader.Map("job");
  if (reader.Map("cluster").Find("workers") != nullptr) {
    read.workers = one.cluster.workers;
  }
  if (job.Find("replicas") != nullptr) read.replicas = one.train.job.replicas;
  if (job.Find("epochs") != nullptr) read.epochs = one.train.horizon.epochs;
  read.has_checkpoint = reader.Find("checkpoint") != nullptr;
  return read;
}

}  // namespace

Result<JobFile> ParseJobFile(std::string_view text, std::string_view file,
                             const JobFileOverrides& overrides) {
  Diagnostics diagnostics;
  std::vector<YamlNode> documents = ParseYaml(text, diagnostics);
  if (diagnostics.empty() && documents.size() != 1) {
    diagnostics.Error(
        documents.size() > 1 ? documents[1].place : Place{},
        fmt::format("expected one document, found {}", documents.size()));
  }
  if (diagnostics.empty() && documents[0].kind != YamlKind::kMap) {
    diagnostics.Error(
        documents[0].place,
        fmt::format("expected a map, found {}", DescribeYaml(documents[0])));
  }
  if (!diagnostics.empty()) return ToStatus(diagnostics, file);
  if (MayBeOld(documents[0])) Upgrade(documents[0], diagnostics);
  if (!diagnostics.empty()) return ToStatus(diagnostics, file);
  RefuseKeysOfHarness(documents[0], diagnostics);
  Apply(overrides, documents[0]);
  JobFile read = ReadDocument(documents[0], diagnostics);
  if (!diagnostics.empty()) return ToStatus(diagnostics, file);
  return read;
}

Result<JobFile> ReadJobFile(Storage& storage, const std::string& path,
                            const JobFileOverrides& overrides) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, path, kMaxScenarioBytes));
  return ParseJobFile(text, path, overrides);
}

}  // namespace gauntlet
