#include "engine/real/network/http_client.h"

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/network/tcp_socket.h"
#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/system_clock.h"
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Serves one connection with the given function.
class OneServer {
 public:
  using Serve = std::function<void(int connection)>;
  explicit OneServer(Serve serve, const std::string& host = "127.0.0.1") {
    ReservedPort port = ReservePort(host).value();
    const bool v6 = host.find(':') != host.npos;
    const std::string address =
        fmt::format("{}:{}", v6 ? "[" + host + "]" : host, port.port);
    url = ParseHttpUrl(fmt::format("http://{}/x", address)).value();
    listener_ = ListenOn(address).value();
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

// Receives until the other end closes the connection.
void AwaitEnd(int connection) {
  std::array<char, 4096> chunk = {};
  while (recv(connection, chunk.data(), chunk.size(), 0) > 0) {
  }
}

void SayTrue(int connection) {
  Send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nTRUE");
  shutdown(connection, SHUT_WR);
  AwaitEnd(connection);
}

Result<HttpAnswer> Get(const HttpUrl& url, Time deadline) {
  NameLookup names;
  return AskByHttp({.url = url}, deadline, names);
}

Time In(Duration duration) { return SystemClock().Now() + duration; }

TEST(HttpClientTest, AsksAndTakesTheAnswer) {
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
  const auto answer = Get(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "TRUE");
}

TEST(HttpClientTest, AsksAHostByItsName) {
  OneServer server(SayTrue);
  HttpUrl url = server.url;
  url.host = "localhost";
  url.kind = HttpUrl::HostKind::kName;
  const auto answer = Get(url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "TRUE");
}

TEST(HttpClientTest, AsksAnIpv6Address) {
  if (!ReservePort("::1").ok()) GTEST_SKIP() << "no IPv6 on this machine";
  OneServer server(SayTrue, "::1");
  const auto answer = Get(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "TRUE");
}

// RFC 2606 reserves the name. A machine may have no resolver at all.
TEST(HttpClientTest, ANameThatNobodyKnowsIsNoAnswer) {
  const auto answer =
      Get(ParseHttpUrl("http://no-such-host.invalid/").value(), In(seconds(2)));
  EXPECT_TRUE(answer.status().code() == Code::kUnavailable ||
              answer.status().code() == Code::kDeadlineExceeded);
  EXPECT_THAT(answer.status().message(), HasSubstr("no-such-host.invalid"));
}

TEST(NameLookupTest, WhoHasNoTimeDoesNotWait) {
  NameLookup names;
  const Time begin = In(Duration());
  const auto found = names.Find("no-such-host.invalid", 80, begin);
  EXPECT_FALSE(found.ok());
  EXPECT_LT(In(Duration()), begin + seconds(5));
}

TEST(HttpClientTest, WhereNobodyListensThereIsNoAnswer) {
  const ReservedPort port = ReservePort("127.0.0.1").value();
  const auto answer =
      Get({.host = "127.0.0.1", .port = port.port}, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_THAT(answer.status().message(), HasSubstr("refused"));
}

TEST(HttpClientTest, AServerThatSaysNothingIsLeftAtTheDeadline) {
  OneServer server(AwaitEnd);
  const Time begin = In(Duration());
  const auto answer = Get(server.url, begin + milliseconds(100));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
  EXPECT_GE(In(Duration()), begin + milliseconds(100));
}

TEST(HttpClientTest, AServerThatDribblesIsLeftAtTheDeadline) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\nX: ");
    pollfd end = {.fd = connection, .events = POLLRDHUP, .revents = 0};
    while (poll(&end, 1, 1) == 0) Send(connection, "a");
  });
  const auto answer = Get(server.url, In(milliseconds(100)));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
}

TEST(HttpClientTest, AnEndlessBodyIsNotReadToItsEnd) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\n\r\n");
    const std::string more(65536, 'T');
    while (send(connection, more.data(), more.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto answer = Get(server.url, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kDataLoss);
  EXPECT_THAT(answer.status().message(), HasSubstr("less than 65536 bytes"));
}

TEST(HttpClientTest, AnAnswerThatIsCutShortIsNone) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nTRUE");
    shutdown(connection, SHUT_WR);
    AwaitEnd(connection);
  });
  const auto answer = Get(server.url, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kDataLoss);
  EXPECT_THAT(answer.status().message(), HasSubstr("http://127.0.0.1"));
}

}  // namespace
}  // namespace gauntlet
