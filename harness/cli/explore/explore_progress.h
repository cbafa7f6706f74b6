// The progress line of an exploration.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_PROGRESS_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "engine/cli/terminal/terminal_style.h"
#include "engine/world/clock.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/crash/crash_states.h"

namespace gauntlet {

// Limits at which an exploration ends; nullopt: no limit.
struct ExploreLimits {
  std::optional<Duration> time;
  std::optional<uint64_t> cases;
};

// Returns "1,204 of 5,000 cases", "2 failed", "0:41 left", "points 38/40" …,
// the most important part first, in the words of the summary.
std::vector<std::string> StatusOf(const CampaignReport& report,
                                  const ExploreLimits& limits);
// Returns the parts of the progress line for mode crash-states. `seconds`: time
// since the start of the search.
std::vector<std::string> StatusOf(const CrashStateReport& report,
                                  double seconds, const ExploreLimits& limits);

// Returns the first parts, as many as fit into `width` columns, without a line
// feed. If the first part does not fit, returns the beginning of it.
std::string FitStatus(const std::vector<std::string>& parts, size_t width);

class ExploreProgress {
 public:
  ExploreProgress(const Clock& clock, std::ostream& out,
                  const TerminalStyle& style);

  // Returns true iff the next line is due: ten times a second on a terminal,
  // where the line is rewritten in place, otherwise every ten seconds. The
  // first call starts the clock. No line is due after PrintStopping.
  bool IsDue();
  void Show(const std::vector<std::string>& parts);
  // Removes the line if it is rewritten in place.
  void Clear();
  // Prints once that the exploration stops because of an interrupt.
  void PrintStopping();

 private:
  const Clock& clock_;
  std::ostream& out_;
  const TerminalStyle style_;
  std::optional<Time> last_;
  bool shown_ = false;
  bool is_stopping_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_PROGRESS_H_
