#include "engine/train/notice/metadata_notice.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MetadataNoticeTest, RecognizesTheAnswersThatAnnounceATermination) {
  for (const std::string body :
       {"TRUE", "TRUE\n", "TERMINATE_ON_HOST_MAINTENANCE",
        R"({"action": "terminate", "time": "2026-11-21T08:22:00Z"})",
        R"({"action":"stop"})", R"({"action":"hibernate"})"}) {
    const Result<bool> notice =
        IsPreemptionNotice({.status = 200, .body = body});
    EXPECT_TRUE(notice.ok() && *notice) << body;
  }
}

TEST(MetadataNoticeTest, RecognizesTheAnswersWithoutATermination) {
  for (const std::string body :
       {"FALSE", "FALSE\r\n", "NONE", "MIGRATE_ON_HOST_MAINTENANCE"}) {
    const Result<bool> notice =
        IsPreemptionNotice({.status = 200, .body = body});
    EXPECT_TRUE(notice.ok() && !*notice) << body;
  }
  EXPECT_FALSE(IsPreemptionNotice({.status = 404, .body = "TRUE"}).value());
}

TEST(MetadataNoticeTest, TakesNothingElseForANotice) {
  const std::vector<HttpResponse> answers = {
      {.status = 200, .body = ""},
      {.status = 200, .body = "true"},
      {.status = 200, .body = "TRUE TRUE"},
      {.status = 200, .body = "<html>TRUE</html>"},
      {.status = 200, .body = "{\"action\": \"reboot\"}"},
      {.status = 200, .body = "{\"action\": 1}"},
      {.status = 200, .body = "{\"actions\": \"stop\"}"},
      {.status = 200, .body = "{\"action\": \"none\", \"action\": \"stop\"}"},
      {.status = 200, .body = "[{\"action\": \"stop\"}]"},
      {.status = 200, .body = std::string(60000, '[')},
      {.status = 301, .body = "TRUE"},
      {.status = 401, .body = "TRUE"},
      {.status = 500, .body = "TRUE"},
      {.status = 204, .body = ""}};
  for (const HttpResponse& answer : answers) {
    const Result<bool> notice = IsPreemptionNotice(answer);
    ASSERT_EQ(notice.status().code(), Code::kInvalidArgument) << answer.body;
    EXPECT_THAT(notice.status().message(), HasSubstr("expected"));
    EXPECT_LT(notice.status().message().size(), 200u);
  }
}

MATCHER_P2(IsHeader, name, value, "") {
  return arg.name == name && arg.value == value;
}

TEST(MetadataNoticeTest, BringsTheHeadersThatTheCloudsRequire) {
  const HttpUrl url = ParseHttpUrl("http://127.0.0.1:81/x?y").value();
  EXPECT_THAT(RequestWithToken(url, "").headers,
              ElementsAre(IsHeader("Metadata-Flavor", "Google")));
  const HttpRequest request = RequestWithToken(url, "a-token");
  EXPECT_EQ(request.method, HttpMethod::kGet);
  EXPECT_EQ(HttpUrlText(request.url), "http://127.0.0.1:81/x?y");
  EXPECT_THAT(request.headers,
              ElementsAre(IsHeader("Metadata-Flavor", "Google"),
                          IsHeader("X-aws-ec2-metadata-token", "a-token")));
  const HttpRequest token = TokenRequest(url);
  EXPECT_EQ(token.method, HttpMethod::kPut);
  EXPECT_EQ(HttpUrlText(token.url), "http://127.0.0.1:81/latest/api/token");
  EXPECT_THAT(
      token.headers,
      ElementsAre(IsHeader("X-aws-ec2-metadata-token-ttl-seconds", "21600")));
}

}  // namespace
}  // namespace gauntlet
