// Lists the states that a crash may leave in the watched directories of a log:
// each distinct state once, the most revealing ones first.
//
// Order: the likely states of a few points, spread over the whole log, come
// first. Then points come in two rounds. The first round has the points before
// and after an operation whose kind and name occur for the first or second
// time; names that differ only in digits count as one. The second round has all
// others. In a round, all states of level 1 come first, then those of level 2;
// level 3 of both rounds comes at the very end. Within a level, states are
// ordered by point:
// 1. kills; writes torn in half; under ext4, all names survive, but the
//    unsynced data of all files, or of one of the newest files, is lost.
// 2. other torn writes; under ext4, one of the newest files is short or is the
//    only one that keeps its data, or the newest changes of names are lost;
//    under weak the same, or one change of names is lost but later ones are
//    not, or a file has its length but not its bytes.
// 3. combinations of these; each overwritten block by itself, old or torn.
//
// Bounds, all in CrashBounds:
// - torn writes: at each boundary of a 4 KiB block of the file, and in the
//   middle of the write; of a write that touches more than `torn_blocks_up_to`
//   blocks, at the first and last block boundary, in the middle, and at
//   `torn_drawn` random boundaries;
// - changes of names: the newest 0 to `newest_names` are lost. Under kWeak,
//   each of these choices is also listed with one more change lost: one of the
//   `newest_names` before the newest kept one. If there are at most
//   `all_names_up_to` changes, kWeak tries all subsets of them;
// - one file: up to `contents_up_to` outcomes;
// - several files: if one choice of names has at most `combinations_up_to`
//   combinations of these outcomes, all of them. If it has more, each outcome
//   of one of the newest `newest_files`, with the other files all kept or all
//   lost.
// Torn writes left out are counted. The number of power losses left out is only
// an upper bound: many of those states equal each other, or a state of another
// point. A write through a shared mapping is one operation in the log. The
// states within it are not covered; CrashListCounts counts such writes.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
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
  // First and last point to list. A point is the number of operations before
  // it.
  uint64_t first_point = 0;
  uint64_t last_point = UINT64_MAX;
  // Numbers of operations, from 1, at which no crash is listed: neither after
  // the operation nor, if it is a write, within it.
  std::set<uint64_t> left_out = {};
  CrashBounds bounds;
  uint64_t seed = 0;  // for random places at which writes are torn
};

struct CrashListCounts {
  uint64_t considered = 0;
  uint64_t equal = 0;                // considered, but equal to an earlier one
  uint64_t torn_left_out = 0;        // torn writes beyond the bounds
  double power_losses_left_out = 0;  // upper bound
  uint64_t mapped_writes = 0;        // the states within them are not covered
};

class CrashStateList {
 public:
  // The log must outlive this.
  CrashStateList(const OperationLog& log, CrashListOptions options);

  // Returns the next distinct state; nullopt at the end. kDataLoss: the log
  // contradicts itself, or its bytes are truncated or changed.
  Result<std::optional<CrashState>> Next();
  // Returns states considered so far whose directories have this image: kills,
  // then torn writes, then power losses under each profile. Of each of these
  // groups, returns only the first and the last state in the log.
  std::vector<CrashState> StatesOf(const Digest& image) const;
  // Counts so far.
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
  static void Keep(const CrashState& state, std::vector<CrashState>& equal);
  Level level() const;
  bool Lists(CrashStateKind kind) const {
    return options_.kinds.contains(kind);
  }

  const OperationLog& log_;
  const CrashListOptions options_;
  ContentDigests digests_;
  std::set<uint64_t> spread_;   // points that come first
  std::vector<bool> is_early_;  // by number of operations
  size_t pass_ = 0;
  uint64_t next_ = 0;            // number of operations to examine next
  std::optional<LogWalk> walk_;  // of this pass
  std::deque<CrashState> ready_;
  // By image, in the order of StatesOf.
  std::unordered_map<Digest, std::vector<CrashState>, DigestHash> seen_;
  CrashListCounts counts_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_STATE_LIST_H_
