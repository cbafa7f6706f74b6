#include "engine/train/notice/metadata_notice.h"
#include "engine/world/http.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

// Reads the input as the body of an answer, and as a URL.
void FuzzMetadataAnswer(std::string_view input) {
  const HttpResponse answer = {
      .status = 200,
      .body = std::string(input.substr(0, kMaxHttpResponseBytes))};
  const Result<bool> notice = IsPreemptionNotice(answer);
  if (!notice.ok()) CheckErrorLine(notice.status().message());
  const Result<std::string> token = ParseToken(answer);
  if (!token.ok()) {
    CheckErrorLine(token.status().message());
  } else {
    CheckSameText(ParseToken({.status = 200, .body = *token}).value(), *token,
                  "token");
  }
  const Result<HttpUrl> url = ParseHttpUrl(input);
  if (!url.ok()) return CheckErrorLine(url.status().message());
  CheckSameText(HttpUrlText(ParseHttpUrl(HttpUrlText(*url)).value()),
                HttpUrlText(*url), "URL");
}

std::vector<std::string> MetadataAnswerSeeds() {
  return {"TRUE\n",
          "FALSE",
          R"({"action": "terminate"})",
          "AQAEAHZtcyBhIHRva2Vu==",
          "http://169.254.169.254/latest/meta-data/spot/instance-action",
          "http://[fd00:ec2::254]:80/"};
}

}  // namespace gauntlet
