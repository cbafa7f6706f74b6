// Options of a worker: the job, the limits of the run, and how to run it.
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

// Limits of the training: they are options of a run, not part of the job.
struct Horizon {
  uint64_t epochs = 1;
  std::optional<uint64_t> max_steps;  // number of the last step
  // The run stops after this step. If there is a checkpoint directory, the run
  // saves first, as it does after a preemption notice.
  std::optional<uint64_t> stop_at_step;
};

// Response to a source of weights in which a parameter of the model is missing
// or has another shape than in the model.
enum class PartialWeights : uint8_t { kRefuse, kAllow };

// Source of the initial parameters. Their values are part of the job
// (StartSpec), their location is not.
struct StartOptions {
  // Path of a weights file, an export or a checkpoint. Empty: the parameters
  // are initialized from the seed.
  std::string weights;
  PartialWeights partial = PartialWeights::kRefuse;
};

enum class SaveUnit : uint8_t { kNone, kSteps, kSeconds, kEpochs };

// Schedule of the saves, apart from those that a preemption notice causes.
struct SaveTrigger {
  SaveUnit unit = SaveUnit::kEpochs;
  uint64_t every = 1;
};

// kSync: training waits for each save. kAsync: a task writes a copy of the
// state while training continues. kZeroCopy: a task writes the state itself,
// while updates write to a second set of the state's arrays; if the state is on
// a device, kZeroCopy acts as kAsync. The mode changes no bits of the results.
enum class SaveMode : uint8_t { kSync, kAsync, kZeroCopy };
// Indexed by SaveMode.
inline constexpr std::array<std::string_view, 3> kSaveModeNames = {
    "sync", "async", "zero-copy"};

// Action at the end of a finished run: saves the final state in addition to the
// existing checkpoints, deletes them all, or leaves them as they are.
enum class AtSuccess : uint8_t {
  kSaveFinalState,
  kDeleteCheckpoints,
  kLeaveCheckpoints
};

// Response to a preemption notice, if there is a checkpoint directory.
enum class OnPreemption : uint8_t { kSaveAndExit, kExit };

inline constexpr uint64_t kMaxKeepHours = 1'000'000;  // a century

struct CheckpointOptions {
  std::string directory;  // empty: no checkpoints
  SaveTrigger trigger;
  SaveMode mode = SaveMode::kSync;
  // Maximum number of workers that write a shard of a checkpoint; 0: all
  // workers. Changes no bits of the state.
  int shards = 0;
  int keep = 5;
  // Besides the newest `keep`, retention keeps one checkpoint per this many
  // hours, up to kMaxKeepHours; 0: none.
  uint64_t keep_every_hours = 0;
  AtSuccess at_success = AtSuccess::kSaveFinalState;
  bool allow_cold_start = false;
  OnPreemption at_notice = OnPreemption::kSaveAndExit;
};

// Curves for TensorBoard.
struct SummaryOptions {
  std::string directory;  // empty: none
  uint64_t every = 100;   // steps between two points of the loss curve
};

// Response of a worker to the loss of another one in its generation.
enum class OnLoss : uint8_t {
  kLeave,
  kRejoin,  // keeps its state, and joins the next generation
};

// How the gradients of a step are summed. kRing: over the network, in host
// memory. kNccl: from device to device. kAuto: NCCL if each worker is known to
// have a device of its own, else the ring. Changes no bits of the results.
enum class CollectiveChoice : uint8_t { kAuto, kRing, kNccl };

struct ClusterOptions {
  Duration heartbeat_every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  Duration rendezvous_timeout = std::chrono::seconds(30);
  // If nothing arrives from another worker for this long in a step or an
  // evaluation, that worker counts as hung. In a save, after a load and at the
  // end of a run, save_timeout is the limit.
  Duration step_timeout = std::chrono::seconds(30);
  Duration save_timeout = std::chrono::seconds(300);
  OnLoss on_loss = OnLoss::kLeave;
  CollectiveChoice collective = CollectiveChoice::kAuto;
  TlsFiles tls;
};

// Sources of preemption notices besides SIGTERM, SIGINT and SIGHUP.
struct PreemptionOptions {
  // Time from a notice until the process is killed. Training continues while
  // enough of this time is left for a save; 0: the worker saves and exits
  // immediately.
  Duration grace{0};
  std::string signal;  // another signal, one of NoticeSignals(); "": none
  std::string file;    // path whose existence is a notice; "": none
  // URL whose response may be a notice (IsPreemptionNotice); "": none.
  std::string url;
  Duration poll_every = std::chrono::seconds(1);  // for `file` and `url`
};

// Names of the signals that can serve as a notice: "SIGTERM", "SIGUSR1" …
std::span<const std::string_view> NoticeSignals();

// Response to the loss of a worker. kNone: no restart. kWholeJob: all workers
// restart from the newest checkpoint. kRejoin: only the lost worker restarts,
// and receives the state of the others.
enum class RestartPolicy : uint8_t { kNone, kWholeJob, kRejoin };
inline OnLoss OnLossUnder(RestartPolicy policy) {
  return policy == RestartPolicy::kRejoin ? OnLoss::kRejoin : OnLoss::kLeave;
}
// Returns how long the other workers may take to detect a loss before they
// count as hung: enough for a long step, but short enough that all workers
// reach the next rendezvous within its timeout.
Duration RejoinGraceOf(const ClusterOptions& cluster);
inline constexpr ValueNames<RestartPolicy, 3> kRestartPolicyNames = {
    {{"none", RestartPolicy::kNone},
     {"whole-job", RestartPolicy::kWholeJob},
     {"rejoin", RestartPolicy::kRejoin}}};
std::string_view RestartPolicyName(RestartPolicy policy);

// Response to a training loss or a state that is not finite. All later steps
// then usually compute NaN. Changes no bits of the results.
enum class OnNotFinite : uint8_t {
  kTrainOn,
  kStop,  // on all workers, at that step; the state is not saved
};

struct TrainOptions {
  JobSpec job;
  StartOptions start;
  Horizon horizon;
  CheckpointOptions checkpoint;
  SummaryOptions summary;
  std::string export_directory;  // for the trained model; empty: no export
  ClusterOptions cluster;
  PreemptionOptions preemption;
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
  KernelOptions kernels;
  // Number of steps between two boundaries. Workers save and stop only at a
  // boundary; the end of an epoch is one too. A request made between two
  // boundaries takes effect at the second. Changes no bits of the results.
  uint64_t steps_per_execution = 1;
  // Steps between two state digests; 0: none. Digests at each save and at the
  // end are computed in any case.
  uint64_t digest_every = 0;
  bool log_samples = false;  // emits the samples of each step, for the harness
};

// Encode and decode the options as one line of JSON: the launcher passes them
// to its workers. Errors name the key, the expected and the found value.
std::string TrainOptionsToJson(const TrainOptions& options);
Result<TrainOptions> TrainOptionsFromJson(std::string_view json);

// A setting that must be equal on all ranks, because it decides when all
// workers exchange data: for saves, stops and the end of the run.
struct AgreedSetting {
  std::string_view name;
  std::string value;
};
std::vector<AgreedSetting> AgreedSettings(const TrainOptions& options);

// Result of a run; the chief reports it.
struct TrainResult {
  std::string status;  // "done", "stopped", "not_finite"
  uint64_t epochs = 0;
  uint64_t steps = 0;
  std::string digest;  // of the final state, 32 hex digits
  // Loss on the training samples of the last complete epoch. During the first
  // epoch: loss of its steps so far; nullopt if no step was made.
  std::optional<float> loss;
  std::optional<double> accuracy;
  std::optional<double> val_accuracy;    // nullopt: no validation yet
  std::optional<uint64_t> resumed_from;  // step
  // True if the final state and its loss are finite.
  bool finite = true;
  // First step at which the state or the loss was not finite, as far as known.
  std::optional<uint64_t> not_finite_since;
  TimeTotals times;  // of the chief's last incarnation
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_OPTIONS_H_
