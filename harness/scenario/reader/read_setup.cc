#include "harness/scenario/reader/read_setup.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/data/dataset.h"
#include "engine/job/layer_kinds.h"
#include "engine/model/model.h"
#include "engine/text/units.h"
#include "harness/scenario/format/keys.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Checks that the samples fit the layers, if the shape of a sample is known
// without reading the data.
Status CheckLayersFit(const JobSpec& job) {
  const std::optional<Dataset> data = DatasetWithoutFiles(job.data);
  if (!data) return OkStatus();
  const Result<std::unique_ptr<Kernels>> kernels = Kernels::Create({});
  // If this machine cannot train, that is not an error of the scenario.
  if (!kernels.ok()) return OkStatus();
  return Model::Build(job.model, data->shape(), data->classes, **kernels)
      .status();
}

void ReadLayerFields(const MapReader& map, LayerSpec& layer) {
  for (const LayerField& field : InfoOf(layer.kind).fields) {
    if (field.count != nullptr) {
      map.Count(field.name, layer.*field.count);
    } else {
      map.Number(field.name, layer.*field.share);
    }
  }
}

// Returns the names of the layer kinds that have the field.
std::vector<std::string_view> KindsWith(std::string_view field) {
  std::vector<std::string_view> kinds;
  for (const LayerKindInfo& info : AllLayerKinds()) {
    if (std::ranges::find(info.fields, field, &LayerField::name) !=
        info.fields.end()) {
      kinds.push_back(info.name);
    }
  }
  return kinds;
}

// Reports fields that only layers of other kinds have.
void CheckLayerFields(const MapReader& map, LayerKind kind) {
  const LayerKindInfo& own = InfoOf(kind);
  for (const std::string& key : KeysOf("job.layers")) {
    const std::vector<std::string_view> kinds = KindsWith(key);
    if (kinds.empty() || map.Find(key) == nullptr ||
        std::ranges::find(kinds, own.name) != kinds.end()) {
      continue;
    }
    map.Error(map.PlaceOf(key),
              fmt::format("a {} layer has no `{}`", own.name, key),
              fmt::format("`{}` is for {}", key, fmt::join(kinds, ", ")));
  }
}

void ReadLayers(const MapReader& job, const Diagnostics& diagnostics,
                std::vector<LayerSpec>& out) {
  if (job.Find("layers") == nullptr) return;
  const size_t errors = diagnostics.size();
  std::vector<LayerSpec> layers;
  for (const MapReader& map : job.Maps("layers", kMaxLayers)) {
    LayerSpec& layer = layers.emplace_back();
    if (map.Find("kind") == nullptr) {
      map.Error(map.PlaceOf("kind"), "expected a `kind` of layer");
    }
    if (!map.Choice("kind", layer.kind)) continue;
    CheckLayerFields(map, layer.kind);
    ReadLayerFields(map, layer);
  }
  if (diagnostics.size() == errors) out = std::move(layers);
}

void ReadData(const MapReader& data, DataSpec& out) {
  data.Choice("kind", out.kind);
  data.Text("path", out.path);
  data.Text("validation_path", out.validation_path);
  data.Count("classes", out.classes);
  data.Count("samples", out.samples);
  data.Count("validation_samples", out.validation_samples);
  data.Count("side", out.side);
  data.Choice("shuffle", out.shuffle);
  data.Choice("shard", out.shard);
  data.Count("steps_per_epoch", out.steps_per_epoch);
  data.Count("validation_steps", out.validation_steps);
}

void ReadSchedule(const MapReader& schedule, ScheduleSpec& out) {
  schedule.Choice("kind", out.kind);
  schedule.Count("warmup", out.warmup);
  schedule.Count("steps", out.steps);
  schedule.Number("rate", out.rate);
  schedule.Flag("staircase", out.staircase);
  schedule.Number("alpha", out.alpha);
  schedule.CountList("boundaries", out.boundaries);
  schedule.NumberList("values", out.values);
}

// Reports parameters that the algorithm does not use.
void CheckOptimizer(const MapReader& optimizer, OptimizerKind kind) {
  const bool adam = kind == OptimizerKind::kAdam;
  for (const char* key : {"momentum", "beta1", "beta2", "epsilon"}) {
    const bool of_sgd = key == std::string_view("momentum");
    if (optimizer.Find(key) == nullptr || of_sgd != adam) continue;
    optimizer.Error(
        optimizer.PlaceOf(key),
        fmt::format("{} is of {}, found {}", key, of_sgd ? "sgd" : "adam",
                    adam ? "adam" : "sgd"));
  }
}

void ReadOptimizer(const MapReader& optimizer, OptimizerSpec& out) {
  optimizer.Choice("name", out.kind);
  CheckOptimizer(optimizer, out.kind);
  optimizer.Number("lr", out.learning_rate);
  optimizer.Number("momentum", out.momentum);
  optimizer.Number("beta1", out.beta1);
  optimizer.Number("beta2", out.beta2);
  optimizer.Number("epsilon", out.epsilon);
  ReadSchedule(optimizer.Map("schedule"), out.schedule);
  const MapReader clip = optimizer.Map("clip");
  clip.Choice("by", out.clip.kind);
  clip.Number("limit", out.clip.limit);
}

// The engine's name for a field of a job, and the key of a scenario.
constexpr std::pair<std::string_view, std::string_view> kFieldKeys[] = {
    {"model.layers", "layers"}, {"optimizer.learning_rate", "optimizer.lr"}};

// Returns the error of a job, with the keys of a scenario.
std::string WithKeys(std::string message) {
  for (const auto& [field, key] : kFieldKeys) {
    if (message.starts_with(field)) message.replace(0, field.size(), key);
  }
  return message;
}

// Returns the place of the key with which the message begins, such as
// "optimizer.lr: …" or "layers[1].kind: …"; if `job` lacks it, that of the
// nearest map or list around it.
Place PlaceOfKey(const YamlNode& job, std::string_view message) {
  const YamlNode* node = &job;
  std::string_view path = message.substr(0, message.find_first_of(": "));
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    const YamlNode* found = nullptr;
    if (path.starts_with('[')) {
      const size_t close = std::min(path.find(']'), path.size());
      const auto index = ParseWholeNumber(path.substr(1, close - 1));
      if (index && *index < node->items.size()) found = &node->items[*index];
      path.remove_prefix(std::min(close + 1, path.size()));
    } else {
      found = node->Find(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (found == nullptr) break;
    node = found;
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return node->place;
}

// Reports the error of a job that the engine refuses, at the key that the
// message names. In a scenario without `job`, the job is that of the preset
// with a replica for each worker, so the number of workers is the reason.
void RefuseJob(const MapReader& document, const std::string& message) {
  const std::string text = WithKeys(message);
  const YamlNode* const job = document.Find("job");
  const YamlNode* const cluster = document.Find("cluster");
  Place place = document.PlaceOf("preset");
  if (job != nullptr) {
    place = PlaceOfKey(*job, text);
  } else if (cluster != nullptr) {
    place = PlaceOfKey(*cluster, "workers: ");
  }
  document.Error(place, fmt::format("job: {}", text));
}

void ReadJob(const MapReader& document, Case& one,
             const Diagnostics& diagnostics) {
  JobSpec& job = one.train.job;
  std::string preset = "tiny";
  document.Choice("preset", preset);
  if (auto base = PresetJob(preset); base.ok()) job = *base;
  job.replicas = one.cluster.workers;
  job.seed = one.seed;

  const MapReader map = document.Map("job");
  if (document.Find("job") != nullptr) one.data_place = map.PlaceOf("data");
  map.Count("seed", job.seed);
  std::string model;
  if (map.Choice("model", model)) {
    if (auto base = PresetJob(model); base.ok()) job.model = base->model;
  }
  ReadLayers(map, diagnostics, job.model.layers);
  ReadData(map.Map("data"), job.data);
  ReadOptimizer(map.Map("optimizer"), job.optimizer);
  map.Count("batch", job.batch);
  map.Count("accumulate", job.accumulate);
  map.Choice("remainder", job.remainder);
  map.Count("replicas", job.replicas);
  map.Count("epochs", one.train.horizon.epochs);
  map.Count("max_steps", one.train.horizon.max_steps);
  map.Count("steps_per_execution", one.train.steps_per_execution);
  bool stop_on_nan = false;
  map.Flag("stop_on_nan", stop_on_nan);
  if (stop_on_nan) one.train.on_not_finite = OnNotFinite::kStop;

  if (one.cluster.workers > job.replicas) {
    map.Error(map.PlaceOf("replicas"),
              fmt::format("{} workers need at least as many replicas, found {}",
                          one.cluster.workers, job.replicas));
  }
  Status status = Validate(job);
  if (status.ok()) status = CheckLayersFit(job);
  if (!status.ok()) RefuseJob(document, status.message());
}

void ReadMembership(const MapReader& map, ClusterSetup& cluster) {
  map.Count("workers", cluster.workers);
  if (map.Count("min_workers", cluster.min_workers) &&
      cluster.min_workers > cluster.workers) {
    map.Error(map.PlaceOf("min_workers"),
              fmt::format("expected at most `workers` ({}), found {}",
                          cluster.workers, cluster.min_workers));
  }
  std::vector<uint64_t> per_attempt;
  if (!map.CountList("workers_per_attempt", per_attempt)) return;
  const auto low = static_cast<uint64_t>(std::max(cluster.min_workers, 1));
  const auto high = static_cast<uint64_t>(cluster.workers);
  if (per_attempt.empty()) {
    map.Error(map.PlaceOf("workers_per_attempt"),
              "expected at least one number");
  }
  for (const uint64_t workers : per_attempt) {
    if (workers < low || workers > high) {
      map.Error(map.PlaceOf("workers_per_attempt"),
                fmt::format("expected numbers from {} to `workers` ({}), found "
                            "{}",
                            low, high, workers));
    }
    cluster.workers_per_attempt.push_back(static_cast<int>(workers));
  }
}

void ReadLink(const MapReader& map, NetworkLatency& out) {
  LatencyRange& one_way = out.one_way;
  Duration jitter = one_way.max - one_way.min;
  map.Time("latency", one_way.min);
  map.Time("jitter", jitter);
  one_way.max = one_way.min + jitter;
  map.Size("bandwidth", out.bytes_per_second);
  if (out.bytes_per_second == 0) {
    map.Error(map.PlaceOf("bandwidth"),
              "expected a bandwidth above 0 bytes per second, found 0");
  }
}

void ReadCluster(const MapReader& document, Case& one) {
  const MapReader map = document.Map("cluster");
  ClusterSetup& cluster = one.cluster;
  ReadMembership(map, cluster);
  map.Choice("device", one.train.kernels.device);
  map.ChoiceList("device_per_attempt", one.train.kernels.device_per_attempt);
  map.Choice("transport", cluster.transport);
  map.Choice("topology", cluster.hosts);
  ReadLink(map.Map("link"), cluster.link);
  map.Time("step_time", cluster.step_time);
  ClusterOptions& options = one.train.cluster;
  const MapReader heartbeat = map.Map("heartbeat");
  heartbeat.Time("every", options.heartbeat_every);
  heartbeat.Time("lost_after", options.lost_after);
  if (options.lost_after <= options.heartbeat_every) {
    heartbeat.Error(heartbeat.PlaceOf("lost_after"),
                    fmt::format("expected lost_after above `every` ({}), and "
                                "that above 0, found {}",
                                DurationToText(options.heartbeat_every),
                                DurationToText(options.lost_after)));
  }
  map.Choice("collective", options.collective);
  map.Time("step_timeout", options.step_timeout);
  map.Time("save_timeout", options.save_timeout);
  map.Time("start_timeout", cluster.start_timeout);
  const MapReader restart = map.Map("restart");
  restart.Choice("policy", cluster.policy);
  options.on_loss = OnLossUnder(cluster.policy);
  restart.Count("max", cluster.max_restarts);
  restart.Time("backoff", cluster.backoff);
}

void ReadTrigger(const MapReader& map, SaveTrigger& out) {
  const YamlNode* node = map.Find("every");
  if (node == nullptr) return;
  if (node->kind == YamlKind::kScalar && node->scalar == "never") {
    out = {SaveUnit::kNone, 1};
    return;
  }
  const bool one = node->kind == YamlKind::kMap && node->entries.size() == 1;
  const std::string unit = one ? node->entries[0].key : "";
  const uint64_t every =
      one ? ParseWholeNumber(node->entries[0].value.scalar).value_or(0) : 0;
  if (unit == "steps") {
    out.unit = SaveUnit::kSteps;
  } else if (unit == "epochs") {
    out.unit = SaveUnit::kEpochs;
  } else if (unit == "seconds") {
    out.unit = SaveUnit::kSeconds;
  } else {
    map.Error(node->place,
              fmt::format("expected {{steps: n}}, {{epochs: n}}, {{seconds: "
                          "n}} or never, found {}",
                          node->kind == YamlKind::kMap ? YamlToText(*node)
                                                       : DescribeYaml(*node)));
    return;
  }
  if (every == 0 || every > (uint64_t{1} << 53)) {
    map.Error(node->entries[0].value.place,
              fmt::format("expected a whole number above 0, found {}",
                          DescribeYaml(node->entries[0].value)));
    return;
  }
  out.every = every;
}

void ReadCheckpoint(const MapReader& document, CheckpointOptions& out) {
  const MapReader map = document.Map("checkpoint");
  ReadTrigger(map, out.trigger);
  map.Choice("mode", out.mode);
  map.Count("shards", out.shards);
  map.Count("keep", out.keep);
  map.Count("keep_every_hours", out.keep_every_hours);
  map.Choice("on_success", out.at_success);
  map.Flag("allow_cold_start", out.allow_cold_start);
}

void ReadOutputs(const MapReader& document, OutputSetup& out) {
  const MapReader map = document.Map("outputs");
  map.Count("curves_every", out.curve_every);
  map.Flag("export", out.exports);
}

void ReadPreemption(const MapReader& document, Case& one) {
  const MapReader preemption = document.Map("preemption");
  preemption.Time("grace", one.train.preemption.grace);
  preemption.Count("requeue", one.cluster.max_requeues);
  preemption.Time("poll_every", one.train.preemption.poll_every);
}

}  // namespace

void ReadSetup(const MapReader& document, Case& one,
               const Diagnostics& diagnostics) {
  ReadCluster(document, one);
  ReadJob(document, one, diagnostics);
  ReadPreemption(document, one);
  document.Map("checkpoint").Choice("directory", one.store);
  ReadCheckpoint(document, one.train.checkpoint);
  ReadOutputs(document, one.outputs);
}

}  // namespace gauntlet
