// Scenarios: files that say what is trained, what goes wrong and what must come
// of it; and cases, each a scenario made concrete with no choice left.
//
// The format is the table in keys.h. Loading is pure: text in, scenarios and
// diagnostics out. Whatever is wrong is found here, before anything runs.
#ifndef GAUNTLET_HARNESS_SCENARIO_SCENARIO_H_
#define GAUNTLET_HARNESS_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "chaos/sim/disk/durability_profile.h"
#include "chaos/sim/scheduler/latency.h"
#include "engine/train/options.h"
#include "engine/world/clock.h"
#include "harness/record/record.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/upgrade.h"
#include "harness/scenario/format/yaml_tree.h"
#include "harness/scenario/trainer_setup.h"

namespace gauntlet {

// Requirements of a case on the machine and the world. If one is not met, the
// case is skipped.
struct Requirements {
  int gpus = 0;
  uint64_t disk_bytes = 0;
  std::vector<std::string> features;
};

struct Timeouts {
  Duration slow = std::chrono::seconds(30);
  // As they were told; see time_limits.h.
  std::optional<Duration> hang;
  std::optional<Duration> total;
};

enum class TransportChoice : uint8_t { kAuto, kGrpc };

// Hosts of the workers: the launcher's, or one for each worker, with the store
// on shared storage.
enum class HostsChoice : uint8_t { kOne, kSeparate };

// A job stores its checkpoints in a directory of the run, or nowhere.
enum class StoreChoice : uint8_t { kOwn, kNone };

// Outputs that a job writes beside its checkpoints.
struct OutputSetup {
  uint64_t curve_every = 0;  // steps between points of the loss; 0: no curves
  bool exports = false;      // its model, once it is trained

  bool operator==(const OutputSetup&) const = default;
};

// Returns true if a power loss stops one host only: hosts are separate, and the
// disk is a file server's. Otherwise it stops the machine that all run on.
constexpr bool LosesPowerAlone(HostsChoice hosts, DurabilityProfile disk) {
  return hosts == HostsChoice::kSeparate && disk == DurabilityProfile::kShared;
}

// Returns true if a network fault of that kind has somebody to separate a
// worker from: another worker, or a launcher on another host. The link to the
// launcher can be cut, but not slowed down, and it loses no frames.
constexpr bool HasSomebodyToCutOff(FaultKind kind, int workers,
                                   HostsChoice hosts) {
  const bool cuts =
      kind == FaultKind::kPartition || kind == FaultKind::kAsymmetricPartition;
  return workers > 1 || (cuts && hosts == HostsChoice::kSeparate);
}

// Most worker processes that one launcher starts on its machine.
inline constexpr int kMaxRealWorkers = 256;

struct ClusterSetup {
  int workers = 2;
  int min_workers = 0;  // see MembershipOptions
  std::vector<int> workers_by_life;
  TransportChoice transport = TransportChoice::kAuto;
  HostsChoice hosts = HostsChoice::kOne;
  NetworkLatency link;    // between two hosts; simulated only
  Duration step_time{0};  // of a worker computing a step; simulated only
  RestartPolicy policy = RestartPolicy::kWholeJob;
  int max_restarts = 3;
  Duration backoff = std::chrono::milliseconds(100);
  Duration start_timeout = std::chrono::minutes(10);
  int max_requeues = 8;  // of a job that stopped on a notice
};

// How many there are in that life of the job; kAnyLife: in the one that has the
// most.
int MostWorkersIn(const ClusterSetup& cluster, int life);

// A run before the case's own, of the same job on so many workers and replicas:
// the case begins with the model that it exports.
struct EarlierSetup {
  int workers = 1;
  uint64_t epochs = 1;
  int steps_per_epoch = 0;  // 0: as many as the rows give
};

// How one start of the launcher differs from the case's job and horizon; null:
// not at all.
struct LaunchSetup {
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> max_steps;
  std::optional<uint64_t> stop_at_step;
  // These two make it another job, which the engine must refuse.
  std::optional<float> learning_rate;
  std::optional<int> batch;

  bool changes_job() const { return learning_rate || batch; }
  bool shortens() const { return epochs || max_steps; }
  bool operator==(const LaunchSetup&) const = default;
};

// The options of that launch.
TrainOptions OptionsOfLaunch(const TrainOptions& train,
                             const LaunchSetup& launch);

// One run. `train` lacks only the directories of checkpoints and outputs: who
// runs it fills those in. Of a case with a trainer, only what comes before the
// cluster counts, and runs.
struct Case {
  std::string name;      // "kill[workers=2,mode=sync]"
  std::string scenario;  // "kill"
  std::string file;
  size_t line = 1;  // of the scenario's name
  std::vector<std::string> labels;
  uint64_t seed = 1;
  Requirements needs;
  Timeouts timeouts;
  // Crashed in place of a job of ours, in real processes.
  std::optional<TrainerSetup> trainer;
  std::optional<EarlierSetup> before;
  ClusterSetup cluster;
  DurabilityProfile disk = DurabilityProfile::kExt4;  // simulated only
  uint64_t disk_capacity =
      UINT64_MAX;  // bytes of file contents; simulated only
  StoreChoice store = StoreChoice::kOwn;
  OutputSetup outputs;
  TrainOptions train;  // of the job and its horizon, which launches may change
  // In their order; the last counts for all later ones. Empty: all are alike.
  std::vector<LaunchSetup> launches;
  FaultPlan plan;
  Expectation expect;
};

// A scenario as it stands in a file; its cases come out of Resolve.
struct Scenario {
  std::string name;
  std::string file;
  Place place;  // of the name
  YamlNode document;
};

// Returns the cases of a scenario: one, or one for each combination of its
// matrix. Errors go to `diagnostics`; the cases are valid only if there are
// none.
std::vector<Case> Resolve(const Scenario& scenario, Diagnostics& diagnostics);

struct LoadedFile {
  std::vector<Scenario> scenarios;
  std::vector<Case> cases;           // of all of them; empty after an error
  std::vector<Diagnostic> errors;    // in the order of the file
  std::vector<Diagnostic> warnings;  // likewise
  // Names of gauntlet/v1 that the file uses.
  std::vector<OldSpelling> old_spellings;
};

// Loads and resolves a file's text; `file` is its name for messages.
LoadedFile LoadScenarios(std::string_view text, std::string_view file);

// All errors, as RenderDiagnostic says them, at most 20.
std::string RenderErrors(const LoadedFile& loaded, std::string_view file,
                         std::string_view text);

// Likewise the warnings, all of them.
std::string RenderWarnings(const LoadedFile& loaded, std::string_view file,
                           std::string_view text);

// One line that names the old spellings of a file and the command that replaces
// them; "" if it has none.
std::string RenderOldSpellings(const LoadedFile& loaded, std::string_view file);

// Returns true if the case's workers compute on a device in some life. `auto`
// does not count, as its choice is not known yet.
bool HasDevice(const Case& one);

// How many steps an epoch has and how many rows these use; 0: not known before
// the data is read.
struct EpochShape {
  uint64_t steps = 0;
  uint64_t rows = 0;
};
EpochShape ShapeOfEpoch(const JobSpec& job);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_SCENARIO_H_
