#include "engine/cluster/link/numbered_channel.h"

#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Tag of Frame.number in link.proto: field 11, a fixed64.
constexpr char kNumberTag = 11 << 3 | 1;

class NumberedChannel final : public Channel {
 public:
  NumberedChannel(Tasks& tasks, LinkEnd end, std::unique_ptr<Channel> base)
      : base_(std::move(base)),
        turn_(tasks.NewEvent()),
        received_(end == LinkEnd::kServer ? 1 : 0) {}

  Status Send(Frame frame, Time deadline) override {
    while (!TakeTurn()) {
      if (!turn_->WaitUntil(deadline)) {
        return DeadlineExceeded("send: another frame is being sent");
      }
    }
    AppendFrameNumber(sent_, frame);
    Status sent = base_->Send(std::move(frame), deadline);
    EndTurn(sent);
    return sent;
  }

  Result<Frame> Receive(Time deadline) override {
    while (true) {
      Result<Frame> frame = base_->Receive(deadline);
      if (!frame.ok()) return frame;
      const std::optional<uint64_t> number = TakeFrameNumber(*frame);
      if (!number) return Unavailable("a frame without a number");
      if (*number < received_) continue;
      if (*number > received_) {
        return Unavailable(
            fmt::format("expected frame {}, found {}", received_, *number));
      }
      ++received_;
      return frame;
    }
  }

  void Close() override { base_->Close(); }
  const Nonce& nonce() const override { return base_->nonce(); }

 private:
  bool TakeTurn() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(sending_, true)) return true;
    turn_->Reset();
    return false;
  }
  void EndTurn(const Status& sent) {
    const std::lock_guard lock(mutex_);
    sending_ = false;
    if (sent.ok()) ++sent_;
    turn_->Set();
  }

  const std::unique_ptr<Channel> base_;
  const std::unique_ptr<Event> turn_;  // set when a Send has ended
  std::mutex mutex_;                   // guards sending_
  bool sending_ = false;
  uint64_t sent_ = 0;  // frames; used only by the task whose turn it is
  uint64_t received_;  // frames; used only by the task that receives
};

}  // namespace

void AppendFrameNumber(uint64_t number, Frame& frame) {
  char bytes[kFrameNumberBytes];
  bytes[0] = kNumberTag;
  std::memcpy(bytes + 1, &number, sizeof number);
  frame.append(bytes, sizeof bytes);
}

std::optional<uint64_t> TakeFrameNumber(Frame& frame) {
  if (frame.size() < kFrameNumberBytes) return std::nullopt;
  const size_t at = frame.size() - kFrameNumberBytes;
  if (frame[at] != kNumberTag) return std::nullopt;
  uint64_t number = 0;
  std::memcpy(&number, frame.data() + at + 1, sizeof number);
  frame.resize(at);
  return number;
}

std::unique_ptr<Channel> NumberFrames(Tasks& tasks, LinkEnd end,
                                      std::unique_ptr<Channel> base) {
  return std::make_unique<NumberedChannel>(tasks, end, std::move(base));
}

}  // namespace gauntlet
