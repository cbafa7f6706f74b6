// Lists the contents of a disk image.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_IMAGE_FILES_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_IMAGE_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/sim/disk/disk_image.h"

namespace gauntlet {

// Returns the number of checkpoints in the store that have their final name.
int CommittedCheckpoints(ImageDirectory& root, std::string_view store);

// Returns every file with its path, ordered by path.
std::vector<std::pair<std::string, ImageEntry*>> ListFiles(
    ImageDirectory& root);

// Returns the numbers of all bits in the first, middle and last byte of each
// block of a file of that size.
std::vector<size_t> BitsOfRot(size_t bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_IMAGE_FILES_H_
