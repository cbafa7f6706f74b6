// A run as an SVG picture: the training position over time, and below it a lane
// for the launcher and each worker.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

struct SwimLaneOptions {
  std::string_view id = "run";  // unique in the page; begins the ids of titles
  size_t most_lanes = 32;       // further workers are counted, not drawn
};

// A <figure>; empty if the record has no events. It uses SymbolDefinitions().
// Arrows go from a fault to its detection, the restart and the resume, as far
// as CausesOf() infers them.
std::string RenderSwimLane(const Record& record,
                           const SwimLaneOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_
