// Look-up of a host's addresses with a time limit.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_NAME_LOOKUP_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_NAME_LOOKUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/clock.h"
#include <sys/socket.h>

namespace gauntlet {

struct SocketAddress {
  sockaddr_storage place = {};
  socklen_t size = 0;
};

// Wraps the system's resolver, which may take any time and cannot be cancelled:
// each lookup runs in a thread of its own. A lookup that misses the deadline
// keeps running, and the next call for the same name waits for it instead of
// starting another, so a resolver that hangs ties up only one thread per name.
class NameLookup {
 public:
  NameLookup();
  ~NameLookup();  // does not wait for lookups in progress
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // Returns at least one address, in the order to try them. kUnavailable: the
  // host is unknown at present; kDeadlineExceeded. Safe from any thread.
  Result<std::vector<SocketAddress>> Find(const std::string& name, int port,
                                          Time deadline);

 private:
  struct Pending;
  const std::unique_ptr<Pending> pending_;
};

// Parses an IPv4 or IPv6 address, without using the network. kInvalidArgument
// if `host` is neither.
Result<SocketAddress> AddressOfNumber(const std::string& host, int port);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_NAME_LOOKUP_H_
