// The subset of HTTP/1.1 that a request to a machine's metadata service needs:
// one GET or PUT over a connection of its own, and its answer.
//
//   GET /computeMetadata/v1/instance/preempted HTTP/1.1
//   Host: 169.254.169.254
//   Metadata-Flavor: Google
//   Connection: close
//
// The answer comes from outside: it may be truncated, endless or not HTTP. Its
// body ends after Content-Length bytes, with the last chunk, or with the
// connection. Redirects are not followed, and chunked is the only encoding
// accepted.
#ifndef GAUNTLET_ENGINE_WORLD_HTTP_FORMAT_H_
#define GAUNTLET_ENGINE_WORLD_HTTP_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Limit on an answer, header and body together.
inline constexpr size_t kMaxHttpAnswerBytes = 65536;

struct HttpUrl {
  enum class HostKind : uint8_t { kIpv4, kIpv6, kName };
  std::string host;  // an address, without brackets, or a name
  HostKind kind = HostKind::kIpv4;
  int port = 80;
  std::string path = "/";  // includes the query
};
// Parses "http://169.254.169.254/latest/meta-data/spot/instance-action",
// "http://[fd00:ec2::254]/", "http://metadata.google.internal/" and the like.
// kInvalidArgument names the text, what was expected and what was found.
Result<HttpUrl> ParseHttpUrl(std::string_view text);
std::string HttpUrlText(const HttpUrl& url);

enum class HttpMethod : uint8_t { kGet, kPut };

struct HttpHeader {
  std::string name;
  std::string value;  // printable ASCII
};

// A PUT has no body: its headers state the request.
struct HttpQuestion {
  HttpUrl url;
  HttpMethod method = HttpMethod::kGet;
  std::vector<HttpHeader> headers = {};  // in addition to those of all requests
};

// Returns the request as sent.
std::string HttpRequestText(const HttpQuestion& question);

struct HttpAnswer {
  int status = 0;  // 200
  std::string body;
};
enum class HttpStream : uint8_t { kOpen, kClosed };
// Parses the bytes received so far. Returns the answer, nullopt if more bytes
// are needed, or kDataLoss if the bytes are not an answer.
Result<std::optional<HttpAnswer>> ReadHttpAnswer(std::string_view bytes,
                                                 HttpStream stream);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HTTP_FORMAT_H_
