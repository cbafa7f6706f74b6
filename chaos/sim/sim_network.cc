#include "chaos/sim/sim_network.h"

#include <algorithm>
#include <charconv>
#include <utility>

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

Status ProcessGone() { return Unavailable("the process is gone"); }

bool Covers(const HostLink& link, const std::string& from,
            const std::string& to) {
  return from != to && (link.from == from || link.from == kEveryHost) &&
         (link.to == to || link.to == kEveryHost);
}

struct Parcel {
  Time at;
  Frame frame;
  bool close = false;
};

}  // namespace

// From end i to end 1 - i.
struct NetworkFabric::Way {
  RandomStream random;
  std::list<Parcel> under_way;
  uint64_t unreceived = 0;  // bytes
  WaitList senders;         // that wait for room
  Time last{};              // arrival of the youngest
  bool scheduled = false;   // an Act for it is due
  bool closing = false;     // the news of a close was posted
};

struct NetworkFabric::Connection {
  struct End {
    NetworkUser user;
    std::list<Parcel> inbox;  // what has arrived, as it was under way
    bool closed = false;      // by its own process
    bool broken = false;      // as the other end's news tell
    WaitList receivers;
  };
  uint64_t id = 0;
  std::string name;
  End ends[2];
  Way ways[2];
};

struct NetworkFabric::Door {
  NetworkUser user;
  std::string key;
  std::list<std::shared_ptr<Connection>> backlog;
  bool closed = false;
  WaitList acceptors;
};

class SimChannel final : public Channel {
 public:
  SimChannel(NetworkFabric& fabric,
             std::shared_ptr<NetworkFabric::Connection> connection, int end)
      : fabric_(fabric), connection_(std::move(connection)), end_(end) {}
  ~SimChannel() override { Close(); }

  Status Send(Frame frame, Time deadline) override {
    NetworkFabric::Connection& connection = *connection_;
    const auto& end = connection.ends[end_];
    auto& way = connection.ways[end_];
    if (end.user.group->doomed) return ProcessGone();
    Scheduler& scheduler = fabric_.scheduler_;
    scheduler.Wait(nullptr, scheduler.now(), {});
    const auto ready = [&] {
      return end.closed || end.broken || way.unreceived == 0 ||
             way.unreceived + frame.size() <= fabric_.latency_.window_bytes;
    };
    while (!ready()) {
      const WaitResult result =
          scheduler.Wait(&way.senders, deadline,
                         {.verb = "sends on", .what = &connection.name});
      if (result == WaitResult::kDeadline && !ready()) {
        return DeadlineExceeded(fmt::format("{}: {} bytes still under way",
                                            connection.name, way.unreceived));
      }
    }
    if (end.closed || end.broken) return Lost(connection);
    fabric_.Post(connection, end_, std::move(frame));
    return OkStatus();
  }

  Result<Frame> Receive(Time deadline) override {
    NetworkFabric::Connection& connection = *connection_;
    auto& end = connection.ends[end_];
    Scheduler& scheduler = fabric_.scheduler_;
    const auto ready = [&end] {
      return !end.inbox.empty() || end.closed || end.broken;
    };
    if (end.user.group->doomed) return ProcessGone();
    if (ready()) scheduler.Wait(nullptr, scheduler.now(), {});
    while (!ready()) {
      const WaitResult result =
          scheduler.Wait(&end.receivers, deadline,
                         {.verb = "receives on", .what = &connection.name});
      if (result == WaitResult::kDeadline) break;
    }
    if (!end.inbox.empty()) {
      Result<Frame> frame = std::move(end.inbox.front().frame);
      end.inbox.pop_front();
      auto& way = connection.ways[1 - end_];
      way.unreceived -= frame->size();
      if (!way.senders.empty()) scheduler.WakeAll(way.senders);
      return frame;
    }
    if (ready()) return Lost(connection);
    return DeadlineExceeded(
        fmt::format("{}: no frame came in time", connection.name));
  }

  void Close() override {
    if (connection_->ends[end_].user.group->doomed) return;
    fabric_.CloseEnd(*connection_, end_);
  }

 private:
  static Status Lost(const NetworkFabric::Connection& connection) {
    return Unavailable(connection.name + ": the connection is lost");
  }

  NetworkFabric& fabric_;
  std::shared_ptr<NetworkFabric::Connection> connection_;
  int end_;
};

class SimListener final : public Listener {
 public:
  SimListener(NetworkFabric& fabric, std::shared_ptr<NetworkFabric::Door> door)
      : fabric_(fabric), door_(std::move(door)) {}
  ~SimListener() override {
    if (!door_->user.group->doomed) fabric_.CloseDoor(*door_);
  }

  Result<std::unique_ptr<Channel>> Accept(Time deadline) override {
    const auto door = door_;
    Scheduler& scheduler = fabric_.scheduler_;
    if (door->user.group->doomed) return ProcessGone();
    const auto ready = [&door] {
      return !door->backlog.empty() || door->closed;
    };
    if (ready()) scheduler.Wait(nullptr, scheduler.now(), {});
    while (!ready()) {
      const WaitResult result =
          scheduler.Wait(&door->acceptors, deadline,
                         {.verb = "accepts at", .what = &door->key});
      if (result == WaitResult::kDeadline) break;
    }
    if (!door->backlog.empty()) {
      auto connection = std::move(door->backlog.front());
      door->backlog.pop_front();
      return std::unique_ptr<Channel>(
          std::make_unique<SimChannel>(fabric_, std::move(connection), 1));
    }
    if (door->closed) return Unavailable(door->key + ": no longer listening");
    return DeadlineExceeded(
        fmt::format("{}: nobody connected in time", door->key));
  }

 private:
  NetworkFabric& fabric_;
  std::shared_ptr<NetworkFabric::Door> door_;
};

NetworkFabric::NetworkFabric(Scheduler& scheduler, uint64_t seed,
                             const NetworkLatency& latency)
    : scheduler_(scheduler),
      seed_(seed),
      latency_(latency),
      handshakes_(seed, "network") {}

NetworkFabric::~NetworkFabric() = default;

// Loopback names mean the host that uses them; any other is known everywhere.
std::string NetworkFabric::KeyOf(const NetworkUser& user,
                                 const std::string& address) {
  const bool loopback =
      address.starts_with("localhost:") || address.starts_with("127.0.0.1:");
  return loopback ? user.host + address.substr(address.rfind(':')) : address;
}

Result<std::unique_ptr<Listener>> NetworkFabric::Listen(
    const NetworkUser& user, const std::string& address) {
  if (user.group->doomed) return ProcessGone();
  if (!IsWellFormed(address)) return Malformed(address);
  const std::string key = KeyOf(user, address);
  const auto [place, is_free] = doors_.try_emplace(key);
  if (!is_free) {
    return AlreadyExists(fmt::format("address {} is in use", address));
  }
  place->second = std::make_shared<Door>();
  place->second->user = user;
  place->second->key = key;
  scheduler_.WakeAll(changes_);
  return std::unique_ptr<Listener>(
      std::make_unique<SimListener>(*this, place->second));
}

Result<std::unique_ptr<Channel>> NetworkFabric::Connect(
    const NetworkUser& user, const std::string& address, Time deadline) {
  if (!IsWellFormed(address)) return Malformed(address);
  const std::string key = KeyOf(user, address);
  const auto reachable = [&]() -> Door* {
    const auto door = doors_.find(key);
    if (door == doors_.end()) return nullptr;
    const std::string& other = door->second->user.host;
    const bool cut = IsCut(user.host, other) || IsCut(other, user.host);
    return cut ? nullptr : door->second.get();
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
    Door* door = reachable();
    if (user.group->doomed) break;
    if (answer > deadline) return nobody();
    if (door == nullptr) continue;
    auto connection = NewConnection(user, *door, address);
    door->backlog.push_back(connection);
    scheduler_.WakeAll(door->acceptors);
    return std::unique_ptr<Channel>(
        std::make_unique<SimChannel>(*this, std::move(connection), 0));
  }
  return ProcessGone();
}

std::shared_ptr<NetworkFabric::Connection> NetworkFabric::NewConnection(
    const NetworkUser& client, const Door& door, const std::string& address) {
  const uint64_t id = connections_.size();
  const std::string number = std::to_string(id);
  const std::string stream = "connection:" + number;
  auto connection = std::shared_ptr<Connection>(
      new Connection{.id = id,
                     .name = address + " #" + number,
                     .ends = {{.user = client}, {.user = door.user}},
                     .ways = {{.random = RandomStream(seed_, stream + ":0")},
                              {.random = RandomStream(seed_, stream + ":1")}}});
  connections_.push_back(connection);
  scheduler_.Record(id);
  return connection;
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

void NetworkFabric::Post(Connection& connection, int way, Frame&& frame) {
  scheduler_.Record(connection.id * 2 + static_cast<uint64_t>(way));
  scheduler_.Record(ShortDigestOf(frame));
  Way& path = connection.ways[way];
  path.unreceived += frame.size();
  path.last = std::max(path.last + Duration(1),
                       scheduler_.now() + Delay(connection, way, frame.size()));
  path.under_way.push_back({.at = path.last, .frame = std::move(frame)});
  Schedule(connection, way);
}

void NetworkFabric::PostClose(Connection& connection, int way) {
  Way& path = connection.ways[way];
  if (std::exchange(path.closing, true)) return;
  path.last = std::max(path.last + Duration(1),
                       scheduler_.now() + Delay(connection, way, 0));
  path.under_way.push_back({.at = path.last, .frame = {}, .close = true});
  Schedule(connection, way);
}

void NetworkFabric::Schedule(Connection& connection, int way) {
  Way& path = connection.ways[way];
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
  Way& path = connection->ways[way];
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
  std::list<Parcel>& under_way = connection.ways[way].under_way;
  const bool close = under_way.front().close;
  Connection::End& end = connection.ends[1 - way];
  if (!end.closed && !close) {
    end.inbox.splice(end.inbox.end(), under_way, under_way.begin());
    return scheduler_.WakeAll(end.receivers);
  }
  under_way.pop_front();
  if (end.closed) {
    // Nobody is there: the sender gets to know, if it does not already.
    if (!close) PostClose(connection, 1 - way);
  } else {
    end.broken = true;
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
  for (int end = 0; end < 2; ++end) {
    connection.ways[end].under_way.clear();
    connection.ends[end].broken = true;
    scheduler_.WakeAll(connection.ends[end].receivers);
    scheduler_.WakeAll(connection.ways[end].senders);
  }
}

void NetworkFabric::CloseDoor(Door& door) {
  door.closed = true;
  for (const auto& connection : door.backlog) CloseEnd(*connection, 1);
  door.backlog.clear();
  scheduler_.WakeAll(door.acceptors);
  doors_.erase(door.key);
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
    i = 0;  // it may have done anything
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

void NetworkFabric::EndProcess(int process, Farewell farewell) {
  std::vector<std::shared_ptr<Door>> doors;
  for (const auto& [key, door] : doors_) {
    if (door->user.process == process) doors.push_back(door);
  }
  for (const auto& connection : connections_) {
    for (int end = 0; connection != nullptr && end < 2; ++end) {
      if (connection->ends[end].user.process != process) continue;
      if (farewell == Farewell::kClose) {
        CloseEnd(*connection, end);
      } else {
        connection->ends[end].closed = true;
        connection->ways[end].under_way.clear();
      }
    }
  }
  for (const auto& door : doors) CloseDoor(*door);
}

}  // namespace gauntlet
