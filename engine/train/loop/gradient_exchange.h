// Sums the gradients of a step over the workers: a replica's gradients are in
// the kernels' memory, and beside them are values that the host computes (the
// state that replicas keep for themselves, the loss).
//
// By the ring both travel together through the host's memory. From device to
// device the gradients never leave the devices' memory. The values beside them,
// and the integers that ride along, still go by the ring, after the gradients.
// A rank that has received these knows that all ranks have the gradients, and
// stops and saves are agreed on in one way.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cluster/ring/device_ring.h"
#include "engine/cluster/ring/ring.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

class GradientExchange {
 public:
  // All of it outlives the exchange.
  struct Parts {
    World& world;
    Ring& ring;
    DeviceRing* device_ring = nullptr;  // null: by the ring
    const Kernels& kernels;
  };
  // In floats, but for the replicas, which this rank hosts.
  struct Sizes {
    size_t replicas = 0;
    size_t gradients = 0;
    size_t extra = 0;
  };
  GradientExchange(const Parts& parts, const Sizes& sizes);

  // Room for the replica's gradients, in the kernels' memory. Replicas come one
  // after the other, and each is Taken before the next.
  std::span<float> RoomOf(size_t replica);
  void Take(size_t replica);
  // True if the replica's gradients may be kept ones (KeptGradients): they go
  // by the ring from the host's memory, with nothing but a loss beside them.
  bool TakesKept() const;
  // Replaces Take. Keeps the gradients until the replica's next ones.
  void TakeKept(size_t replica, KeptGradients gradients);
  // Values beside the gradients, in the host's memory; initially +0, kept from
  // step to step.
  std::span<float> Extra(size_t replica);

  // Computes the sums over all replicas of all ranks. Codes as of
  // Ring::AllReduce.
  Status Sum(const ExchangeKey& key, Tally& tally, Duration timeout);

  // In the kernels' memory. May be written to, once read.
  std::span<float> Total();
  std::span<float> TotalExtra() {
    return total_host().subspan(gradients_host());
  }
  // The total in the host's memory, to be read and changed before Total.
  std::span<float> FetchTotal();
  void PutTotalBack();

 private:
  // kAlone: of one worker on a device, which adds its replicas up there, in
  // their order, each as it comes.
  enum class Transport : uint8_t { kRing, kDevices, kAlone };
  static Transport TransportOf(const Parts& parts);
  // Replicas that have a place on the device at a time.
  size_t rooms() const {
    return transport_ == Transport::kDevices ? sizes_.replicas : 1;
  }
  // Gradients in the arrays on the host, where they come first: by the ring.
  size_t gradients_host() const {
    return transport_ == Transport::kRing ? sizes_.gradients : 0;
  }
  size_t length_host() const { return gradients_host() + sizes_.extra; }
  // True if the sum replaces the first replica's array. It cannot if replicas
  // keep a state: their arrays are +0 in place of the others' states.
  bool sums_in_place() const {
    return transport_ == Transport::kRing && sizes_.extra == 1;
  }
  std::span<float> total_host() {
    return sums_in_place() ? Here(0) : std::span(total_);
  }
  std::span<float> Here(size_t replica) {
    return std::span(host_).subspan(replica * length_host(), length_host());
  }

  const Parts parts_;
  const Sizes sizes_;
  Memory& memory_;
  const Transport transport_;
  std::vector<float> host_;          // one replica's array after the other
  std::vector<KeptGradients> kept_;  // by replica; null: those that are here
  std::vector<std::span<const float>> host_views_;
  std::vector<float> total_;  // unless sums_in_place
  std::vector<Pinned> pins_;  // of the arrays on the host
  // In the kernels' memory: all replicas', between devices; else of one
  // replica, where that is another memory than the host's.
  MemoryArray<float> device_;
  std::vector<std::span<const float>> device_views_;
  MemoryArray<float> total_device_;
  std::vector<float> seen_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_
