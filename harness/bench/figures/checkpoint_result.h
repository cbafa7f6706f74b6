// Results of a benchmark of checkpoints as plain values.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_RESULT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_RESULT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/train/options.h"
#include "harness/bench/figures/checkpoint_metrics.h"
#include "harness/bench/figures/failure_model.h"

namespace gauntlet {

// One configuration: how to train and save.
struct CheckpointConfig {
  std::optional<SaveMode> mode;  // nullopt: no saves
  uint64_t state_bytes = 0;      // approximate
  uint64_t every = 1;            // steps from save to save
  int workers = 1;
  int shards = 0;  // maximum number of workers that write a shard; 0: all

  bool operator==(const CheckpointConfig&) const = default;
};

std::span<const SaveMode> AllSaveModes();
// Returns the value of train --ckpt-mode: "sync", …
std::string_view SaveModeName(SaveMode mode);
// As SaveModeName; "none" without saves.
std::string ModeName(const std::optional<SaveMode>& mode);
// Returns "checkpoint/async/state:10MB/every:10/workers:1", with "/shards:1"
// appended if not all workers write.
std::string NameOf(const CheckpointConfig& config);

// Values of one metric, one for each trial.
using TrialValues = std::vector<double>;

// Returns memory_added of each trial: its peak memory less the least peak of
// the runs without saves, or 0 if the difference is negative.
//
// The least peak is taken because peaks of runs without saves are too high. A
// peak grows by up to 16 MiB after the measured steps, until it is read:
// workers of one host exchange gradients through shared memory, whose pages
// count once they are used. A run without saves has faster steps, so it does
// more of these additional steps. The least peak is the nearest to the need of
// the measured steps. With a greater peak, the differences would be so low, or
// even negative, that no upper limit on them could be broken.
TrialValues MemoryAdded(const TrialValues& peaks,
                        const TrialValues& without_saves);

// A run with real kills, and the goodput that the model predicts for it.
struct MeasuredGoodput {
  // Time that the same steps take without kills, divided by `seconds`.
  double measured = 0;
  double expected = 0;  // ExpectedGoodput(model, interval)
  uint64_t kills = 0;
  double seconds = 0;
  double interval = 0;  // seconds of steps from save to save
  FailureModel model;   // between_failures: as measured
};

struct CheckpointFigures {
  CheckpointConfig config;
  // By metric; empty: not measured.
  std::array<TrialValues, kMetrics> values;
  std::optional<MeasuredGoodput> goodput;
  // Reason why the requested goodput run gave no figure; empty: it gave one, or
  // none was requested.
  std::string goodput_missing;
  // Reason why the figures are unusable and left out: the trained state differs
  // from that of the run without saves. Empty: they are usable.
  std::string voided;

  const TrialValues& of(Metric metric) const {
    return values[static_cast<size_t>(metric)];
  }
  TrialValues& of(Metric metric) { return values[static_cast<size_t>(metric)]; }
};

// Rates of the machine, in bytes per second. They are measured between the
// trials, with as many bytes as the state has.
enum class MachineLimit : uint8_t {
  kMemcpy,
  kWrite,
  kDirectWrite,
  kColdRead,
  kLoopback,
};
inline constexpr size_t kMachineLimits =
    static_cast<size_t>(MachineLimit::kLoopback) + 1;
// Returns "memcpy", "write+fsync" …
std::string_view MachineLimitName(MachineLimit limit);

struct MachineFigures {
  uint64_t bytes = 0;
  // By limit; empty: the file system has no O_DIRECT.
  std::array<TrialValues, kMachineLimits> values;

  bool operator==(const MachineFigures&) const = default;
};

// Circumstances of the measurement. Figures of different machines or versions
// are not compared.
struct BenchContext {
  std::string date;
  std::string host;
  std::string cpu;
  int cpus = 0;
  std::string version;  // version of this program
  std::string file_system;

  bool operator==(const BenchContext&) const = default;
};

struct CheckpointResult {
  BenchContext context;
  std::vector<MachineFigures> machine;  // one for each state size
  std::vector<CheckpointFigures> figures;
  // Mean time between failures of the whole job, in seconds.
  double between_failures = 0;
  bool interrupted = false;
  // Error that ended the benchmark early; empty if it was not ended early.
  std::string failure;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_RESULT_H_
