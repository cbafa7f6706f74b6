// Contents that a power loss may leave of a file with unsynced data, for one
// choice of the changes of names that survived.
#ifndef GAUNTLET_CHAOS_CRASH_PENDING_CONTENT_H_
#define GAUNTLET_CHAOS_CRASH_PENDING_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/file_content.h"

namespace gauntlet {

inline constexpr uint64_t kCrashBlockBytes = 4096;
inline constexpr uint64_t kCrashSectorBytes = 512;

// Blocks [first, last) of a file.
struct BlockRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

struct PendingContent {
  std::shared_ptr<const FileContent> old;  // durable
  std::shared_ptr<const FileContent> now;  // with all that was written
  int64_t old_time = 0;  // of modification, nanoseconds since 1970
  int64_t now_time = 0;
  uint64_t last_operation = 0;  // index of the newest that is pending

  // Sizes that it may have: these, ascending, and all multiples of the block
  // between `low` and `high`, these two not included.
  std::vector<uint64_t> sizes;
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t kept_size = 0;  // with all that can be there

  // Ascending, disjoint. Each block is old or new, and in `torn` also torn.
  std::vector<BlockRange> torn;
  std::vector<BlockRange> whole;
  // Always old: their block has no place on the disk yet.
  std::vector<BlockRange> stale;
  // In a file longer than `old`, the block in which the old one ends is new.
  bool appends_whole = false;

  FileOutcome Kept(uint64_t file) const;
  FileOutcome Lost(uint64_t file) const;
  // False for an outcome that cannot be.
  bool Allows(const FileOutcome& outcome) const;
  // REQUIRES: Allows(outcome).
  std::shared_ptr<const FileContent> Compose(const FileOutcome& outcome) const;
  int64_t TimeOf(const FileOutcome& outcome) const;

  // Without Kept: the likely ones first, beginning with Lost; at most
  // `bound`, but never fewer than Lost.
  std::vector<FileOutcome> Outcomes(uint64_t file, size_t bound) const;
  // How many there are, Kept among them; an upper bound, as several may be
  // alike.
  double CountOutcomes() const;

 private:
  void AddOverwritten(std::vector<FileOutcome>& outcomes, uint64_t file,
                      size_t bound) const;
  std::vector<uint64_t> SizesByLikelihood(size_t bound) const;
};

// Sorts, and joins those that touch.
void Normalise(std::vector<BlockRange>& ranges);
uint64_t CountBlocks(const std::vector<BlockRange>& ranges);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_PENDING_CONTENT_H_
