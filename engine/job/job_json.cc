#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/job.h"
#include "engine/job/layer_kinds.h"
#include "engine/job/strict_json.h"
#include "engine/numerics.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// Returns the double whose shortest decimal form is that of the float: 0.001f
// is written 0.001, and reading it back gives 0.001f. -0 becomes 0.
double Written(float value) {
  return std::strtod(fmt::format("{}", value + 0.0f).c_str(), nullptr);
}

Json LayerToJson(const LayerSpec& layer) {
  const LayerKindInfo& info = InfoOf(layer.kind);
  Json json = {{"kind", info.name}};
  for (const LayerField& field : info.fields) {
    if (field.count != nullptr) {
      json[std::string(field.name)] = layer.*field.count;
    } else {
      json[std::string(field.name)] = Written(layer.*field.share);
    }
  }
  return json;
}

Json ModelToJson(const ModelSpec& model) {
  Json layers = Json::array();
  for (const LayerSpec& layer : model.layers) {
    layers.push_back(LayerToJson(layer));
  }
  return {{"layers", std::move(layers)},
          {"loss", model.loss == LossKind::kSoftmaxCrossEntropy
                       ? "softmax_cross_entropy"
                       : "mean_squared_error"}};
}

std::string_view DataKindName(DataKind kind) {
  switch (kind) {
    case DataKind::kDigits:
      return "digits";
    case DataKind::kIdx:
      return "idx";
    case DataKind::kCifar10:
      return "cifar10";
    case DataKind::kNpy:
      return "npy";
  }
  return "?";
}

std::string_view ShardPolicyName(ShardPolicy policy) {
  switch (policy) {
    case ShardPolicy::kData:
      return "data";
    case ShardPolicy::kFile:
      return "file";
    case ShardPolicy::kAuto:
      return "auto";
    case ShardPolicy::kOff:
      return "off";
  }
  return "?";
}

Json DataToJson(const DataSpec& data, const Digest& digest) {
  Json json = {{"kind", DataKindName(data.kind)}};
  if (data.kind == DataKind::kDigits) {
    json["samples"] = data.samples;
    json["validation_samples"] = data.validation_samples;
    json["side"] = data.side;
  } else {
    json["path"] = data.path;
    if (!data.validation_path.empty()) {
      json["validation_path"] = data.validation_path;
    }
  }
  if (data.kind == DataKind::kNpy) json["classes"] = data.classes;
  // Leaves out defaults, so that a job written by an older version, which lacks
  // these keys, has the same text.
  if (data.shuffle == Shuffle::kOff) json["shuffle"] = "off";
  if (data.shard != ShardPolicy::kData) {
    json["shard"] = ShardPolicyName(data.shard);
  }
  if (data.steps_per_epoch > 0) {
    json["steps_per_epoch"] = data.steps_per_epoch;
  }
  if (data.validation_steps > 0) {
    json["validation_steps"] = data.validation_steps;
  }
  json["digest"] = digest.ToString();
  return json;
}

Json ScheduleToJson(const ScheduleSpec& schedule) {
  Json json;
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      json = {{"kind", "constant"}};
      break;
    case ScheduleKind::kExponentialDecay:
      json = {{"kind", "exponential_decay"},
              {"steps", schedule.steps},
              {"rate", Written(schedule.rate)},
              {"staircase", schedule.staircase}};
      break;
    case ScheduleKind::kCosineDecay:
      json = {{"kind", "cosine_decay"},
              {"steps", schedule.steps},
              {"alpha", Written(schedule.alpha)}};
      break;
    case ScheduleKind::kPiecewise: {
      Json values = Json::array();
      for (const float value : schedule.values) {
        values.push_back(Written(value));
      }
      json = {{"kind", "piecewise"},
              {"boundaries", schedule.boundaries},
              {"values", std::move(values)}};
      break;
    }
  }
  json["warmup"] = schedule.warmup;
  return json;
}

std::string_view ClipName(ClipKind kind) {
  switch (kind) {
    case ClipKind::kNone:
      return "none";
    case ClipKind::kValue:
      return "value";
    case ClipKind::kNorm:
      return "norm";
    case ClipKind::kGlobalNorm:
      return "global_norm";
  }
  return "unknown";
}

Json OptimizerToJson(const OptimizerSpec& optimizer) {
  Json json;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      json = {{"kind", "sgd"},
              {"learning_rate", Written(optimizer.learning_rate)},
              {"momentum", Written(optimizer.momentum)}};
      break;
    case OptimizerKind::kAdam:
      json = {{"kind", "adam"},
              {"learning_rate", Written(optimizer.learning_rate)},
              {"beta1", Written(optimizer.beta1)},
              {"beta2", Written(optimizer.beta2)},
              {"epsilon", Written(optimizer.epsilon)}};
      break;
  }
  // Defaults are left out.
  const ScheduleSpec& schedule = optimizer.schedule;
  if (schedule.kind != ScheduleKind::kConstant || schedule.warmup > 0) {
    json["schedule"] = ScheduleToJson(schedule);
  }
  if (optimizer.clip.kind != ClipKind::kNone) {
    json["clip"] = {{"kind", ClipName(optimizer.clip.kind)},
                    {"limit", Written(optimizer.clip.limit)}};
  }
  return json;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LayerSpec> LayerFromJson(const Json& json, const std::string& path) {
  JsonFields fields(json, path);
  std::vector<std::pair<std::string_view, LayerKind>> names;
  for (const LayerKindInfo& info : AllLayerKinds()) {
    names.emplace_back(info.name, info.kind);
  }
  LayerSpec layer;
  layer.kind = fields.ChoiceAmong("kind", names);
  for (const LayerField& field : InfoOf(layer.kind).fields) {
    if (field.count != nullptr) {
      layer.*field.count =
          static_cast<int>(fields.Integer(field.name, 1, kMaxInt));
    } else {
      layer.*field.share = fields.Float(field.name);
    }
  }
  RETURN_IF_ERROR(fields.Finish());
  return layer;
}

Result<ModelSpec> ModelFromJson(const Json& json) {
  JsonFields fields(json, "model");
  ModelSpec model;
  const Json& layers = fields.Any("layers");
  model.loss = fields.Choice<LossKind>(
      "loss", {{"softmax_cross_entropy", LossKind::kSoftmaxCrossEntropy},
               {"mean_squared_error", LossKind::kMeanSquaredError}});
  RETURN_IF_ERROR(fields.Finish());
  if (!layers.is_array()) {
    return InvalidArgument("model.layers: expected a list of layers");
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    ASSIGN_OR_RETURN(
        model.layers.emplace_back(),
        LayerFromJson(layers[i], fmt::format("model.layers[{}]", i)));
  }
  return model;
}

// Reads the keys that are written only if their values are not the defaults.
void ReadSampling(JsonFields& fields, DataSpec& data) {
  if (fields.Maybe("shuffle") != nullptr) {
    data.shuffle = fields.Choice<Shuffle>("shuffle", {{"off", Shuffle::kOff}});
  }
  if (fields.Maybe("shard") != nullptr) {
    data.shard =
        fields.Choice<ShardPolicy>("shard", {{"file", ShardPolicy::kFile},
                                             {"auto", ShardPolicy::kAuto},
                                             {"off", ShardPolicy::kOff}});
  }
  for (const auto& [key, steps] :
       {std::pair{"steps_per_epoch", &data.steps_per_epoch},
        std::pair{"validation_steps", &data.validation_steps}}) {
    if (fields.Maybe(key) == nullptr) continue;
    *steps = static_cast<int>(fields.Integer(key, 1, kMaxInt));
  }
}

Result<DataSpec> DataFromJson(const Json& json) {
  JsonFields fields(json, "data");
  DataSpec data;
  data.kind = fields.Choice<DataKind>("kind", {{"digits", DataKind::kDigits},
                                               {"idx", DataKind::kIdx},
                                               {"cifar10", DataKind::kCifar10},
                                               {"npy", DataKind::kNpy}});
  if (data.kind != DataKind::kDigits) {
    data.path = fields.String("path");
    if (fields.Maybe("validation_path") != nullptr) {
      data.validation_path = fields.String("validation_path");
    }
    if (data.kind == DataKind::kNpy) {
      data.classes = static_cast<int>(fields.Integer("classes", 1, kMaxInt));
    }
  } else {
    data.samples = static_cast<int>(fields.Integer("samples", 1, kMaxInt));
    data.validation_samples =
        static_cast<int>(fields.Integer("validation_samples", 1, kMaxInt));
    data.side = static_cast<int>(fields.Integer("side", 1, kMaxInt));
  }
  ReadSampling(fields, data);
  const std::string digest = fields.String("digest");
  RETURN_IF_ERROR(fields.Finish());
  if (!Digest::Parse(digest)) {
    return InvalidArgument("data.digest: expected 32 lower-case hex digits");
  }
  return data;
}

Status PiecewiseFromJson(JsonFields& fields, ScheduleSpec& schedule) {
  const Json& boundaries = fields.Any("boundaries");
  const Json& values = fields.Any("values");
  if (!boundaries.is_array() || !values.is_array()) {
    return InvalidArgument(
        "optimizer.schedule: expected lists of boundaries and values");
  }
  for (const Json& boundary : boundaries) {
    if (!boundary.is_number_unsigned()) {
      return InvalidArgument(
          "optimizer.schedule.boundaries: expected whole numbers");
    }
    schedule.boundaries.push_back(boundary.get<uint64_t>());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Json one = {{"value", values[i]}};
    JsonFields field(one, fmt::format("optimizer.schedule.values[{}]", i));
    schedule.values.push_back(field.Float("value"));
    RETURN_IF_ERROR(field.Finish());
  }
  return OkStatus();
}

Result<ScheduleSpec> ScheduleFromJson(const Json& json) {
  JsonFields fields(json, "optimizer.schedule");
  ScheduleSpec schedule;
  schedule.kind = fields.Choice<ScheduleKind>(
      "kind", {{"constant", ScheduleKind::kConstant},
               {"exponential_decay", ScheduleKind::kExponentialDecay},
               {"cosine_decay", ScheduleKind::kCosineDecay},
               {"piecewise", ScheduleKind::kPiecewise}});
  if (schedule.kind == ScheduleKind::kExponentialDecay ||
      schedule.kind == ScheduleKind::kCosineDecay) {
    schedule.steps = fields.Unsigned("steps");
  }
  if (schedule.kind == ScheduleKind::kExponentialDecay) {
    schedule.rate = fields.Float("rate");
    schedule.staircase = fields.Flag("staircase");
  }
  if (schedule.kind == ScheduleKind::kCosineDecay) {
    schedule.alpha = fields.Float("alpha");
  }
  if (schedule.kind == ScheduleKind::kPiecewise) {
    RETURN_IF_ERROR(PiecewiseFromJson(fields, schedule));
  }
  schedule.warmup = fields.Unsigned("warmup");
  RETURN_IF_ERROR(fields.Finish());
  return schedule;
}

Result<ClipSpec> ClipFromJson(const Json& json) {
  JsonFields fields(json, "optimizer.clip");
  ClipSpec clip;
  clip.kind =
      fields.Choice<ClipKind>("kind", {{"value", ClipKind::kValue},
                                       {"norm", ClipKind::kNorm},
                                       {"global_norm", ClipKind::kGlobalNorm}});
  clip.limit = fields.Float("limit");
  RETURN_IF_ERROR(fields.Finish());
  return clip;
}

Result<OptimizerSpec> OptimizerFromJson(const Json& json) {
  JsonFields fields(json, "optimizer");
  OptimizerSpec optimizer;
  optimizer.kind = fields.Choice<OptimizerKind>(
      "kind", {{"sgd", OptimizerKind::kSgd}, {"adam", OptimizerKind::kAdam}});
  optimizer.learning_rate = fields.Float("learning_rate");
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      optimizer.momentum = fields.Float("momentum");
      break;
    case OptimizerKind::kAdam:
      optimizer.beta1 = fields.Float("beta1");
      optimizer.beta2 = fields.Float("beta2");
      optimizer.epsilon = fields.Float("epsilon");
      break;
  }
  const Json* schedule = fields.Maybe("schedule");
  const Json* clip = fields.Maybe("clip");
  RETURN_IF_ERROR(fields.Finish());
  if (schedule != nullptr) {
    ASSIGN_OR_RETURN(optimizer.schedule, ScheduleFromJson(*schedule));
  }
  if (clip != nullptr) {
    ASSIGN_OR_RETURN(optimizer.clip, ClipFromJson(*clip));
  }
  return optimizer;
}

Json StartToJson(const StartSpec& start) {
  Json json = {{"epoch", start.epoch}};
  if (start.weights) json["weights"] = start.weights->ToString();
  return json;
}

Result<StartSpec> StartFromJson(const Json& json) {
  JsonFields fields(json, "start");
  StartSpec start = {.weights = {}, .epoch = fields.Unsigned("epoch")};
  const Json* const weights = fields.Maybe("weights");
  RETURN_IF_ERROR(fields.Finish());
  if (weights == nullptr) return start;
  if (weights->is_string()) {
    start.weights = Digest::Parse(weights->get<std::string>());
  }
  if (!start.weights) {
    return InvalidArgument("start.weights: expected 32 lower-case hex digits");
  }
  return start;
}

Result<std::vector<std::string>> SavedFromJson(const Json& json) {
  std::vector<std::string> saved;
  const bool is_list = json.is_array() && !json.empty();
  for (const Json& name : is_list ? json : Json::array()) {
    if (name.is_string()) saved.push_back(name.get<std::string>());
  }
  if (is_list && saved.size() == json.size()) return saved;
  return InvalidArgument("saved: expected a list of names");
}

Result<std::map<std::string, std::map<std::string, std::string>>>
CallbacksFromJson(const Json& json) {
  std::map<std::string, std::map<std::string, std::string>> callbacks;
  bool valid = json.is_object() && !json.empty();
  for (const auto& [name, options] : json.items()) {
    valid = valid && options.is_object();
    if (!valid) break;
    std::map<std::string, std::string>& read = callbacks[name];
    for (const auto& [option, value] : options.items()) {
      valid = valid && value.is_string();
      if (valid) read[option] = value.get<std::string>();
    }
  }
  if (valid) return callbacks;
  return InvalidArgument(
      "callbacks: expected an object of options that are strings for each "
      "callback");
}

Result<JobSpec> JobFromObject(const Json& json) {
  JsonFields fields(json, "");
  JobSpec job;
  const Json& model = fields.Any("model");
  const Json& data = fields.Any("data");
  const Json& optimizer = fields.Any("optimizer");
  job.replicas = static_cast<int>(fields.Integer("replicas", 1, kMaxInt));
  job.batch = static_cast<int>(fields.Integer("batch", 1, kMaxInt));
  if (fields.Maybe("accumulate") != nullptr) {
    job.accumulate = static_cast<int>(fields.Integer("accumulate", 2, kMaxInt));
  }
  job.seed = fields.Unsigned("seed");
  job.remainder = fields.Choice<Remainder>(
      "remainder", {{"drop", Remainder::kDrop}, {"keep", Remainder::kKeep}});
  const Json* const start = fields.Maybe("start");
  const Json* const saved = fields.Maybe("saved");
  const Json* const callbacks = fields.Maybe("callbacks");
  RETURN_IF_ERROR(fields.Finish());
  if (start != nullptr) {
    ASSIGN_OR_RETURN(job.start, StartFromJson(*start));
  }
  if (saved != nullptr) {
    ASSIGN_OR_RETURN(job.saved, SavedFromJson(*saved));
  }
  if (callbacks != nullptr) {
    ASSIGN_OR_RETURN(job.callbacks, CallbacksFromJson(*callbacks));
  }
  ASSIGN_OR_RETURN(job.model, ModelFromJson(model));
  ASSIGN_OR_RETURN(job.data, DataFromJson(data));
  ASSIGN_OR_RETURN(job.optimizer, OptimizerFromJson(optimizer));
  RETURN_IF_ERROR(Validate(job));
  return job;
}

}  // namespace

std::string JobToJson(const JobSpec& job, const Digest& data_digest) {
  Json json = {
      {"model", ModelToJson(job.model)},
      {"data", DataToJson(job.data, data_digest)},
      {"optimizer", OptimizerToJson(job.optimizer)},
      {"replicas", job.replicas},
      {"batch", job.batch},
      {"seed", job.seed},
      {"remainder", job.remainder == Remainder::kDrop ? "drop" : "keep"}};
  if (job.accumulate != 1) json["accumulate"] = job.accumulate;
  if (job.start.weights || job.start.epoch > 0) {
    json["start"] = StartToJson(job.start);
  }
  if (!job.saved.empty()) json["saved"] = job.saved;
  if (!job.callbacks.empty()) json["callbacks"] = job.callbacks;
  return Dump(json);
}

Result<JobSpec> JobFromJson(std::string_view json) {
  ASSIGN_OR_RETURN(const Json value, ParseStrictJson(json, "job"));
  Result<JobSpec> job = JobFromObject(value);
  if (!job.ok()) return Annotate(job.status(), "job");
  return job;
}

Digest JobDigest(std::string_view job_json) {
  std::string text(job_json);
  // Removes the paths of the data, as only the data's contents are part of the
  // job. A text without a path is not parsed, to save time.
  if (text.find("path\":") != std::string::npos) {
    Result<Json> json = ParseStrictJson(job_json, "job");
    if (json.ok() && json->is_object() && json->contains("data") &&
        (*json)["data"].is_object()) {
      (*json)["data"].erase("path");
      (*json)["data"].erase("validation_path");
      text = Dump(*json);
    }
  }
  return DigestOf(fmt::format("{}\nnumerics {}", text, numerics::kVersion));
}

}  // namespace gauntlet
