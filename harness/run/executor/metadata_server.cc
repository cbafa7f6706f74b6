#include "harness/run/executor/metadata_server.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/real/network/tcp_socket.h"
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr int kRequestWaitMs = 200;
constexpr size_t kMaxRequestBytes = 4096;

// Returns true iff the complete request arrived.
bool ReadRequest(const Descriptor& connection) {
  std::string request;
  std::array<char, 1024> chunk = {};
  while (request.find("\r\n\r\n") == std::string::npos) {
    pollfd wait = {.fd = connection.get(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, kRequestWaitMs) != 1) return false;
    const ssize_t size = recv(connection.get(), chunk.data(), chunk.size(), 0);
    if (size <= 0 || request.size() > kMaxRequestBytes) return false;
    request.append(chunk.data(), static_cast<size_t>(size));
  }
  return true;
}

}  // namespace

std::string MetadataFile(const std::string& plan_state_directory) {
  return plan_state_directory + "/.metadata";
}

MetadataServer::MetadataServer(std::string file, Descriptor listener,
                               Descriptor end, std::string url)
    : file_(std::move(file)),
      listener_(std::move(listener)),
      end_(std::move(end)),
      url_(std::move(url)),
      thread_([this] { Serve(); }) {}

Result<std::unique_ptr<MetadataServer>> MetadataServer::Start(
    std::string file) {
  ASSIGN_OR_RETURN(const ReservedPort port, ReservePort("127.0.0.1"));
  const std::string address = fmt::format("127.0.0.1:{}", port.port);
  ASSIGN_OR_RETURN(Descriptor listener, ListenOn(address));
  Descriptor end(eventfd(0, EFD_CLOEXEC));
  if (!end.valid()) {
    return IoError(fmt::format("eventfd: {}", std::strerror(errno)));
  }
  return std::unique_ptr<MetadataServer>(new MetadataServer(
      std::move(file), std::move(listener), std::move(end),
      fmt::format("http://{}/computeMetadata/v1/instance/preempted", address)));
}

MetadataServer::~MetadataServer() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void MetadataServer::Serve() {
  while (true) {
    std::array<pollfd, 2> waits = {
        pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) return;
    const Descriptor connection(
        accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.valid()) Answer(connection);
  }
}

void MetadataServer::Answer(const Descriptor& connection) const {
  if (!ReadRequest(connection)) return;
  const std::string_view body =
      access(file_.c_str(), F_OK) == 0 ? "TRUE" : "FALSE";
  const std::string answer = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  // If the client has closed the connection, the answer is lost; the client
  // will ask again.
  [[maybe_unused]] const ssize_t sent =
      send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
}

}  // namespace gauntlet
