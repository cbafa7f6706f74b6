// Listening TCP sockets, and ports reserved for them.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_

#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// The parts of "127.0.0.1:5000", "worker-0.example:5000" or "[::1]:5000".
struct HostPort {
  enum class Kind { kIpv4, kIpv6, kName };
  Kind kind = Kind::kName;
  std::string host;  // without brackets
  int port = 0;      // 1 to 65535
};
// Parses the address. kInvalidArgument names the address and its defect.
Result<HostPort> ParseHostPort(const std::string& address);

// Returns a non-blocking socket that listens on the address, closed by exec.
// kAlreadyExists if another socket listens there; kInvalidArgument if the
// address is malformed or does not belong to this machine.
Result<Descriptor> ListenOn(const std::string& address);

// A port of this host that is reserved as long as the socket is open.
//
// The socket is bound with SO_REUSEADDR and never listens. So Linux lets one
// other socket listen on the port, if that socket uses SO_REUSEADDR too and
// names the port. (ListenOn and most servers use SO_REUSEADDR.) Workers that
// know the port can listen on it, also after a restart. The kernel never picks
// it for a socket that requests any free port.
struct ReservedPort {
  Descriptor socket;
  int port = 0;
};
// Reserves a port. `host` is an address of this machine, without brackets:
// "127.0.0.1", "0.0.0.0", "::".
Result<ReservedPort> ReservePort(const std::string& host);

// Listens on a free port at `host`, an address of this machine, and connects to
// it. Returns an error if that fails: other processes could not connect either.
Status CheckReachable(const std::string& host);

// Returns an address of `host` that belongs to this machine, if possible one
// that is not loopback. `host` is a name or an address; neither it nor the
// result has brackets. kInvalidArgument: all addresses of `host` belong to
// other machines. kUnavailable: the name is unknown at present.
Result<std::string> LocalAddressOf(const std::string& host);

// Returns this machine's own address on the route to `address`, without port
// and brackets; sends nothing. kUnavailable if the host's name is unknown at
// present.
Result<std::string> OwnHostTowards(const std::string& address);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_TCP_SOCKET_H_
