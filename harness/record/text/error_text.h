// Errors of workers, shortened for lists of events.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_ERROR_TEXT_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_ERROR_TEXT_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the first sentence of the error. Shortens the paths of files in a
// checkpoint to the files' names. For example, "write
// /ckpt/step-000000005-g1.tmp/model.safetensors: disk full. Make room" becomes
// "write model.safetensors: disk full".
std::string ShortError(std::string_view error);

// Removes the note on disk space that a failed save adds to its error: returns
// "disk full" for "disk full (needs 12.5 KiB, …)".
std::string WithoutDiskRoom(std::string_view error);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_ERROR_TEXT_H_
