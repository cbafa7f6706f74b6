// The event file of one process: JSON Lines, schema gauntlet.events/v2.
//
//   {"kind":"header","schema":"gauntlet.events/v2","worker":1,"incarnation":2}
//   {"kind":"step","t_ns":1834,"step":7,"loss":"3f9d70a4","digest":"…"}
//
// A missing field is zero; "loss" is the bits of a float32 as 8 hex digits,
// "digest" has 32 hex digits. A last line without a line feed is ignored, as a
// kill may have cut it off. Unknown keys are ignored; anything else unexpected
// is an error.
#ifndef GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_
#define GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_

#include <string_view>

#include "harness/record/event.h"
#include "harness/record/parsed.h"

namespace gauntlet {

// Reads an event file. Error messages call it `name`. A file that ends within
// its first line is an error, as it does not name its process.
Parsed<IncarnationEvents> ReadEventFile(std::string_view text,
                                        std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_
