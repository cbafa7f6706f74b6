// The secret that the workers of a job share, and proofs that a worker knows
// it.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_JOB_TOKEN_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_JOB_TOKEN_H_

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/entropy.h"

namespace gauntlet {

// Environment variable that holds a job's token.
inline constexpr std::string_view kTokenVariable = "GAUNTLET_JOB_TOKEN";

// 32 random bytes; as text, 64 hexadecimal digits.
class JobToken {
 public:
  static constexpr size_t kBytes = 32;

  static JobToken Make(Entropy& entropy);
  // kInvalidArgument says what was expected, and does not repeat the text.
  static Result<JobToken> Parse(std::string_view text);

  // Returns the digits, for a worker's environment and the token file. They
  // must never be logged.
  std::string Reveal() const;
  bool operator==(const JobToken&) const = default;

 private:
  friend class TokenMac;
  JobToken() = default;

  std::array<std::byte, kBytes> bytes_ = {};
};

// Returns Ok iff only processes of this host can connect to `address`
// ("host:port"). At any other address, a worker without a token would let
// anyone join the job.
Status CheckMayListenWithoutToken(int rank, std::string_view address);

// HMAC-SHA256 (RFC 2104) under a job's token. Safe from any thread.
class TokenMac {
 public:
  static constexpr size_t kBytes = 32;
  using Parts = std::initializer_list<std::string_view>;

  explicit TokenMac(const JobToken& token);
  ~TokenMac();
  TokenMac(const TokenMac&) = delete;
  TokenMac& operator=(const TokenMac&) = delete;

  // Returns a proof of the parts. Each is preceded by its length, so two
  // different lists never give the same input.
  std::string Sign(Parts parts) const;
  // Returns true iff `proof` is Sign(parts). The comparison takes the same time
  // for every wrong proof.
  bool Accepts(Parts parts, std::string_view proof) const;

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_JOB_TOKEN_H_
