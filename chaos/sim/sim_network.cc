#include "chaos/sim/sim_network.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "chaos/sim/sim_channel.h"
#include "engine/digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool IsWellFormed(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const char* begin = address.data() + colon + 1;
  const char* end = address.data() + address.size();
  uint16_t port = 0;
  const auto [parsed, error] = std::from_chars(begin, end, port);
  return error == std::errc() && parsed == end && port != 0;
}

Status Malformed(const std::string& address) {
  return InvalidArgument(
      fmt::format("address '{}': expected host:port", address));
}

bool Covers(const HostLink& link, const std::string& from,
            const std::string& to) {
  return from != to && (link.from == from || link.from == kEveryHost) &&
         (link.to == to || link.to == kEveryHost);
}

}  // namespace

NetworkFabric::NetworkFabric(Scheduler& scheduler, uint64_t seed,
                             const NetworkLatency& latency)
    : scheduler_(scheduler),
      seed_(seed),
      latency_(latency),
      handshakes_(seed, "network"),
      nonces_(RandomStream(seed, "nonces")) {}

NetworkFabric::~NetworkFabric() = default;

// Returns the key of an address in listen_sockets_. A loopback name refers to
// the host that uses it; all other names are global.
std::string NetworkFabric::KeyOf(const NetworkUser& user,
                                 const std::string& address) {
  const bool loopback =
      address.starts_with("localhost:") || address.starts_with("127.0.0.1:");
  return loopback ? user.host + address.substr(address.rfind(':')) : address;
}

Result<std::unique_ptr<Listener>> NetworkFabric::Listen(
    const NetworkUser& user, const std::string& address,
    ConnectionFilter filter) {
  if (user.group->killed) return ProcessGone();
  if (!IsWellFormed(address)) return Malformed(address);
  const std::string key = KeyOf(user, address);
  const auto [place, is_free] = listen_sockets_.try_emplace(key);
  if (!is_free) {
    return AlreadyExists(fmt::format("address {} is in use", address));
  }
  place->second = std::make_shared<ListenSocket>();
  place->second->user = user;
  place->second->key = key;
  place->second->filter = std::move(filter);
  scheduler_.WakeAll(changes_);
  return std::unique_ptr<Listener>(
      std::make_unique<SimListener>(*this, place->second));
}

Result<std::unique_ptr<Channel>> NetworkFabric::Connect(
    const NetworkUser& user, const std::string& address, Time deadline) {
  if (!IsWellFormed(address)) return Malformed(address);
  const std::string key = KeyOf(user, address);
  const auto reachable = [&]() -> ListenSocket* {
    const auto listen_socket = listen_sockets_.find(key);
    if (listen_socket == listen_sockets_.end()) return nullptr;
    const std::string& other = listen_socket->second->user.host;
    const bool cut = IsCut(user.host, other) || IsCut(other, user.host);
    return cut ? nullptr : listen_socket->second.get();
  };
  const WaitReason reason{.verb = "connects to", .what = &address};
  const auto nobody = [&address] {
    return DeadlineExceeded(
        fmt::format("connect {}: nobody answered in time", address));
  };
  while (!user.group->killed) {
    if (reachable() == nullptr) {
      const auto result = scheduler_.Wait(&changes_, deadline, reason);
      if (result == WaitResult::kWoken) continue;
      if (user.group->killed) break;
      return nobody();
    }
    const Duration round_trip =
        latency_.one_way.Draw(handshakes_) + latency_.one_way.Draw(handshakes_);
    const Time answer = scheduler_.now() + round_trip;
    scheduler_.Wait(nullptr, std::min(answer, deadline), reason);
    ListenSocket* listen_socket = reachable();
    if (user.group->killed) break;
    if (answer > deadline) return nobody();
    if (listen_socket == nullptr) continue;
    auto connection = NewConnection(user, *listen_socket, address);
    AddSilent(*listen_socket, connection);
    return std::unique_ptr<Channel>(
        std::make_unique<SimChannel>(*this, std::move(connection), 0));
  }
  return ProcessGone();
}

std::shared_ptr<NetworkFabric::Connection> NetworkFabric::NewConnection(
    const NetworkUser& client, const ListenSocket& listen_socket,
    const std::string& address) {
  const uint64_t id = connections_.size();
  const std::string number = std::to_string(id);
  const std::string stream = "connection:" + number;
  auto connection = std::shared_ptr<Connection>(new Connection{
      .id = id,
      .name = address + " #" + number,
      .ends = {{.user = client}, {.user = listen_socket.user}},
      .directions = {{.random = RandomStream(seed_, stream + ":0")},
                     {.random = RandomStream(seed_, stream + ":1")}}});
  nonces_.Fill(std::as_writable_bytes(std::span(connection->nonce)));
  connections_.push_back(connection);
  scheduler_.Record(id);
  return connection;
}

void NetworkFabric::AddSilent(ListenSocket& listen_socket,
                              const std::shared_ptr<Connection>& connection) {
  DropOverdue(listen_socket);
  if (listen_socket.silent.size() >= kMaxSilentCallers)
    Drop(listen_socket, *listen_socket.silent.front());
  connection->listen_socket = &listen_socket;
  connection->opened = scheduler_.now();
  listen_socket.silent.push_back(connection);
}

// Called when a frame of a caller has arrived. If it is the first, hands the
// connection to Accept, unless the filter answers the frame or a limit is
// exceeded: then disconnects the caller.
void NetworkFabric::EndSilence(Connection& connection) {
  ListenSocket& listen_socket = *connection.listen_socket;
  const auto found = std::ranges::find(listen_socket.silent, connection.id,
                                       [](const auto& one) { return one->id; });
  if (found == listen_socket.silent.end()) return;  // not the first frame
  const Frame& first = connection.ends[1].inbox.front().frame;
  const bool fits = first.size() <= kMaxFirstFrameBytes;
  if (fits && listen_socket.filter) {
    if (auto answer = listen_socket.filter(connection.nonce, first)) {
      Post(connection, 1, *std::move(answer));
      return Drop(listen_socket, connection);
    }
  }
  if (!fits || listen_socket.waiting.size() >= kMaxWaitingCallers) {
    return Drop(listen_socket, connection);
  }
  listen_socket.waiting.push_back(*found);
  listen_socket.silent.erase(found);
  scheduler_.WakeAll(listen_socket.acceptors);
}

// Disconnects a caller before its accept.
void NetworkFabric::Drop(ListenSocket& listen_socket, Connection& connection) {
  connection.listen_socket = nullptr;
  CloseEnd(connection, 1);
  std::erase_if(listen_socket.silent, [&connection](const auto& one) {
    return one.get() == &connection;
  });
}

void NetworkFabric::DropOverdue(ListenSocket& listen_socket) {
  while (!listen_socket.silent.empty() &&
         scheduler_.now() - listen_socket.silent.front()->opened >=
             kMaxSilence) {
    Drop(listen_socket, *listen_socket.silent.front());
  }
}

bool NetworkFabric::IsCut(const std::string& from,
                          const std::string& to) const {
  if (cuts_.empty()) return false;
  return std::any_of(cuts_.begin(), cuts_.end(), [&](const auto& cut) {
    return Covers(cut.first, from, to);
  });
}

bool NetworkFabric::IsOpen(const HostLink& link) const {
  return !IsCut(link.from, link.to) && !IsCut(link.to, link.from);
}

Duration NetworkFabric::Delay(Connection& connection, int direction,
                              uint64_t bytes) {
  Duration delay =
      latency_.one_way.Draw(connection.directions[direction].random);
  delay += Duration(
      static_cast<int64_t>(static_cast<double>(bytes) * 1e9 /
                           static_cast<double>(latency_.bytes_per_second)));
  for (ActiveFrameFault& one : frame_faults_) {
    if (Covers(one.link, connection.ends[direction].user.host,
               connection.ends[1 - direction].user.host)) {
      delay += one.fault.Draw();
    }
  }
  return delay;
}

bool NetworkFabric::IsDoubled(const Connection& connection,
                              int direction) const {
  return std::ranges::any_of(frame_faults_, [&](const ActiveFrameFault& one) {
    return one.fault.doubles() &&
           Covers(one.link, connection.ends[direction].user.host,
                  connection.ends[1 - direction].user.host);
  });
}

void NetworkFabric::Post(Connection& connection, int direction, Frame&& frame) {
  ++frames_sent_;
  scheduler_.Record(connection.id * 2 + static_cast<uint64_t>(direction));
  scheduler_.Record(ShortDigestOf(frame));
  Direction& path = connection.directions[direction];
  path.unreceived += frame.size();
  path.last =
      std::max(path.last + Duration(1),
               scheduler_.now() + Delay(connection, direction, frame.size()));
  if (IsDoubled(connection, direction)) {
    path.unreceived += frame.size();
    path.in_flight.push_back({.at = path.last, .frame = frame});
  }
  path.in_flight.push_back({.at = path.last, .frame = std::move(frame)});
  Schedule(connection, direction);
}

void NetworkFabric::PostClose(Connection& connection, int direction) {
  Direction& path = connection.directions[direction];
  if (std::exchange(path.closing, true)) return;
  path.last = std::max(path.last + Duration(1),
                       scheduler_.now() + Delay(connection, direction, 0));
  path.in_flight.push_back({.at = path.last, .frame = {}, .close = true});
  Schedule(connection, direction);
}

void NetworkFabric::Schedule(Connection& connection, int direction) {
  Direction& path = connection.directions[direction];
  if (path.scheduled || path.in_flight.empty()) return;
  if (IsCut(connection.ends[direction].user.host,
            connection.ends[1 - direction].user.host)) {
    return;  // Resume schedules the direction.
  }
  path.scheduled = true;
  scheduler_.At(path.in_flight.front().at, *this,
                connection.id * 2 + static_cast<uint64_t>(direction));
}

void NetworkFabric::Act(uint64_t argument) {
  Connection* const connection = connections_[argument / 2].get();
  if (connection == nullptr) return;
  const int direction = static_cast<int>(argument % 2);
  Direction& path = connection->directions[direction];
  path.scheduled = false;
  const bool cut = IsCut(connection->ends[direction].user.host,
                         connection->ends[1 - direction].user.host);
  while (!cut && !path.in_flight.empty() &&
         path.in_flight.front().at <= scheduler_.now()) {
    Deliver(*connection, direction);
  }
  Schedule(*connection, direction);
  const auto over = [&](int end) {
    return connection->ends[end].closed &&
           connection->directions[end].in_flight.empty();
  };
  if (over(0) && over(1)) connections_[connection->id].reset();
}

void NetworkFabric::Deliver(Connection& connection, int direction) {
  std::list<InFlightFrame>& in_flight =
      connection.directions[direction].in_flight;
  const bool close = in_flight.front().close;
  Connection::End& end = connection.ends[1 - direction];
  if (!end.closed && !close) {
    end.inbox.splice(end.inbox.end(), in_flight, in_flight.begin());
    if (connection.listen_socket != nullptr && direction == 0)
      EndSilence(connection);
    return scheduler_.WakeAll(end.receivers);
  }
  in_flight.pop_front();
  if (end.closed) {
    // The receiving end is closed: notifies the sender, unless the frame is
    // itself a close.
    if (!close) PostClose(connection, 1 - direction);
  } else {
    end.broken = true;
    if (connection.listen_socket != nullptr && end.inbox.empty() &&
        direction == 0) {
      return Drop(*connection.listen_socket, connection);
    }
    scheduler_.WakeAll(connection.directions[1 - direction].senders);
    scheduler_.WakeAll(end.receivers);
  }
}

void NetworkFabric::CloseEnd(Connection& connection, int end) {
  if (std::exchange(connection.ends[end].closed, true)) return;
  PostClose(connection, end);
  scheduler_.WakeAll(connection.ends[end].receivers);
  scheduler_.WakeAll(connection.directions[end].senders);
}

void NetworkFabric::Break(Connection& connection) {
  if (connection.listen_socket != nullptr && connection.ends[1].inbox.empty()) {
    Drop(*connection.listen_socket, connection);
  }
  for (int end = 0; end < 2; ++end) {
    connection.directions[end].in_flight.clear();
    connection.ends[end].broken = true;
    scheduler_.WakeAll(connection.ends[end].receivers);
    scheduler_.WakeAll(connection.directions[end].senders);
  }
}

void NetworkFabric::CloseListenSocket(ListenSocket& listen_socket) {
  listen_socket.closed = true;
  for (auto* const callers : {&listen_socket.silent, &listen_socket.waiting}) {
    for (const auto& connection : *callers) {
      connection->listen_socket = nullptr;
      CloseEnd(*connection, 1);
    }
    callers->clear();
  }
  scheduler_.WakeAll(listen_socket.acceptors);
  listen_sockets_.erase(listen_socket.key);
}

void NetworkFabric::Cut(const HostLink& link) { ++cuts_[link]; }

void NetworkFabric::Heal(const HostLink& link) {
  const auto cut = cuts_.find(link);
  if (cut == cuts_.end()) return;
  if (--cut->second == 0) cuts_.erase(cut);
  Resume();
}

void NetworkFabric::Resume() {
  for (const auto& connection : connections_) {
    if (connection == nullptr) continue;
    Schedule(*connection, 0);
    Schedule(*connection, 1);
  }
  scheduler_.WakeAll(changes_);
  for (size_t i = 0; i < waiting_.size();) {
    if (!IsOpen(waiting_[i].link)) {
      ++i;
      continue;
    }
    const auto callback = std::move(waiting_[i].callback);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    callback();
    i = 0;  // the callback may have changed the list
  }
}

void NetworkFabric::CallWhenOpen(const HostLink& link,
                                 std::function<void()> callback) {
  if (IsOpen(link)) return callback();
  waiting_.push_back({.link = link, .callback = std::move(callback)});
}

uint64_t NetworkFabric::BeginFrameFault(const HostLink& link,
                                        FrameFault fault) {
  const uint64_t number = frame_faults_begun_++;
  frame_faults_.push_back(
      {.number = number, .link = link, .fault = std::move(fault)});
  return number;
}

void NetworkFabric::EndFrameFault(uint64_t number) {
  frame_faults_.remove_if(
      [number](const ActiveFrameFault& one) { return one.number == number; });
}

void NetworkFabric::Reset(const HostLink& link) {
  for (const auto& connection : connections_) {
    if (connection == nullptr) continue;
    const std::string& one = connection->ends[0].user.host;
    const std::string& other = connection->ends[1].user.host;
    if (Covers(link, one, other) || Covers(link, other, one)) {
      Break(*connection);
    }
  }
}

void NetworkFabric::EndProcess(int process, CloseMode close_mode) {
  std::vector<std::shared_ptr<ListenSocket>> listen_sockets;
  for (const auto& [key, listen_socket] : listen_sockets_) {
    if (listen_socket->user.process == process)
      listen_sockets.push_back(listen_socket);
  }
  for (const auto& connection : connections_) {
    for (int end = 0; connection != nullptr && end < 2; ++end) {
      if (connection->ends[end].user.process != process) continue;
      if (close_mode == CloseMode::kOrderly) {
        CloseEnd(*connection, end);
      } else {
        connection->ends[end].closed = true;
        connection->directions[end].in_flight.clear();
      }
    }
  }
  for (const auto& listen_socket : listen_sockets)
    CloseListenSocket(*listen_socket);
}

}  // namespace gauntlet
