// The filter of a worker's listener: who may join.
#ifndef GAUNTLET_ENGINE_CLUSTER_SESSION_GATE_H_
#define GAUNTLET_ENGINE_CLUSTER_SESSION_GATE_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "engine/cluster/link/link_proofs.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// Rejects connections that cannot prove the job's token, before they take a
// queue slot. Safe from any thread.
class Gate {
 public:
  // Time between two log lines.
  static constexpr Duration kLineEvery = std::chrono::seconds(10);

  // `rank` is this worker's.
  Gate(const std::optional<JobToken>& token, int rank)
      : proofs_(token), rank_(static_cast<uint32_t>(rank)) {}

  const LinkProofs& proofs() const { return proofs_; }

  // A ConnectionFilter.
  std::optional<Frame> Check(const Nonce& nonce, const Frame& first);

  // A line about the connections that were rejected since the last line;
  // nullopt if there were none, or within kLineEvery.
  std::optional<std::string> TakeLogLine(Time now);

 private:
  // nullopt: accepted. `last_` and the refusal read "rejected <reason>".
  std::optional<std::string> RejectionReason(const Nonce& nonce,
                                             const Frame& first);

  const LinkProofs proofs_;
  const uint32_t rank_;
  std::mutex mutex_;
  std::string last_;         // reason of the last rejection
  uint64_t unreported_ = 0;  // rejections since the last line
  Time next_line_ = Time();  // not before
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_GATE_H_
