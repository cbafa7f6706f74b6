// Describes one event of a record.
#ifndef GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_
#define GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_

#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

// Returns "crash-1 fires: crash worker 1 at ckpt.rename" or "resumes from step
// 5". REQUIRES: `incarnation` is in the record, and emitted `event`.
std::string EventText(const Record& record,
                      const IncarnationEvents& incarnation,
                      const RecordEvent& event);

// Makes text of files and workers safe for a terminal: line ends and tabs
// become spaces, other control characters are escaped, such as \x1b.
std::string PlainText(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_
