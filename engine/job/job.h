// The training job: everything that the final bits depend on.
//
// Workers, threads, device, transport, checkpoints and faults are not part of
// the job. The horizon (the number of epochs or steps requested) is not part of
// it either.
#ifndef GAUNTLET_ENGINE_JOB_JOB_H_
#define GAUNTLET_ENGINE_JOB_JOB_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"
#include "engine/status.h"

namespace gauntlet {

// layer_kinds.h has the names and fields of these kinds.
enum class LayerKind : uint8_t {
  kFlatten,
  kDense,
  kRelu,
  kGelu,
  kDropout,
  kConv2D,
  kCenter
};

struct LayerSpec {
  LayerKind kind = LayerKind::kFlatten;
  int units = 0;      // kDense
  float rate = 0.0f;  // kDropout: the share that is zeroed, in [0, 1)
  int filters = 0;    // kConv2D
  int kernel = 0;     // kConv2D: pixels a side
  // kCenter: share of the old moving mean that a step keeps, in [0, 1)
  float momentum = 0.0f;
};

enum class LossKind : uint8_t { kSoftmaxCrossEntropy, kMeanSquaredError };

struct ModelSpec {
  std::vector<LayerSpec> layers;
  LossKind loss = LossKind::kSoftmaxCrossEntropy;
};

enum class OptimizerKind : uint8_t { kSgd, kAdam };

enum class ScheduleKind : uint8_t {
  kConstant,
  kExponentialDecay,
  kCosineDecay,
  kPiecewise,
};

// The learning rate as a function of the update number, counted from 0. During
// the first `warmup` updates the rate rises linearly to the configured one;
// after that it follows `kind`, with updates counted from the end of the
// warm-up. Formulas: engine/numerics/numerics_schedule.h.
struct ScheduleSpec {
  ScheduleKind kind = ScheduleKind::kConstant;
  uint64_t warmup = 0;
  uint64_t steps = 1;  // kExponentialDecay, kCosineDecay: number of updates
  float rate = 1.0f;   // kExponentialDecay: factor per `steps` updates
  // kExponentialDecay: the rate changes only at multiples of `steps`.
  bool staircase = false;
  float alpha = 0.0f;  // kCosineDecay: final rate, as a share of the initial
                       // one
  // kPiecewise: the rate is values[i] up to and including update boundaries[i],
  // and the last value after the last boundary. The configured learning rate is
  // not used.
  std::vector<uint64_t> boundaries;
  std::vector<float> values;
};

enum class ClipKind : uint8_t { kNone, kValue, kNorm, kGlobalNorm };

// Clips the gradient of all replicas before the update. kValue: each element is
// limited to [-limit, limit]. kNorm: each tensor whose Euclidean norm is larger
// than `limit` is scaled down to the norm `limit`. kGlobalNorm: all tensors are
// scaled by one factor, so that their common norm is at most `limit`.
struct ClipSpec {
  ClipKind kind = ClipKind::kNone;
  float limit = 1.0f;
};

struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdam;
  float learning_rate = 0.001f;
  float momentum = 0.0f;  // kSgd
  float beta1 = 0.9f;     // kAdam
  float beta2 = 0.999f;
  float epsilon = 1e-7f;
  ScheduleSpec schedule;
  ClipSpec clip;
};

enum class DataKind : uint8_t { kDigits, kIdx, kCifar10, kNpy };

// Order in which an epoch takes the samples.
enum class Shuffle : uint8_t { kOn, kOff };

// Policy that assigns samples to replicas: see engine/data/sample_schedule.h.
enum class ShardPolicy : uint8_t { kData, kFile, kAuto, kOff };

struct DataSpec {
  DataKind kind = DataKind::kDigits;
  std::string path;               // directory of the files; unused by kDigits
  std::string validation_path;    // directory for validation; empty: `path`
  int classes = 10;               // kNpy: every label is below this number
  int samples = 4096;             // kDigits: for training
  int validation_samples = 1024;  // kDigits: for validation
  // kDigits: width and height in pixels, 28 or 7 (7: each pixel is the mean of
  // 4x4).
  int side = 28;
  Shuffle shuffle = Shuffle::kOn;
  ShardPolicy shard = ShardPolicy::kData;
  int steps_per_epoch = 0;   // 0: as many as the samples allow
  int validation_steps = 0;  // number of global batches; 0: all samples
};

// Treatment of the samples of an epoch that do not fill a global batch.
enum class Remainder : uint8_t { kDrop, kKeep };

// Start of training. The default is epoch 0 with parameters initialized from
// the seed.
struct StartSpec {
  // Digest of the initial weights if the user supplies them (WeightsDigest);
  // nullopt: they are initialized from the seed.
  std::optional<Digest> weights;
  uint64_t epoch = 0;  // number of the first epoch
};

// Maximum number of replicas of a job, and so of workers of a cluster.
inline constexpr int kMaxReplicas = 4096;

// Bounds of a job's other numbers. Validate, scenarios and flags share them.
inline constexpr size_t kMaxLayers = 64;
inline constexpr uint64_t kMaxUpdates = uint64_t{1} << 53;  // of a schedule
inline constexpr int kMaxBatch = 65536;
inline constexpr int kMaxAccumulate = 65536;
inline constexpr int kMaxClasses = 256;  // a label is a byte
// Maximum number of samples of a data set, and of steps of an epoch.
inline constexpr int kMaxSamples = 10'000'000;

struct JobSpec {
  ModelSpec model;
  DataSpec data;
  OptimizerSpec optimizer;
  int replicas = 1;
  int batch = 32;  // samples a replica takes in a step
  // Number of steps whose gradients are averaged for one update.
  int accumulate = 1;
  uint64_t seed = 1;
  Remainder remainder = Remainder::kDrop;
  StartSpec start;
  // Names of the parameters that checkpoints contain, ascending. The others are
  // initialized again in every attempt, so the results depend on this list.
  // Empty: checkpoints contain all parameters.
  std::vector<std::string> saved;
  // Options of the program's callbacks on which their state depends, by
  // callback and option: {"early_stopping": {"monitor": "val_loss"}}. Empty: no
  // callback keeps state.
  std::map<std::string, std::map<std::string, std::string>> callbacks;
};

// Returns the job of a preset, with one replica. preset_run.h has the length of
// the preset's run; presets.cc lists all presets. kInvalidArgument names the
// known presets.
Result<JobSpec> PresetJob(std::string_view name);

struct PresetInfo {
  std::string_view name;
  std::string_view description;
};
std::vector<PresetInfo> AllPresets();

// Returns kInvalidArgument for a job that cannot run. Examples: no layers; a
// convolution after the flatten layer; a dense layer before it; replicas < 1; a
// rate outside [0, 1); an absurd size. The message names field, bounds and
// value.
Status Validate(const JobSpec& job);

// Returns canonical JSON, one line: equal jobs give equal text, and fields that
// a kind does not use (beta1 of SGD) are left out. Floats have the shortest
// form that reads back to the same bits. `data_digest` is the digest of the
// data's content, so a job with a changed file is another job.
std::string JobToJson(const JobSpec& job, const Digest& data_digest);
// Reads the JobSpec from a text that JobToJson returned. Returns
// kInvalidArgument, with the dotted path of the key, for an unknown, missing or
// repeated key, a wrong type, or a value that Validate rejects.
Result<JobSpec> JobFromJson(std::string_view json);
// Returns the digest of the canonical JSON and the numerics version. The paths
// of the data are left out: the data's content is part of the job, its location
// is not.
Digest JobDigest(std::string_view job_json);
// Compares two canonical texts. Returns "optimizer.learning_rate: 0.001 in the
// checkpoint, 0.002 now; …"; "" if the jobs are equal, so that only the
// numerics version can differ. Paths are not compared.
std::string DescribeJobDifference(std::string_view stored_json,
                                  std::string_view present_json);

// Returns true iff the jobs differ only in callbacks, and the stored one
// records none. Either an older version wrote it, or no callback kept state at
// that time. The checkpoint's tensors then show if it has the state of the
// callbacks used now.
bool DiffersOnlyInUnrecordedCallbacks(std::string_view stored_json,
                                      std::string_view present_json);

// A JSON object, and how a message describes its origin.
struct NamedJson {
  std::string_view json;
  std::string_view where;  // "in the checkpoint"
};
// As DescribeJobDifference, for any two JSON objects.
std::string DescribeJsonDifference(const NamedJson& one,
                                   const NamedJson& other);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_JOB_H_
