// The record of a run: the only input of the judge.
//
// It holds the plan (faults, set-up, the scenario's expectations), the events
// that workers and launchers emitted, how each launcher ended (exit code,
// result), the leftovers (files, processes), and the reference trajectory. A
// record is a value that can be stored as a file.
#ifndef GAUNTLET_HARNESS_RECORD_RECORD_H_
#define GAUNTLET_HARNESS_RECORD_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/event.h"
#include "harness/record/golden.h"

namespace gauntlet {

// Expected outcome of a run.
enum class Outcome : uint8_t {
  kCompletes,
  kRecovers,
  kStopsCleanly,
  kRefuses,
  kViolates,
  kGivesUp,
  kStopsOnNan,
  kRetryLater,
};
struct OutcomeInfo {
  Outcome outcome;
  std::string_view name;  // "stops-cleanly"
  std::string_view description;
};
// Returns all outcomes, in the order of the enum.
std::span<const OutcomeInfo> AllOutcomes();
std::string_view OutcomeName(Outcome outcome);
// Returns the exit code of the launcher after this outcome; nullopt if it may
// have several.
std::optional<int> ExitCodeAfter(Outcome outcome);
std::optional<Outcome> FindOutcome(std::string_view name);

// Expectations of a scenario, besides the invariants.
struct Expectation {
  Outcome outcome = Outcome::kCompletes;
  std::vector<std::string> invariants;  // names; empty: all that apply
  std::optional<uint64_t> restarts_exactly;
  std::optional<uint64_t> restarts_max;
  std::optional<uint64_t> resumed_from_step;     // at the first resume
  std::optional<uint64_t> recomputed_steps_max;  // by each generation
  std::optional<int64_t> detected_in_max_ns;
  std::optional<uint64_t> failed_saves_exactly;
  std::optional<int64_t> exit_code;       // of the last launcher
  std::optional<uint64_t> ends_at_epoch;  // epochs in the last result
  std::optional<uint64_t> ends_at_step;   // steps in the last result
  std::optional<uint64_t> saves_exactly;  // number of acknowledged saves
  std::optional<std::vector<uint64_t>> checkpoints_left;  // their steps
  std::optional<uint64_t> epochs_after_restart_exactly;
  // True: in the last epoch the loss must be lower, or the accuracy higher,
  // than in the first.
  bool loss_falls = false;
  bool accuracy_rises = false;

  bool operator==(const Expectation&) const = default;
};

// A planned fault: the parameters that the judge needs.
struct RecordFault {
  std::string id;
  std::string kind;               // "crash", "torn_write", …
  std::string worker;             // "0", "all", "any", "chief"
  std::string point;              // "" if the fault names no point
  std::optional<uint64_t> step;   // planned step
  std::optional<uint64_t> epoch;  // planned epoch
  std::optional<uint64_t> save;   // planned save of an incarnation, from 1
  std::string summary;  // for people: "crash worker 1 at ckpt.rename, save 2"
  std::string then;     // torn_write: "crash", "power_loss" or "nothing"
  // True: its point is part of a save, of the write of the state file, or of
  // retention.
  bool in_save = false;
  bool polled = false;  // preempt: the worker polls for the notice
  bool always = false;  // fires at every occurrence, not only once
  std::optional<uint64_t> until_step;  // if `always`: ends at this step
  uint64_t hits = 1;  // if not `always`: number of consecutive occurrences
  // slow: added time; kill: time until the kill; delay: longest frame delay
  int64_t latency_ns = 0;
  int64_t duration_ns = 0;  // of a pause, hang or network fault; 0: no end
  bool for_ever = false;    // packet_loss, delay: lasts until its process ends
  bool parts_others = false;  // partition: it cuts groups from each other
  std::vector<int> groups;    // partition: workers of all its groups
  uint64_t byte = 0;          // bit_flip: offset in the file, if one is named
  int64_t grace_ns = 0;       // preempt: from notice to kill; 0: no notice
  std::string disk;           // power loss: profile of the disk
  bool of_one_host = false;   // power loss: only of a host without the disk

  // True: it fires at one occurrence at most.
  bool fires_once() const { return !always && hits == 1; }
  bool operator==(const RecordFault&) const = default;
};

// One planned start of the launcher.
struct PlannedLaunch {
  uint64_t epochs = 0;        // number of epochs at which training ends
  uint64_t max_steps = 0;     // last step of training; 0: not limited by steps
  uint64_t stop_at_step = 0;  // saves and stops after this step; 0: never
  bool other_job = false;     // the job is changed and must be refused

  bool operator==(const PlannedLaunch&) const = default;
};

// Most workers that a record may have: as many as a job may have replicas.
inline constexpr int kMaxWorkers = 4096;

// Set-up of the run: the options that the judge needs. 0 means "unknown" or
// "none" unless a comment says otherwise.
struct RunSetup {
  int workers = 1;                       // most workers of any attempt
  int min_workers = 0;                   // fewest after a scale-down; 0: all
  std::vector<int> workers_per_attempt;  // per attempt; empty: always `workers`
  bool rejoins = false;                  // only a lost worker is restarted
  uint64_t epochs = 0;                   // training ends after this number
  uint64_t rows_per_epoch = 0;           // training samples of an epoch
  uint64_t save_interval_steps = 0;      // 0: saves are not due by steps
  bool async_saves = false;              // saves are asynchronous
  int keep = 0;  // newest checkpoints that retention keeps
  bool delete_at_success = false;
  bool allow_cold_start = false;
  bool no_store = false;      // the job stores no checkpoint
  uint64_t curve_every = 0;   // steps between points of the loss; 0: no curves
  bool exports = false;       // a finished run exports its model
  bool limited_disk = false;  // the disk has a capacity, so it may become full
  // Longest times until the other workers detect that a worker is lost. In this
  // order: while they train; while they save; during a rendezvous and the load
  // after it.
  int64_t detection_bound_ns = 0;
  int64_t detection_bound_saving_ns = 0;
  int64_t detection_bound_joining_ns = 0;
  // Longest pause before a restart, and pause before the first restart. If all
  // workers restart together, the pause doubles with each attempt up to the
  // longest one.
  int64_t restart_pause_ns = 0;
  int64_t first_restart_pause_ns = 0;
  int64_t heartbeat_every_ns = 0;
  // Grace period in the settings of the engine; 0: it stops at once on a
  // notice.
  int64_t notice_grace_ns = 0;
  int64_t poll_every_ns = 0;  // preemption.poll_every
  uint64_t steps_per_execution = 1;
  int max_restarts = 0;         // by one launcher; 0: none is allowed
  bool never_restarts = false;  // cluster.restart.policy is none
  // Shortest time after which a worker is declared lost: silence_limit_ns if it
  // sends nothing, hang_limit_ns if it sends only heartbeats.
  int64_t silence_limit_ns = 0;
  int64_t hang_limit_ns = 0;
  // Time within which the workers of a killed launcher end.
  int64_t orphans_end_ns = 0;
  // Values of cluster.step_timeout, cluster.save_timeout and
  // cluster.start_timeout. Only texts for people use them.
  int64_t step_timeout_ns = 0;
  int64_t save_timeout_ns = 0;
  int64_t start_timeout_ns = 0;
  // The harness ends the run if no event occurs for longest_silence_ns
  // (timeout.hang), or if it takes longer than longest_run_ns (timeout.total).
  int64_t longest_silence_ns = 0;
  int64_t longest_run_ns = 0;
  std::vector<std::string> planted_bugs;
  // Plans of launches, indexed by LauncherRun::planned; empty: all launches
  // have the same plan.
  std::vector<PlannedLaunch> launches;

  bool operator==(const RunSetup&) const = default;
};

// Result of a run, as its launcher printed it.
struct FinalResult {
  std::string status;  // "done", "stopped", "not_finite"
  uint64_t epochs = 0;
  uint64_t steps = 0;
  std::string digest;
  uint32_t loss_bits = 0;

  bool operator==(const FinalResult&) const = default;
};

// One start of the launcher (a requeued job has several).
struct LauncherRun {
  int exit_code = 0;
  uint64_t restarts = 0;
  uint64_t planned = 0;       // index into RunSetup::launches
  int first_incarnation = 1;  // first incarnation of workers that it started
  std::optional<FinalResult> result;
  std::vector<RecordEvent> events;  // in the order in which it emitted them

  bool operator==(const LauncherRun&) const = default;
};

// Returns true iff a job queue started the launcher again, after `before`, for
// the same planned launch.
inline bool IsRequeue(const LauncherRun& before, const LauncherRun& run) {
  return run.planned == before.planned;
}

struct StoredCheckpoint {
  std::string name;  // "step-000000150-g3"
  uint64_t step = 0;
  bool valid = false;
  std::string reason;  // why it is invalid
  std::string digest;  // digest of its state
  // First non-finite step of its training; 0: all steps are finite.
  uint64_t not_finite_since = 0;

  bool operator==(const StoredCheckpoint&) const = default;
};

// A point of a curve, as a program that reads all TensorBoard event files sees
// it.
struct CurvePoint {
  std::string tag;  // "batch_loss"
  uint64_t step = 0;
  uint32_t bits = 0;

  bool operator==(const CurvePoint&) const = default;
};

// The exported model.
struct ExportedModel {
  bool is_complete = false;
  std::string reason;  // why it is incomplete
  uint64_t step = 0;
  std::string digest;  // digest of the exported state

  bool operator==(const ExportedModel&) const = default;
};

// Files and processes that were found after the run.
struct Leftovers {
  bool store_listed = false;
  std::vector<StoredCheckpoint> checkpoints;  // all that are not fenced
  std::vector<std::string> rejected;          // set aside as invalid
  std::vector<std::string> temporary;         // left by interrupted operations
  bool processes_listed = false;
  std::vector<std::string> processes;  // started by the run, still running
  bool outputs_listed = false;
  std::string curves_damage;              // first unreadable part of the curves
  std::vector<CurvePoint> curves;         // in the order of the files
  std::optional<ExportedModel> exported;  // nullopt: no model was exported

  bool operator==(const Leftovers&) const = default;
};

enum class RunEnding : uint8_t {
  kExited,    // on its own
  kHung,      // no event from any worker within the hang limit
  kTimedOut,  // workers emitted events, but the run did not end in time
};
std::string_view RunEndingName(RunEnding ending);
// Returns "exited", "hung" or "timed out", for people.
std::string_view RunEndingText(RunEnding ending);
std::optional<RunEnding> FindRunEnding(std::string_view name);

struct Record {
  std::string scenario;
  std::string case_name;
  std::string file;           // the scenario's file
  uint64_t line = 0;          // line of its name in that file
  std::string world;          // "real" or "sim"
  std::string skipped;        // reason why the case was not run; "" if it was
  std::string harness_error;  // error that kept the case from running
  // First difference between two simulated runs of the plan; empty if there is
  // none, or the plan was run once.
  std::string nondeterminism;
  std::string plan_json;
  Expectation expect;
  RunSetup setup;
  std::vector<RecordFault> faults;

  std::vector<IncarnationEvents> incarnations;  // by worker, then incarnation
  std::vector<LauncherRun> launchers;
  std::vector<RecordEvent> machine;  // events of a simulated machine
  RunEnding ending = RunEnding::kExited;
  std::string ending_detail;
  double wall_seconds = 0;
  double virtual_seconds = 0;  // simulated time; 0 in real worlds
  // Processes of this machine that the kernel killed during the run because
  // memory ran out; real world only.
  uint64_t oom_kills = 0;
  Leftovers left;
  GoldenTrajectory golden;

  bool operator==(const Record&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RECORD_H_
