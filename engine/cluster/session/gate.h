// The filter of a worker's listener: admits only peers with the job's token.
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

// Rejects connections that cannot prove that they know the job's token, before
// they take a slot of the listener's queue. Safe from any thread.
class Gate {
 public:
  // Least time between two log lines.
  static constexpr Duration kLineEvery = std::chrono::seconds(10);

  // `rank` is this worker's.
  Gate(const std::optional<JobToken>& token, int rank)
      : proofs_(token), rank_(static_cast<uint32_t>(rank)) {}

  const LinkProofs& proofs() const { return proofs_; }

  // A ConnectionFilter.
  std::optional<Frame> Check(const Nonce& nonce, const Frame& first);

  // Returns a line about the connections rejected since the last line; nullopt
  // if there were none, or if the last line is less than kLineEvery old.
  std::optional<std::string> TakeLogLine(Time now);

 private:
  // Returns the reason for which the connection is rejected; nullopt: it is
  // accepted.
  std::optional<std::string> RejectionReason(const Nonce& nonce,
                                             const Frame& first);

  const LinkProofs proofs_;
  const uint32_t rank_;
  std::mutex mutex_;
  std::string last_;         // reason of the last rejection
  uint64_t unreported_ = 0;  // rejections since the last line
  Time next_line_ = Time();  // earliest time of the next line
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_GATE_H_
