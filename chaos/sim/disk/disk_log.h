// The micro-operations of a run on a disk, in an order in which a power loss
// may come between any two.
//
// A write is one operation for each 4-KiB block that it touches; where it ends
// behind the end of the file it also changes the size. All else is an operation
// as the program made it: names are never half changed. What orders them:
//
// - A sync has happened before all later operations: the changes that it makes
//   durable are on the disk at every power loss after it. The profile defines
//   these changes (sim_disk.h).
// - Among those that no sync has settled yet, the profile orders some:
//   under kExt4 a change of names comes after every earlier one, a block behind
//   the durable end of its file after those before it, and a rename onto a file
//   after all data of the renamed one. Under the other profiles none is
//   ordered.
//
// A log may be played again on a disk of another profile: what a program does
// up to a cut does not depend on it.
#ifndef GAUNTLET_CHAOS_SIM_DISK_DISK_LOG_H_
#define GAUNTLET_CHAOS_SIM_DISK_DISK_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

class SimDisk;
struct Inode;

enum class MicroOpKind : uint8_t {
  kCreate,         // a file
  kMakeDirectory,  //
  kWrite,          // a data piece: within one block
  kEmpty,          // all data of a file goes
  kRename,
  kRemoveFile,
  kRemoveDirectory,
  kSync,
  kSyncDirectory,
};

// A field that only some kinds use names these kinds beside it.
struct MicroOp {
  MicroOpKind kind = MicroOpKind::kCreate;
  Time time{};         // when it was done
  uint64_t inode = 0;  // its number on the disk
  std::string path;    // kWrite, kEmpty, kSync: the name that it was made under
  std::string to;      // kRename
  uint64_t offset = 0;  // kWrite
  std::string data;     // kWrite
};

// "write [4096, 5120) of /ckpt/gen-000001", for people.
std::string DescribeMicroOp(const MicroOp& operation);

struct DiskLog {
  std::vector<MicroOp> operations;
  Time now{};  // time of the next operation, set by the owner of the disk
};

// Plays operations, in their order from the first on, on a disk that was empty.
class DiskReplay {
 public:
  explicit DiskReplay(SimDisk& disk) : disk_(disk) {}
  // kFailedPrecondition: the disk is not in the state that it was logged in.
  Status Play(const MicroOp& operation);

 private:
  Status TryPlay(const MicroOp& operation);
  Result<std::shared_ptr<Inode>> FileOf(const MicroOp& operation) const;

  SimDisk& disk_;
  std::map<uint64_t, std::shared_ptr<Inode>> files_;  // by number
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_DISK_LOG_H_
