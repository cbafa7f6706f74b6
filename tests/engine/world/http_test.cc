#include "engine/world/http.h"

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

TEST(HttpUrlTest, RefusesUnsupportedUrls) {
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
      {"http://010.0.0.1/", "expected an IPv4 address"},
      {std::string("http://1.2.3.4\0/", 16), "expected an IPv4 address"},
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

}  // namespace
}  // namespace gauntlet
