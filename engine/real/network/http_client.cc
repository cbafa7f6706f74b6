#include "engine/real/network/http_client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

Status Failed(const HttpUrl& url, std::string_view operation, int error) {
  return Unavailable(fmt::format("{}: {}: {}", HttpUrlText(url), operation,
                                 std::strerror(error)));
}

// Waits until the socket is ready for `what`. Returns false at the deadline.
bool Await(int fd, short what, Time deadline) {
  while (true) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto left = deadline.time_since_epoch() - now;
    if (left <= Duration::zero()) return false;
    // Adds 1 ms, as the cast rounds down: poll must not end before the
    // deadline.
    const int64_t ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    pollfd wait = {.fd = fd, .events = what, .revents = 0};
    const int ready =
        poll(&wait, 1, static_cast<int>(std::min<int64_t>(ms, 60'000)));
    if (ready > 0) return true;
  }
}

Status TooLate(const HttpUrl& url) {
  return DeadlineExceeded(
      fmt::format("{}: no whole answer in time", HttpUrlText(url)));
}

Result<Descriptor> ConnectTo(const SocketAddress& address, const HttpUrl& url,
                             Time deadline) {
  Descriptor fd(socket(address.place.ss_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Failed(url, "socket", errno);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.place),
              address.size) == 0) {
    return fd;
  }
  // A connect that a signal interrupts continues in the background.
  if (errno != EINPROGRESS && errno != EINTR) {
    return Failed(url, "connect", errno);
  }
  if (!Await(fd.get(), POLLOUT, deadline)) return TooLate(url);
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    error = errno;
  }
  if (error != 0) return Failed(url, "connect", error);
  return fd;
}

Result<std::vector<SocketAddress>> AddressesOf(const HttpUrl& url,
                                               Time deadline,
                                               NameLookup& names) {
  if (url.kind == HttpUrl::HostKind::kName) {
    return names.Find(url.host, url.port, deadline);
  }
  ASSIGN_OR_RETURN(const SocketAddress address,
                   AddressOfNumber(url.host, url.port));
  return std::vector<SocketAddress>{address};
}

// Connects to the first address that accepts.
Result<Descriptor> Connect(const HttpUrl& url, Time deadline,
                           NameLookup& names) {
  Result<std::vector<SocketAddress>> addresses =
      AddressesOf(url, deadline, names);
  if (!addresses.ok()) return Annotate(addresses.status(), HttpUrlText(url));
  Status failed = TooLate(url);
  auto left = static_cast<int64_t>(addresses->size());
  for (const SocketAddress& address : *addresses) {
    const Time now(std::chrono::steady_clock::now().time_since_epoch());
    Result<Descriptor> fd =
        ConnectTo(address, url, now + (deadline - now) / left--);
    if (fd.ok()) return fd;
    failed = fd.status();
  }
  return failed;
}

Status SendAll(const Descriptor& fd, const HttpQuestion& question,
               Time deadline) {
  const HttpUrl& url = question.url;
  const std::string request = HttpRequestText(question);
  size_t sent = 0;
  while (sent < request.size()) {
    const ssize_t size = send(fd.get(), request.data() + sent,
                              request.size() - sent, MSG_NOSIGNAL);
    if (size >= 0) {
      sent += static_cast<size_t>(size);
    } else if (errno != EAGAIN && errno != EINTR) {
      return Failed(url, "send", errno);
    } else if (!Await(fd.get(), POLLOUT, deadline)) {
      return TooLate(url);
    }
  }
  return OkStatus();
}

}  // namespace

Result<HttpAnswer> AskByHttp(const HttpQuestion& question, Time deadline,
                             NameLookup& names) {
  const HttpUrl& url = question.url;
  ASSIGN_OR_RETURN(const Descriptor fd, Connect(url, deadline, names));
  RETURN_IF_ERROR(SendAll(fd, question, deadline));
  std::string bytes;
  std::array<char, 4096> chunk = {};
  while (true) {
    // Checks the deadline before each read, so that a server that trickles
    // bytes cannot hold the caller up.
    if (!Await(fd.get(), POLLIN, deadline)) return TooLate(url);
    const ssize_t size = recv(fd.get(), chunk.data(), chunk.size(), 0);
    if (size < 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      return Failed(url, "receive", errno);
    }
    bytes.append(chunk.data(), static_cast<size_t>(size));
    Result<std::optional<HttpAnswer>> answer = ReadHttpAnswer(
        bytes, size == 0 ? HttpStream::kClosed : HttpStream::kOpen);
    if (!answer.ok()) return Annotate(answer.status(), HttpUrlText(url));
    if (*answer) return **std::move(answer);
  }
}

}  // namespace gauntlet
