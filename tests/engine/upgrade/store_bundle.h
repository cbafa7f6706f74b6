// A checkpoint directory as one text file that can be kept in a repository: a
// head of "key: value" lines, then directories and files.
//
//   final: <digest of the final state of the run>
//   epochs: 4
//   directory step-000000009-g2
//   file step-000000009-g2/MANIFEST.json
//     <hex digits, 40 bytes per line>
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
  uint64_t epochs = 0;  // number of epochs of the run of `final_digest`
  // Contents by path relative to the directory. Paths of directories end in
  // '/'.
  std::map<std::string, std::string> files;
};

std::string BundleToText(const StoreBundle& bundle);
// Returns kInvalidArgument if the text is not a bundle.
Result<StoreBundle> BundleFromText(std::string_view text);

// Returns everything in the directory.
Result<std::map<std::string, std::string>> PackDirectory(
    Storage& storage, const std::string& directory);
// Creates the directory, with all of the files.
Status UnpackDirectory(Storage& storage, const std::string& directory,
                       const std::map<std::string, std::string>& files);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_UPGRADE_STORE_BUNDLE_H_
