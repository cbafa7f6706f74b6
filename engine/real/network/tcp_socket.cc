#include "engine/real/network/tcp_socket.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include "engine/cluster/address_text.h"
#include "engine/real/posix/posix_status.h"
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

constexpr int kBacklog = 512;

bool IsNumeric(int family, const std::string& host) {
  in6_addr parsed = {};
  return inet_pton(family, host.c_str(), &parsed) == 1;
}

Status Malformed(const std::string& address, std::string_view expected) {
  return InvalidArgument(
      fmt::format("address \"{}\": expected {}", address, expected));
}

Status SetReuseAddress(int fd, const std::string& address) {
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
    return PosixError(errno, address, "SO_REUSEADDR");
  }
  return OkStatus();
}

Status BindError(int error, const std::string& address,
                 std::string_view operation) {
  const Status status = PosixError(error, address, operation);
  if (error == EADDRINUSE) return AlreadyExists(status.message());
  if (error == EADDRNOTAVAIL) return InvalidArgument(status.message());
  return status;
}

using AddressInfo = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressInfo> Resolve(const std::string& host, int port, int type) {
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = type;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return Unavailable(host + ": resolve: " + gai_strerror(error));
  }
  return AddressInfo(found, freeaddrinfo);
}

Result<std::string> NumericHost(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text = {};
  const int error = getnameinfo(address, size, text.data(), text.size(),
                                nullptr, 0, NI_NUMERICHOST);
  if (error != 0) return Unavailable(gai_strerror(error));
  return std::string(text.data());
}

// Returns true iff the address belongs to this machine: a socket can be bound
// to it, at any free port.
bool CanBind(const addrinfo& address) {
  const Descriptor fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() && bind(fd.get(), address.ai_addr, address.ai_addrlen) == 0;
}

}  // namespace

Result<HostPort> ParseHostPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return Malformed(address, "host:port");
  HostPort parsed;
  parsed.host = address.substr(0, colon);
  const char* const end = address.data() + address.size();
  const auto [stop, error] =
      std::from_chars(address.data() + colon + 1, end, parsed.port);
  if (error != std::errc() || stop != end || parsed.port < 1 ||
      parsed.port > 65535) {
    return Malformed(address, "a port from 1 to 65535 after the last ':'");
  }
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']')) {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    parsed.kind = HostPort::Kind::kIpv6;
    if (IsNumeric(AF_INET6, parsed.host)) return parsed;
    return Malformed(address, "an IPv6 address between '[' and ']'");
  }
  if (parsed.host.empty() ||
      parsed.host.find_first_of(": /[]") != std::string::npos) {
    return Malformed(address, "a host name or an IPv4 address before the ':'");
  }
  parsed.kind = IsNumeric(AF_INET, parsed.host) ? HostPort::Kind::kIpv4
                                                : HostPort::Kind::kName;
  return parsed;
}

Result<Descriptor> ListenOn(const std::string& address) {
  ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  const Result<AddressInfo> resolved =
      Resolve(parsed.host, parsed.port, SOCK_STREAM);
  if (!resolved.ok()) return InvalidArgument(resolved.status().message());
  Descriptor fd(socket((*resolved)->ai_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return PosixError(errno, address, "socket");
  RETURN_IF_ERROR(SetReuseAddress(fd.get(), address));
  if (bind(fd.get(), (*resolved)->ai_addr, (*resolved)->ai_addrlen) != 0) {
    return BindError(errno, address, "bind");
  }
  if (listen(fd.get(), kBacklog) != 0) {
    return BindError(errno, address, "listen");
  }
  return fd;
}

Result<ReservedPort> ReservePort(const std::string& host) {
  ASSIGN_OR_RETURN(const AddressInfo found, Resolve(host, 0, SOCK_STREAM));
  Descriptor fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return PosixError(errno, host, "socket");
  RETURN_IF_ERROR(SetReuseAddress(fd.get(), host));
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return BindError(errno, host, "bind to any port");
  }
  sockaddr_storage place = {};
  socklen_t size = sizeof(place);
  auto* const any = reinterpret_cast<sockaddr*>(&place);
  if (getsockname(fd.get(), any, &size) != 0) {
    return PosixError(errno, host, "getsockname");
  }
  const int port =
      ntohs(place.ss_family == AF_INET6
                ? reinterpret_cast<sockaddr_in6*>(&place)->sin6_port
                : reinterpret_cast<sockaddr_in*>(&place)->sin_port);
  return ReservedPort{.socket = std::move(fd), .port = port};
}

Status CheckReachable(const std::string& host) {
  ASSIGN_OR_RETURN(const ReservedPort port, ReservePort(host));
  if (listen(port.socket.get(), 1) != 0) {
    return BindError(errno, host, "listen");
  }
  const std::string address = fmt::format("{}:{}", host, port.port);
  ASSIGN_OR_RETURN(const AddressInfo found,
                   Resolve(host, port.port, SOCK_STREAM));
  const Descriptor fd(
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return PosixError(errno, address, "socket");
  // If the attempt is not refused immediately, the port is reachable.
  if (connect(fd.get(), found->ai_addr, found->ai_addrlen) == 0 ||
      errno == EINPROGRESS) {
    return OkStatus();
  }
  return PosixError(errno, address, "connect");
}

Result<std::string> OwnHostTowards(const std::string& address) {
  ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  ASSIGN_OR_RETURN(const AddressInfo found,
                   Resolve(parsed.host, parsed.port, SOCK_DGRAM));
  // Sends nothing: connecting a datagram socket only looks up the route.
  const Descriptor fd(socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return PosixError(errno, address, "socket");
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  auto* const any = reinterpret_cast<sockaddr*>(&own);
  if (connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(fd.get(), any, &size) != 0) {
    return PosixError(errno, address, "route");
  }
  Result<std::string> own_host = NumericHost(any, size);
  if (own_host.ok()) return own_host;
  return Annotate(own_host.status(), address);
}

Result<std::string> LocalAddressOf(const std::string& host) {
  ASSIGN_OR_RETURN(const AddressInfo found, Resolve(host, 0, SOCK_STREAM));
  std::string loopback;
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    if (!CanBind(*at)) continue;
    ASSIGN_OR_RETURN(const std::string own,
                     NumericHost(at->ai_addr, at->ai_addrlen));
    if (!IsLoopbackHost(own)) return own;
    if (loopback.empty()) loopback = own;
  }
  if (!loopback.empty()) return loopback;
  ASSIGN_OR_RETURN(const std::string other,
                   NumericHost(found->ai_addr, found->ai_addrlen));
  return InvalidArgument(
      other == host
          ? host + " is no address of this host"
          : fmt::format("{} is {}, no address of this host", host, other));
}

}  // namespace gauntlet
