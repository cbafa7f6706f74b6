// The directories and files that a run writes, and which of them may not
// coincide.
#ifndef GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_
#define GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct OutputPlace {
  std::string role;  // for messages: "--export"
  std::string path;  // "": the run has none
};

struct OutputPlaces {
  OutputPlace store;     // checkpoint directory
  OutputPlace exported;  // replaced as a whole
  std::vector<OutputPlace> others;
};

// kInvalidArgument names two places of which one lies in a directory that is
// the other's alone: the store's and the export's are; of the others no two are
// the same. Links, "." and ".." are followed.
Status CheckOverlap(Storage& storage, const OutputPlaces& places);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_OUTPUT_OVERLAP_H_
