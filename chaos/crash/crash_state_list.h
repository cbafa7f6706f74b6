// The states in which a crash may leave the watched directories of a log, each
// distinct one once, those that find most first.
//
// The order. The likely states of a few points, spread over the whole log, come
// first. Then points come in two rounds: first those at which something happens
// for the first or second time (a kind of operation on a name, digits in it not
// counted: the second checkpoint is like the first), then all others. In a
// round the states come by level, and within a level by point:
//  1. kills; writes torn in half; under ext4, all names there but all unsynced
//     data lost, or that of one of the newest files.
//  2. other torn writes; under ext4, one of the newest files short, or the only
//     one that is there, and the newest changes of names lost; under weak, the
//     same, a change of names lost that others follow, a length without its
//     bytes.
//  3. combinations of these, and overwritten blocks one by one, old and torn.
// Level 3 of both rounds comes last.
//
// The bounds, all in CrashBounds:
// - torn writes: at each block of 4 KiB of the file and in the half; of a write
//   that touches more than `torn_blocks_up_to` blocks, at the first and last
//   such place, in the half, and at `torn_drawn` places drawn by the seed;
// - changes of names: under kExt4 the newest 0 to `newest_names` lost; under
//   kWeak the same, each with one more change lost among the `newest_names`
//   before, and all subsets of up to `all_names_up_to` changes;
// - one file: up to `contents_up_to` outcomes;
// - files together: all combinations of these up to `combinations_up_to` for
//   one choice of names; beyond, one of the newest `newest_files` in any of its
//   outcomes with the others all kept or all lost.
// Torn writes left out are counted; of power losses the number left out is an
// estimate, from above: many of them are alike, or states of another point.
// Writes through shared mappings are one operation each; states in between are
// not covered, and such writes are counted.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "chaos/crash/content_digests.h"
#include "chaos/crash/crash_state.h"
#include "chaos/crash/log_walk.h"

namespace gauntlet {

struct CrashBounds {
  uint64_t torn_blocks_up_to = 64;
  size_t torn_drawn = 8;
  size_t newest_names = 8;
  size_t all_names_up_to = 6;
  size_t contents_up_to = 24;
  size_t newest_files = 4;
  double combinations_up_to = 64;
};

struct CrashListOptions {
  std::set<CrashStateKind> kinds = {CrashStateKind::kKill,
                                    CrashStateKind::kTornWrite,
                                    CrashStateKind::kPowerLoss};
  // Profiles of power losses: kExt4 and kWeak.
  std::vector<DurabilityProfile> profiles = {DurabilityProfile::kExt4,
                                             DurabilityProfile::kWeak};
  // Points of the log, as numbers of operations: from one to the other.
  uint64_t first_point = 0;
  uint64_t last_point = UINT64_MAX;
  CrashBounds bounds;
  uint64_t seed = 0;  // of the places that are drawn
};

struct CrashListCounts {
  uint64_t considered = 0;
  uint64_t equal = 0;                // of these, like one before
  uint64_t torn_left_out = 0;        // torn writes
  double power_losses_left_out = 0;  // an estimate, from above
  uint64_t mapped_writes = 0;        // with states in between not covered
};

class CrashStateList {
 public:
  // The log outlives this.
  CrashStateList(const OperationLog& log, CrashListOptions options);

  // The next distinct state; nullopt: there are no more. kDataLoss: the log
  // does not fit together, or its bytes are cut or changed.
  Result<std::optional<CrashState>> Next();
  // So far.
  const CrashListCounts& counts() const { return counts_; }

 private:
  enum class Level : uint8_t { kLikely, kCommon, kCombined };

  bool IsOfPass(uint64_t point) const;
  Result<bool> GoToNextPoint();
  Status ListPoint();
  Status ListTorn();
  Status ListPowerLosses(DurabilityProfile profile);
  Status ListFiles(CrashState state, const UnsyncedChanges::Survivors& left);
  Status ListAllCombinations(const CrashState& state,
                             const UnsyncedChanges::Survivors& left);
  Status ListOneDiffers(CrashState state,
                        const UnsyncedChanges::Survivors& left);
  Status Consider(const CrashState& state, const DirectoryTree& tree);
  Status ConsiderWith(CrashState state, std::vector<FileOutcome> files,
                      const UnsyncedChanges::Survivors& left);
  Level level() const;
  bool Lists(CrashStateKind kind) const {
    return options_.kinds.contains(kind);
  }

  const OperationLog& log_;
  const CrashListOptions options_;
  ContentDigests digests_;
  std::set<uint64_t> spread_;   // points that come first
  std::vector<bool> is_early_;  // of each number of operations
  size_t pass_ = 0;
  uint64_t next_ = 0;            // number of operations to look at next
  std::optional<LogWalk> walk_;  // of this pass
  std::deque<CrashState> ready_;
  std::unordered_set<Digest, DigestHash> seen_;
  CrashListCounts counts_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_
