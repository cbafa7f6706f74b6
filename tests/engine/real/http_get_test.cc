#include "engine/real/http_get.h"

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/descriptor.h"
#include "engine/real/system_clock.h"
#include "engine/real/tcp_socket.h"
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Serves one connection, as badly as it is told.
class OneServer {
 public:
  using Serve = std::function<void(int connection)>;
  explicit OneServer(Serve serve) {
    ReservedPort port = ReservePort("127.0.0.1").value();
    url = {.host = "127.0.0.1", .port = port.port, .path = "/x"};
    listener_ = ListenOn(fmt::format("127.0.0.1:{}", port.port)).value();
    thread_ = std::thread([this, serve = std::move(serve)] {
      pollfd wait = {.fd = listener_.get(), .events = POLLIN, .revents = 0};
      if (poll(&wait, 1, 60000) != 1) return;
      const Descriptor connection(
          accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      serve(connection.get());
    });
  }
  ~OneServer() { thread_.join(); }

  HttpUrl url;

 private:
  Descriptor listener_;
  std::thread thread_;
};

void Send(int connection, std::string_view bytes) {
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Until the other end is gone.
void AwaitEnd(int connection) {
  std::array<char, 4096> chunk = {};
  while (recv(connection, chunk.data(), chunk.size(), 0) > 0) {
  }
}

Time In(Duration duration) { return SystemClock().Now() + duration; }

TEST(HttpGetTest, AsksAndTakesTheAnswer) {
  std::string request;
  OneServer server([&](int connection) {
    std::array<char, 4096> chunk = {};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t size = recv(connection, chunk.data(), chunk.size(), 0);
      request.append(chunk.data(), static_cast<size_t>(size));
    }
    Send(connection, "HTTP/1.1 200 OK\r\nContent-Le");
    Send(connection, "ngth: 4\r\n\r\nTRUE");
    AwaitEnd(connection);
  });
  const auto answer = HttpGet(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "TRUE");
}

TEST(HttpGetTest, WhereNobodyListensThereIsNoAnswer) {
  const ReservedPort port = ReservePort("127.0.0.1").value();
  const auto answer =
      HttpGet({.host = "127.0.0.1", .port = port.port}, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_THAT(answer.status().message(), HasSubstr("refused"));
}

TEST(HttpGetTest, AServerThatSaysNothingIsLeftAtTheDeadline) {
  OneServer server(AwaitEnd);
  const Time begin = In(Duration());
  const auto answer = HttpGet(server.url, begin + milliseconds(100));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
  EXPECT_GE(In(Duration()), begin + milliseconds(100));
}

TEST(HttpGetTest, AServerThatDribblesIsLeftAtTheDeadline) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\nX: ");
    pollfd end = {.fd = connection, .events = POLLRDHUP, .revents = 0};
    while (poll(&end, 1, 1) == 0) Send(connection, "a");
  });
  const auto answer = HttpGet(server.url, In(milliseconds(100)));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
}

TEST(HttpGetTest, AnEndlessBodyIsNotReadToItsEnd) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\n\r\n");
    const std::string more(65536, 'T');
    while (send(connection, more.data(), more.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto answer = HttpGet(server.url, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kDataLoss);
  EXPECT_THAT(answer.status().message(), HasSubstr("less than 65536 bytes"));
}

TEST(HttpGetTest, AnAnswerThatIsCutShortIsNone) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nTRUE");
    shutdown(connection, SHUT_WR);
    AwaitEnd(connection);
  });
  const auto answer = HttpGet(server.url, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kDataLoss);
  EXPECT_THAT(answer.status().message(), HasSubstr("http://127.0.0.1"));
}

}  // namespace
}  // namespace gauntlet
