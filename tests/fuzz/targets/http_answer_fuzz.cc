#include "engine/train/notice/metadata_notice.h"
#include "engine/world/http_format.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

void CheckNotice(const HttpAnswer& answer) {
  CHECK(answer.status >= 100 && answer.status <= 999, "a status outside");
  CHECK(answer.body.size() <= kMaxHttpAnswerBytes, "a body too long");
  const Result<bool> notice = NoticeIn(answer);
  if (!notice.ok()) return CheckErrorLine(notice.status().message());
  CHECK(!*notice || answer.status == 200, "a notice in an error");
}

}  // namespace

// Reads the answer in three states: half received, all received, and with the
// stream closed.
void FuzzHttpAnswer(std::string_view input) {
  input = input.substr(0, 2 * kMaxHttpAnswerBytes);
  const auto half =
      ReadHttpAnswer(input.substr(0, input.size() / 2), HttpStream::kOpen);
  const auto open = ReadHttpAnswer(input, HttpStream::kOpen);
  const auto closed = ReadHttpAnswer(input, HttpStream::kClosed);
  CHECK(!closed.ok() || closed->has_value(), "neither an answer nor none");
  if (!closed.ok()) CheckErrorLine(closed.status().message());
  // An answer that was read from the first half must not change with later
  // bytes.
  if (half.ok() && *half && input.size() < kMaxHttpAnswerBytes) {
    CHECK(open.ok() && *open, "an answer that is none any more");
    CheckSameText((*half)->body, (*open)->body, "body");
  }
  if (open.ok() && *open) {
    CHECK(closed.ok(), "whole, but not at its end");
    CheckSameText((*open)->body, (*closed)->body, "body");
  }
  if (closed.ok()) CheckNotice(**closed);
  const Result<HttpUrl> url = ParseHttpUrl(input);
  if (!url.ok()) return CheckErrorLine(url.status().message());
  CheckSameText(HttpUrlText(ParseHttpUrl(HttpUrlText(*url)).value()),
                HttpUrlText(*url), "URL");
}

std::vector<std::string> HttpAnswerSeeds() {
  return {
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nServer: Metadata\r\n\r\nTRUE",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.0 200 OK\r\n\r\nFALSE",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "17\r\n{\"action\": \"terminate\"}\r\n0\r\n\r\n",
      "http://169.254.169.254/latest/meta-data/spot/instance-action"};
}

}  // namespace gauntlet
