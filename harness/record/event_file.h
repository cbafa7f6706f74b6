// The event file of one life: JSON Lines, schema gauntlet.events/v2.
//
//   {"kind":"header","schema":"gauntlet.events/v2","worker":1,"incarnation":2}
//   {"kind":"step","t_ns":1834,"step":7,"loss":"3f9d70a4","digest":"…"}
//
// A field that is missing is zero; "loss" is 8 hex digits of a float32's bits,
// "digest" 32. A last line without its line feed is what a kill leaves: it is
// ignored. Unknown keys are ignored, everything else that is odd is an error.
#ifndef GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_
#define GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_

#include <string_view>

#include "harness/record/event.h"
#include "harness/record/parsed.h"

namespace gauntlet {

// `name` is what errors call the file. A file that was torn inside its first
// line is a life that left nothing: an error, since it does not say whose.
Parsed<LifeEvents> ReadEventFile(std::string_view text, std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_FILE_H_
