// Proofs that both ends of a connection know the job's token (link.proto).
//
// A proof covers its purpose, the connection (each end's nonce), the ranks of
// both ends, and all other fields of its message. So nobody can use it on
// another connection, send it back to its author, or put it into another
// message.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_LINK_PROOFS_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_LINK_PROOFS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/job_token.h"
#include "engine/world/network.h"

namespace gauntlet {

// Nonces and ranks of both ends of a connection.
struct LinkContext {
  const Nonce& server_nonce;
  const std::string& client_nonce;
  uint32_t client = 0;  // rank
  uint32_t server = 0;  // rank
};

// Safe from any thread.
class LinkProofs {
 public:
  // Without a token all proofs are empty, and every message is accepted.
  explicit LinkProofs(const std::optional<JobToken>& token);

  bool required() const { return mac_.has_value(); }

  // Each overload sets the message's proof. `nonce` and `server` are nonce and
  // rank of the server that a hello is sent to.
  void Sign(const Nonce& nonce, uint32_t server, Hello& hello) const;
  void Sign(const LinkContext& link, Accepted& accepted) const;
  void Sign(const LinkContext& link, Welcome& welcome) const;
  void Sign(const LinkContext& link, Refusal& refusal) const;

  // Each overload returns true iff the message has the proof that Sign would
  // set.
  bool Accepts(const Nonce& nonce, uint32_t server, const Hello& hello) const;
  bool Accepts(const LinkContext& link, const Accepted& accepted) const;
  bool Accepts(const LinkContext& link, const Welcome& welcome) const;
  bool Accepts(const LinkContext& link, const Refusal& refusal) const;

 private:
  std::optional<TokenMac> mac_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_LINK_PROOFS_H_
