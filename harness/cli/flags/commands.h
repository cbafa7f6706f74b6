// Arguments of each command as plain values: the result of parsing.
#ifndef GAUNTLET_HARNESS_CLI_FLAGS_COMMANDS_H_
#define GAUNTLET_HARNESS_CLI_FLAGS_COMMANDS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/app/commands.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/options.h"
#include "harness/bench/checkpoint_bench.h"
#include "harness/bench/figures/bench_limit.h"
#include "harness/bench/scale_bench.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/record/result/case_tries.h"
#include "harness/run/shard_choice.h"
#include "reports/timeline.h"

namespace gauntlet {

enum class Catalog : uint8_t {
  kPresets,
  kPoints,
  kFaults,
  kInvariants,
  kPlantedBugs,
  kScenarios,
};

struct ListCommand {
  Catalog catalog = Catalog::kPresets;
  // For catalog kScenarios: files and folders to list; empty: the folder
  // `scenarios`.
  std::vector<std::string> paths;
};

// Prints a scenario file as gauntlet/v2.
struct UpgradeCommand {
  std::string file;
};

// Reads scenario files and runs nothing.
struct ValidateCommand {
  std::vector<std::string> paths;
};

struct DoctorCommand {
  OutputFormat output = OutputFormat::kText;
};

enum class WorldChoice : uint8_t { kReal, kSimulated, kBoth };

enum class NothingSelected : uint8_t { kFails, kPasses };

struct RunCommand {
  std::vector<std::string> paths;  // scenario files and folders
  // A case's name must contain one of these texts; empty: all cases.
  std::vector<std::string> names;
  // A case must match one of these label expressions (label_expression.h);
  // empty: all cases.
  std::vector<std::string> labels;
  WorldChoice world = WorldChoice::kBoth;
  std::optional<uint64_t> seed;      // overrides the scenario's own
  std::optional<DeviceKind> device;  // overrides the scenario's own
  int jobs = 1;                      // real runs at a time
  int max_failures = 0;              // stop after this many; 0: never
  int repeat = 1;                    // runs of each case
  int retries = 0;                   // of a real case that does not pass
  FlakyVerdict flaky = FlakyVerdict::kFails;
  bool last_failed = false;  // only cases that did not pass in the last run
  ShardChoice shard;
  std::string runs_directory = ".gauntlet/runs";
  std::optional<uint64_t> keep_runs = 100;  // nullopt: all
  std::optional<uint64_t> durations;        // slowest cases to list; 0: all
  std::string junit_file;  // a copy, in addition to the run's own
  bool github = false;     // summary and annotations for GitHub Actions
  bool demo = false;
  bool strict = false;  // a skipped case counts as a failure
  bool lists = false;   // list the cases without running any
  NothingSelected nothing_selected = NothingSelected::kFails;
  OutputFormat output = OutputFormat::kText;
};

enum class ExploreMode : uint8_t {
  kMixed,  // random plans and crash states by turns
  kRandom,
  kSweep,
  kCrashStates,
};

// Selection among the crash states of a run.
struct CrashStateChoice {
  // Empty: all profiles, but kLyingFsync only for the windows kSave and
  // kRecovery.
  std::vector<DurabilityProfile> profiles;
  std::vector<CrashWindow> windows = AllCrashWindows();
  uint64_t save = 0;  // number of the save, from 1; 0: see CrashStateOptions
  // If a crash point has at most this many states of its file names, all are
  // tried; else, a selection. The same applies to states of the contents.
  // nullopt: the limits of CrashStateOptions.
  std::optional<uint64_t> max_states;
  std::string id;  // the only state to try; empty: all
};

struct ExploreCommand {
  std::string base_file;    // empty: the built-in base
  std::string name_filter;  // selects the one case of the base
  ExploreMode mode = ExploreMode::kMixed;
  std::vector<FaultKind> kinds;  // ascending; empty: all
  std::vector<Point> points;     // ascending; empty: all
  int max_faults = 3;
  std::optional<Duration> time;
  bool time_given = false;  // true: `time` also limits fault-free runs
  std::optional<uint64_t> cases;
  std::optional<uint64_t> only_case;  // kMixed, kRandom
  uint64_t first_case = 0;  // kMixed, kRandom: number of the first case
  ShardChoice shard;
  bool trace = false;                      // print the timeline of only_case
  std::optional<uint64_t> seed = 1;        // nullopt: a random one
  int jobs = 1;                            // threads
  uint64_t verify_determinism_every = 16;  // 0: no case is run twice
  size_t stop_after = 10;                  // findings; 0: never
  bool require_goals = false;
  bool show_uncovered = false;
  std::string runs_directory = ".gauntlet/runs";
  std::string out_directory;  // empty: in a run's directory
  CrashStateChoice crash_states;
  OutputFormat output = OutputFormat::kText;
};

struct ReplayCommand {
  std::string target;  // a file, a case's folder, RUN or RUN/CASE
  // kBoth: the world in which the record was made; for a scenario, the
  // simulated world.
  WorldChoice world = WorldChoice::kBoth;
  std::string runs_directory = ".gauntlet/runs";
};

// Judges stored records.
struct JudgeCommand {
  // Record files, folders of cases or runs, RUN or RUN/CASE.
  std::vector<std::string> paths;
  std::string runs_directory = ".gauntlet/runs";
  OutputFormat output = OutputFormat::kText;
};

// Prints the timeline of a stored record.
struct ShowCommand {
  std::string target;  // a record.jsonl, a case's folder or RUN/CASE
  // kBoth: either world; if the case has a record of each, the simulated one.
  WorldChoice world = WorldChoice::kBoth;
  std::string runs_directory = ".gauntlet/runs";
  TimelineFilter filter;
  std::optional<int> width;  // columns of a line; nullopt: the terminal's
  std::string trace_file;    // Chrome trace instead of the table; "": none
  OutputFormat output = OutputFormat::kText;
};

enum class ReportTask : uint8_t { kRender, kList, kMerge, kCompare };

// Renders results of finished runs.
struct ReportCommand {
  ReportTask task = ReportTask::kRender;
  // Each is a result.json, a run's folder or a prefix of a run's name. kRender
  // takes one, kMerge any number, kCompare two, kList none.
  std::vector<std::string> runs;
  std::string runs_directory = ".gauntlet/runs";
  std::string out_directory;  // for kMerge only
  // Outputs of kRender and kMerge; empty: not written.
  std::string html_file;
  std::string junit_file;
  std::string summary_file;
  bool github = false;
  OutputFormat output = OutputFormat::kText;
};

// Measures the cost of checkpoints.
struct BenchCheckpointCommand {
  std::vector<SaveMode> modes;  // in addition to runs without checkpoints
  std::vector<uint64_t> state_bytes = {10'000'000};
  std::vector<uint64_t> every = {10};
  std::vector<int> workers = {1};
  std::vector<int> shards = {0};  // workers that write a shard; 0: all
  RestartPolicy restart = RestartPolicy::kWholeJob;
  int trials = 6;
  uint64_t saves = 10;
  uint64_t seed = 1;
  // Mean time between failures in production, for the recommended interval.
  Duration between_failures = std::chrono::hours(24);
  std::optional<GoodputPlan> goodput;
  std::vector<BenchLimit> limits;
  std::string baseline_file;    // empty: none
  std::string out_directory;    // empty: a new one below .gauntlet/bench
  std::string trial_directory;  // empty: next to the results
  OutputFormat output = OutputFormat::kText;
};

// Measures how the figures of a simulated cluster grow with its size.
struct BenchScaleCommand {
  ScaleBenchPlan plan = {.setup = {}, .workers = {4, 16, 64, 256, 1024}};
  std::string out_directory;  // empty: a new one below .gauntlet/bench-scale
  OutputFormat output = OutputFormat::kText;
};

// Crash-tests any training program.
struct CrashTestPlan;  // harness/trainer/run/crash_test_plan.h
struct CrashTestCommand {
  std::shared_ptr<const CrashTestPlan> plan;
  std::string out_directory;  // empty: a new one below .gauntlet/crash-tests
  OutputFormat output = OutputFormat::kText;
};

// `topic` is "", a command's name, the names of a command and its subcommand
// ("ckpt ls"), or a topic.
struct HelpCommand {
  std::string topic;
};

using Command = std::variant<
    PrintTextCommand, HelpCommand, TrainCommand, LaunchCommand, WorkerCommand,
    CheckpointListCommand, CheckpointVerifyCommand, CheckpointDiffCommand,
    CheckpointExportCommand, CheckpointPredictCommand, EvaluateCommand,
    ListCommand, DoctorCommand, RunCommand, ExploreCommand, ReplayCommand,
    JudgeCommand, ShowCommand, ReportCommand, BenchCheckpointCommand,
    BenchScaleCommand, CrashTestCommand, UpgradeCommand, ValidateCommand>;

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_FLAGS_COMMANDS_H_
