// A state that a crash may leave in the watched directories of a log.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_STATE_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/digest.h"
#include "engine/status.h"

namespace gauntlet {

enum class CrashStateKind : uint8_t {
  kKill,       // the program died; all operations took effect
  kTornWrite,  // it died in a write, which took effect in part
  kPowerLoss,  // the machine died; unsynced changes may be lost
};

// Outcome of a power loss for one block of 4 KiB with unsynced bytes.
struct BlockOutcome {
  enum class Kind : uint8_t {
    kNew,
    kOld,
    kNewFront,  // the first `sectors` are new, the rest old
    kOldFront,  // the first `sectors` are old, the rest new
  };

  uint64_t block = 0;  // offset in the file / 4096
  Kind kind = Kind::kOld;
  uint32_t sectors = 0;  // of 512 bytes, 1 to 7
  bool operator==(const BlockOutcome&) const = default;
};

enum class UnsyncedData : uint8_t { kKept, kLost };

// Outcome of a power loss for a file with unsynced data.
struct FileOutcome {
  uint64_t file = 0;  // number in the log
  uint64_t size = 0;  // bytes
  // Outcome of blocks with unsynced bytes that `blocks` does not list.
  UnsyncedData rest = UnsyncedData::kKept;
  std::vector<BlockOutcome> blocks;  // ascending
  bool operator==(const FileOutcome&) const = default;
};

struct CrashState {
  CrashStateKind kind = CrashStateKind::kKill;
  // The crash happened after this many operations of the log.
  uint64_t operations = 0;
  // kTornWrite: number of bytes that the next operation, a write, had written.
  uint64_t torn_bytes = 0;

  // kPowerLoss: kExt4 or kWeak.
  DurabilityProfile profile = DurabilityProfile::kExt4;
  // Lost changes of names, modes, times and lengths. A change is identified by
  // the number of its operation in the log, from 1. All unsynced changes from
  // `lost_from` on are lost; 0: none. Under kWeak, those in `lost` (ascending)
  // are lost too.
  uint64_t lost_from = 0;
  std::vector<uint64_t> lost;
  // Outcome of files with unsynced data that `files` does not list.
  UnsyncedData other_files = UnsyncedData::kKept;
  std::vector<FileOutcome> files;  // by number, ascending

  // Digest of the tree: equal for equal directories. Set by CrashStateList.
  Digest image;
};

// Returns the id of a state, one word for repro scripts and scenario files.
// States that differ only in `image` have the same id:
//   kill-120                      after operation 120
//   torn-120-4096                 after operation 120 and the first 4096 bytes
//                                 of operation 121, a write
//   ext4-120                      power loss; all unsynced changes survived
//   ext4-120-data0                all unsynced data lost
//   ext4-120-from118-file7.s4096  changes from 118 on lost; file 7 is 4096
//                                 bytes long, with its unsynced bytes
//   weak-120-lost116.118-file7.s8192.o.b1n.b2f3
//                                 changes 116 and 118 lost; the unsynced
//                                 blocks of file 7 are old (o), except that
//                                 block 1 is new (n), and of block 2 the
//                                 first 3 sectors are new and the others old
//                                 (f3). r3: only the first 3 sectors are old.
//                                 o after a block number: the block is old
std::string CrashStateId(const CrashState& state);
// Parses such an id; does not set `image`. kInvalidArgument, one line, for any
// other text.
Result<CrashState> ParseCrashStateId(std::string_view id);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_STATE_H_
