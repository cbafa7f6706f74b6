// Sums the gradients of a step over the workers. A replica's gradients are in
// the memory of the kernels. Values that the host computes (the state that
// replicas keep for themselves, the loss) are summed with them.
//
// With the network ring, gradients and host values are sent together from host
// memory. With a device ring, the gradients stay in device memory. The host's
// values, and the integers of the exchange, still go over the network ring,
// after the gradients. So when a rank receives the integers, all ranks have
// received the gradients, and workers agree on stops and saves in the same way
// as without a device ring.
//
// Without a device ring, the exchange may begin during the backward pass of the
// rank's last replica: a task sums the gradients that are final, those of the
// last layers first. The loss and the integers become final last, and are sent
// last.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cluster/ring/device_ring.h"
#include "engine/cluster/ring/pass_progress.h"
#include "engine/cluster/ring/ring.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/train/background_task.h"
#include "engine/world/world.h"

namespace gauntlet {

class GradientExchange {
 public:
  // World and kernels outlive the exchange. The rings are used in their
  // generation only.
  struct Parts {
    World& world;
    Ring& ring;
    DeviceRing* device_ring = nullptr;  // null: the network ring
    const Kernels& kernels;
  };
  // `replicas` is the number of replicas that this rank hosts; the other fields
  // are sizes in floats.
  struct Sizes {
    size_t replicas = 0;
    size_t gradients = 0;
    size_t extra = 0;
    // Model::first_layer_size; default: no gradient is final before the pass
    // ends.
    size_t first_layer = SIZE_MAX;
  };
  GradientExchange(const Parts& parts, const Sizes& sizes);

  // Continues with the rings of another generation. REQUIRES: both generations
  // have the same number of ranks. Allocates arrays only if the transport
  // changes. `device_ring` is as in Parts.
  void Rejoin(Ring& ring, DeviceRing* device_ring);

  // Returns the array for the replica's gradients, in the kernels' memory. Call
  // Add for a replica before GradientBuffer for the next one: replicas may
  // share one array.
  std::span<float> GradientBuffer(size_t replica);
  void Add(size_t replica);
  // True if gradients may be passed to AddKept: the network ring sums them, the
  // kernels work in host memory, and a replica's only other value is its loss.
  bool AcceptsKept() const;
  // Call instead of Add. Holds a reference to the gradients, without a copy,
  // until the replica's next gradients are added.
  void AddKept(size_t replica, KeptGradients gradients);
  // Returns the replica's values that are summed with its gradients, in host
  // memory. Initially +0; kept from step to step.
  std::span<float> Extra(size_t replica);

  // Call before the pass over the last replica. Begins the exchange of the step
  // if the gradients of that pass can be summed during it; else has no effect.
  // After Ok, the caller must fill the arrays of GradientBuffer and Extra, call
  // Add or AddKept, and then call Sum. A task may use these arrays until Sum
  // has returned; the caller must not return earlier. The only possible error
  // is that of the fault point kAllReduceBegin.
  Status BeginBeforeLastPass(const ExchangeKey& key, Duration timeout);
  // Returns ReplicaBatch::final_from for the pass after BeginBeforeLastPass;
  // null: the exchange has not begun.
  std::function<void(size_t)> FinalFromCallback();

  // Computes the sums over all replicas of all ranks. Returns the codes of
  // Ring::AllReduce. No task uses the arrays after Sum has returned. REQUIRES:
  // `key` and `timeout` are those of BeginBeforeLastPass.
  Status Sum(const ExchangeKey& key, Tally& tally, Duration timeout);

  // Returns the sum of the gradients, in the kernels' memory. The caller may
  // overwrite it after reading it.
  std::span<float> Total();
  std::span<float> TotalExtra() {
    return total_host().subspan(gradients_host());
  }
  // FetchTotal returns the sum in host memory, for a caller that reads or
  // changes it there. That caller calls WriteBackTotal before Total, so that
  // Total returns the changed sum.
  std::span<float> FetchTotal();
  void WriteBackTotal();

 private:
  // kAlone: a single worker on a device adds up its replicas there, in their
  // order, one at a time.
  enum class Transport : uint8_t { kRing, kDevices, kAlone };
  Transport ChooseTransport() const;
  // Allocates the arrays that the transport needs.
  void AllocateArrays();
  // Returns true if the ranks sum the gradients from the last to the first.
  // They do if at least one chunk is final before the pass ends. Equal on all
  // ranks.
  bool sums_last_to_first() const;
  RingArrays ArraysFor(const RunningPass* pass);
  bool has_begun() const {
    return overlapped_ != nullptr && overlapped_->task.is_joinable();
  }
  // Completes the exchange that has begun.
  Status FinishOverlapped(Tally& tally);
  // Number of replicas that have an array on the device at the same time.
  size_t device_buffer_count() const {
    return transport_ == Transport::kDevices ? sizes_.replicas : 1;
  }
  // Number of gradients at the start of each array on the host: 0 unless the
  // network ring sums them.
  size_t gradients_host() const {
    return transport_ == Transport::kRing ? sizes_.gradients : 0;
  }
  size_t length_host() const { return gradients_host() + sizes_.extra; }
  // True if the sum overwrites the first replica's array: with the network
  // ring, if replicas keep no state of their own. Otherwise each replica's
  // array must keep +0 at the places of the other replicas' states, and the sum
  // would overwrite these zeros.
  bool sums_in_place() const {
    return transport_ == Transport::kRing && sizes_.extra == 1;
  }
  std::span<float> total_host() {
    return sums_in_place() ? HostArray(0) : std::span(total_);
  }
  std::span<float> HostArray(size_t replica) {
    return std::span(host_).subspan(replica * length_host(), length_host());
  }

  World& world_;
  const Kernels& kernels_;
  Memory& memory_;
  const Sizes sizes_;
  Ring* ring_;               // of the current generation
  DeviceRing* device_ring_;  // of the current generation; null: none
  Transport transport_;
  std::vector<float> host_;          // one array per replica
  std::vector<KeptGradients> kept_;  // by replica; null: use host_
  std::vector<std::span<const float>> host_views_;
  std::vector<float> total_;  // unless sums_in_place
  std::vector<Pinned> pins_;  // of host_ and total_
  // In the kernels' memory: one array per replica (kDevices), or one array for
  // all replicas in turn. Empty if the kernels work in host memory.
  MemoryArray<float> device_;
  std::vector<std::span<const float>> device_views_;
  MemoryArray<float> total_device_;
  std::vector<float> fetched_total_;

  // An exchange that began before the last pass of the step.
  struct OverlappedExchange {
    OverlappedExchange(World& world, const Kernels& kernels);

    std::unique_ptr<Kernels> kernels;  // of one thread
    PassProgress progress;
    RunningPass pass;
    BackgroundTask task;
    Tally tally;
    Status result;
  };
  // Null: the exchange begins after the last pass.
  std::unique_ptr<OverlappedExchange> overlapped_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_GRADIENT_EXCHANGE_H_
