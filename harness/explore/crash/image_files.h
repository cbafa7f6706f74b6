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

// Checkpoints in the store that are under their final name.
int CommittedCheckpoints(ImageDirectory& root, std::string_view store);

// Every file with its path, in the order of these.
std::vector<std::pair<std::string, ImageEntry*>> ListFiles(
    ImageDirectory& root);

// The bits, by number, of the first, middle and last byte of each block of a
// file of that size.
std::vector<size_t> BitsOfRot(size_t bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_IMAGE_FILES_H_
