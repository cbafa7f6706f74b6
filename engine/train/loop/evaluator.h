// The side-car evaluator: evaluates the checkpoints of a store as they appear,
// beside a training run that knows nothing of it.
//
// It only reads: no lock, no claim, nothing written, renamed or rejected. What
// a checkpoint gives equals, bit for bit, what training's own evaluation of
// these parameters gives.
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

// Result of a checkpoint's model on the validation rows.
struct Evaluation {
  std::string checkpoint;  // its name
  uint64_t step = 0;
  uint64_t epoch = 0;  // epochs of which all steps are done
  float loss = 0.0f;   // mean over rows
  int64_t correct = 0;
  int64_t rows = 0;
};

// A job, and the data that it is evaluated on.
struct EvaluatedJob {
  JobSpec job;
  std::string json;  // JobToJson of it and the data's content
  std::shared_ptr<const DataSplit> data;
};

class Evaluator {
 public:
  struct Source {
    std::string directory;  // the store; it may not be there yet
    // The job to evaluate, from that of the first checkpoint that is found.
    std::function<Result<EvaluatedJob>(const std::string& job_json)> job_of;
    KernelOptions kernels;
  };
  // The world outlives it.
  Evaluator(World& world, Source source)
      : world_(&world), source_(std::move(source)) {}

  // The oldest checkpoint of the lineage that was not evaluated yet; nullopt:
  // there is none now. One that is retired while it is read is passed over, a
  // damaged one reported and left alone, one that the disk does not read tried
  // again at the next call: each time the next newer one is taken. A checkpoint
  // that a later generation writes again, bit for bit, is the same
  // one. kInvalidArgument: the job cannot be evaluated, or the store has an
  // obstacle (StoreScan); kOtherJob: a checkpoint is of another job; each for
  // good.
  Result<std::optional<Evaluation>> EvaluateNext();

  const std::string& directory() const { return source_.directory; }

  // The last call found that there is no checkpoint.
  bool has_none() const { return has_none_; }
  // The last call found that the store, which existed before, is gone: its run
  // is finished.
  bool store_deleted() const { return deleted_; }

  // Checkpoints skipped as damaged or unreadable since the last call, one line
  // each and only once.
  std::vector<std::string> TakeWarnings() {
    return std::exchange(warnings_, {});
  }

 private:
  Status Begin(const std::string& job_json);
  void NoteWhatIsThere(const StoreScan& scan);
  bool IsNew(const ScannedCheckpoint& checkpoint) const;
  Result<std::optional<Evaluation>> Evaluate(
      const ScannedCheckpoint& checkpoint);
  Result<TrainState> Load(const ScannedCheckpoint& checkpoint);
  void PassOver(const ScannedCheckpoint& checkpoint, const Status& why);
  void Warn(const std::string& line);

  World* world_;
  Source source_;
  std::optional<EvaluatedJob> job_;  // none: no checkpoint was found yet
  JobModel built_;
  std::set<Digest> evaluated_;     // digests of states
  std::set<std::string> damaged_;  // names
  std::set<std::string> said_;
  std::vector<std::string> warnings_;
  bool seen_ = false;
  bool deleted_ = false;
  bool has_none_ = false;
};

enum class EvaluatorEnd : uint8_t {
  kReachedLast,   // until_epoch or until_step was evaluated
  kLookedOnce,    // every checkpoint present was evaluated
  kStoreDeleted,  // by its finished run
  kToldToGo,      // a termination notice
};

struct EvaluatorLoop {
  enum class Looks : uint8_t { kOnce, kAgain };
  Looks looks = Looks::kAgain;
  Duration every = std::chrono::seconds(1);
  // The last epoch or step to wait for; neither: as long as the store is there.
  std::optional<uint64_t> until_epoch;
  std::optional<uint64_t> until_step;
};

class EvaluationReporter {
 public:
  virtual ~EvaluationReporter() = default;
  virtual void Evaluated(const Evaluation& evaluation) = 0;
  virtual void Warn(const std::string& line) = 0;
};

// Evaluates whatever is new, and looks again after each pause. Errors as of
// EvaluateNext.
Result<EvaluatorEnd> RunEvaluator(World& world, Evaluator& evaluator,
                                  const EvaluatorLoop& loop,
                                  EvaluationReporter& reporter);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_EVALUATOR_H_
