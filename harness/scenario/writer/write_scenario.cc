#include "harness/scenario/writer/write_scenario.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/job/layer_kinds.h"
#include "engine/text/units.h"
#include "harness/scenario/format/upgrade.h"
#include "harness/scenario/writer/fault_writer.h"
#include "harness/scenario/writer/flow_map.h"
#include "harness/scenario/writer/write_trainer.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

FlowMap DataMap(const DataSpec& data, const DataSpec& base) {
  FlowMap map;
  if (data.kind != base.kind) {
    map.Add("kind", ChoiceName("job.data.kind", data.kind));
  }
  if (data.path != base.path) map.Add("path", QuotedYaml(data.path));
  if (data.validation_path != base.validation_path) {
    map.Add("validation_path", QuotedYaml(data.validation_path));
  }
  map.AddUnless(base.classes, "classes", data.classes);
  map.AddUnless(base.samples, "samples", data.samples);
  map.AddUnless(base.validation_samples, "validation_samples",
                data.validation_samples);
  map.AddUnless(base.side, "side", data.side);
  if (data.shuffle != base.shuffle) {
    map.Add("shuffle", ChoiceName("job.data.shuffle", data.shuffle));
  }
  if (data.shard != base.shard) {
    map.Add("shard", ChoiceName("job.data.shard", data.shard));
  }
  map.AddUnless(base.steps_per_epoch, "steps_per_epoch", data.steps_per_epoch);
  map.AddUnless(base.validation_steps, "validation_steps",
                data.validation_steps);
  return map;
}

FlowMap ScheduleMap(const ScheduleSpec& schedule) {
  const ScheduleSpec base;
  FlowMap map;
  if (schedule.kind != base.kind) {
    map.Add("kind", ChoiceName("job.optimizer.schedule.kind", schedule.kind));
  }
  map.AddUnless(base.warmup, "warmup", schedule.warmup);
  map.AddUnless(base.steps, "steps", schedule.steps);
  map.AddUnless(base.rate, "rate", schedule.rate);
  map.AddUnless(base.staircase, "staircase", schedule.staircase);
  map.AddUnless(base.alpha, "alpha", schedule.alpha);
  if (!schedule.boundaries.empty()) {
    map.Add("boundaries", YamlList(schedule.boundaries));
  }
  if (!schedule.values.empty()) map.Add("values", YamlList(schedule.values));
  return map;
}

FlowMap ClipMap(const ClipSpec& clip) {
  const ClipSpec base;
  FlowMap map;
  if (clip.kind != base.kind) {
    map.Add("by", ChoiceName("job.optimizer.clip.by", clip.kind));
  }
  map.AddUnless(base.limit, "limit", clip.limit);
  return map;
}

FlowMap OptimizerMap(const OptimizerSpec& rule, const OptimizerSpec& base) {
  FlowMap map;
  if (rule.kind != base.kind) {
    map.Add("name", ChoiceName("job.optimizer.name", rule.kind));
  }
  map.AddUnless(base.learning_rate, "lr", rule.learning_rate);
  map.AddUnless(base.momentum, "momentum", rule.momentum);
  map.AddUnless(base.beta1, "beta1", rule.beta1);
  map.AddUnless(base.beta2, "beta2", rule.beta2);
  map.AddUnless(base.epsilon, "epsilon", rule.epsilon);
  // No preset has a schedule or a clip, so there is no default to compare with.
  map.AddMap("schedule", ScheduleMap(rule.schedule));
  map.AddMap("clip", ClipMap(rule.clip));
  return map;
}

std::vector<std::string> LayerTexts(const ModelSpec& model) {
  const LayerSpec base;
  std::vector<std::string> texts;
  for (const LayerSpec& layer : model.layers) {
    FlowMap map;
    const LayerKindInfo& info = InfoOf(layer.kind);
    map.Add("kind", info.name);
    for (const LayerField& field : info.fields) {
      if (field.count != nullptr) {
        map.AddUnless(base.*field.count, field.name, layer.*field.count);
      } else {
        map.AddUnless(base.*field.share, field.name, layer.*field.share);
      }
    }
    texts.push_back(map.Text());
  }
  return texts;
}

FlowMap JobMap(const Case& one, const JobSpec& base) {
  const JobSpec& job = one.train.job;
  FlowMap map;
  if (LayerTexts(job.model) != LayerTexts(base.model)) {
    map.Add("layers", YamlList(LayerTexts(job.model)));
  }
  map.AddUnless(one.seed, "seed", job.seed);
  map.AddMap("data", DataMap(job.data, base.data));
  map.AddMap("optimizer", OptimizerMap(job.optimizer, base.optimizer));
  map.AddUnless(uint64_t{3}, "epochs", one.train.horizon.epochs);
  map.AddIf("max_steps", one.train.horizon.max_steps);
  map.AddUnless(uint64_t{1}, "steps_per_execution",
                one.train.steps_per_execution);
  if (one.train.on_not_finite == OnNotFinite::kStop) {
    map.Add("stop_on_nan", "true");
  }
  map.AddUnless(base.batch, "batch", job.batch);
  map.AddUnless(base.accumulate, "accumulate", job.accumulate);
  map.AddUnless(one.cluster.workers, "replicas", job.replicas);
  if (job.remainder != base.remainder) {
    map.Add("remainder", ChoiceName("job.remainder", job.remainder));
  }
  return map;
}

std::string BeforeText(const Case& one) {
  if (!one.before) return "";
  const EarlierSetup base;
  FlowMap map;
  map.AddUnless(base.workers, "workers", one.before->workers);
  map.AddUnless(base.epochs, "epochs", one.before->epochs);
  map.AddUnless(base.steps_per_epoch, "steps_per_epoch",
                one.before->steps_per_epoch);
  return map.Text();
}

std::vector<std::string> LaunchTexts(const std::vector<LaunchSetup>& launches) {
  std::vector<std::string> texts;
  for (const LaunchSetup& launch : launches) {
    FlowMap map;
    map.AddIf("epochs", launch.epochs);
    map.AddIf("max_steps", launch.max_steps);
    map.AddIf("stop_at_step", launch.stop_at_step);
    map.AddIf("lr", launch.learning_rate);
    map.AddIf("batch", launch.batch);
    texts.push_back(map.Text());
  }
  return texts;
}

FlowMap ClusterMap(const Case& one) {
  const Case base;
  const ClusterSetup& cluster = one.cluster;
  const ClusterOptions& options = one.train.cluster;
  const ClusterOptions& usual = base.train.cluster;
  FlowMap map;
  map.AddUnless(base.cluster.workers, "workers", cluster.workers);
  map.AddUnless(base.cluster.min_workers, "min_workers", cluster.min_workers);
  if (!cluster.workers_per_attempt.empty()) {
    map.Add("workers_per_attempt", YamlList(cluster.workers_per_attempt));
  }
  const DeviceKind device = one.train.kernels.device;
  if (device != base.train.kernels.device) {
    map.Add("device", ChoiceName("cluster.device", device));
  }
  std::vector<std::string> devices;
  for (const DeviceKind of_incarnation : one.train.kernels.device_per_attempt) {
    devices.emplace_back(DeviceKindName(of_incarnation));
  }
  if (!devices.empty()) map.Add("device_per_attempt", YamlList(devices));
  if (cluster.transport != base.cluster.transport) {
    map.Add("transport", ChoiceName("cluster.transport", cluster.transport));
  }
  if (cluster.hosts != base.cluster.hosts) {
    map.Add("topology", ChoiceName("cluster.topology", cluster.hosts));
  }
  const NetworkLatency& link = cluster.link;
  const NetworkLatency& usual_link = base.cluster.link;
  FlowMap link_map;
  link_map.AddUnless(usual_link.one_way.min, "latency", link.one_way.min);
  link_map.AddUnless(usual_link.one_way.max - usual_link.one_way.min, "jitter",
                     link.one_way.max - link.one_way.min);
  if (link.bytes_per_second != usual_link.bytes_per_second) {
    link_map.Add("bandwidth", fmt::format("{}B", link.bytes_per_second));
  }
  map.AddMap("link", link_map);
  map.AddUnless(base.cluster.step_time, "step_time", cluster.step_time);
  if (options.collective != usual.collective) {
    map.Add("collective", ChoiceName("cluster.collective", options.collective));
  }
  FlowMap heartbeat;
  heartbeat.AddUnless(usual.heartbeat_every, "every", options.heartbeat_every);
  heartbeat.AddUnless(usual.lost_after, "lost_after", options.lost_after);
  map.AddMap("heartbeat", heartbeat);
  map.AddUnless(usual.step_timeout, "step_timeout", options.step_timeout);
  map.AddUnless(usual.save_timeout, "save_timeout", options.save_timeout);
  map.AddUnless(base.cluster.start_timeout, "start_timeout",
                cluster.start_timeout);
  FlowMap restart;
  if (cluster.policy != base.cluster.policy) {
    restart.Add("policy", ChoiceName("cluster.restart.policy", cluster.policy));
  }
  restart.AddUnless(base.cluster.max_restarts, "max", cluster.max_restarts);
  restart.AddUnless(base.cluster.backoff, "backoff", cluster.backoff);
  map.AddMap("restart", restart);
  return map;
}

std::string TriggerText(const SaveTrigger& trigger) {
  switch (trigger.unit) {
    case SaveUnit::kNone:
      return "never";
    case SaveUnit::kSteps:
      return fmt::format("{{steps: {}}}", trigger.every);
    case SaveUnit::kEpochs:
      return fmt::format("{{epochs: {}}}", trigger.every);
    case SaveUnit::kSeconds:
      return fmt::format("{{seconds: {}}}", trigger.every);
  }
  return "";
}

FlowMap OutputsMap(const OutputSetup& outputs) {
  const OutputSetup base;
  FlowMap map;
  map.AddUnless(base.curve_every, "curves_every", outputs.curve_every);
  map.AddUnless(base.exports, "export", outputs.exports);
  return map;
}

FlowMap CheckpointMap(const Case& one) {
  const CheckpointOptions& checkpoint = one.train.checkpoint;
  const CheckpointOptions base;
  FlowMap map;
  if (one.store != StoreChoice::kOwn) {
    map.Add("directory", ChoiceName("checkpoint.directory", one.store));
  }
  if (TriggerText(checkpoint.trigger) != TriggerText(base.trigger)) {
    map.Add("every", TriggerText(checkpoint.trigger));
  }
  if (checkpoint.mode != base.mode) {
    map.Add("mode", ChoiceName("checkpoint.mode", checkpoint.mode));
  }
  map.AddUnless(base.shards, "shards", checkpoint.shards);
  map.AddUnless(base.keep, "keep", checkpoint.keep);
  map.AddUnless(base.keep_every_hours, "keep_every_hours",
                checkpoint.keep_every_hours);
  if (checkpoint.at_success != base.at_success) {
    map.Add("on_success",
            ChoiceName("checkpoint.on_success", checkpoint.at_success));
  }
  map.AddUnless(base.allow_cold_start, "allow_cold_start",
                checkpoint.allow_cold_start);
  return map;
}

FlowMap ExpectMap(const Expectation& expect) {
  FlowMap map;
  map.Add("outcome", OutcomeName(expect.outcome));
  if (!expect.invariants.empty()) {
    map.Add("invariants", QuotedYamlList(expect.invariants));
  }
  const auto add = [&](std::string_view key, std::string_view limit,
                       const auto& value) {
    FlowMap inner;
    inner.AddIf(limit, value);
    map.AddMap(key, inner);
  };
  FlowMap restarts;
  restarts.AddIf("exactly", expect.restarts_exactly);
  restarts.AddIf("max", expect.restarts_max);
  map.AddMap("restarts", restarts);
  add("resumed_from", "step", expect.resumed_from_step);
  add("recomputed_steps", "max", expect.recomputed_steps_max);
  std::optional<std::string> detected;
  if (expect.detected_in_max_ns) {
    detected = DurationToText(Duration(*expect.detected_in_max_ns));
  }
  add("detected_in", "max", detected);
  add("failed_saves", "exactly", expect.failed_saves_exactly);
  FlowMap end;
  end.AddIf("epoch", expect.ends_at_epoch);
  end.AddIf("step", expect.ends_at_step);
  map.AddMap("ends_at", end);
  add("saves", "exactly", expect.saves_exactly);
  if (expect.checkpoints_left) {
    map.Add("checkpoints", YamlList(*expect.checkpoints_left));
  }
  add("epochs_after_restart", "exactly", expect.epochs_after_restart_exactly);
  if (expect.loss_falls) map.Add("loss", "falls");
  if (expect.accuracy_rises) map.Add("accuracy", "rises");
  map.AddIf("exit_code", expect.exit_code);
  return map;
}

// Returns the first preset that has the layers and the optimizer of the job; if
// there is none, the first that has the layers; else "tiny".
std::string PresetFor(const JobSpec& job) {
  const std::string json = JobToJson(job, {});
  std::string with_model;
  for (const PresetInfo& info : AllPresets()) {
    const Result<JobSpec> preset = PresetJob(info.name);
    if (!preset.ok()) continue;
    JobSpec same = job;
    same.model = preset->model;
    if (JobToJson(same, {}) != json) continue;
    same.optimizer = preset->optimizer;
    if (JobToJson(same, {}) == json) return std::string(info.name);
    if (with_model.empty()) with_model = info.name;
  }
  return with_model.empty() ? "tiny" : with_model;
}

void AppendComment(std::string_view title, std::string_view body,
                   std::string& text) {
  std::string_view lead = title;
  while (!body.empty()) {
    const size_t end = body.find('\n');
    text += fmt::format("# {:<7} {}\n", lead, body.substr(0, end));
    lead = "";
    if (end == std::string_view::npos) break;
    body.remove_prefix(end + 1);
  }
}

FlowMap DiskMap(const Case& one) {
  FlowMap map;
  if (one.disk != Case().disk) {
    map.Add("profile", ChoiceName("disk.profile", one.disk));
  }
  if (one.disk_capacity != Case().disk_capacity) {
    map.Add("capacity", fmt::format("{}B", one.disk_capacity));
  }
  return map;
}

FlowMap PreemptionMap(const Case& one) {
  const PreemptionOptions& preemption = one.train.preemption;
  FlowMap map;
  const PreemptionOptions base;
  map.AddUnless(base.grace, "grace", preemption.grace);
  map.AddUnless(base.poll_every, "poll_every", preemption.poll_every);
  map.AddUnless(ClusterSetup().max_requeues, "requeue",
                one.cluster.max_requeues);
  return map;
}

FlowMap NeedsMap(const Requirements& needs) {
  FlowMap map;
  map.AddUnless(0, "gpus", needs.gpus);
  if (needs.disk_bytes != 0) {
    map.Add("disk", fmt::format("{}B", needs.disk_bytes));
  }
  if (!needs.features.empty())
    map.Add("features", QuotedYamlList(needs.features));
  return map;
}

FlowMap TimeoutMap(const Timeouts& timeouts) {
  const Timeouts base;
  FlowMap map;
  map.AddUnless(base.slow, "slow", timeouts.slow);
  const auto add = [&map](std::string_view key,
                          const std::optional<Duration>& limit) {
    if (limit) map.Add(key, DurationToText(*limit));
  };
  add("hang", timeouts.hang);
  add("total", timeouts.total);
  return map;
}

std::vector<std::string> BugNames(const std::vector<PlantedBug>& bugs) {
  std::vector<std::string> names;
  for (const PlantedBug bug : bugs) names.emplace_back(InfoOf(bug).name);
  return names;
}

std::string HeadText(const Case& one, const ScenarioHeader& header) {
  std::string text;
  AppendComment("Goal:", header.goal, text);
  AppendComment("Method:", header.method, text);
  AppendComment("Expect:", header.expect, text);
  return text + fmt::format("schema: {}\nname: {}\n", kScenarioSchema,
                            QuotedYaml(one.scenario));
}

// REQUIRES: the case has a trainer.
std::string TrainerDocument(const Case& one, const ScenarioHeader& header) {
  std::string text = HeadText(one, header);
  const auto map = [&text](std::string_view key, const FlowMap& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", key, value.Text());
  };
  if (!one.labels.empty()) {
    text += fmt::format("labels: {}\n", QuotedYamlList(one.labels));
  }
  map("requires", NeedsMap(one.needs));
  map("timeout", TimeoutMap(one.timeouts));
  return text + TrainerToYaml(*one.trainer) + "expect: {outcome: recovers}\n";
}

std::string Document(const Case& one, const ScenarioHeader& header) {
  if (one.trainer) return TrainerDocument(one, header);
  const std::string preset = PresetFor(one.train.job);
  std::string text = HeadText(one, header);
  const auto line = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{}: {}\n", key, value);
  };
  const auto map = [&](std::string_view key, const FlowMap& value) {
    if (!value.empty()) line(key, value.Text());
  };
  if (!one.labels.empty()) line("labels", QuotedYamlList(one.labels));
  line("preset", preset);
  if (one.seed != 1) line("seed", std::to_string(one.seed));
  map("requires", NeedsMap(one.needs));
  map("timeout", TimeoutMap(one.timeouts));
  map("job", JobMap(one, *PresetJob(preset)));
  if (one.before) line("warm_start", BeforeText(one));
  if (!one.launches.empty()) {
    line("launches", YamlList(LaunchTexts(one.launches)));
  }
  map("cluster", ClusterMap(one));
  map("checkpoint", CheckpointMap(one));
  map("outputs", OutputsMap(one.outputs));
  map("preemption", PreemptionMap(one));
  map("disk", DiskMap(one));
  if (!one.plan.bugs.empty())
    line("planted_bugs", YamlList(BugNames(one.plan.bugs)));
  if (!one.plan.faults.empty()) text += "faults:\n";
  for (const Fault& fault : one.plan.faults) text += FaultToYaml(fault);
  line("expect", ExpectMap(one.expect).Text());
  return text;
}

// Returns the parts of a case that DescribeCaseDifference compares, as text.
std::vector<std::pair<std::string_view, std::string>> PartsOf(const Case& one) {
  return {
      {"labels", YamlList(one.labels)},
      {"seed", std::to_string(one.seed)},
      {"requires", NeedsMap(one.needs).Text()},
      {"timeout", TimeoutMap(one.timeouts).Text()},
      {"warm_start", BeforeText(one)},
      {"launches", YamlList(LaunchTexts(one.launches))},
      {"cluster", ClusterMap(one).Text()},
      {"disk", DiskMap(one).Text()},
      {"checkpoint", CheckpointMap(one).Text()},
      {"outputs", OutputsMap(one.outputs).Text()},
      {"training", TrainOptionsToJson(one.train)},
      {"seed of the faults", std::to_string(one.plan.seed)},
      {"faults", PlanToJson(one.plan)},
      {"expect", ExpectMap(one.expect).Text()},
      {"trainer", one.trainer ? TrainerToYaml(*one.trainer) : ""},
  };
}

// Returns a piece of the text around its first difference from another text.
std::string Excerpt(const std::string& text, size_t difference) {
  constexpr size_t kBefore = 30;
  constexpr size_t kLength = 80;
  const size_t begin = difference > kBefore ? difference - kBefore : 0;
  return text.substr(std::min(begin, text.size()), kLength);
}

}  // namespace

Result<std::string> WriteScenario(const Case& one,
                                  const ScenarioHeader& header) {
  RETURN_IF_ERROR(Validate(one.plan));
  std::string text = Document(one, header);
  const LoadedFile loaded = LoadScenarios(text, one.scenario + ".yaml");
  if (!loaded.errors.empty()) {
    const Diagnostic& first = loaded.errors.front();
    return InvalidArgument(fmt::format("{}: the scenario cannot say this: {}",
                                       one.name, first.message));
  }
  const std::string difference =
      DescribeCaseDifference(one, loaded.cases.at(0));
  if (!difference.empty()) {
    return InvalidArgument(fmt::format("{}: the scenario cannot say this: {}",
                                       one.name, difference));
  }
  return text;
}

std::string DescribeCaseDifference(const Case& a, const Case& b) {
  const auto left = PartsOf(a);
  const auto right = PartsOf(b);
  for (size_t i = 0; i < left.size(); ++i) {
    const auto& [name, text] = left[i];
    const std::string& other = right[i].second;
    if (text == other) continue;
    const auto [at, there] = std::ranges::mismatch(text, other);
    const auto where = static_cast<size_t>(at - text.begin());
    return fmt::format("{}: {}, then {}", name, Excerpt(text, where),
                       Excerpt(other, where));
  }
  return "";
}

}  // namespace gauntlet
