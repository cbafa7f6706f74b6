#include "engine/cluster/gate.h"

#include <utility>

#include "engine/cluster/control_messages.h"
#include <fmt/format.h>

namespace gauntlet {

std::optional<std::string> Gate::WhyNot(const Nonce& nonce,
                                        const Frame& first) {
  const Result<Hello> hello = DecodeControlAs<Hello>(first);
  if (!hello.ok()) return hello.status().message();
  if (!proofs_.are_needed()) {
    if (hello->proof.empty()) return std::nullopt;
    return fmt::format(
        "rank {} has a job token, rank {} was started without one", hello->rank,
        rank_);
  }
  if (hello->proof.empty()) {
    return fmt::format("a caller that calls itself rank {} has no job token",
                       hello->rank);
  }
  if (proofs_.Accepts(nonce, rank_, *hello)) return std::nullopt;
  return fmt::format("a caller that calls itself rank {} has another job token",
                     hello->rank);
}

std::optional<Frame> Gate::Judge(const Nonce& nonce, const Frame& first) {
  std::optional<std::string> why = WhyNot(nonce, first);
  if (!why) return std::nullopt;
  // Without a proof: it would vouch for an answer to anybody.
  Frame refusal = EncodeControl(
      Refusal{.code = Code::kInvalidArgument, .message = Shortened(*why)});
  const std::lock_guard lock(mutex_);
  last_ = *std::move(why);
  ++unsaid_;
  return refusal;
}

std::optional<std::string> Gate::TakeLine(Time now) {
  const std::lock_guard lock(mutex_);
  if (unsaid_ == 0 || now < next_line_) return std::nullopt;
  next_line_ = now + kLineEvery;
  const uint64_t others = std::exchange(unsaid_, 0) - 1;
  std::string line =
      fmt::format("rank {}: turned away a connection: {}", rank_, last_);
  if (others > 0)
    line += fmt::format(" ({} others since the last line)", others);
  return line;
}

}  // namespace gauntlet
