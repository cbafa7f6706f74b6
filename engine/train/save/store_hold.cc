#include "engine/train/save/store_hold.h"

#include <vector>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/train/save/store_lock.h"
#include <fmt/format.h>

namespace gauntlet {

Result<StoreHold> HoldStore(World& world, const std::string& directory,
                            WorkerSpec& place, Duration patience) {
  StoreHold hold;
  const bool is_launched = !place.launch_hold.launch.empty();
  if (directory.empty() || place.rank != 0 || is_launched) return hold;
  const bool is_alone = place.addresses.size() <= 1;
  ASSIGN_OR_RETURN(
      hold.lock,
      LockStore(world, directory, is_alone ? Duration::zero() : patience));
  ASSIGN_OR_RETURN(place.launch_hold.launch, MakeLaunchName(world, directory));
  return hold;
}

void RemoveIfDeleted(Storage& storage, const std::string& directory,
                     const StoreHold& hold) {
  if (hold.lock == nullptr) return;
  const Result<std::vector<DirectoryEntry>> left = storage.List(directory);
  if (!left.ok() || left->size() != 1 || left->front().name != kLockFileName)
    return;
  // A failed removal does no harm: the store is empty.
  if (storage
          .Remove(fmt::format("{}/{}", directory, kLockFileName),
                  FileKind::kFile)
          .ok()) {
    static_cast<void>(storage.Remove(directory, FileKind::kDirectory));
  }
}

}  // namespace gauntlet
