#include "engine/real/tcp_socket.h"

#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include "engine/real/posix_status.h"
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
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(
      parsed.host.c_str(), std::to_string(parsed.port).c_str(), &hints, &found);
  if (error != 0) {
    return InvalidArgument(address + ": resolve: " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> resolved(
      found, freeaddrinfo);
  Descriptor fd(socket(resolved->ai_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return PosixError(errno, address, "socket");
  RETURN_IF_ERROR(SetReuseAddress(fd.get(), address));
  if (bind(fd.get(), resolved->ai_addr, resolved->ai_addrlen) != 0) {
    return BindError(errno, address, "bind");
  }
  if (listen(fd.get(), kBacklog) != 0) {
    return BindError(errno, address, "listen");
  }
  return fd;
}

Result<ReservedPort> ReserveLoopbackPort() {
  const std::string address = "127.0.0.1";
  Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return PosixError(errno, address, "socket");
  RETURN_IF_ERROR(SetReuseAddress(fd.get(), address));
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  auto* const any = reinterpret_cast<sockaddr*>(&place);
  if (bind(fd.get(), any, size) != 0) {
    return BindError(errno, address, "bind to any port");
  }
  if (getsockname(fd.get(), any, &size) != 0) {
    return PosixError(errno, address, "getsockname");
  }
  return ReservedPort{.socket = std::move(fd), .port = ntohs(place.sin_port)};
}

}  // namespace gauntlet
