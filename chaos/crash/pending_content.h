// Contents that a power loss may leave in a file with unsynced data, for one
// choice of surviving changes of names.
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
  std::shared_ptr<const FileContent> now;  // with all writes
  int64_t old_time = 0;  // of modification, nanoseconds since 1970
  int64_t now_time = 0;
  uint64_t last_operation = 0;  // index of the newest unsynced change

  // Possible sizes: these, ascending, and all multiples of the block size
  // strictly between `low` and `high`.
  std::vector<uint64_t> sizes;
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t kept_size = 0;  // size if all possible data survives

  // Blocks with unsynced bytes. Each is old or new; a block in `torn` may also
  // be torn. Both lists are ascending, and all ranges are disjoint.
  std::vector<BlockRange> torn;
  std::vector<BlockRange> whole;
  // Blocks of these ranges are always old: their writes fill holes of `old`,
  // but journal entries that precede these writes are lost.
  std::vector<BlockRange> stale;
  // True if, in each outcome that is longer than `old`, the block that contains
  // the old end and all later blocks are new.
  bool appends_whole = false;

  FileOutcome Kept(uint64_t file) const;
  FileOutcome Lost(uint64_t file) const;
  // Returns false for an impossible outcome.
  bool Allows(const FileOutcome& outcome) const;
  // REQUIRES: Allows(outcome).
  std::shared_ptr<const FileContent> Compose(const FileOutcome& outcome) const;
  int64_t TimeOf(const FileOutcome& outcome) const;

  // Returns Lost, and then other outcomes except Kept, the likeliest first.
  // Returns at most `bound` outcomes, but includes Lost even if `bound` is 0.
  std::vector<FileOutcome> Outcomes(uint64_t file, size_t bound) const;
  // Returns the number of outcomes including Kept; an upper bound, as several
  // may be equal.
  double CountOutcomes() const;

 private:
  void AddOverwritten(std::vector<FileOutcome>& outcomes, uint64_t file,
                      size_t bound) const;
  std::vector<uint64_t> SizesByLikelihood(size_t bound) const;
};

// Sorts the ranges, and merges adjacent ones.
void Normalise(std::vector<BlockRange>& ranges);
uint64_t CountBlocks(const std::vector<BlockRange>& ranges);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_PENDING_CONTENT_H_
