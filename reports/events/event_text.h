// One event of a record in words.
#ifndef GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_
#define GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_

#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

// "crash-1 fires: crash worker 1 at ckpt.rename", "resumes from step 5". `life`
// emitted the event, and both are of the record.
std::string EventText(const Record& record, const LifeEvents& life,
                      const RecordEvent& event);

// Text of files and workers as it may stand in a terminal: ends of lines and
// tabs become spaces, other control characters are escaped, such as \x1b.
std::string PlainText(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_EVENT_TEXT_H_
