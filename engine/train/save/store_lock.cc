#include "engine/train/save/store_lock.h"

#include "engine/ckpt/checkpoint_store.h"
#include "engine/ckpt/format/store_names.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kLockPollInterval = std::chrono::milliseconds(50);
// A shorter wait is not reported: workers of an earlier run usually exit within
// this time.
constexpr Duration kSilentFor = std::chrono::milliseconds(500);

}  // namespace

Result<std::unique_ptr<FileLock>> LockStore(World& world,
                                            const std::string& directory,
                                            Duration patience,
                                            const OnLockWait& on_wait) {
  if (directory.empty()) return std::unique_ptr<FileLock>();
  RETURN_IF_ERROR(
      CheckpointStore::Open(world, {.directory = directory}).status());
  const Time began = world.clock.Now();
  bool reported = false;
  while (true) {
    Result<std::unique_ptr<FileLock>> lock =
        world.storage.Lock(fmt::format("{}/{}", directory, kLockFileName));
    if (lock.ok() || lock.status().code() != Code::kAlreadyExists) return lock;
    const std::string in_use = fmt::format("{}: in use by another run ({})",
                                           directory, lock.status().message());
    const Duration waited = world.clock.Now() - began;
    if (waited >= patience) return FailedPrecondition(in_use);
    if (on_wait && !reported && waited >= kSilentFor) {
      on_wait(in_use);
      reported = true;
    }
    world.clock.SleepUntil(world.clock.Now() + kLockPollInterval);
  }
}

}  // namespace gauntlet
