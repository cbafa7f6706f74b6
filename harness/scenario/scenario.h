// Scenarios: files that state what is trained, which faults occur and which
// outcome is expected; and cases: concrete scenarios with no choice left.
//
// The format is the table in keys.h. Loading is pure: it turns text into
// scenarios and diagnostics. All errors are found here, before anything runs.
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
#include "engine/train/launcher_options.h"
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
  // Values in the file; nullopt: time_limits.h determines the limit.
  std::optional<Duration> hang;
  std::optional<Duration> total;
};

enum class TransportChoice : uint8_t { kAuto, kGrpc };

// Hosts of the workers. kOne: all run on the launcher's host. kSeparate: each
// has its own host, and the checkpoint directory is on shared storage.
enum class HostsChoice : uint8_t { kOne, kSeparate };

// Location of the job's checkpoints: a directory of the run, or none at all.
enum class StoreChoice : uint8_t { kOwn, kNone };

// Outputs of a job in addition to its checkpoints.
struct OutputSetup {
  uint64_t curve_every = 0;  // steps between points of the loss; 0: no curves
  bool exports = false;      // the model, after training

  bool operator==(const OutputSetup&) const = default;
};

// Returns true iff a power loss stops only one host: each worker has its own
// host, and the disk belongs to a file server. Otherwise all workers run on the
// machine that stops.
constexpr bool LosesPowerAlone(HostsChoice hosts, DurabilityProfile disk) {
  return hosts == HostsChoice::kSeparate && disk == DurabilityProfile::kShared;
}

// Returns true iff a network fault of this kind can have an effect: it needs a
// second worker. A partition may instead cut off a launcher on another host;
// other faults do not affect the link to the launcher.
constexpr bool HasSomebodyToCutOff(FaultKind kind, int workers,
                                   HostsChoice hosts) {
  const bool cuts =
      kind == FaultKind::kPartition || kind == FaultKind::kAsymmetricPartition;
  return workers > 1 || (cuts && hosts == HostsChoice::kSeparate);
}

struct ClusterSetup {
  int workers = 2;
  int min_workers = 0;  // see MembershipOptions
  std::vector<int> workers_per_attempt;
  TransportChoice transport = TransportChoice::kAuto;
  HostsChoice hosts = HostsChoice::kOne;
  NetworkLatency link;    // between two hosts; simulated only
  Duration step_time{0};  // of one worker for one step; simulated only
  RestartPolicy policy = RestartPolicy::kWholeJob;
  int max_restarts = 3;
  Duration backoff = std::chrono::milliseconds(100);
  Duration start_timeout = std::chrono::minutes(10);
  int max_requeues = 8;  // of a job that stopped on a notice
};

// Returns the number of workers that can run in this incarnation; for
// kAnyIncarnation, the largest number in any attempt.
int MostWorkersIn(const ClusterSetup& cluster, int incarnation);

// Returns the options of the launcher, with defaults for those that SetDerived
// computes.
LauncherOptions LauncherOf(const ClusterSetup& cluster);

// An earlier run of the same job, with one replica on each of its `workers`
// workers. The case starts from the model that this run exports.
struct EarlierSetup {
  int workers = 1;
  uint64_t epochs = 1;
  int steps_per_epoch = 0;  // 0: as many as the samples give
};

// Options of one start of the launcher that differ from those of the case;
// nullopt: no difference.
struct LaunchSetup {
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> max_steps;
  std::optional<uint64_t> stop_at_step;
  // Each of these two changes the job, so the engine must refuse the launch.
  std::optional<float> learning_rate;
  std::optional<int> batch;

  bool changes_job() const { return learning_rate || batch; }
  bool shortens() const { return epochs || max_steps; }
  bool operator==(const LaunchSetup&) const = default;
};

// Returns the options of that launch.
TrainOptions OptionsOfLaunch(const TrainOptions& train,
                             const LaunchSetup& launch);

// One concrete run. `train` has no directories of checkpoints and outputs: the
// executor sets them. For a case with a trainer, only the fields before
// `cluster` are used.
struct Case {
  std::string name;      // "kill[workers=2,mode=sync]"
  std::string scenario;  // "kill"
  std::string file;
  size_t line = 1;         // of the scenario's name
  size_t expect_line = 0;  // of the scenario's key `expect`; 0: no such key
  Place data_place;  // of job.data; else of the job, or of the scenario's name
  std::vector<std::string> labels;
  uint64_t seed = 1;
  Requirements needs;
  Timeouts timeouts;
  // Another program to crash-test in real processes, in place of a job of the
  // engine.
  std::optional<TrainerSetup> trainer;
  std::optional<EarlierSetup> before;
  ClusterSetup cluster;
  DurabilityProfile disk = DurabilityProfile::kExt4;  // simulated only
  uint64_t disk_capacity =
      UINT64_MAX;  // bytes of file contents; simulated only
  StoreChoice store = StoreChoice::kOwn;
  OutputSetup outputs;
  TrainOptions train;  // job and horizon, which launches may change
  // Options in which each start of the launcher differs from the case, in
  // order; the last entry is used for all later starts. Empty: no start
  // differs.
  std::vector<LaunchSetup> launches;
  FaultPlan plan;
  Expectation expect;
};

// A scenario as written in a file; Resolve turns it into cases.
struct Scenario {
  std::string name;
  std::string file;
  Place place;  // of the name
  YamlNode document;
};

// Returns the cases of a scenario: one, or one for each combination of its
// matrix. Errors go to `diagnostics`; the cases are valid only if there are no
// errors.
std::vector<Case> Resolve(const Scenario& scenario, Diagnostics& diagnostics);

struct LoadedFile {
  std::vector<Scenario> scenarios;
  std::vector<Case> cases;           // of all scenarios; empty after an error
  std::vector<Diagnostic> errors;    // in the order of the file
  std::vector<Diagnostic> warnings;  // in the order of the file
  // Spellings of gauntlet/v1 in the file.
  std::vector<OldSpelling> old_spellings;
};

// Loads and resolves a file's text; `file` is its name for messages.
LoadedFile LoadScenarios(std::string_view text, std::string_view file);

// Returns at most 20 errors, rendered by RenderDiagnostic.
std::string RenderErrors(const LoadedFile& loaded, std::string_view file,
                         std::string_view text);

// Returns all warnings, rendered by RenderDiagnostic.
std::string RenderWarnings(const LoadedFile& loaded, std::string_view file,
                           std::string_view text);

// Returns a line that names the old spellings of a file and the command that
// replaces them; "" if there are none.
std::string RenderOldSpellings(const LoadedFile& loaded, std::string_view file);

// Returns true iff the case's workers compute on a device in some attempt. The
// choice `auto` does not count, because it is resolved only later.
bool HasDevice(const Case& one);

// Numbers of steps and of samples in an epoch; 0: they depend on data that are
// not read yet.
struct EpochShape {
  uint64_t steps = 0;
  uint64_t samples = 0;
};
EpochShape ShapeOfEpoch(const JobSpec& job);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_SCENARIO_H_
