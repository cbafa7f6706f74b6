// XXH3-128 of bytes that arrive in pieces.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_DIGEST_STREAM_H_
#define GAUNTLET_ENGINE_CKPT_STATE_DIGEST_STREAM_H_

#include <cstddef>
#include <memory>
#include <span>

#include "engine/digest.h"

struct XXH3_state_s;

namespace gauntlet {

// Digests bytes that arrive in pieces. Finish returns DigestOf all of them.
class DigestStream {
 public:
  DigestStream();
  void Update(std::span<const std::byte> bytes);
  Digest Finish() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_DIGEST_STREAM_H_
