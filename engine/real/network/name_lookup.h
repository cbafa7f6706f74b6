// The addresses of a host, within a bound on time.
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

// The system's resolver, which may take any time and cannot be called off: it
// runs in a thread of its own. One that is not done at the deadline runs on,
// and the next question for the same name waits for it instead of asking anew,
// so that a resolver that hangs holds up one thread and no more.
class NameLookup {
 public:
  NameLookup();
  ~NameLookup();  // does not wait for a lookup under way
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // In the order in which they are to be tried; at least one. kUnavailable:
  // there is no such host now; kDeadlineExceeded. Safe from any thread.
  Result<std::vector<SocketAddress>> Find(const std::string& name, int port,
                                          Time deadline);

 private:
  struct Pending;
  const std::unique_ptr<Pending> pending_;
};

// Returns the address of an IPv4 or IPv6 number, without using the network.
// kInvalidArgument if `host` is neither.
Result<SocketAddress> AddressOfNumber(const std::string& host, int port);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_NAME_LOOKUP_H_
