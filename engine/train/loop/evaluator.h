// The side-car evaluator: evaluates the checkpoints of a store as they appear,
// while a training run writes them. The run does not take part.
//
// The evaluator only reads: it takes no lock, makes no claim, and writes,
// renames or rejects no file. Its result for a checkpoint equals, bit for bit,
// that of the training's own evaluation of the same parameters.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_EVALUATOR_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/ckpt/protocol/store_scan.h"
#include "engine/data/dataset.h"
#include "engine/digest.h"
#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// Metrics of a checkpoint's model on the validation samples.
struct Evaluation {
  std::string checkpoint;  // name
  uint64_t step = 0;
  uint64_t epoch = 0;  // number of fully trained epochs
  float loss = 0.0f;   // mean over samples
  int64_t correct = 0;
  int64_t samples = 0;
};

// A job, and the data to evaluate it on.
struct EvaluatedJob {
  JobSpec job;
  std::string json;  // JobToJson of the job, with the digest of the data
  std::shared_ptr<const DataSplit> data;
};

class Evaluator {
 public:
  struct Source {
    std::string directory;  // of the checkpoints; may not exist yet
    // Returns the job to evaluate, from the job_json of the first checkpoint
    // found.
    std::function<Result<EvaluatedJob>(const std::string& job_json)> job_of;
    KernelOptions kernels;
  };
  // The world outlives it.
  Evaluator(World& world, Source source)
      : world_(&world), source_(std::move(source)) {}

  // Evaluates the oldest checkpoint of the lineage that was not evaluated yet.
  // Returns nullopt if there is none now.
  // - A checkpoint that is retired while it is read is skipped.
  // - A damaged checkpoint is reported and never tried again.
  // - A checkpoint that cannot be read because of a disk error is reported, and
  //   skipped; the next call tries to read it again.
  // - If a later generation has written an already evaluated state again, the
  //   new checkpoint is not evaluated.
  // Permanent errors: kInvalidArgument if the job cannot be evaluated, or the
  // directory has an obstacle (StoreScan); kOtherJob if a checkpoint belongs to
  // another job.
  Result<std::optional<Evaluation>> EvaluateNext();

  const std::string& directory() const { return source_.directory; }

  // True if the last call found no checkpoint.
  bool found_none() const { return found_none_; }
  // True if the last call found that the store, which existed before, was
  // deleted: its run has finished.
  bool store_deleted() const { return store_deleted_; }

  // Returns one line for each checkpoint that was skipped as damaged or
  // unreadable since the last call. No line is returned twice.
  std::vector<std::string> TakeWarnings() {
    return std::exchange(warnings_, {});
  }

 private:
  Status Begin(const std::string& job_json);
  void RecordStoreState(const StoreScan& scan);
  bool IsNew(const ScannedCheckpoint& checkpoint) const;
  Result<std::optional<Evaluation>> Evaluate(
      const ScannedCheckpoint& checkpoint);
  Result<TrainState> Load(const ScannedCheckpoint& checkpoint);
  void SkipCheckpoint(const ScannedCheckpoint& checkpoint, const Status& why);
  void Warn(const std::string& line);

  World* world_;
  Source source_;
  std::optional<EvaluatedJob> job_;  // nullopt: no checkpoint found yet
  JobModel built_;
  std::set<Digest> evaluated_;     // digests of states
  std::set<std::string> damaged_;  // names
  std::set<std::string> reported_;
  std::vector<std::string> warnings_;
  bool store_seen_ = false;
  bool store_deleted_ = false;
  bool found_none_ = false;
};

enum class EvaluatorEnd : uint8_t {
  kReachedLast,   // until_epoch or until_step was evaluated
  kScannedOnce,   // every checkpoint present was evaluated
  kStoreDeleted,  // by its run, which has finished
  kPreempted,     // by a preemption notice
};

struct EvaluatorLoop {
  enum class Scans : uint8_t { kOnce, kRepeated };
  Scans scans = Scans::kRepeated;
  Duration every = std::chrono::seconds(1);
  // The loop ends once a checkpoint at or after this epoch or step was
  // evaluated, and in any case once the store is deleted.
  std::optional<uint64_t> until_epoch;
  std::optional<uint64_t> until_step;
};

class EvaluationReporter {
 public:
  virtual ~EvaluationReporter() = default;
  virtual void Evaluated(const Evaluation& evaluation) = 0;
  virtual void Warn(const std::string& line) = 0;
};

// Evaluates all new checkpoints; with Scans::kRepeated, pauses for `every` and
// scans again. Errors are those of EvaluateNext.
Result<EvaluatorEnd> RunEvaluator(World& world, Evaluator& evaluator,
                                  const EvaluatorLoop& loop,
                                  EvaluationReporter& reporter);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_EVALUATOR_H_
