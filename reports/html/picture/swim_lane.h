// Draws a run as an SVG picture: the training position over time, and below it
// a lane for the launcher and each worker.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

struct SwimLaneOptions {
  std::string_view id = "run";  // unique in the page; prefix of title ids
  size_t most_lanes = 32;       // further workers are counted, not drawn
};

// Returns a <figure>; "" if the record has no events. Requires
// SymbolDefinitions() in the page. Arrows go from a fault to its detection, the
// restart and the resume, as inferred by CausesOf().
std::string RenderSwimLane(const Record& record,
                           const SwimLaneOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_SWIM_LANE_H_
