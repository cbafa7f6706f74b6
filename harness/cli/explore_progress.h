// What a person sees while an exploration goes on.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_PROGRESS_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_PROGRESS_H_

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "engine/world/clock.h"
#include "harness/cli/terminal_style.h"
#include "harness/explore/campaign.h"

namespace gauntlet {

// "04:12  1904 cases  7.6/s  points 38/40  …", without a line feed.
std::string RenderStatus(const CampaignReport& report);

class ExploreProgress {
 public:
  ExploreProgress(const Clock& clock, std::ostream& out,
                  const TerminalStyle& style);

  // The status: rewritten in place ten times a second on a terminal, a line of
  // its own each ten seconds everywhere else.
  void Show(const CampaignReport& report);
  // Takes a rewritten line away.
  void Clear();

 private:
  const Clock& clock_;
  std::ostream& out_;
  const TerminalStyle style_;
  std::optional<Time> last_;
  bool shown_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_PROGRESS_H_
