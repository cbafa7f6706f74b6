// The micro-operations of a run on a disk: a power loss may occur between any
// two.
//
// A write is one micro-operation for each 4-KiB block that it touches; each
// also changes the size if it extends the file. Every other micro-operation is
// a whole operation of the program, so names are never half changed.
// Constraints on the order in which changes become durable:
//
// - A sync precedes all later operations: the changes that it makes durable are
//   on the disk after every later power loss. The profile defines these changes
//   (sim_disk.h).
// - kExt4 also orders changes that no sync has made durable:
//   - changes of names become durable in the order in which they were made;
//   - blocks that extend a file beyond its durable end become durable from
//     front to back;
//   - a rename onto a file becomes durable after all data of the renamed file.
//   The other profiles do not order such changes.
//
// A log may be replayed on a disk with another profile: the program's
// operations up to a crash point do not depend on the profile.
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
  kWrite,          // data within one block
  kEmpty,          // truncates a file to size 0
  kRename,
  kRemoveFile,
  kRemoveDirectory,
  kSync,
  kSyncDirectory,
};

// Comments list the kinds that use a field; other fields are used by all.
struct MicroOp {
  MicroOpKind kind = MicroOpKind::kCreate;
  Time time{};          // of the operation
  uint64_t inode = 0;   // number of the file or directory
  std::string path;     // kWrite, kEmpty, kSync: path at the file's creation
  std::string to;       // kRename
  uint64_t offset = 0;  // kWrite
  std::string data;     // kWrite
};

// Returns "write [4096, 5120) of /ckpt/gen-000001", for people.
std::string DescribeMicroOp(const MicroOp& operation);

struct DiskLog {
  std::vector<MicroOp> operations;
  Time now{};  // time of the next operation, set by the owner of the disk
};

// Replays operations in order, from the first on, on an initially empty disk.
class DiskReplay {
 public:
  explicit DiskReplay(SimDisk& disk) : disk_(disk) {}
  // kFailedPrecondition: the disk is not in the state of the log.
  Status Play(const MicroOp& operation);

 private:
  Status TryPlay(const MicroOp& operation);
  Result<std::shared_ptr<Inode>> FileOf(const MicroOp& operation) const;

  SimDisk& disk_;
  std::map<uint64_t, std::shared_ptr<Inode>> files_;  // by number
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_DISK_LOG_H_
