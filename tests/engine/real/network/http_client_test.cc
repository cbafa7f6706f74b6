#include "engine/real/network/http_client.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

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
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  ~OneServer() { Join(); }
  // Waits until the connection has been served.
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  HttpUrl url;

 private:
  Descriptor listener_;
  std::thread thread_;
};

void Send(int connection, std::string_view bytes) {
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Receives a request without a body.
std::string ReceiveRequest(int connection) {
  std::string request;
  std::array<char, 4096> chunk = {};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t size = recv(connection, chunk.data(), chunk.size(), 0);
    if (size <= 0) break;
    request.append(chunk.data(), static_cast<size_t>(size));
  }
  return request;
}

// Receives until the other end closes the connection.
void AwaitEnd(int connection) {
  std::array<char, 4096> chunk = {};
  while (recv(connection, chunk.data(), chunk.size(), 0) > 0) {
  }
}

void SendTrue(int connection) {
  Send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nTRUE");
  shutdown(connection, SHUT_WR);
  AwaitEnd(connection);
}

Result<HttpResponse> Get(const HttpUrl& url, Time deadline) {
  return HttpClient().SendRequest({.url = url}, deadline);
}

Time In(Duration duration) { return SystemClock().Now() + duration; }

TEST(HttpClientTest, AsksAndTakesTheAnswer) {
  std::string request;
  OneServer server([&](int connection) {
    request = ReceiveRequest(connection);
    Send(connection, "HTTP/1.1 200 OK\r\nContent-Le");
    Send(connection, "ngth: 4\r\n\r\nTRUE");
    AwaitEnd(connection);
  });
  const auto answer = Get(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "TRUE");
  server.Join();
  EXPECT_THAT(request, StartsWith("GET /x HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr(fmt::format("\r\nHost: 127.0.0.1:{}\r\n",
                                             server.url.port)));
  EXPECT_THAT(request, HasSubstr("\r\nConnection: close\r\n"));
}

// The second request reuses the handle of the first.
TEST(HttpClientTest, SendsNothingOfTheRequestBefore) {
  std::string put;
  OneServer first([&](int connection) {
    put = ReceiveRequest(connection);
    SendTrue(connection);
  });
  std::string get;
  OneServer second([&](int connection) {
    get = ReceiveRequest(connection);
    SendTrue(connection);
  });
  HttpClient client;
  ASSERT_TRUE(client
                  .SendRequest({.url = first.url,
                                .method = HttpMethod::kPut,
                                .headers = {{.name = "X-Ttl", .value = "60"}}},
                               In(seconds(60)))
                  .ok());
  ASSERT_TRUE(client.SendRequest({.url = second.url}, In(seconds(60))).ok());
  first.Join();
  second.Join();
  EXPECT_THAT(put, StartsWith("PUT /x HTTP/1.1\r\n"));
  EXPECT_THAT(put, HasSubstr("\r\nX-Ttl: 60\r\n"));
  EXPECT_THAT(put, HasSubstr("\r\nContent-Length: 0\r\n"));
  EXPECT_THAT(get, StartsWith("GET /x HTTP/1.1\r\n"));
  EXPECT_THAT(get, Not(HasSubstr("X-Ttl")));
  EXPECT_THAT(get, Not(HasSubstr("Content-Length")));
}

// Each server waits until both have their requests.
TEST(HttpClientTest, SendsRequestsOfTwoThreadsAtOnce) {
  std::latch both(2);
  const auto serve = [&](int connection) {
    ReceiveRequest(connection);
    both.arrive_and_wait();
    SendTrue(connection);
  };
  OneServer first(serve);
  OneServer second(serve);
  HttpClient client;
  Result<HttpResponse> other = Unavailable("not asked");
  std::thread thread([&] {
    other = client.SendRequest({.url = second.url}, In(seconds(60)));
  });
  const auto answer = client.SendRequest({.url = first.url}, In(seconds(60)));
  thread.join();
  EXPECT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_TRUE(other.ok()) << other.status().ToString();
}

TEST(HttpClientTest, TakesAnswersOfAnyStatusAndFraming) {
  const std::vector<std::tuple<std::string, int, std::string>> answers = {
      {"HTTP/1.0 200\r\ncontent-length:4\r\n\r\nTRUE", 200, "TRUE"},
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", 404, "no"},
      {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", 401, ""},
      {"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
      {"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nFALSE", 200, "FALSE"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
       "2;x=y\r\nTR\r\n2\r\nUE\r\n0\r\n\r\n",
       200, "TRUE"}};
  for (const auto& [bytes, status, body] : answers) {
    OneServer server([&](int connection) {
      ReceiveRequest(connection);
      Send(connection, bytes);
      shutdown(connection, SHUT_WR);
      AwaitEnd(connection);
    });
    const auto answer = Get(server.url, In(seconds(60)));
    ASSERT_TRUE(answer.ok()) << bytes << answer.status().ToString();
    EXPECT_EQ(answer->status, status) << bytes;
    EXPECT_EQ(answer->body, body) << bytes;
  }
}

TEST(HttpClientTest, RefusesMalformedAnswers) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::pair<std::string, std::string>> answers = {
      {"", "expected its end"},
      {"SSH-2.0-OpenSSH\r\n", "expected HTTP/1.1"},
      {"rubbish TRUE", "expected HTTP/1.1"},
      {ok + "Content-Length: -1\r\n\r\nTRUE", "answer: "},
      {ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "answer: "},
      {ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nTRUE", "expected its end"}};
  for (const auto& [bytes, message] : answers) {
    OneServer server([&](int connection) {
      ReceiveRequest(connection);
      Send(connection, bytes);
      shutdown(connection, SHUT_WR);
      AwaitEnd(connection);
    });
    const auto answer = Get(server.url, In(seconds(60)));
    EXPECT_EQ(answer.status().code(), Code::kDataLoss) << bytes;
    EXPECT_THAT(answer.status().message(), HasSubstr(message)) << bytes;
    EXPECT_THAT(answer.status().message(), StartsWith("http://127.0.0.1"));
  }
}

TEST(HttpClientTest, FollowsNoRedirect) {
  OneServer server([](int connection) {
    ReceiveRequest(connection);
    Send(connection,
         "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
         "Content-Length: 4\r\n\r\nTRUE");
    AwaitEnd(connection);
  });
  const auto answer = Get(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->status, 302);
}

TEST(HttpClientTest, UsesNoProxyOfTheEnvironment) {
  OneServer server(SendTrue);
  setenv("http_proxy", "http://127.0.0.1:1/", 1);
  setenv("all_proxy", "http://127.0.0.1:1/", 1);
  const auto answer = Get(server.url, In(seconds(60)));
  unsetenv("http_proxy");
  unsetenv("all_proxy");
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "TRUE");
}

TEST(HttpClientTest, WithoutTheLibrary_NamesThePackage) {
  HttpClient client("libcurl-of-another-system.so");
  for (int i = 0; i < 2; ++i) {
    const auto answer =
        client.SendRequest({.url = {.host = "127.0.0.1"}}, In(seconds(1)));
    EXPECT_EQ(answer.status().code(), Code::kUnavailable);
    EXPECT_THAT(answer.status().message(),
                AllOf(HasSubstr("libcurl-of-another-system.so"),
                      HasSubstr("apt-get install libcurl4")));
  }
}

TEST(HttpClientTest, OptionRefused_IsNamed) {
  HttpClient client(FAKE_CURL_WITHOUT_PROXIES);
  const auto answer =
      client.SendRequest({.url = {.host = "127.0.0.1"}}, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_EQ(answer.status().message(),
            "http://127.0.0.1/: libcurl refuses the option PROXY: An unknown "
            "option");
}

TEST(HttpClientTest, WithoutTime_SendsNoRequest) {
  const auto answer = Get({.host = "127.0.0.1"}, In(seconds(0)));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
}

TEST(HttpClientTest, AsksAHostByItsName) {
  OneServer server(SendTrue);
  HttpUrl url = server.url;
  url.host = "localhost";
  url.kind = HttpUrl::HostKind::kName;
  const auto answer = Get(url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "TRUE");
}

TEST(HttpClientTest, AsksAnIpv6Address) {
  if (!ReservePort("::1").ok()) GTEST_SKIP() << "no IPv6 on this machine";
  OneServer server(SendTrue, "::1");
  const auto answer = Get(server.url, In(seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "TRUE");
}

// RFC 2606 reserves the name. A machine may have no resolver at all.
TEST(HttpClientTest, UnresolvedNameIsNoAnswer) {
  const auto answer =
      Get(ParseHttpUrl("http://no-such-host.invalid/").value(), In(seconds(2)));
  EXPECT_TRUE(answer.status().code() == Code::kUnavailable ||
              answer.status().code() == Code::kDeadlineExceeded);
  EXPECT_THAT(answer.status().message(), HasSubstr("no-such-host.invalid"));
}

TEST(HttpClientTest, FailsWithoutAListener) {
  const ReservedPort port = ReservePort("127.0.0.1").value();
  const auto answer =
      Get({.host = "127.0.0.1", .port = port.port}, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_THAT(answer.status().message(), HasSubstr("refused"));
}

TEST(HttpClientTest, SilentServerIsLeftAtTheDeadline) {
  OneServer server(AwaitEnd);
  const Time begin = In(Duration());
  const auto answer = Get(server.url, begin + milliseconds(100));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
  EXPECT_GE(In(Duration()), begin + milliseconds(100));
}

TEST(HttpClientTest, ServerThatDribblesIsLeftAtTheDeadline) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\nX: ");
    pollfd end = {.fd = connection, .events = POLLRDHUP, .revents = 0};
    while (poll(&end, 1, 1) == 0) Send(connection, "a");
  });
  const auto answer = Get(server.url, In(milliseconds(100)));
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
}

TEST(HttpClientTest, EndlessBodyIsNotReadToItsEnd) {
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

TEST(HttpClientTest, EndlessHeaderIsNotReadToItsEnd) {
  OneServer server([](int connection) {
    Send(connection, "HTTP/1.1 200 OK\r\n");
    const std::string line = "X: " + std::string(1000, 'a') + "\r\n";
    while (send(connection, line.data(), line.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto answer = Get(server.url, In(seconds(60)));
  EXPECT_EQ(answer.status().code(), Code::kDataLoss);
  EXPECT_THAT(answer.status().message(), HasSubstr("less than 65536 bytes"));
}

TEST(HttpClientTest, TruncatedAnswerIsAnError) {
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
