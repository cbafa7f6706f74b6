// What a worker is told: the job, its place, and how to run.
#ifndef GAUNTLET_ENGINE_TRAIN_OPTIONS_H_
#define GAUNTLET_ENGINE_TRAIN_OPTIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/tls_files.h"
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
  // Stop after this step as if told to go: saved where there is a store.
  std::optional<uint64_t> stop_at_step;
};

// What a source without one of the parameters, or with another shape of it, is.
enum class PartialWeights : uint8_t { kRefuse, kAllow };

// Where the parameters begin. Which ones they are is part of the job
// (StartSpec), where they lie is not.
struct StartOptions {
  // Of a file of weights, an export or a checkpoint; empty: the seed's.
  std::string weights;
  PartialWeights partial = PartialWeights::kRefuse;
};

enum class SaveUnit : uint8_t { kNone, kSteps, kSeconds, kEpochs };

// When to save, beside what preemption asks for.
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

// What a finished run does: saves its end beside the checkpoints that are
// there, deletes them all, or leaves them as they are.
enum class AtSuccess : uint8_t {
  kKeepCheckpoints,
  kDeleteCheckpoints,
  kLeaveCheckpoints
};

// What a termination notice leads to, where there are checkpoints.
enum class AtNotice : uint8_t { kSaveAndLeave, kLeave };

struct CheckpointOptions {
  std::string directory;  // empty: no checkpoints
  SaveTrigger trigger;
  SaveMode mode = SaveMode::kSync;
  // Most workers that write a shard of a checkpoint; 0: all do. Changes no bits
  // of the state.
  int shards = 0;
  int keep = 5;
  // Beside them one checkpoint every so many hours stays; 0: none does.
  uint64_t keep_every_hours = 0;
  AtSuccess at_success = AtSuccess::kKeepCheckpoints;
  bool allow_cold_start = false;
  AtNotice at_notice = AtNotice::kSaveAndLeave;
};

// Curves for TensorBoard.
struct SummaryOptions {
  std::string directory;  // empty: none
  uint64_t every = 100;   // steps between two points of the loss
};

// What a worker does when its generation has lost another one.
enum class OnLoss : uint8_t {
  kLeave,
  kRejoin,  // keeps its state, and meets the others again
};

// What sums the gradients of a step: the ring over the network, in the host's
// memory; NCCL, from device to device; or NCCL where each worker has a device
// of its own that it knows, else the ring. Changes no bits.
enum class CollectiveChoice : uint8_t { kAuto, kRing, kNccl };
std::string_view CollectiveChoiceName(CollectiveChoice choice);

struct ClusterOptions {
  Duration heartbeat_every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  Duration rendezvous_timeout = std::chrono::seconds(30);
  // A step, evaluation or load in which another worker gives no sign is a hang
  // after this long; a save and the end of a run have a longer bound.
  Duration step_timeout = std::chrono::seconds(30);
  Duration save_timeout = std::chrono::seconds(300);
  OnLoss on_loss = OnLoss::kLeave;
  CollectiveChoice collective = CollectiveChoice::kAuto;
  TlsFiles tls;
};

// What a worker takes for a notice beside SIGTERM, SIGINT and SIGHUP.
struct PreemptionOptions {
  // From a notice until the process is killed. Training goes on while that is
  // enough for a save; 0: it saves and leaves at once.
  Duration grace{0};
  std::string signal;  // one more; see NoticeSignals(); "": none
  std::string file;    // once there is something of this name; "": none
  std::string url;     // once its answer says so (NoticeIn); "": none
  Duration poll_every = std::chrono::seconds(1);  // file and URL
};

// "SIGTERM", "SIGUSR1" …: those that can be notices.
std::span<const std::string_view> NoticeSignals();

// What is done when a worker is lost: nothing; all workers start again from the
// newest checkpoint; or the lost one alone does, and takes the others' state.
enum class RestartPolicy : uint8_t { kNone, kWholeJob, kRejoin };
inline OnLoss OnLossUnder(RestartPolicy policy) {
  return policy == RestartPolicy::kRejoin ? OnLoss::kRejoin : OnLoss::kLeave;
}
// How long a survivor may take to notice a loss before it is taken for hung: a
// step, which may take its time, and short enough for the others to meet it.
Duration RegroupGraceOf(const ClusterOptions& cluster);
std::string_view RestartPolicyName(RestartPolicy policy);

// What a run does once its loss, or its state, is not finite: every further
// step computes NaN as a rule. Changes no bits of what is computed.
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

// What a run came to; the chief reports it.
struct TrainResult {
  std::string status;  // "done", "stopped", "not_finite"
  uint64_t epochs = 0;
  uint64_t steps = 0;
  std::string digest;  // of the final state, 32 hex digits
  // Of the last complete epoch's training rows, else of the steps of the first
  // one so far; none: no step was made.
  std::optional<float> loss;
  std::optional<double> accuracy;
  std::optional<double> val_accuracy;    // none: nothing was validated yet
  std::optional<uint64_t> resumed_from;  // step
  // Whether the final state and its loss are finite.
  bool finite = true;
  // The first step at which one of them was not, as far as it is known.
  std::optional<uint64_t> not_finite_since;
  TimeTotals times;  // of the chief, in its last process
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_OPTIONS_H_
