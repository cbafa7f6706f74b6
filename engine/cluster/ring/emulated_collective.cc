#include "engine/cluster/ring/emulated_collective.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/link/chunk_format.h"
#include "engine/gpu/emulated_device.h"
#include "engine/status.h"
#include <fmt/format.h>

namespace gauntlet::gpu {

// Frames are numbered in each direction. No function here blocks: `Advance`
// sends and receives only as much as is possible immediately.
struct Communicator {
  Communicator(Device* of, const CommunicatorPlace& place)
      : device(of),
        id(place.id),
        rank(place.rank),
        size(place.size),
        links(place.links) {}

  Device* device;
  CommunicatorId id;
  int rank;
  int size;
  CollectiveLinks* links;

  Frame to_send;           // empty: everything is sent
  float* comes = nullptr;  // destination on the device; null: compares the id
  size_t comes_bytes = 0;  // bytes to be received; 0: none
  bool pass_on = false;    // sends what it receives to the next rank
  uint32_t sent = 0;
  uint32_t received = 0;
  DeviceText failed;

  bool is_whole() const { return failed.text[0] == '\0'; }
  void Fail(std::string_view why) {
    if (!is_whole()) return;
    fmt::format_to_n(failed.text, sizeof failed.text - 1, "{}", why);
  }

  void Send(std::string_view bytes) {
    to_send = EncodeChunk({.kind = ChunkKind::kDevice,
                           .rank = static_cast<uint32_t>(rank),
                           .index = sent++,
                           .generation = links->generation},
                          bytes);
  }
  void SendArray(const float* values, size_t count) {
    std::string bytes(count * sizeof(float), '\0');
    EmulatedDevice().download(device, bytes.data(), values, bytes.size());
    Send(bytes);
  }
  void Expect(float* values, size_t bytes) {
    comes = values;
    comes_bytes = bytes;
  }

  void Advance() {
    if (is_whole()) TrySend();
    if (is_whole()) TryReceive();
    if (is_whole() && !to_send.empty()) TrySend();
  }

 private:
  void TrySend() {
    if (to_send.empty()) return;
    const Status status = links->next->Send(to_send, links->clock.Now());
    if (status.ok()) to_send.clear();
    if (status.ok() || status.code() == Code::kDeadlineExceeded) return;
    Fail(status.message());
  }

  void TryReceive() {
    if (comes_bytes == 0) return;
    const Result<Frame> frame = links->previous->Receive(links->clock.Now());
    if (frame.ok()) return Take(*frame);
    if (frame.status().code() != Code::kDeadlineExceeded) {
      Fail(frame.status().message());
    }
  }

  void Take(const Frame& frame) {
    const Result<ChunkHeader> header = DecodeChunk(frame);
    if (!header.ok()) return Fail(header.status().message());
    const std::string_view payload = ChunkPayload(frame);
    if (header->kind != ChunkKind::kDevice || header->index != received ||
        header->generation != links->generation ||
        payload.size() != comes_bytes) {
      return Fail(fmt::format(
          "expected {} bytes as array {} of generation {}, found {} as {} of "
          "{}",
          comes_bytes, received, links->generation, payload.size(),
          header->index, header->generation));
    }
    ++received;
    comes_bytes = 0;
    if (comes == nullptr) {
      if (payload != std::string_view(id.bytes, sizeof id.bytes)) {
        Fail("the rank before this one is of another communicator");
      }
      return;
    }
    EmulatedDevice().upload(device, comes, payload.data(), payload.size());
    if (pass_on) Send(payload);
  }
};

namespace {

bool Version(DeviceText* version, DeviceText*) {
  *version = {};
  return true;
}

// Leaves the identity empty: no other process can use an emulated device, as
// each process has its own.
bool Identify(int index, DeviceText*, DeviceText* why) {
  DeviceInfo info;
  return EmulatedDevice().describe(index, &info, why);
}

// The id is constant, as each communicator has channels of its own.
bool MakeId(CommunicatorId* id, DeviceText*) {
  *id = {};
  std::strcpy(id->bytes, "emulated");
  return true;
}

Communicator* Begin(Device* device, const CommunicatorPlace& place,
                    DeviceText* why) {
  if (place.size > 1 && (place.links == nullptr || !place.links->next ||
                         !place.links->previous)) {
    std::strcpy(why->text, "expected channels to the ranks beside this one");
    return nullptr;
  }
  auto* const made = new Communicator(device, place);
  if (place.size > 1) {
    made->Send({place.id.bytes, sizeof place.id.bytes});
    made->Expect(nullptr, sizeof place.id.bytes);
  }
  return made;
}

CollectiveProgress Poll(Communicator* communicator, DeviceText* why) {
  communicator->Advance();
  if (!communicator->is_whole()) {
    *why = communicator->failed;
    return CollectiveProgress::kFailed;
  }
  const bool done =
      communicator->to_send.empty() && communicator->comes_bytes == 0;
  return done ? CollectiveProgress::kReady : CollectiveProgress::kInProgress;
}

void Exchange(Communicator* communicator, const ArrayExchange& arrays) {
  communicator->pass_on = false;
  if (arrays.send_count > 0) {
    communicator->SendArray(arrays.to_next, arrays.send_count);
  }
  if (arrays.receive_count > 0) {
    communicator->Expect(arrays.from_previous,
                         arrays.receive_count * sizeof(float));
  }
}

// Sends the root's values around the ring, up to the rank before the root.
void Broadcast(Communicator* communicator, float* values, size_t count,
               int root) {
  if (communicator->size == 1 || count == 0) return;
  if (communicator->rank == root) {
    return communicator->SendArray(values, count);
  }
  communicator->pass_on = (communicator->rank + 1) % communicator->size != root;
  communicator->Expect(values, count * sizeof(float));
}

void Abort(Communicator* communicator) {
  if (communicator->size > 1) {
    communicator->links->next->Close();
    communicator->links->previous->Close();
  }
  delete communicator;
}

CollectiveApi Table() {
  return {.abi = kCollectiveAbi,
          .name = "emulated",
          .chunk_floats = size_t{64} << 10,
          .use = CollectiveUse::kWhereAskedFor,
          .needs_links = true,
          .version = Version,
          .identify = Identify,
          .make_id = MakeId,
          .begin = Begin,
          .poll = Poll,
          // The emulated device completes operations immediately.
          .finished = Poll,
          .exchange = Exchange,
          .broadcast = Broadcast,
          .abort = Abort};
}

}  // namespace
}  // namespace gauntlet::gpu

namespace gauntlet {

const gpu::CollectiveApi& EmulatedCollective() {
  static const gpu::CollectiveApi api = gpu::Table();
  return api;
}

gpu::DevicePlace EmulatedPlace() {
  return {.api = &gpu::EmulatedDevice(),
          .index = 0,
          .collective = &EmulatedCollective()};
}

}  // namespace gauntlet
