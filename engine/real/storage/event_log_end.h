// The line that a process prints if its event file (event_file.h) ends early.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_EVENT_LOG_END_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_EVENT_LOG_END_H_

#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Returns "event log: DIR/worker-0-incarnation-1.jsonl: write: File too large
// (ulimit -f, …); it ends here". `failed`: the error of the write.
std::string EventLogEndLine(const Status& failed);

// Returns the first EventLogEndLine in what processes printed, without text
// before it on its line; "" if there is none.
std::string_view FindEventLogEnd(std::string_view printed);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_EVENT_LOG_END_H_
