// How workers exchange what lies on their devices: a table of plain functions
// beside a device's (device_api.h), so that the library behind it is opened at
// run time, and only where it is wanted.
//
// It moves arrays and adds nothing up: what is added is added by the device's
// own operations (engine/cluster/device_ring.h). No function waits for another
// worker. What is asked for happens in one order with the operations of the
// communicator's device. Before more is asked for, `poll` has to say kReady;
// after kFailed nothing but `abort` makes sense. Not for two tasks at once.
#ifndef GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_
#define GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_

#include <cstddef>
#include <cstdint>

#include "engine/gpu/device_api.h"

namespace gauntlet {
struct CollectiveLinks;  // engine/cluster/emulated_collective.h
}  // namespace gauntlet

namespace gauntlet::gpu {

// Of this table and of all that its functions take.
inline constexpr uint32_t kCollectiveAbi = 1;

struct Communicator;  // whoever made the table knows what it is

// What one rank makes up and all are told: which communicator they are of.
struct CommunicatorId {
  char bytes[128] = {};
};

struct CommunicatorPlace {
  CommunicatorId id;
  int rank = 0;
  int size = 1;
  CollectiveLinks* links = nullptr;  // where needs_links; outlive it
};

// Both at once, with the ranks beside this one. A count of 0: nothing goes, or
// nothing comes.
struct ArrayExchange {
  const float* to_next = nullptr;
  size_t send_count = 0;
  float* from_previous = nullptr;
  size_t receive_count = 0;
};

enum class CollectiveProgress : uint32_t { kReady, kUnderWay, kFailed };

// Which choices a table is for.
enum class CollectiveUse : uint32_t { kAlways, kWhereAskedFor };

struct CollectiveApi {
  uint32_t abi;         // kCollectiveAbi, or the table is not to be read
  const char* name;     // "nccl", "emulated"
  size_t chunk_floats;  // what it moves well at a time
  CollectiveUse use;
  bool needs_links;  // it has no way of its own to the other workers

  // "2.28.9", or ""; false, and why there is none.
  bool (*version)(DeviceText* version, DeviceText* why);
  // Which device of all that workers may be on, whatever name it has elsewhere;
  // "": one that no other worker can be on. False, and why it cannot be told.
  bool (*identify)(int index, DeviceText* identity, DeviceText* why);
  bool (*make_id)(CommunicatorId* id, DeviceText* why);

  // Null, and why. It is there once `poll` says so. The device outlives it.
  Communicator* (*begin)(Device*, const CommunicatorPlace&, DeviceText* why);
  // Of what was asked for last: whether more may be asked for; or why it
  // failed, or another rank did.
  CollectiveProgress (*poll)(Communicator*, DeviceText* why);
  // Likewise, and whether all of it, and all operations of the device, are
  // done.
  CollectiveProgress (*finished)(Communicator*, DeviceText* why);
  void (*exchange)(Communicator*, const ArrayExchange&);
  // The root's values to all others.
  void (*broadcast)(Communicator*, float* values, size_t count, int root);
  // Ends it, whatever is under way: the only end that it has. The device goes
  // on with what comes after. Other ranks may or may not notice.
  void (*abort)(Communicator*);
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_
