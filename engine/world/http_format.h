// The little of HTTP/1.1 that a question to a machine's metadata service takes:
// one GET or PUT over a connection of its own, and the answer to it.
//
//   GET /computeMetadata/v1/instance/preempted HTTP/1.1
//   Host: 169.254.169.254
//   Metadata-Flavor: Google
//   Connection: close
//
// The answer comes from outside: it may be cut, endless, no HTTP at all. Its
// body ends with Content-Length, with the last chunk, or with the connection.
// No redirect is followed, no encoding but chunked is understood.
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

// Limit of a whole answer, header and body.
inline constexpr size_t kMaxHttpAnswerBytes = 65536;

struct HttpUrl {
  enum class HostKind : uint8_t { kIpv4, kIpv6, kName };
  std::string host;  // an address, without brackets, or a name
  HostKind kind = HostKind::kIpv4;
  int port = 80;
  std::string path = "/";  // with the query
};
// "http://169.254.169.254/latest/meta-data/spot/instance-action",
// "http://[fd00:ec2::254]/", "http://metadata.google.internal/".
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
  std::vector<HttpHeader> headers = {};  // beside those of all requests
};

// Text of the request, as it is sent.
std::string HttpRequestText(const HttpQuestion& question);

struct HttpAnswer {
  int status = 0;  // 200
  std::string body;
};
enum class HttpStream : uint8_t { kOpen, kClosed };
// Reads the bytes received so far. Returns the answer, nullopt if more bytes
// must come, or kDataLoss if the bytes are no answer.
Result<std::optional<HttpAnswer>> ReadHttpAnswer(std::string_view bytes,
                                                 HttpStream stream);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HTTP_FORMAT_H_
