// Output of a run in progress: a line for each finished case, and on a terminal
// a status line below them.
#ifndef GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_
#define GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/terminal/console.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/world/clock.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/run/run_time_left.h"
#include "harness/run/suite.h"

namespace gauntlet {

// Contents of the status line: "[ 34/260] 2 failed  running: crash-in-a-shard,
// … 0:41 left". It shows no count of passed cases.
struct RunStatus {
  size_t cases = 0;
  CaseCounts counts;
  std::vector<std::string> running;  // names, in the order in which they began
  std::optional<double> seconds_left;
};
// Shortens the names of cases to fit. The counter and the counts are never
// shortened, so the line may be longer than `columns`.
std::string RenderRunStatus(const RunStatus& status, size_t columns,
                            const TerminalStyle& style);

// Thread-safe.
class RunProgress {
 public:
  // kOff: no status line. The status line goes to standard error if that is a
  // terminal. If standard output is a terminal too, the line and all messages
  // go to standard output: the order of texts in two streams is not fixed.
  RunProgress(const Clock& clock, Console& console, ProgressChoice choice,
              size_t cases, RunTimeLeft time_left);

  void Begin(const SuiteItem& item);
  // Called when the case begins its reference run or the run to be judged.
  void SetPhase(const SuiteItem& item, CasePhase phase);
  CasePhase PhaseOf(const SuiteItem& item) const;
  // Prints the line of a finished case, with the status line below it.
  void End(const CaseResult& one);
  // Writes to standard output, in whole lines.
  void Print(std::string_view text);
  // Writes to standard error, in whole lines.
  void PrintMessage(std::string_view text);
  // Redraws the status line if it is due.
  void Redraw();
  // Removes the status line; it is not drawn again.
  void Stop();
  // Returns the counts of finished cases.
  CaseCounts counts() const;

 private:
  // Both functions require that mutex_ is held.
  void DrawLine();
  bool HasOneScreen() const;

  // A case in progress.
  struct RunningCase {
    std::string name;
    CasePhase phase = CasePhase::kRun;
  };

  const Clock& clock_;
  Console& console_;
  const size_t cases_;
  mutable std::mutex mutex_;  // guards all members below, and the console
  bool draws_;
  StatusLine line_;
  RunTimeLeft time_left_;
  CaseCounts counts_;
  std::vector<RunningCase> running_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_
