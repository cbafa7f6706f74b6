#include "engine/train/notice/metadata_notice.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kQuotedBytes = 60;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Status Unexpected(std::string_view body) {
  return InvalidArgument(fmt::format(
      "expected TRUE, FALSE or an object with an action, found \"{}\"",
      body.substr(0, kQuotedBytes)));
}

Result<bool> NoticeInJson(std::string_view body) {
  const Result<Json> json = ParseStrictJson(body, "metadata");
  if (!json.ok() || !json->is_object()) return Unexpected(body);
  const auto found = json->find("action");
  if (found == json->end() || !found->is_string()) return Unexpected(body);
  const auto& action = found->get_ref<const std::string&>();
  if (action == "terminate" || action == "stop" || action == "hibernate") {
    return true;
  }
  return Unexpected(body);
}

// Lifetime of a token, in seconds: longer than the time that most clouds leave
// from a notice to the end of the machine.
constexpr std::string_view kTokenSeconds = "21600";
constexpr size_t kMaxTokenBytes = 1024;

}  // namespace

Result<bool> IsPreemptionNotice(const HttpResponse& answer) {
  if (answer.status == 404) return false;
  if (answer.status != 200) {
    return InvalidArgument(
        fmt::format("expected status 200 or 404, found {}", answer.status));
  }
  const std::string_view body = Trimmed(answer.body);
  if (body == "TRUE" || body == "TERMINATE_ON_HOST_MAINTENANCE") return true;
  if (body == "FALSE" || body == "NONE" ||
      body == "MIGRATE_ON_HOST_MAINTENANCE") {
    return false;
  }
  return NoticeInJson(body);
}

HttpRequest TokenRequest(const HttpUrl& url) {
  HttpUrl tokens = url;
  tokens.path = "/latest/api/token";
  return {.url = std::move(tokens),
          .method = HttpMethod::kPut,
          .headers = {{.name = "X-aws-ec2-metadata-token-ttl-seconds",
                       .value = std::string(kTokenSeconds)}}};
}

Result<std::string> ParseToken(const HttpResponse& answer) {
  if (answer.status != 200) {
    return InvalidArgument(
        fmt::format("expected a token, found status {}", answer.status));
  }
  const std::string_view token = Trimmed(answer.body);
  const bool printable =
      std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (token.empty() || token.size() > kMaxTokenBytes || !printable) {
    return InvalidArgument(fmt::format(
        "expected a token of 1 to {} printable bytes, found {}: \"{}\"",
        kMaxTokenBytes, token.size(), token.substr(0, kQuotedBytes)));
  }
  return std::string(token);
}

HttpRequest RequestWithToken(const HttpUrl& url, const std::string& token) {
  HttpRequest request = {
      .url = url, .headers = {{.name = "Metadata-Flavor", .value = "Google"}}};
  if (!token.empty()) {
    request.headers.push_back(
        {.name = "X-aws-ec2-metadata-token", .value = token});
  }
  return request;
}

}  // namespace gauntlet
