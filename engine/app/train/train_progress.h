// Progress of training for people: a line rewritten in place on a terminal,
// otherwise plain lines at intervals.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_TRAIN_PROGRESS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_TRAIN_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "engine/app/commands.h"
#include "engine/cli/terminal/terminal_style.h"
#include "engine/train/launcher/launcher.h"
#include "engine/world/clock.h"

namespace gauntlet {

struct ProgressFacts {
  uint64_t epoch = 0;  // completed epochs
  uint64_t epochs = 1;
  uint64_t step = 0;                // completed steps
  uint64_t steps = 0;               // total number; 0: not known
  std::optional<float> loss;        // nullopt: no step was reported yet
  double samples_per_second = 0.0;  // 0: not known
  double samples_per_step = 1.0;
};

// Returns a line without a line feed, at most style.columns() - 1 characters
// wide: "epoch 3/4  step 151/256  ██▎   59%  loss 0.4127  1912 samples/s  eta
// 0:08". The bar is left out if lines are not rewritten.
std::string RenderProgress(const ProgressFacts& facts,
                           const TerminalStyle& style);

// Not safe for concurrent use by two tasks.
class TrainProgress final : public LaunchObserver {
 public:
  // Takes the numbers of steps and epochs, and of samples per step, from the
  // command.
  TrainProgress(const Clock& clock, const TrainCommand& command,
                std::ostream& out, const TerminalStyle& style);

  // Always writes the report's `line`, if it has one. On a terminal, also shows
  // progress, at most ten times a second. Elsewhere, prints progress every ten
  // seconds and after each epoch, except for a report with both `line` and
  // `loss`.
  void Progress(const WorkerProgress& progress) override;
  void Restarting(int restart, const std::string& reason,
                  Duration pause) override;
  // Removes the rewritten line.
  void Clear();

 private:
  void WriteLine(std::string_view line);
  bool IsDue(const WorkerProgress& progress, Time now) const;
  ProgressFacts FactsOf(const WorkerProgress& progress, Time now) const;

  const Clock& clock_;
  Horizon horizon_;
  double samples_per_step_;
  ProgressChoice choice_;
  std::ostream& out_;
  TerminalStyle style_;
  // Step and time of the first report since the last restart: start of the
  // speed measurement.
  std::optional<std::pair<uint64_t, Time>> measured_from_;
  std::optional<float> last_loss_;  // since the last restart; nullopt: none yet
  std::optional<Time> last_drawn_;
  uint64_t last_epoch_ = 0;
  bool line_shown_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_TRAIN_PROGRESS_H_
