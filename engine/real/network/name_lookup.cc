#include "engine/real/network/name_lookup.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>

namespace gauntlet {
namespace {

using Addresses = Result<std::vector<SocketAddress>>;

Addresses LookUp(const std::string& host, int port, int flags) {
  addrinfo hints = {};
  hints.ai_flags = flags | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return Unavailable(host + ": resolve: " + gai_strerror(error));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.place, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  freeaddrinfo(found);
  return addresses;
}

// One lookup; its thread may outlive the caller.
struct Lookup {
  std::mutex mutex;
  std::condition_variable ready;
  std::optional<Addresses> addresses;
};

// Starts the lookup. Returns false if no thread can be created.
bool Begin(const std::string& name, int port,
           const std::shared_ptr<Lookup>& lookup) {
  try {
    std::thread([name, port, lookup] {
      Addresses addresses = LookUp(name, port, 0);
      const std::lock_guard lock(lookup->mutex);
      lookup->addresses = std::move(addresses);
      lookup->ready.notify_all();
    }).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

struct NameLookup::Pending {
  std::mutex mutex;
  std::map<std::pair<std::string, int>, std::shared_ptr<Lookup>> lookups;
};

NameLookup::NameLookup() : pending_(std::make_unique<Pending>()) {}
NameLookup::~NameLookup() = default;

Result<std::vector<SocketAddress>> NameLookup::Find(const std::string& name,
                                                    int port, Time deadline) {
  std::shared_ptr<Lookup> lookup;
  {
    const std::lock_guard lock(pending_->mutex);
    std::shared_ptr<Lookup>& known = pending_->lookups[{name, port}];
    if (known == nullptr) {
      known = std::make_shared<Lookup>();
      if (!Begin(name, port, known)) {
        known.reset();
        return Unavailable(name + ": resolve: no thread for it");
      }
    }
    lookup = known;
  }
  std::optional<Addresses> addresses;
  {
    std::unique_lock lock(lookup->mutex);
    const std::chrono::time_point<std::chrono::steady_clock, Duration> until(
        deadline.time_since_epoch());
    lookup->ready.wait_until(lock, until,
                             [&] { return lookup->addresses.has_value(); });
    addresses = lookup->addresses;
  }
  if (!addresses) {
    return DeadlineExceeded(name + ": resolve: no answer in time");
  }
  // A name's addresses may change: the next call looks them up again.
  const std::lock_guard lock(pending_->mutex);
  const auto known = pending_->lookups.find({name, port});
  if (known != pending_->lookups.end() && known->second == lookup) {
    pending_->lookups.erase(known);
  }
  return *std::move(addresses);
}

Result<SocketAddress> AddressOfNumber(const std::string& host, int port) {
  Addresses addresses = LookUp(host, port, AI_NUMERICHOST);
  if (!addresses.ok()) return InvalidArgument(addresses.status().message());
  return addresses->front();
}

}  // namespace gauntlet
