// Who may join: the filter of a worker's listener, and what it tells people.
#ifndef GAUNTLET_ENGINE_CLUSTER_GATE_H_
#define GAUNTLET_ENGINE_CLUSTER_GATE_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "engine/cluster/link_proofs.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// Turns away each caller that does not prove that it knows the job's token. It
// does so before the caller takes a place that a worker needs. Safe from any
// thread.
class Gate {
 public:
  // Time between two lines about callers that were turned away.
  static constexpr Duration kLineEvery = std::chrono::seconds(10);

  // `rank` is this worker's.
  Gate(const std::optional<JobToken>& token, int rank)
      : proofs_(token), rank_(static_cast<uint32_t>(rank)) {}

  const LinkProofs& proofs() const { return proofs_; }

  // A ConnectionFilter.
  std::optional<Frame> Judge(const Nonce& nonce, const Frame& first);

  // One line about the callers since the last line, if there were any and it is
  // time for one.
  std::optional<std::string> TakeLine(Time now);

 private:
  std::optional<std::string> WhyNot(const Nonce& nonce, const Frame& first);

  const LinkProofs proofs_;
  const uint32_t rank_;
  std::mutex mutex_;
  std::string last_;         // about the last one
  uint64_t unsaid_ = 0;      // callers since the last line
  Time next_line_ = Time();  // not before
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_GATE_H_
