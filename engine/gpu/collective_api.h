// Exchange of arrays between the devices of workers: a table of plain
// functions, separate from that of a device (device_api.h). So the library
// behind it (NCCL) is opened at run time, and only if it is used.
//
// The functions move arrays but do not add them: the device's own operations do
// (engine/cluster/ring/device_ring.h). No function waits for another worker.
// Requests run in order with the operations of the communicator's device. A new
// request is allowed once `poll` returns kReady; after kFailed, only `abort`. A
// communicator must not be used by two tasks at once.
#ifndef GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_
#define GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_

#include <cstddef>
#include <cstdint>

#include "engine/gpu/device_api.h"

namespace gauntlet {
struct CollectiveLinks;  // engine/cluster/ring/emulated_collective.h
}  // namespace gauntlet

namespace gauntlet::gpu {

// Version of this table and of all types that its functions take.
inline constexpr uint32_t kCollectiveAbi = 1;

struct Communicator;  // defined by the maker of the table

// Identity of a communicator. One rank creates it and sends it to all ranks.
struct CommunicatorId {
  char bytes[128] = {};
};

struct CommunicatorPlace {
  CommunicatorId id;
  int rank = 0;
  int size = 1;
  // Used if CollectiveApi::needs_links; must outlive the communicator.
  CollectiveLinks* links = nullptr;
};

// Sends to the next rank and receives from the previous one at the same time.
// If send_count is 0, sends nothing; if receive_count is 0, receives nothing.
struct ArrayExchange {
  const float* to_next = nullptr;
  size_t send_count = 0;
  float* from_previous = nullptr;
  size_t receive_count = 0;
};

enum class CollectiveProgress : uint32_t { kReady, kInProgress, kFailed };

// kAlways: the table may be used with --collective auto and nccl.
// kWhereAskedFor: only with nccl.
enum class CollectiveUse : uint32_t { kAlways, kWhereAskedFor };

struct CollectiveApi {
  uint32_t abi;         // if not kCollectiveAbi: do not use the table
  const char* name;     // "nccl", "emulated"
  size_t chunk_floats;  // best size of a transfer
  CollectiveUse use;
  bool needs_links;  // sends through CommunicatorPlace::links

  // Returns the version, "2.28.9", or "" if there is none. On failure returns
  // false and the reason.
  bool (*version)(DeviceText* version, DeviceText* why);
  // Returns the identity of a device. All workers that can use the device get
  // the same identity, even if they number the device differently; "": no other
  // worker can use it. On failure returns false and the reason.
  bool (*identify)(int index, DeviceText* identity, DeviceText* why);
  bool (*make_id)(CommunicatorId* id, DeviceText* why);

  // Creates a communicator; it is usable once `poll` returns kReady. On failure
  // returns null and the reason. The device must outlive the communicator.
  Communicator* (*begin)(Device*, const CommunicatorPlace&, DeviceText* why);
  // Returns kReady if the next request is allowed; kFailed, with the reason, if
  // the last request, or another rank, failed.
  CollectiveProgress (*poll)(Communicator*, DeviceText* why);
  // Like `poll`, but returns kReady only if all requests, and all operations of
  // the device, are done.
  CollectiveProgress (*finished)(Communicator*, DeviceText* why);
  void (*exchange)(Communicator*, const ArrayExchange&);
  // Sends the root's values to all other ranks.
  void (*broadcast)(Communicator*, float* values, size_t count, int root);
  // Ends the communicator even if requests are unfinished; there is no other
  // way to end it. The device continues with later operations. Other ranks do
  // not always detect the end.
  void (*abort)(Communicator*);
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_COLLECTIVE_API_H_
