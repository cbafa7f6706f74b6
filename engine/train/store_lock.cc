#include "engine/train/store_lock.h"

#include "engine/ckpt/checkpoint_store.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(50);

}  // namespace

Result<std::unique_ptr<FileLock>> LockStore(World& world,
                                            const std::string& directory,
                                            Duration patience) {
  if (directory.empty()) return std::unique_ptr<FileLock>();
  RETURN_IF_ERROR(
      CheckpointStore::Open(world, {.directory = directory}).status());
  const Time give_up = world.clock.Now() + patience;
  while (true) {
    Result<std::unique_ptr<FileLock>> lock =
        world.storage.Lock(directory + "/lock");
    if (lock.ok() || lock.status().code() != Code::kAlreadyExists) return lock;
    if (world.clock.Now() >= give_up) {
      return FailedPrecondition(fmt::format(
          "{}: in use by another run (its lock is held)", directory));
    }
    world.clock.SleepUntil(world.clock.Now() + kLookEvery);
  }
}

}  // namespace gauntlet
