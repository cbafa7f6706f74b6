// Renders a record as a trace in the Chrome trace event format, for
// ui.perfetto.dev.
#ifndef GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_
#define GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Compressed (reports/trace/gzip.h), which viewers support.
inline constexpr const char* kChromeTraceFileName = "timeline.json.gz";

struct ChromeTraceOptions {
  // Maximum size of the uncompressed trace. To meet it, slices of steps are
  // merged, up to all steps between two incidents, and then routine events are
  // left out. Faults, saves, losses and arrows stay, even if they exceed the
  // limit.
  size_t max_bytes = size_t{64} << 20;
  // Number of events missing in the record: the first ones of each process.
  uint64_t lacking_events = 0;
};

// Returns JSON: {"displayTimeUnit":"ms","traceEvents":[…],"otherData":{…}}.
//
// Processes are the launcher, the simulated machine if it has events, and the
// workers. Slices (X) are activities whose begin and end are in the record,
// instants (i) are all other events. Arrows (s, f) go from causes to effects
// (reports/events/causes.h); each of their ends is at a slice of at most 1 us
// that stands for the event. The counter (C) is the training position.
//
// Times count from the first event. "left_out" in otherData counts what the
// size limit removed. Equal records give equal bytes.
std::string RenderChromeTrace(const Record& record,
                              const ChromeTraceOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_CHROME_TRACE_H_
