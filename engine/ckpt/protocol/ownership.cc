#include "engine/ckpt/protocol/ownership.h"

#include <algorithm>

#include "engine/ckpt/format/claim_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns Ok if the claim `own` exists; kNotFound if the file is missing or has
// another claim. A damaged claim counts as existing.
Status FindClaim(World& world, const std::string& directory,
                 const ClaimRecord& own) {
  ASSIGN_OR_RETURN(
      const std::string text,
      ReadWithRetry(world, directory + "/" + ClaimName(own.generation),
                    kMaxClaimBytes));
  const std::string own_text = EncodeClaim(own);
  if (text == own_text) return OkStatus();
  const Result<ClaimRecord> found = ParseClaim(text);
  if (found.status().code() == Code::kDataLoss) return OkStatus();
  RETURN_IF_ERROR(found.status());
  return EncodeClaim(*found) == own_text ? OkStatus() : NotFound("of another");
}

}  // namespace

Result<std::string> MakeLaunchName(World& world, const std::string& directory) {
  ASSIGN_OR_RETURN(const uint64_t highest, HighestClaim(world, directory));
  return fmt::format("{:020} {} {}", highest + 1, world.clock.UnixSeconds(),
                     world.host.Name());
}

Status CheckNextGeneration(const StoreScan& scan,
                           const std::string& directory) {
  // JSON numbers are exact up to 2^53.
  constexpr uint64_t kMaxGeneration = uint64_t{1} << 53;
  if (scan.highest_generation < kMaxGeneration) return OkStatus();
  const auto taken = std::ranges::find(
      scan.entries, scan.highest_generation,
      [](const ScannedEntry& entry) { return entry.parsed.generation; });
  std::string path = directory;
  std::string advice = "the checkpoint whose manifest says so";
  if (taken != scan.entries.end()) {
    path += "/" + taken->name;
    const bool is_directory = taken->kind == FileKind::kDirectory;
    advice = (is_directory ? "the directory " : "the file ") + path;
  }
  return InvalidArgument(fmt::format(
      "{}: expected generations up to {}, found {}, which leaves no number for "
      "the next one; remove {}",
      path, kMaxGeneration, scan.highest_generation, advice));
}

Status CheckLaunchHold(const StoreScan& scan, const StoreOptions& options) {
  const LaunchHold& launch_hold = options.launch_hold;
  if (scan.highest_claim < launch_hold.claimed) {
    return FailedPrecondition(fmt::format(
        "{}: deleted under this run: expected its claim {} or a later one, "
        "found {}",
        options.directory, ClaimName(launch_hold.claimed),
        scan.highest_claim == 0 ? "none" : ClaimName(scan.highest_claim)));
  }
  if (!launch_hold.launch.empty() && scan.latest_launch > launch_hold.launch) {
    return FailedPrecondition(fmt::format(
        "{}: taken over by a later run: launched as \"{}\", this one as "
        "\"{}\"",
        options.directory, scan.latest_launch, launch_hold.launch));
  }
  return OkStatus();
}

Status WaitUntilClaimVisible(World& world, const std::string& directory,
                             uint64_t generation, Time deadline) {
  constexpr Duration kLookAgain = std::chrono::milliseconds(100);
  Status refreshed;
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t highest, HighestClaim(world, directory));
    if (highest == generation) return OkStatus();
    if (highest > generation) {
      world.events.Emit(
          {.kind = EventKind::kFencedOut, .generation = generation});
      return Fenced(fmt::format("{}: generation {} was followed by {}",
                                directory, generation, ClaimName(highest)));
    }
    if (world.clock.Now() >= deadline) break;
    refreshed = RefreshListing(world, directory, generation);
    world.clock.SleepUntil(world.clock.Now() + kLookAgain);
  }
  // If RefreshListing failed, the listing may be outdated, and a claim that is
  // missing in it proves nothing.
  RETURN_IF_ERROR(refreshed);
  return InvalidArgument(fmt::format(
      "{}: expected the directory that all workers share, found no {} in it, "
      "which the chief has claimed",
      directory, ClaimName(generation)));
}

Status FencedBy(World& world, uint64_t generation, uint64_t higher) {
  world.events.Emit({.kind = EventKind::kFencedOut, .generation = generation});
  return Fenced(fmt::format("generation {} is fenced by the claim {}",
                            generation, ClaimName(higher)));
}

Status CheckNotFenced(World& world, const std::string& directory,
                      uint64_t generation) {
  ASSIGN_OR_RETURN(const uint64_t highest, HighestClaim(world, directory));
  if (highest > generation) return FencedBy(world, generation, highest);
  return OkStatus();
}

Status RefreshListing(World& world, const std::string& directory,
                      uint64_t generation) {
  const std::string path =
      directory + "/" + ClaimName(generation) + std::string(kProbeSuffix);
  RETURN_IF_ERROR(world.storage.Open(path, OpenMode::kCreateTruncate).status());
  const Status removed = world.storage.Remove(path, FileKind::kFile);
  // Another waiting rank, or the chief's cleanup, may have removed the file.
  return removed.code() == Code::kNotFound ? OkStatus() : removed;
}

Status CheckOwner(World& world, const std::string& directory,
                  const ClaimRecord& own) {
  const Result<uint64_t> highest = HighestClaim(world, directory);
  if (highest.ok() && *highest > own.generation) {
    world.events.Emit(
        {.kind = EventKind::kFencedOut, .generation = own.generation});
    return Fenced(fmt::format(
        "{}: taken over from generation {} by a newer run: its claim is {}",
        directory, own.generation, ClaimName(*highest)));
  }
  Status found = highest.status();
  if (found.ok()) found = FindClaim(world, directory, own);
  if (found.code() != Code::kNotFound) return found;
  return FailedPrecondition(
      fmt::format("{}: deleted under this run: its claim {} is not there",
                  directory, ClaimName(own.generation)));
}

}  // namespace gauntlet
