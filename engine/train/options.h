// Options of a worker: the job, its place, and how to run.
#ifndef GAUNTLET_ENGINE_TRAIN_OPTIONS_H_
#define GAUNTLET_ENGINE_TRAIN_OPTIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/link/tls_files.h"
#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/train/time_totals.h"
#include "engine/worker_exit_code.h"
#include "engine/world/clock.h"

namespace gauntlet {

// How far to go. Not part of the job.
struct Horizon {
  uint64_t epochs = 1;
  std::optional<uint64_t> max_steps;  // absolute
  // Stop after this step as after a notice: with a save if there is a store.
  std::optional<uint64_t> stop_at_step;
};

// Treatment of a source that lacks one of the parameters, or has another shape
// of it.
enum class PartialWeights : uint8_t { kRefuse, kAllow };

// Source of the initial parameters. Their values are part of the job
// (StartSpec), their location is not.
struct StartOptions {
  // Path of a file of weights, an export or a checkpoint; empty: the seed's.
  std::string weights;
  PartialWeights partial = PartialWeights::kRefuse;
};

enum class SaveUnit : uint8_t { kNone, kSteps, kSeconds, kEpochs };

// When to save, beside the saves that preemption needs.
struct SaveTrigger {
  SaveUnit unit = SaveUnit::kEpochs;
  uint64_t every = 1;
};

// Training waits for a save; or goes on while a task writes a copy of the
// state; or goes on while a task writes the state itself, and updates write to
// a second set of its arrays (on a device: as kAsync). Changes no bits.
enum class SaveMode : uint8_t { kSync, kAsync, kZeroCopy };
// By value.
inline constexpr std::array<std::string_view, 3> kSaveModeNames = {
    "sync", "async", "zero-copy"};

// Action of a finished run: saves its end beside the existing checkpoints,
// deletes them all, or leaves them as they are.
enum class AtSuccess : uint8_t {
  kKeepCheckpoints,
  kDeleteCheckpoints,
  kLeaveCheckpoints
};

// Response to a termination notice, if there are checkpoints.
enum class OnPreemption : uint8_t { kSaveAndExit, kExit };

struct CheckpointOptions {
  std::string directory;  // empty: no checkpoints
  SaveTrigger trigger;
  SaveMode mode = SaveMode::kSync;
  // Most workers that write a shard of a checkpoint; 0: all do. Changes no bits
  // of the state.
  int shards = 0;
  int keep = 5;
  // One checkpoint per so many hours is kept beside them; 0: none.
  uint64_t keep_every_hours = 0;
  AtSuccess at_success = AtSuccess::kKeepCheckpoints;
  bool allow_cold_start = false;
  OnPreemption at_notice = OnPreemption::kSaveAndExit;
};

// Curves for TensorBoard.
struct SummaryOptions {
  std::string directory;  // empty: none
  uint64_t every = 100;   // steps between two points of the loss
};

// Response of a worker to the loss of another one in its generation.
enum class OnLoss : uint8_t {
  kLeave,
  kRejoin,  // keeps its state, and meets the others again
};

// Sums the gradients of a step: the ring over the network, in the host's
// memory; or NCCL, from device to device. kAuto: NCCL if each worker is known
// to have a device of its own, else the ring. Changes no bits.
enum class CollectiveChoice : uint8_t { kAuto, kRing, kNccl };
std::string_view CollectiveChoiceName(CollectiveChoice choice);

struct ClusterOptions {
  Duration heartbeat_every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  Duration rendezvous_timeout = std::chrono::seconds(30);
  // A step, evaluation or load without a sign of another worker is a hang after
  // this long; a save and the end of a run have a longer bound.
  Duration step_timeout = std::chrono::seconds(30);
  Duration save_timeout = std::chrono::seconds(300);
  OnLoss on_loss = OnLoss::kLeave;
  CollectiveChoice collective = CollectiveChoice::kAuto;
  TlsFiles tls;
};

// Sources of notices beside SIGTERM, SIGINT and SIGHUP.
struct PreemptionOptions {
  // Time from a notice until the process is killed. Training continues while
  // that is enough for a save; 0: it saves and leaves at once.
  Duration grace{0};
  std::string signal;  // one more; see NoticeSignals(); "": none
  std::string file;    // a notice once this path exists; "": none
  std::string url;     // a notice by its answer (NoticeIn); "": none
  Duration poll_every = std::chrono::seconds(1);  // file and URL
};

// "SIGTERM", "SIGUSR1" …: those that can be notices.
std::span<const std::string_view> NoticeSignals();

// Response to the loss of a worker: nothing; all workers restart from the
// newest checkpoint; or only the lost one restarts, and takes the others'
// state.
enum class RestartPolicy : uint8_t { kNone, kWholeJob, kRejoin };
inline OnLoss OnLossUnder(RestartPolicy policy) {
  return policy == RestartPolicy::kRejoin ? OnLoss::kRejoin : OnLoss::kLeave;
}
// Time in which a survivor has to notice a loss, or it counts as hung: a step,
// which may be long, and short enough for the others to meet it.
Duration RegroupGraceOf(const ClusterOptions& cluster);
std::string_view RestartPolicyName(RestartPolicy policy);

// Action of a run once its loss, or its state, is not finite: every further
// step usually computes NaN. Changes no bits of the results.
enum class OnNotFinite : uint8_t {
  kTrainOn,
  kStop,  // at that step, on all workers; such a state is not saved
};

struct TrainOptions {
  JobSpec job;
  StartOptions start;
  Horizon horizon;
  CheckpointOptions checkpoint;
  SummaryOptions summary;
  std::string export_directory;  // of the trained model; empty: nowhere
  ClusterOptions cluster;
  PreemptionOptions preemption;
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
  KernelOptions kernels;
  // Saves and stops are looked at after each so many steps and at an epoch's
  // end: what falls due in between waits. Changes no bits.
  uint64_t steps_per_execution = 1;
  // A state digest every so many steps (and at every save and the end); 0: only
  // there.
  uint64_t digest_every = 0;
  bool log_samples = false;  // the sample ledger, for the harness
};

// One JSON line and back: how the launcher tells its workers. Errors name the
// key, what was expected and what was found.
std::string TrainOptionsToJson(const TrainOptions& options);
Result<TrainOptions> TrainOptionsFromJson(std::string_view json);

// Result of a run; the chief reports it.
struct TrainResult {
  std::string status;  // "done", "stopped", "not_finite"
  uint64_t epochs = 0;
  uint64_t steps = 0;
  std::string digest;  // of the final state, 32 hex digits
  // Loss of the last complete epoch's training rows, else of the first epoch's
  // steps so far; none: no step was made.
  std::optional<float> loss;
  std::optional<double> accuracy;
  std::optional<double> val_accuracy;    // none: nothing was validated yet
  std::optional<uint64_t> resumed_from;  // step
  // True if the final state and its loss are finite.
  bool finite = true;
  // The first step at which one of them was not finite, as far as known.
  std::optional<uint64_t> not_finite_since;
  TimeTotals times;  // of the chief, in its last process
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_OPTIONS_H_
