// A record as a trace in the Chrome trace event format, for ui.perfetto.dev.
#ifndef GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_
#define GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Viewers open the file compressed (reports/trace/gzip.h).
inline constexpr const char* kChromeTraceFileName = "timeline.json.gz";

struct ChromeTraceOptions {
  // Size of the uncompressed trace. In a larger one slices of steps are merged,
  // up to all steps between two incidents, and then routine events left out.
  // Faults, saves, losses and arrows stay, even if they exceed the limit.
  size_t max_bytes = size_t{64} << 20;
  // Number of events that the record lacks: the first ones of each process.
  uint64_t lacking_events = 0;
};

// JSON: {"displayTimeUnit":"ms","traceEvents":[…],"otherData":{…}}.
//
// Processes are the launcher, the simulated machine if it has events, and the
// workers. Slices (X) are activities with a begin and an end in the record,
// instants (i) all other events. Arrows (s, f) go from causes to effects
// (reports/events/causes.h). The counter (C) is the training position. Each end
// of an arrow is at a slice of at most 1 us that stands for the event.
//
// Times count from the first event. "left_out" in otherData counts what the
// size limit cost. Equal records give equal bytes.
std::string RenderChromeTrace(const Record& record,
                              const ChromeTraceOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_
