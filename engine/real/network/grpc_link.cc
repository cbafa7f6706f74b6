#include "engine/real/network/grpc_link.h"

#include <chrono>
#include <utility>

#include <grpcpp/support/slice.h>

#include "engine/cluster/link/control_messages.h"
#include "engine/real/network/grpc_network.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Frames up to this size are copied, which is cheaper than passing ownership.
constexpr size_t kCopiedFrameBytes = 4096;
// Larger than any lane offer.
constexpr size_t kMaxOfferBytes = 64;

grpc::ByteBuffer ToByteBuffer(Frame frame) {
  if (frame.size() <= kCopiedFrameBytes) {
    const grpc::Slice slice(frame.data(), frame.size());
    return {&slice, 1};
  }
  auto owned = std::make_unique<Frame>(std::move(frame));
  char* const data = owned->data();
  const size_t size = owned->size();
  const grpc::Slice slice(
      data, size, [](void* owner) { delete static_cast<Frame*>(owner); },
      owned.release());
  return {&slice, 1};
}

Frame ToFrame(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  // Dump fails only if decompression fails, and messages are not compressed.
  CHECK(bytes.Dump(&slices).ok(), "a message that cannot be read");
  Frame frame;
  frame.reserve(bytes.Length());
  for (const grpc::Slice& slice : slices) {
    frame.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return frame;
}

template <typename Predicate>
bool WaitUntil(std::condition_variable& changed,
               std::unique_lock<std::mutex>& lock, Time deadline,
               Predicate predicate) {
  if (deadline == kNever) {
    changed.wait(lock, predicate);
    return true;
  }
  return changed.wait_until(
      lock, std::chrono::steady_clock::time_point(deadline.time_since_epoch()),
      predicate);
}

}  // namespace

Link::Link(LinkRegistry& registry, std::string other_end)
    : registry_(registry), other_end_(std::move(other_end)) {}

Status Link::LostStatus() const {
  if (closed_) {
    return Unavailable(other_end_ +
                       ": this side closed the connection, as it does after a "
                       "loss or at its end");
  }
  if (!reason_.empty()) return Unavailable(other_end_ + ": " + reason_);
  return Unavailable(other_end_ + ": connection lost");
}

Status Link::LaneStatus(Status status) {
  if (status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (closed_ || read_lost_ || write_lost_) return LostStatus();
  return Annotate(status, other_end_);
}

Status Link::Send(Frame frame, Time deadline) {
  const size_t size = frame.size();
  if (size > kMaxFrameBytes) {
    return InvalidArgument(
        fmt::format("{}: send: expected a frame of at most {} bytes, found {}",
                    other_end_, kMaxFrameBytes, size));
  }
  std::unique_lock lock(mutex_);
  const bool in_time = WaitUntil(writable_, lock, deadline, [&] {
    return closed_ || read_lost_ || write_lost_ || sends_by_lane_ ||
           outgoing_bytes_ == 0 || outgoing_bytes_ + size <= kMaxBytesInFlight;
  });
  if (closed_ || read_lost_ || write_lost_) return LostStatus();
  if (sends_by_lane_) {
    lock.unlock();
    return LaneStatus(lane_->Write(frame, deadline));
  }
  if (!in_time) {
    return DeadlineExceeded(fmt::format("{}: send: {} bytes still in flight",
                                        other_end_, outgoing_bytes_));
  }
  SendOwn(std::move(frame));
  return OkStatus();
}

Result<Frame> Link::Receive(Time deadline) {
  std::unique_lock lock(mutex_);
  const bool in_time = WaitUntil(readable_, lock, deadline, [&] {
    return closed_ || read_lost_ || receives_by_lane_ || !received_.empty();
  });
  if (!received_.empty()) {
    Frame frame = std::move(received_.front());
    received_.pop_front();
    received_bytes_ -= frame.size();
    KeepReading();
    return frame;
  }
  if (receives_by_lane_) {
    lock.unlock();
    Result<Frame> frame = lane_->Read(deadline);
    if (frame.ok()) return frame;
    return LaneStatus(frame.status());
  }
  if (!in_time) {
    return DeadlineExceeded(other_end_ + ": receive: no frame came");
  }
  return LostStatus();
}

void Link::Close() {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  WakeAll();
  KeepReading();  // Unread frames of the peer would hold up the stream's end.
  EndIfDrained();
}

void Link::Abort() {
  const std::lock_guard lock(mutex_);
  if (gone_) return;
  closed_ = true;
  write_lost_ = true;
  WakeAll();
  Cancel();
  KeepReading();
  EndIfDrained();
}

void Link::ResumeReading() {
  const std::lock_guard lock(mutex_);
  reads_one_frame_ = false;
  KeepReading();
}

bool Link::Adopt(std::shared_ptr<Link> self) {
  if (!registry_.Add(this)) return false;
  self_ = std::move(self);
  return true;
}

void Link::Open(std::optional<Frame> challenge) {
  const std::lock_guard lock(mutex_);
  KeepReading();
  if (challenge) SendOwn(*std::move(challenge));
}

void Link::OfferLane() {
  Result<std::unique_ptr<SharedLane>> lane = SharedLane::Create(nonce_);
  if (!lane.ok()) return;  // The stream carries all frames.
  const std::lock_guard lock(mutex_);
  if (closed_ || read_lost_ || write_lost_) return;
  lane_ = *std::move(lane);
  SendOwn(EncodeControl(lane_->offer()));
}

void Link::SendByLane(std::unique_ptr<SharedLane> lane) {
  if (closed_ || lane_ != nullptr) return;
  lane_ = std::move(lane);
  SendOwn(EncodeControl(LaneTaken()));
  sends_by_lane_ = true;
  writable_.notify_all();
}

void Link::Take(Frame frame) {
  if (closed_) return;
  if (lane_ != nullptr && !receives_by_lane_ &&
      frame == EncodeControl(LaneTaken())) {
    receives_by_lane_ = true;
    readable_.notify_all();
    return;
  }
  received_bytes_ += frame.size();
  received_.push_back(std::move(frame));
  readable_.notify_one();
}

void Link::Reject(Frame answer) {
  if (closed_) return;
  SendOwn(std::move(answer));
  closed_ = true;
  EndIfDrained();
}

void Link::SendOwn(Frame frame) {
  outgoing_bytes_ += frame.size();
  outgoing_.push_back(ToByteBuffer(std::move(frame)));
  KeepWriting();
}

void Link::OnRead(bool ok) {
  grpc::ByteBuffer bytes;
  {
    const std::lock_guard lock(mutex_);
    bytes.Swap(&incoming_);
  }
  Frame frame;
  if (ok) frame = ToFrame(bytes);
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (ok) {
    Take(std::move(frame));
    KeepReading();
    return;
  }
  read_lost_ = true;
  WakeAll();
  EndIfDrained();
}

void Link::OnWritten(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  outgoing_bytes_ -= outgoing_.front().Length();
  outgoing_.pop_front();
  if (!ok) write_lost_ = true;
  writable_.notify_all();
  KeepWriting();
  EndIfDrained();
}

void Link::OnGone(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    read_lost_ = true;
    write_lost_ = true;
    reason_ = std::move(reason);
    WakeAll();
  }
  registry_.Remove(std::move(self_));
}

void Link::WakeAll() {
  readable_.notify_all();
  writable_.notify_all();
  if (lane_ != nullptr) lane_->Break();
}

void Link::KeepReading() {
  if (reading_ || read_lost_) return;
  if (ended_ && !MayReadAfterEnd()) return;
  if (!closed_ && received_bytes_ >= kMaxBytesInFlight) return;
  if (!closed_ && reads_one_frame_ && !received_.empty()) return;
  reading_ = true;
  StartReading(&incoming_);
}

void Link::KeepWriting() {
  if (writing_ || outgoing_.empty()) return;
  if (write_lost_ || read_lost_ || ended_) return;
  writing_ = true;
  StartWriting(&outgoing_.front());
}

// Declares the end of the stream if three conditions hold: the stream is closed
// or lost; no write is in progress; each frame has been written, or frames can
// no longer arrive.
void Link::EndIfDrained() {
  if (ended_ || writing_ || !(closed_ || read_lost_)) return;
  if (!outgoing_.empty() && !write_lost_ && !read_lost_) return;
  ended_ = true;
  DeclareEnd();
}

ConnectingLink::State ConnectingLink::AwaitChallenge(
    std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  readable_.wait_until(lock, deadline,
                       [this] { return connected_ || read_lost_; });
  if (connected_) return State::kConnected;
  return read_lost_ ? State::kFailed : State::kWaiting;
}

void ConnectingLink::Take(Frame frame) {
  if (connected_ && frame.size() <= kMaxOfferBytes) {
    const Result<LaneOffer> offer = DecodeControlAs<LaneOffer>(frame);
    if (offer.ok()) {
      Result<std::unique_ptr<SharedLane>> lane =
          SharedLane::Open(*offer, nonce());
      if (lane.ok()) SendByLane(*std::move(lane));
      return;  // If it fails, the stream carries all frames.
    }
  }
  if (connected_) return Link::Take(std::move(frame));
  const Result<Challenge> challenge = DecodeControlAs<Challenge>(frame);
  if (!challenge.ok() || challenge->version != kProtocolVersion) {
    return Cancel();
  }
  nonce_ = challenge->nonce;
  connected_ = true;
  readable_.notify_all();
}

bool LinkRegistry::Add(Link* link) {
  const std::lock_guard lock(mutex_);
  if (down_) return false;
  links_.insert(link);
  return true;
}

void LinkRegistry::Remove(std::shared_ptr<Link> link) {
  const std::lock_guard lock(mutex_);
  links_.erase(link.get());
  if (link->MustNotEndInGrpcThread()) gone_.push_back(std::move(link));
  changed_.notify_all();
}

void LinkRegistry::FreeGone() {
  std::vector<std::shared_ptr<Link>> freed;  // destroyed after the mutex is
                                             // released
  const std::lock_guard lock(mutex_);
  freed.swap(gone_);
}

void LinkRegistry::Shutdown(Duration linger) {
  std::unique_lock lock(mutex_);
  down_ = true;
  for (Link* link : links_) link->Close();
  changed_.wait_for(lock, linger, [this] { return links_.empty(); });
  for (Link* link : links_) link->Abort();
  changed_.wait(lock, [this] { return links_.empty(); });
}

}  // namespace gauntlet
