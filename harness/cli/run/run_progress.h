// Output of a run while its cases run: their lines, and on a terminal a status
// line below them.
#ifndef GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_
#define GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/world/clock.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/run/run_time_left.h"
#include "harness/cli/terminal/console.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/run/suite.h"

namespace gauntlet {

// Status line of a run: "[ 34/260] 2 failed  running: crash-in-a-shard, …
// 0:41 left". Passed cases are not counted apart.
struct RunStatus {
  size_t cases = 0;
  CaseCounts counts;
  std::vector<std::string> running;  // names, the first to begin comes first
  std::optional<double> seconds_left;
};
// Case names get the columns that remain. The counter and the counts are never
// shortened, so the line may be longer than `columns`.
std::string RenderRunStatus(const RunStatus& status, size_t columns,
                            const TerminalStyle& style);

// Safe from any thread.
class RunProgress {
 public:
  // kOff: no status line. The line goes to standard error if that is a
  // terminal. If standard output is a terminal too, the line and messages go
  // there, because two streams have no common order.
  RunProgress(const Clock& clock, Console& console, ProgressChoice choice,
              size_t cases, RunTimeLeft time_left);

  void Begin(const SuiteItem& item);
  // The case begins its reference run, or its own.
  void SetPhase(const SuiteItem& item, CasePhase phase);
  // The line of the case follows; the status line is drawn after it.
  void End(const CaseResult& one);
  // Writes to standard output, in whole lines.
  void Print(std::string_view text);
  // Writes to standard error, in whole lines.
  void PrintMessage(std::string_view text);
  // Redraws the status line if that is due.
  void Redraw();
  // Removes the status line for good.
  void Stop();
  // Counts of the cases that are over.
  CaseCounts counts() const;

 private:
  // REQUIRES for all: mutex_ is held.
  void DrawLine();
  bool HasOneScreen() const;

  // A case that runs now.
  struct RunningCase {
    std::string name;
    CasePhase phase = CasePhase::kRun;
  };

  const Clock& clock_;
  Console& console_;
  const size_t cases_;
  mutable std::mutex mutex_;  // guards all below, and the console
  bool draws_;
  StatusLine line_;
  RunTimeLeft time_left_;
  CaseCounts counts_;
  std::vector<RunningCase> running_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_PROGRESS_H_
