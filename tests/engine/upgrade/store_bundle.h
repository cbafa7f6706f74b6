// A checkpoint directory as one text file, so that it can be kept in a
// repository: a head of "key: value" lines, then directories and files.
//
//   final: <state digest that the run ends in>
//   epochs: 4
//   directory step-000000009-g2
//   file step-000000009-g2/MANIFEST.json
//     <hex digits, 40 bytes a line>
#ifndef GAUNTLET_TESTS_ENGINE_UPGRADE_STORE_BUNDLE_H_
#define GAUNTLET_TESTS_ENGINE_UPGRADE_STORE_BUNDLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct StoreBundle {
  std::string final_digest;
  uint64_t epochs = 0;  // the horizon that the final digest is of
  // By path from the directory on; those of directories end in '/'.
  std::map<std::string, std::string> files;
};

std::string BundleToText(const StoreBundle& bundle);
// kInvalidArgument for anything else.
Result<StoreBundle> BundleFromText(std::string_view text);

// Everything in the directory.
Result<std::map<std::string, std::string>> PackDirectory(
    Storage& storage, const std::string& directory);
// Makes the directory, and all of the files in it.
Status UnpackDirectory(Storage& storage, const std::string& directory,
                       const std::map<std::string, std::string>& files);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_UPGRADE_STORE_BUNDLE_H_
