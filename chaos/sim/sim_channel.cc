#include "chaos/sim/sim_channel.h"

#include <fmt/format.h>

namespace gauntlet {

Status SimChannel::Lost() const {
  return Unavailable(connection_->name + ": the connection is lost");
}

Status SimChannel::Send(Frame frame, Time deadline) {
  NetworkFabric::Connection& connection = *connection_;
  if (frame.size() > kMaxFrameBytes) {
    return InvalidArgument(
        fmt::format("{}: send: expected a frame of at most {} bytes, found {}",
                    connection.name, kMaxFrameBytes, frame.size()));
  }
  const auto& end = connection.ends[end_];
  auto& direction = connection.directions[end_];
  if (end.user.group->killed) return ProcessGone();
  Scheduler& scheduler = fabric_.scheduler_;
  scheduler.Wait(nullptr, scheduler.now(), {});
  const auto ready = [&] {
    return end.closed || end.broken || direction.unreceived == 0 ||
           direction.unreceived + frame.size() <= fabric_.latency_.window_bytes;
  };
  while (!ready()) {
    const WaitResult result =
        scheduler.Wait(&direction.senders, deadline,
                       {.verb = "sends on", .what = &connection.name});
    if (result == WaitResult::kDeadline && !ready()) {
      return DeadlineExceeded(fmt::format("{}: {} bytes still in flight",
                                          connection.name,
                                          direction.unreceived));
    }
  }
  if (end.closed || end.broken) return Lost();
  fabric_.Post(connection, end_, std::move(frame));
  return OkStatus();
}

Result<Frame> SimChannel::Receive(Time deadline) {
  NetworkFabric::Connection& connection = *connection_;
  auto& end = connection.ends[end_];
  Scheduler& scheduler = fabric_.scheduler_;
  const auto ready = [&end] {
    return !end.inbox.empty() || end.closed || end.broken;
  };
  if (end.user.group->killed) return ProcessGone();
  if (ready()) scheduler.Wait(nullptr, scheduler.now(), {});
  while (!ready()) {
    const WaitResult result =
        scheduler.Wait(&end.receivers, deadline,
                       {.verb = "receives on", .what = &connection.name});
    if (result == WaitResult::kDeadline) break;
  }
  if (!end.inbox.empty()) return TakeArrived();
  if (ready()) return Lost();
  return DeadlineExceeded(
      fmt::format("{}: no frame came in time", connection.name));
}

Frame SimChannel::TakeArrived() {
  auto& inbox = connection_->ends[end_].inbox;
  Frame frame = std::move(inbox.front().frame);
  inbox.pop_front();
  auto& direction = connection_->directions[1 - end_];
  direction.unreceived -= frame.size();
  if (!direction.senders.empty()) fabric_.scheduler_.WakeAll(direction.senders);
  return frame;
}

void SimChannel::Close() {
  if (connection_->ends[end_].user.group->killed) return;
  fabric_.CloseEnd(*connection_, end_);
}

SimListener::~SimListener() {
  if (!listen_socket_->user.group->killed)
    fabric_.CloseListenSocket(*listen_socket_);
}

Result<Incoming> SimListener::Accept(Time deadline) {
  const auto listen_socket = listen_socket_;
  Scheduler& scheduler = fabric_.scheduler_;
  if (listen_socket->user.group->killed) return ProcessGone();
  fabric_.DropOverdue(*listen_socket);
  const auto ready = [&listen_socket] {
    return !listen_socket->waiting.empty() || listen_socket->closed;
  };
  if (ready()) scheduler.Wait(nullptr, scheduler.now(), {});
  while (!ready()) {
    const WaitResult result =
        scheduler.Wait(&listen_socket->acceptors, deadline,
                       {.verb = "accepts at", .what = &listen_socket->key});
    if (result == WaitResult::kDeadline) break;
  }
  if (!listen_socket->waiting.empty()) {
    auto connection = std::move(listen_socket->waiting.front());
    listen_socket->waiting.pop_front();
    connection->listen_socket = nullptr;
    auto channel =
        std::make_unique<SimChannel>(fabric_, std::move(connection), 1);
    Frame first = channel->TakeArrived();
    return Incoming{.channel = std::move(channel), .first = std::move(first)};
  }
  if (listen_socket->closed)
    return Unavailable(listen_socket->key + ": no longer listening");
  return DeadlineExceeded(
      fmt::format("{}: nobody connected in time", listen_socket->key));
}

}  // namespace gauntlet
