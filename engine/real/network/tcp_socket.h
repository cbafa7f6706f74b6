// Listening TCP sockets, and ports that are set aside for them.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_

#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// "127.0.0.1:5000", "worker-0.example:5000", "[::1]:5000" in parts.
struct HostPort {
  enum class Kind { kIpv4, kIpv6, kName };
  Kind kind = Kind::kName;
  std::string host;  // without brackets
  int port = 0;      // 1 to 65535
};
// kInvalidArgument names the address and what is wrong with it.
Result<HostPort> ParseHostPort(const std::string& address);

// A socket that listens there, not blocking, closed by exec. kAlreadyExists if
// somebody listens there already; kInvalidArgument if the address is malformed
// or is not one of this machine.
Result<Descriptor> ListenOn(const std::string& address);

// A port of this host that is set aside for as long as the socket is open.
//
// The socket is bound with SO_REUSEADDR and never listens. Linux lets others
// bind the port then only if they name it and set SO_REUSEADDR too, and lets
// one of them listen (that is ListenOn, and most servers): so the workers that
// were told the port can have it, again after a restart, while the kernel gives
// it to nobody who asks for any free port, to bind or to connect from.
struct ReservedPort {
  Descriptor socket;
  int port = 0;
};
// `host` is one of this machine's, without brackets: "127.0.0.1", "0.0.0.0",
// "::".
Result<ReservedPort> ReservePort(const std::string& host);

// Connects to a port of its own at `host`, an address of this machine. An error
// says why nobody can.
Status CheckReachable(const std::string& host);

// The address that `host` (a name or an address without brackets) has on this
// machine, without brackets; of several, one that is not loopback.
// kInvalidArgument: all of its addresses are another machine's. kUnavailable:
// the name is not known now.
Result<std::string> LocalAddressOf(const std::string& host);

// This machine's own address on the way to `address`, without a port or
// brackets; nothing is sent. kUnavailable if the host's name is not known now.
Result<std::string> OwnHostTowards(const std::string& address);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_
