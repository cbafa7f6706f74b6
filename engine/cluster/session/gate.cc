#include "engine/cluster/session/gate.h"

#include <utility>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/numbered_channel.h"
#include <fmt/format.h>

namespace gauntlet {

std::optional<std::string> Gate::RejectionReason(const Nonce& nonce,
                                                 const Frame& first) {
  const Result<Hello> hello = DecodeControlAs<Hello>(first);
  if (!hello.ok()) {
    return fmt::format("a connection: {}", hello.status().message());
  }
  if (!proofs_.required()) {
    if (hello->proof.empty()) return std::nullopt;
    return fmt::format("rank {}: it has a job token, rank {} has none",
                       hello->rank, rank_);
  }
  if (hello->proof.empty()) {
    return fmt::format("rank {}: no job token", hello->rank);
  }
  if (proofs_.Accepts(nonce, rank_, *hello)) return std::nullopt;
  return fmt::format("rank {}: another job token", hello->rank);
}

std::optional<Frame> Gate::Check(const Nonce& nonce, const Frame& first) {
  std::optional<std::string> reason = RejectionReason(nonce, first);
  if (!reason) return std::nullopt;
  // The refusal is not signed. The peer has not proved that it knows the token,
  // so it must not receive anything that was signed with the token.
  Frame refusal =
      EncodeControl(Refusal{.code = Code::kInvalidArgument,
                            .message = Shortened("rejected " + *reason)});
  AppendFrameNumber(0, refusal);
  const std::lock_guard lock(mutex_);
  last_ = *std::move(reason);
  ++unreported_;
  return refusal;
}

std::optional<std::string> Gate::TakeLogLine(Time now) {
  const std::lock_guard lock(mutex_);
  if (unreported_ == 0 || now < next_line_) return std::nullopt;
  next_line_ = now + kLineEvery;
  const uint64_t others = std::exchange(unreported_, 0) - 1;
  std::string line = fmt::format("rank {}: rejected {}", rank_, last_);
  if (others > 0)
    line += fmt::format(" ({} others since the last line)", others);
  return line;
}

}  // namespace gauntlet
