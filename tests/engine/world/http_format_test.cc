#include "engine/world/http_format.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

TEST(HttpUrlTest, TakesAddressPortAndPathApart) {
  const HttpUrl url =
      ParseHttpUrl("http://127.0.0.1:8080/latest/meta-data?a=b").value();
  EXPECT_EQ(url.host, "127.0.0.1");
  EXPECT_EQ(url.port, 8080);
  EXPECT_EQ(url.path, "/latest/meta-data?a=b");
  EXPECT_EQ(HttpUrlText(url), "http://127.0.0.1:8080/latest/meta-data?a=b");
  EXPECT_EQ(HttpUrlText(ParseHttpUrl("http://10.0.0.1").value()),
            "http://10.0.0.1/");
}

TEST(HttpUrlTest, TakesNamesAndBracketedAddressesToo) {
  const auto name = ParseHttpUrl("http://metadata.google.internal/x").value();
  EXPECT_EQ(name.host, "metadata.google.internal");
  EXPECT_EQ(name.kind, HttpUrl::HostKind::kName);
  for (const std::string host :
       {"::", "::1", "fd00:ec2::254", "1:2:3:4:5:6:7:8",
        "1::", "64:ff9b::192.0.2.33"}) {
    const std::string text = "http://[" + host + "]:81/x";
    const auto url = ParseHttpUrl(text);
    ASSERT_TRUE(url.ok()) << url.status().ToString();
    EXPECT_EQ(url->host, host);
    EXPECT_EQ(url->kind, HttpUrl::HostKind::kIpv6);
    EXPECT_EQ(url->port, 81);
    EXPECT_EQ(HttpUrlText(*url), text);
  }
}

TEST(HttpUrlTest, RefusesWhatItCannotAsk) {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"", "expected http://ADDRESS/PATH"},
      {"https://127.0.0.1/", "expected http://ADDRESS/PATH"},
      {"http:///x", "expected an IPv4 address"},
      {"http://256.0.0.1/", "expected an IPv4 address"},
      {"http://1.2.3/", "expected an IPv4 address"},
      {"http://1.2.3.4.5/", "expected an IPv4 address"},
      {"http://user@1.2.3.4/", "expected an IPv4 address"},
      {"http://0x7f000001/", "expected an IPv4 address"},
      {"http://127.1/", "expected an IPv4 address"},
      {"http://2130706433/", "expected an IPv4 address"},
      {"http://a..b/", "expected an IPv4 address"},
      {"http://-a/", "expected an IPv4 address"},
      {"http://" + std::string(64, 'a') + "/", "expected an IPv4 address"},
      {"http://::1/", "expected an IPv4 address"},
      {"http://[::1/", "expected an IPv4 address"},
      {"http://[]/", "expected an IPv4 address"},
      {"http://[:::]/", "expected an IPv4 address"},
      {"http://[1::2::3]/", "expected an IPv4 address"},
      {"http://[1:2:3:4:5:6:7]/", "expected an IPv4 address"},
      {"http://[1:2:3:4:5:6:7:8:9]/", "expected an IPv4 address"},
      {"http://[1.2.3.4::]/", "expected an IPv4 address"},
      {"http://[fe80::1%eth0]/", "expected an IPv4 address"},
      {"http://[127.0.0.1]/", "expected an IPv4 address"},
      {"http://[::1]80/", "expected a port"},
      {"http://1.2.3.4:/", "expected a port"},
      {"http://1.2.3.4:0/", "expected a port"},
      {"http://1.2.3.4:65536/", "expected a port"},
      {"http://1.2.3.4:80x/", "expected a port"},
      {"http://1.2.3.4/a b", "printable ASCII"},
      {"http://1.2.3.4/a\r\nHost: x", "printable ASCII"},
      {"http://1.2.3.4/#here", "printable ASCII"},
      {"http://1.2.3.4/" + std::string(3000, 'a'), "at most 2048 bytes"}};
  for (const auto& [text, message] : refusals) {
    const Status status = ParseHttpUrl(text).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(message)) << text;
    EXPECT_LT(status.message().size(), 400u);
  }
}

TEST(HttpRequestTest, NamesTheHostAndWhatGoogleAsksFor) {
  const std::string request =
      HttpRequestText({.url = {.host = "127.0.0.1", .port = 81, .path = "/x"}});
  EXPECT_THAT(request, testing::StartsWith("GET /x HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nHost: 127.0.0.1:81\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nMetadata-Flavor: Google\r\n"));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n"));
}

TEST(HttpRequestTest, APutHasItsHeadersAndNoBody) {
  const std::string request =
      HttpRequestText({.url = ParseHttpUrl("http://[::1]/t").value(),
                       .method = HttpMethod::kPut,
                       .headers = {{.name = "X-Ttl", .value = "60"}}});
  EXPECT_THAT(request, testing::StartsWith("PUT /t HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nHost: [::1]\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Ttl: 60\r\nContent-Length: 0\r\n"));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n"));
}

struct Whole {
  std::string bytes;
  int status;
  std::string body;
};

std::vector<Whole> WholeAnswers() {
  return {
      {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nTRUE", 200, "TRUE"},
      {"HTTP/1.0 200\r\ncontent-length:4\r\n\r\nTRUEand more", 200, "TRUE"},
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, ""},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", 204, ""},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
       "2;x=y\r\nTR\r\n2\r\nUE\r\n0\r\n\r\n",
       200, "TRUE"},
  };
}

TEST(HttpAnswerTest, AWholeAnswerIsKnownWithoutTheEndOfTheConnection) {
  for (const Whole& whole : WholeAnswers()) {
    const auto answer = ReadHttpAnswer(whole.bytes, HttpStream::kOpen).value();
    ASSERT_TRUE(answer) << whole.bytes;
    EXPECT_EQ(answer->status, whole.status);
    EXPECT_EQ(answer->body, whole.body);
  }
}

TEST(HttpAnswerTest, APartOfAnAnswerWaitsForMoreAndIsNoneAtTheEnd) {
  for (const Whole& whole : WholeAnswers()) {
    const std::string_view bytes = whole.bytes;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto open =
          ReadHttpAnswer(bytes.substr(0, size), HttpStream::kOpen);
      ASSERT_TRUE(open.ok()) << bytes.substr(0, size);
      if (*open) break;  // What follows is not needed.
      const auto cut =
          ReadHttpAnswer(bytes.substr(0, size), HttpStream::kClosed);
      EXPECT_EQ(cut.status().code(), Code::kDataLoss) << bytes.substr(0, size);
    }
  }
}

TEST(HttpAnswerTest, ABodyWithoutALengthEndsWithTheConnection) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nFALSE";
  EXPECT_FALSE(ReadHttpAnswer(bytes, HttpStream::kOpen).value());
  EXPECT_EQ(ReadHttpAnswer(bytes, HttpStream::kClosed).value()->body, "FALSE");
}

TEST(HttpAnswerTest, WhatIsNoHttpIsRefusedAtOnceInOneLine) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::pair<std::string, std::string>> rubbish = {
      {"SSH-2.0-OpenSSH", "expected HTTP/1.1, found \"SSH-2.0"},
      {"HTTP/2 200\r\n\r\n", "expected HTTP/1.1"},
      {"HTTP/1.1 2x0 OK\r\n\r\n", "a status line"},
      {"HTTP/1.1 099 OK\r\n\r\n", "a status line"},
      {"HTTP/1.1 2000\r\n\r\n", "a status line"},
      {ok + "no colon\r\n\r\n", "name: value"},
      {ok + ": value\r\n\r\n", "name: value"},
      {ok + "Content-Length: -1\r\n\r\n", "one length"},
      {ok + "Content-Length: 99999999999999999999\r\n\r\n", "one length"},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "one length"},
      {ok + "Transfer-Encoding: gzip\r\n\r\n", "chunked"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "size of a chunk"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
       "size of a chunk"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       "end of a chunk"}};
  for (const auto& [bytes, message] : rubbish) {
    const auto answer = ReadHttpAnswer(bytes, HttpStream::kOpen);
    ASSERT_EQ(answer.status().code(), Code::kDataLoss) << bytes;
    EXPECT_THAT(answer.status().message(), HasSubstr(message)) << bytes;
  }
}

TEST(HttpAnswerTest, AnEndlessAnswerIsNone) {
  const std::string most(kMaxHttpAnswerBytes, 'a');
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& head :
       {ok + "X: ", ok + "\r\n", ok + "Content-Length: 70000\r\n\r\n"}) {
    const std::string bytes = head + most;
    for (const HttpStream stream : {HttpStream::kOpen, HttpStream::kClosed}) {
      EXPECT_THAT(ReadHttpAnswer(bytes, stream).status().message(),
                  HasSubstr("answer: expected"));
    }
  }
}

}  // namespace
}  // namespace gauntlet
