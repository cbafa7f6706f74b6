// Directories and files that a run writes, and a check for overlaps that are
// not allowed.
#ifndef GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_
#define GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct OutputPlace {
  std::string role;  // for messages: "--export"
  std::string path;  // "": the run does not write it
};

struct OutputPlaces {
  OutputPlace store;     // checkpoint directory
  OutputPlace exported;  // export directory, replaced as a whole
  std::vector<OutputPlace> others;
};

// Returns kInvalidArgument if the checkpoint or the export directory is, or
// contains, another of these places, or if two of `others` are the same path.
// The message names both places. Links, "." and ".." are resolved first; other
// errors are those of Storage::RealPath.
Status CheckOverlap(Storage& storage, const OutputPlaces& places);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_
