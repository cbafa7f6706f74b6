// The record of a run: everything that the oracle may know of it.
//
// Four things go in: what was meant (the plan's faults, the set-up, what the
// scenario expects), what the workers said (events), what the launcher saw
// (exit codes, results), and what was left afterwards (files, processes). The
// golden trajectory stands beside them. A record is a value and a file.
#ifndef GAUNTLET_HARNESS_RECORD_RECORD_H_
#define GAUNTLET_HARNESS_RECORD_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/event.h"
#include "harness/record/golden.h"

namespace gauntlet {

// How the run is expected to come out.
enum class Outcome : uint8_t {
  kCompletes,     // done, without any restart
  kRecovers,      // done, after at least one restart
  kStopsCleanly,  // saved and stopped on a notice
  kRefuses,       // does not train: no loadable checkpoint, or bad input
  kViolates,      // a canary: the named invariants must be found broken
  kGivesUp,       // the launcher ended it: too many restarts, too few workers
  kStopsOnNan,    // stopped where its loss or state was not finite
  kRetryLater,    // no room for the last state, or for a claim: exit code 75
};
std::string_view OutcomeName(Outcome outcome);
std::optional<Outcome> FindOutcome(std::string_view name);

// What a scenario expects, beside the invariants that always hold.
struct Expectation {
  Outcome outcome = Outcome::kCompletes;
  std::vector<std::string> invariants;  // empty: all that apply
  std::optional<uint64_t> restarts_exactly;
  std::optional<uint64_t> restarts_max;
  std::optional<uint64_t> resumed_from_step;     // of the first resumption
  std::optional<uint64_t> recomputed_steps_max;  // in each resumption
  std::optional<int64_t> detected_in_max_ns;
  std::optional<uint64_t> failed_saves_exactly;
  std::optional<int64_t> exit_code;       // of the last launcher
  std::optional<uint64_t> ends_at_epoch;  // complete ones, of the last launcher
  std::optional<uint64_t> ends_at_step;
  std::optional<uint64_t> saves_exactly;                  // acknowledged ones
  std::optional<std::vector<uint64_t>> checkpoints_left;  // their steps
  std::optional<uint64_t> epochs_after_restart_exactly;
  // From the first epoch to the last one.
  bool loss_falls = false;
  bool accuracy_rises = false;

  bool operator==(const Expectation&) const = default;
};

// A planned fault, as far as judging needs it.
struct RecordFault {
  std::string id;
  std::string kind;               // "crash", "torn_write", …
  std::string worker;             // "0", "all", "any", "chief"
  std::string point;              // empty: none
  std::optional<uint64_t> step;   // at which alone it fires
  std::optional<uint64_t> epoch;  // likewise
  std::string summary;   // for people: "crash worker 1 at ckpt.rename, save 2"
  std::string then;      // torn_write: "crash", "power_loss" or "nothing"
  bool in_save = false;  // at a point of a save, or of what follows it
  bool polled = false;   // a notice that a worker looks for now and then
  bool always = false;   // at every hit, not once; it is logged once a life
  std::optional<uint64_t> until_step;  // always: not from this step on
  uint64_t hits = 1;  // not always: at so many in a row; it is logged once
  // slow: how much longer it takes; kill: how long until then; delay: how late
  // a frame is at the most
  int64_t latency_ns = 0;
  int64_t duration_ns = 0;    // how long it stands or cuts; 0: for ever
  bool for_ever = false;      // drop, delay: only the process's end is theirs
  bool parts_others = false;  // a cut between groups, whoever else is in them
  std::vector<int> groups;    // … all workers that are in one
  uint64_t byte = 0;          // bit_flip: of the file, where it names one
  int64_t grace_ns = 0;       // preempt: between notice and kill; 0: no notice
  std::string disk;          // where it cuts the power: the profile of the disk
  bool of_one_host = false;  // … of a host that has none of the disks

  bool operator==(const RecordFault&) const = default;
};

// One start of the launcher as it was planned.
struct PlannedLaunch {
  uint64_t epochs = 0;        // its horizon
  uint64_t max_steps = 0;     // likewise; 0: none
  uint64_t stop_at_step = 0;  // saves and stops behind it; 0: none
  bool other_job = false;     // must be refused

  bool operator==(const PlannedLaunch&) const = default;
};

// How the run was set up, as far as judging needs it. 0 is "not known" or
// "none" where nothing else is said.
struct RunSetup {
  int workers = 1;      // at most
  int min_workers = 0;  // fewer where some are left out; 0: all of them
  std::vector<int> workers_by_life;  // of each life of the job; empty: all
  bool rejoins = false;              // a lost worker alone is started again
  uint64_t epochs = 0;               // the horizon
  uint64_t rows_per_epoch = 0;       // training rows that an epoch uses
  uint64_t save_interval_steps = 0;  // 0: saves are not bound to steps
  bool saves_beside = false;         // training goes on while a save is written
  int keep = 0;                      // checkpoints that retention leaves
  bool delete_at_success = false;
  bool allow_cold_start = false;
  bool no_store = false;     // the job stores no checkpoint
  uint64_t curve_every = 0;  // steps between points of the loss; 0: no curves
  bool exports = false;      // a finished run exports its model
  // A lost worker is noticed within this: while the workers train, while they
  // save, and while they meet and load.
  int64_t detection_bound_ns = 0;
  int64_t detection_bound_saving_ns = 0;
  int64_t detection_bound_joining_ns = 0;
  // The longest pause before a restart of which survivors may say nothing; and,
  // where all start together, that before the second life, which doubles from
  // life to life up to it at most (0: not known).
  int64_t restart_pause_ns = 0;
  int64_t first_restart_pause_ns = 0;
  int64_t heartbeat_every_ns = 0;
  // The grace that a notice leaves, as the engine was told; 0: it was not told,
  // and stops at once.
  int64_t notice_grace_ns = 0;
  uint64_t steps_per_execution = 1;
  int max_restarts = 0;
  // The shortest time in which a worker whose heartbeats stay away is given up,
  // and one that does nothing else.
  int64_t silence_limit_ns = 0;
  int64_t hang_limit_ns = 0;
  // Workers of a launcher that was killed end within this time.
  int64_t orphans_end_ns = 0;
  std::vector<std::string> planted_bugs;
  // By LauncherRun::planned; empty: all starts of the launcher are alike.
  std::vector<PlannedLaunch> launches;

  bool operator==(const RunSetup&) const = default;
};

// What the launcher said that a run came to.
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
  uint64_t planned = 0;  // index into RunSetup::launches
  int first_life = 1;    // the workers' lives from this on are of this start
  std::optional<FinalResult> result;
  std::vector<RecordEvent> events;  // what it said, in its order

  bool operator==(const LauncherRun&) const = default;
};

struct StoredCheckpoint {
  std::string name;  // "step-000000150-g3"
  uint64_t step = 0;
  bool valid = false;
  std::string reason;  // why it is not
  std::string digest;  // of the state it holds
  // The first step of the run that was not finite, where its state is of such a
  // run; 0: it is finite.
  uint64_t not_finite_since = 0;

  bool operator==(const StoredCheckpoint&) const = default;
};

// A point of a curve, as a reader of all event files has it in the end.
struct CurvePoint {
  std::string tag;  // "batch_loss"
  uint64_t step = 0;
  uint32_t bits = 0;

  bool operator==(const CurvePoint&) const = default;
};

// The exported model.
struct ExportedModel {
  bool whole = false;
  std::string reason;  // why it is not
  uint64_t step = 0;
  std::string digest;  // of the state it was made from

  bool operator==(const ExportedModel&) const = default;
};

// What was looked at after the end, and found.
struct Leftovers {
  bool store_listed = false;
  std::vector<StoredCheckpoint> checkpoints;  // that count at load
  std::vector<std::string> rejected;          // set aside
  std::vector<std::string> temporary;         // of interrupted saves, deletions
  bool processes_listed = false;
  std::vector<std::string> processes;  // live ones that the run started
  bool outputs_listed = false;
  std::string curves_damage;  // the first thing in them that cannot be read
  std::vector<CurvePoint> curves;         // in the order of the files
  std::optional<ExportedModel> exported;  // none: there is nothing

  bool operator==(const Leftovers&) const = default;
};

enum class RunEnding : uint8_t {
  kExited,    // by itself
  kHung,      // no event from any worker within the hang limit
  kTimedOut,  // events came, but not the end
};
std::string_view RunEndingName(RunEnding ending);
std::optional<RunEnding> FindRunEnding(std::string_view name);

struct Record {
  std::string scenario;
  std::string case_name;
  std::string file;           // where the scenario stands
  uint64_t line = 0;          // of its name in that file
  std::string world;          // "real" or "sim"
  std::string skipped;        // why the case was not run; empty: it was
  std::string harness_error;  // what kept the harness from running it
  // How the plan, run twice in the simulated world, went two ways; empty: it
  // did not, or it was run once.
  std::string nondeterminism;
  std::string plan_json;
  Expectation expect;
  RunSetup setup;
  std::vector<RecordFault> faults;

  std::vector<LifeEvents> lives;  // by worker, then life
  std::vector<LauncherRun> launchers;
  std::vector<RecordEvent> machine;  // what a simulated machine did
  RunEnding ending = RunEnding::kExited;
  std::string ending_detail;
  double wall_seconds = 0;
  double virtual_seconds = 0;  // simulated time; 0 in real worlds
  // Of any process of the machine meanwhile, for want of memory; real world.
  uint64_t oom_kills = 0;
  Leftovers left;
  GoldenTrajectory golden;

  bool operator==(const Record&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RECORD_H_
