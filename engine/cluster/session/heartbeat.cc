#include "engine/cluster/session/heartbeat.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {

Heartbeat::Heartbeat(World& world, const HeartbeatOptions& options,
                     std::vector<ControlChannel> channels, OnLost on_lost,
                     OnBeat on_beat)
    : world_(&world),
      options_(options),
      on_lost_(std::move(on_lost)),
      on_beat_(std::move(on_beat)),
      stop_(world.tasks.NewEvent()) {
  for (ControlChannel& channel : channels) {
    peers_.push_back({.control = std::move(channel),
                      .beats = std::make_unique<std::atomic<uint64_t>>(0),
                      .bye = world.tasks.NewEvent()});
  }
}

void Heartbeat::Start() {
  for (Peer& peer : peers_) {
    peer.receiver = world_->tasks.Spawn(
        fmt::format("heartbeat from rank {}", peer.control.rank),
        [this, &peer] { Receive(peer); });
  }
  if (!peers_.empty()) {
    sender_ = world_->tasks.Spawn("heartbeat", [this] { SendBeats(); });
  }
}

void Heartbeat::SendToAll(const Frame& frame) {
  for (Peer& peer : peers_) {
    // If the send fails, the task that receives from this channel detects the
    // loss.
    const Status sent = peer.control.channel->Send(
        frame, world_->clock.Now() + options_.lost_after);
    if (!sent.ok()) continue;
  }
}

void Heartbeat::SendBeats() {
  // If the process was paused, it sends one late beat immediately; it does not
  // make up for the other beats that it missed.
  Time due = world_->clock.Now() + options_.every;
  const Frame beat =
      EncodeControl(Beat{.rank = static_cast<uint32_t>(options_.rank),
                         .generation = options_.generation});
  for (; !stop_->WaitUntil(due);
       due = std::max(due + options_.every, world_->clock.Now())) {
    const Status status = world_->faults.Hit(Point::kHeartbeat, {});
    if (status.ok()) SendToAll(beat);
    on_beat_();
  }
}

void Heartbeat::Receive(Peer& peer) {
  while (true) {
    const Result<Frame> frame = peer.control.channel->Receive(
        world_->clock.Now() + options_.lost_after);
    Status status = frame.status();
    if (frame.ok()) {
      const Result<ControlMessage> message = DecodeControl(*frame);
      if (message.ok() && std::holds_alternative<Beat>(*message)) {
        ++*peer.beats;
        continue;
      }
      if (message.ok() && std::holds_alternative<Bye>(*message)) break;
      status = message.ok() ? DataLoss("unexpected frame on a control channel")
                            : message.status();
    }
    ReportLoss(peer.control.rank, status);
    break;
  }
  peer.bye->Set();
}

uint64_t Heartbeat::BeatsFrom(uint32_t rank) const {
  const auto peer =
      std::ranges::find(peers_, static_cast<int>(rank),
                        [](const Peer& one) { return one.control.rank; });
  return peer == peers_.end() ? 0 : peer->beats->load();
}

void Heartbeat::ReportLoss(int rank, const Status& status) {
  const std::lock_guard lock(mutex_);
  if (reporting_stopped_) return;
  reporting_stopped_ = true;
  on_lost_(rank, status);
}

void Heartbeat::StopReportingLosses() {
  const std::lock_guard lock(mutex_);
  reporting_stopped_ = true;
}

void Heartbeat::Leave() {
  StopReportingLosses();
  const Time deadline = world_->clock.Now() + options_.lost_after;
  const bool chief = options_.rank == 0;
  const Frame bye =
      EncodeControl(Bye{.rank = static_cast<uint32_t>(options_.rank),
                        .generation = options_.generation});
  if (!chief) SendToAll(bye);
  for (Peer& peer : peers_) peer.bye->WaitUntil(deadline);
  if (chief) SendToAll(bye);
  End();
}

void Heartbeat::Abort() {
  StopReportingLosses();
  End();
}

void Heartbeat::End() {
  stop_->Set();
  for (Peer& peer : peers_) peer.control.channel->Close();
  for (Peer& peer : peers_) {
    if (peer.receiver) peer.receiver->Join();
    peer.receiver.reset();
  }
  if (sender_) sender_->Join();
  sender_.reset();
}

}  // namespace gauntlet
