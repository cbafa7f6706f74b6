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
    lines_.push_back({.control = std::move(channel),
                      .beats = std::make_unique<std::atomic<uint64_t>>(0),
                      .bye = world.tasks.NewEvent()});
  }
}

void Heartbeat::Start() {
  for (Line& line : lines_) {
    line.receiver = world_->tasks.Spawn(
        fmt::format("heartbeat from rank {}", line.control.rank),
        [this, &line] { Receive(line); });
  }
  if (!lines_.empty()) {
    sender_ = world_->tasks.Spawn("heartbeat", [this] { SendBeats(); });
  }
}

void Heartbeat::SendToAll(const Frame& frame) {
  for (Line& line : lines_) {
    // If the send fails, the task that receives from this channel detects the
    // loss.
    const Status sent = line.control.channel->Send(
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

void Heartbeat::Receive(Line& line) {
  while (true) {
    const Result<Frame> frame = line.control.channel->Receive(
        world_->clock.Now() + options_.lost_after);
    Status status = frame.status();
    if (frame.ok()) {
      const Result<ControlMessage> message = DecodeControl(*frame);
      if (message.ok() && std::holds_alternative<Beat>(*message)) {
        ++*line.beats;
        continue;
      }
      if (message.ok() && std::holds_alternative<Bye>(*message)) break;
      status = message.ok() ? DataLoss("unexpected frame on a control channel")
                            : message.status();
    }
    ReportLoss(line.control.rank, status);
    break;
  }
  line.bye->Set();
}

uint64_t Heartbeat::BeatsFrom(uint32_t rank) const {
  const auto line =
      std::ranges::find(lines_, static_cast<int>(rank),
                        [](const Line& one) { return one.control.rank; });
  return line == lines_.end() ? 0 : line->beats->load();
}

void Heartbeat::ReportLoss(int rank, const Status& status) {
  const std::lock_guard lock(mutex_);
  if (silent_) return;
  silent_ = true;
  on_lost_(rank, status);
}

void Heartbeat::StopReportingLosses() {
  const std::lock_guard lock(mutex_);
  silent_ = true;
}

void Heartbeat::Leave() {
  StopReportingLosses();
  const Time deadline = world_->clock.Now() + options_.lost_after;
  const bool chief = options_.rank == 0;
  const Frame bye =
      EncodeControl(Bye{.rank = static_cast<uint32_t>(options_.rank),
                        .generation = options_.generation});
  if (!chief) SendToAll(bye);
  for (Line& line : lines_) line.bye->WaitUntil(deadline);
  if (chief) SendToAll(bye);
  End();
}

void Heartbeat::Abort() {
  StopReportingLosses();
  End();
}

void Heartbeat::End() {
  stop_->Set();
  for (Line& line : lines_) line.control.channel->Close();
  for (Line& line : lines_) {
    if (line.receiver) line.receiver->Join();
    line.receiver.reset();
  }
  if (sender_) sender_->Join();
  sender_.reset();
}

}  // namespace gauntlet
