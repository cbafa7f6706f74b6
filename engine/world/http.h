// A request to a machine's metadata service and its response: a GET or PUT
// without a body, by plain HTTP.
#ifndef GAUNTLET_ENGINE_WORLD_HTTP_H_
#define GAUNTLET_ENGINE_WORLD_HTTP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

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
struct HttpRequest {
  HttpUrl url;
  HttpMethod method = HttpMethod::kGet;
  std::vector<HttpHeader> headers = {};  // besides those that each request has
};

// Limit on a response, header and body together.
inline constexpr size_t kMaxHttpResponseBytes = 65536;

struct HttpResponse {
  int status = 0;  // 200
  std::string body;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HTTP_H_
