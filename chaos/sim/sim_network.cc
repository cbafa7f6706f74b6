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

// Loopback names refer to the host that uses them; all others are global.
std::string NetworkFabric::KeyOf(const NetworkUser& user,
                                 const std::string& address) {
  const bool loopback =
      address.starts_with("localhost:") || address.starts_with("127.0.0.1:");
  return loopback ? user.host + address.substr(address.rfind(':')) : address;
}

Result<std::unique_ptr<Listener>> NetworkFabric::Listen(
    const NetworkUser& user, const std::string& address,
    ConnectionFilter filter) {
  if (user.group->doomed) return ProcessGone();
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
  while (!user.group->doomed) {
    if (reachable() == nullptr) {
      const auto result = scheduler_.Wait(&changes_, deadline, reason);
      if (result == WaitResult::kWoken) continue;
      if (user.group->doomed) break;
      return nobody();
    }
    const Duration round_trip =
        latency_.one_way.Draw(handshakes_) + latency_.one_way.Draw(handshakes_);
    const Time answer = scheduler_.now() + round_trip;
    scheduler_.Wait(nullptr, std::min(answer, deadline), reason);
    ListenSocket* listen_socket = reachable();
    if (user.group->doomed) break;
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
  auto connection = std::shared_ptr<Connection>(
      new Connection{.id = id,
                     .name = address + " #" + number,
                     .ends = {{.user = client}, {.user = listen_socket.user}},
                     .ways = {{.random = RandomStream(seed_, stream + ":0")},
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

// Handles the first frame of a caller.
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

Duration NetworkFabric::Delay(Connection& connection, int way, uint64_t bytes) {
  Duration delay = latency_.one_way.Draw(connection.ways[way].random);
  delay += Duration(
      static_cast<int64_t>(static_cast<double>(bytes) * 1e9 /
                           static_cast<double>(latency_.bytes_per_second)));
  for (Trouble& one : troubles_) {
    if (Covers(one.link, connection.ends[way].user.host,
               connection.ends[1 - way].user.host)) {
      delay += one.trouble.Draw();
    }
  }
  return delay;
}

bool NetworkFabric::IsDoubled(const Connection& connection, int way) const {
  return std::ranges::any_of(troubles_, [&](const Trouble& one) {
    return one.trouble.doubles() &&
           Covers(one.link, connection.ends[way].user.host,
                  connection.ends[1 - way].user.host);
  });
}

void NetworkFabric::Post(Connection& connection, int way, Frame&& frame) {
  ++frames_sent_;
  scheduler_.Record(connection.id * 2 + static_cast<uint64_t>(way));
  scheduler_.Record(ShortDigestOf(frame));
  Direction& path = connection.ways[way];
  path.unreceived += frame.size();
  path.last = std::max(path.last + Duration(1),
                       scheduler_.now() + Delay(connection, way, frame.size()));
  if (IsDoubled(connection, way)) {
    path.unreceived += frame.size();
    path.under_way.push_back({.at = path.last, .frame = frame});
  }
  path.under_way.push_back({.at = path.last, .frame = std::move(frame)});
  Schedule(connection, way);
}

void NetworkFabric::PostClose(Connection& connection, int way) {
  Direction& path = connection.ways[way];
  if (std::exchange(path.closing, true)) return;
  path.last = std::max(path.last + Duration(1),
                       scheduler_.now() + Delay(connection, way, 0));
  path.under_way.push_back({.at = path.last, .frame = {}, .close = true});
  Schedule(connection, way);
}

void NetworkFabric::Schedule(Connection& connection, int way) {
  Direction& path = connection.ways[way];
  if (path.scheduled || path.under_way.empty()) return;
  if (IsCut(connection.ends[way].user.host,
            connection.ends[1 - way].user.host)) {
    return;  // until Resume
  }
  path.scheduled = true;
  scheduler_.At(path.under_way.front().at, *this,
                connection.id * 2 + static_cast<uint64_t>(way));
}

void NetworkFabric::Act(uint64_t argument) {
  Connection* const connection = connections_[argument / 2].get();
  if (connection == nullptr) return;
  const int way = static_cast<int>(argument % 2);
  Direction& path = connection->ways[way];
  path.scheduled = false;
  const bool cut = IsCut(connection->ends[way].user.host,
                         connection->ends[1 - way].user.host);
  while (!cut && !path.under_way.empty() &&
         path.under_way.front().at <= scheduler_.now()) {
    Deliver(*connection, way);
  }
  Schedule(*connection, way);
  const auto over = [&](int end) {
    return connection->ends[end].closed &&
           connection->ways[end].under_way.empty();
  };
  if (over(0) && over(1)) connections_[connection->id].reset();
}

void NetworkFabric::Deliver(Connection& connection, int way) {
  std::list<InFlightFrame>& under_way = connection.ways[way].under_way;
  const bool close = under_way.front().close;
  Connection::End& end = connection.ends[1 - way];
  if (!end.closed && !close) {
    end.inbox.splice(end.inbox.end(), under_way, under_way.begin());
    if (connection.listen_socket != nullptr && way == 0) EndSilence(connection);
    return scheduler_.WakeAll(end.receivers);
  }
  under_way.pop_front();
  if (end.closed) {
    // The end is closed: notifies the sender, unless this is a close itself.
    if (!close) PostClose(connection, 1 - way);
  } else {
    end.broken = true;
    if (connection.listen_socket != nullptr && end.inbox.empty() && way == 0) {
      return Drop(*connection.listen_socket, connection);
    }
    scheduler_.WakeAll(connection.ways[1 - way].senders);
    scheduler_.WakeAll(end.receivers);
  }
}

void NetworkFabric::CloseEnd(Connection& connection, int end) {
  if (std::exchange(connection.ends[end].closed, true)) return;
  PostClose(connection, end);
  scheduler_.WakeAll(connection.ends[end].receivers);
  scheduler_.WakeAll(connection.ways[end].senders);
}

void NetworkFabric::Break(Connection& connection) {
  if (connection.listen_socket != nullptr && connection.ends[1].inbox.empty()) {
    Drop(*connection.listen_socket, connection);
  }
  for (int end = 0; end < 2; ++end) {
    connection.ways[end].under_way.clear();
    connection.ends[end].broken = true;
    scheduler_.WakeAll(connection.ends[end].receivers);
    scheduler_.WakeAll(connection.ways[end].senders);
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

uint64_t NetworkFabric::BeginTrouble(const HostLink& link,
                                     FrameTrouble trouble) {
  const uint64_t number = troubles_begun_++;
  troubles_.push_back(
      {.number = number, .link = link, .trouble = std::move(trouble)});
  return number;
}

void NetworkFabric::EndTrouble(uint64_t number) {
  troubles_.remove_if(
      [number](const Trouble& one) { return one.number == number; });
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
        connection->ways[end].under_way.clear();
      }
    }
  }
  for (const auto& listen_socket : listen_sockets)
    CloseListenSocket(*listen_socket);
}

}  // namespace gauntlet
