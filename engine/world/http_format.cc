#include "engine/world/http_format.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kEndOfLine = "\r\n";
constexpr size_t kMaxUrlBytes = 2048;
constexpr size_t kQuotedBytes = 40;

// Parses a whole number of decimal or hexadecimal digits and nothing else.
std::optional<uint64_t> DigitsOf(std::string_view text, int base) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool IsIpv4(std::string_view host) {
  for (int part = 0; part < 4; ++part) {
    const size_t dot = part < 3 ? host.find('.') : host.size();
    if (dot == host.npos || dot > 3) return false;
    const auto value = DigitsOf(host.substr(0, dot), 10);
    if (!value || *value > 255) return false;
    host.remove_prefix(std::min(host.size(), dot + 1));
  }
  return host.empty();
}

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

// Returns the number of groups of up to four hexadecimal digits between colons.
// The last group may be an IPv4 address, which counts as two. nullopt: any
// other text.
std::optional<int> GroupsIn(std::string_view text) {
  int groups = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    const std::string_view group = text.substr(0, end);
    if (end == text.size() && IsIpv4(group)) return groups + 2;
    if (group.empty() || group.size() > 4 ||
        !std::ranges::all_of(group, IsHexDigit)) {
      return std::nullopt;
    }
    ++groups;
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    if (text.empty()) return std::nullopt;  // a colon at the end
  }
  return groups;
}

// Implements RFC 4291, section 2.2, without zones.
bool IsIpv6(std::string_view host) {
  const size_t gap = host.find("::");
  if (gap == host.npos) return GroupsIn(host) == 8;
  const std::string_view before = host.substr(0, gap);
  const std::optional<int> left = GroupsIn(before);
  const std::optional<int> right = GroupsIn(host.substr(gap + 2));
  // An IPv4 address is valid only at the end.
  return left && right && before.find('.') == before.npos &&
         *left + *right <= 7;
}

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// Implements RFC 1035, section 2.3.4. Rejects names that end in a number:
// resolvers take them for IPv4 addresses in older notations.
bool IsName(std::string_view host) {
  constexpr size_t kMaxHostBytes = 253;
  constexpr size_t kMaxLabelBytes = 63;
  if (host.empty() || host.size() > kMaxHostBytes) return false;
  std::string_view label;
  while (true) {
    const size_t end = std::min(host.find('.'), host.size());
    label = host.substr(0, end);
    if (label.empty() || label.size() > kMaxLabelBytes ||
        label.front() == '-' || label.back() == '-' ||
        !std::ranges::all_of(label, IsNameCharacter)) {
      return false;
    }
    if (end == host.size()) break;
    host.remove_prefix(end + 1);
  }
  const bool hexadecimal = label.starts_with("0x") || label.starts_with("0X");
  return !hexadecimal && !DigitsOf(label, 10) &&
         label.find_first_not_of("0123456789") != label.npos;
}

bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

Status BadUrl(std::string_view text, std::string_view expected) {
  return InvalidArgument(fmt::format(
      "URL \"{}\": expected {}", text.substr(0, kMaxUrlBytes / 8), expected));
}

Status NoHttp(std::string_view expected, std::string_view found) {
  return DataLoss(fmt::format("answer: expected {}, found \"{}\"", expected,
                              found.substr(0, kQuotedBytes)));
}

// Framing of the body according to the header.
struct Framing {
  std::optional<uint64_t> length;
  bool chunked = false;
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Result<int> ReadStatusLine(std::string_view line) {
  // "HTTP/1.1 200 OK"; the reason may be missing, with or without its space.
  const bool right =
      (line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ")) &&
      (line.size() == 12 || (line.size() > 12 && line[12] == ' '));
  const auto status =
      right ? DigitsOf(line.substr(9, 3), 10) : std::optional<uint64_t>();
  if (!status || *status < 100) {
    return NoHttp("a status line such as HTTP/1.1 200 OK", line);
  }
  return static_cast<int>(*status);
}

Status ReadHeaderLine(std::string_view line, Framing& framing) {
  const size_t colon = line.find(':');
  if (colon == line.npos || colon == 0) return NoHttp("name: value", line);
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (EqualsIgnoringCase(name, "content-length")) {
    const auto length = DigitsOf(value, 10);
    if (!length || (framing.length && *framing.length != *length)) {
      return NoHttp("one length of the body", line);
    }
    framing.length = length;
  } else if (EqualsIgnoringCase(name, "transfer-encoding")) {
    if (!EqualsIgnoringCase(value, "chunked")) {
      return NoHttp("no transfer encoding but chunked", line);
    }
    framing.chunked = true;
  }
  return OkStatus();
}

using MaybeBody = Result<std::optional<std::string>>;

Status CutShort() {
  return DataLoss("answer: expected its end, found that of the connection");
}

MaybeBody MoreOrCut(HttpStream stream) {
  if (stream == HttpStream::kClosed) return CutShort();
  return std::optional<std::string>();
}

MaybeBody ReadChunks(std::string_view rest, HttpStream stream) {
  std::string body;
  while (true) {
    const size_t end = rest.find(kEndOfLine);
    if (end == rest.npos) return MoreOrCut(stream);
    // A chunk's extensions, after a ';', are ignored.
    const std::string_view line = rest.substr(0, end);
    const auto size = DigitsOf(Trimmed(line.substr(0, line.find(';'))), 16);
    if (!size || *size > kMaxHttpAnswerBytes) {
      return NoHttp("the size of a chunk", line);
    }
    if (*size == 0) return std::optional<std::string>(std::move(body));
    rest.remove_prefix(end + kEndOfLine.size());
    if (rest.size() < *size + kEndOfLine.size()) return MoreOrCut(stream);
    if (rest.substr(*size, kEndOfLine.size()) != kEndOfLine) {
      return NoHttp("the end of a chunk", rest.substr(*size));
    }
    body += rest.substr(0, *size);
    rest.remove_prefix(*size + kEndOfLine.size());
  }
}

MaybeBody ReadBody(std::string_view rest, const Framing& framing,
                   HttpStream stream) {
  if (framing.chunked) return ReadChunks(rest, stream);
  if (framing.length) {
    if (rest.size() < *framing.length) return MoreOrCut(stream);
    return std::optional<std::string>(rest.substr(0, *framing.length));
  }
  if (stream == HttpStream::kOpen) return std::optional<std::string>();
  return std::optional<std::string>(rest);
}

// A status of 1xx, 204 or 304 has no body, whatever its header says.
bool HasNoBody(int status) {
  return status < 200 || status == 204 || status == 304;
}

// Returns "[::1]" of "[::1]:80", or the text before the ':' of a port.
std::string_view HostPart(std::string_view place) {
  if (!place.starts_with('[')) return place.substr(0, place.find(':'));
  const size_t end = place.find(']');
  return end == place.npos ? place : place.substr(0, end + 1);
}

std::optional<HttpUrl> UrlOfHost(std::string_view host) {
  using Kind = HttpUrl::HostKind;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!IsIpv6(host)) return std::nullopt;
    return HttpUrl{.host = std::string(host), .kind = Kind::kIpv6};
  }
  if (IsIpv4(host)) return HttpUrl{.host = std::string(host)};
  if (!IsName(host)) return std::nullopt;
  return HttpUrl{.host = std::string(host), .kind = Kind::kName};
}

// Returns host and port as a URL and a request have them.
std::string PlaceText(const HttpUrl& url) {
  const std::string port = url.port == 80 ? "" : fmt::format(":{}", url.port);
  return url.kind == HttpUrl::HostKind::kIpv6
             ? fmt::format("[{}]{}", url.host, port)
             : url.host + port;
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  if (!text.starts_with(kScheme)) return BadUrl(text, "http://ADDRESS/PATH");
  if (text.size() > kMaxUrlBytes) {
    return BadUrl(text, fmt::format("at most {} bytes", kMaxUrlBytes));
  }
  std::string_view rest = text.substr(kScheme.size());
  const std::string_view place = rest.substr(0, rest.find('/'));
  rest.remove_prefix(place.size());
  const std::string_view host = HostPart(place);
  std::optional<HttpUrl> parsed = UrlOfHost(host);
  if (!parsed) {
    return BadUrl(text,
                  "an IPv4 address, an IPv6 address in brackets or a name "
                  "behind http://");
  }
  HttpUrl& url = *parsed;
  if (host.size() < place.size()) {
    const auto port = DigitsOf(place.substr(host.size() + 1), 10);
    if (place[host.size()] != ':' || !port || *port < 1 || *port > 65535) {
      return BadUrl(text, "a port from 1 to 65535 after the ':'");
    }
    url.port = static_cast<int>(*port);
  }
  if (!std::ranges::all_of(rest, IsVisible) || rest.find('#') != rest.npos) {
    return BadUrl(text, "a path of printable ASCII without '#'");
  }
  if (!rest.empty()) url.path = rest;
  return *parsed;
}

std::string HttpUrlText(const HttpUrl& url) {
  return fmt::format("http://{}{}", PlaceText(url), url.path);
}

std::string HttpRequestText(const HttpQuestion& question) {
  const bool puts = question.method == HttpMethod::kPut;
  std::string text = fmt::format(
      "{} {} HTTP/1.1\r\n"
      "Host: {}\r\n"
      "Metadata-Flavor: Google\r\n"
      "Accept: */*\r\n",
      puts ? "PUT" : "GET", question.url.path, PlaceText(question.url));
  for (const HttpHeader& header : question.headers) {
    text += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  if (puts) text += "Content-Length: 0\r\n";
  return text + "Connection: close\r\n\r\n";
}

Result<std::optional<HttpAnswer>> ReadHttpAnswer(std::string_view bytes,
                                                 HttpStream stream) {
  using Maybe = std::optional<HttpAnswer>;
  const bool too_long = bytes.size() >= kMaxHttpAnswerBytes;
  bytes = bytes.substr(0, kMaxHttpAnswerBytes);
  const Status endless = DataLoss(fmt::format(
      "answer: expected less than {} bytes, found more", kMaxHttpAnswerBytes));
  // An answer that is not HTTP is rejected as soon as its first bytes arrive.
  constexpr std::string_view kStart = "HTTP/1.";
  const std::string_view start = bytes.substr(0, kStart.size());
  if (start != kStart.substr(0, start.size())) {
    return NoHttp("HTTP/1.1", bytes.substr(0, bytes.find('\r')));
  }
  const size_t header_end = bytes.find("\r\n\r\n");
  if (header_end == bytes.npos) {
    if (too_long) return endless;
    if (stream == HttpStream::kClosed) return CutShort();
    return Maybe();
  }
  std::string_view header = bytes.substr(0, header_end);
  const size_t line_end = header.find(kEndOfLine);
  ASSIGN_OR_RETURN(const int status,
                   ReadStatusLine(header.substr(0, line_end)));
  Framing framing;
  for (size_t end = line_end; end != header.npos;) {
    header.remove_prefix(end + kEndOfLine.size());
    end = header.find(kEndOfLine);
    RETURN_IF_ERROR(ReadHeaderLine(header.substr(0, end), framing));
  }
  if (HasNoBody(status)) return Maybe({.status = status, .body = {}});
  ASSIGN_OR_RETURN(std::optional<std::string> body,
                   ReadBody(bytes.substr(header_end + 4), framing, stream));
  // A body that ends with the connection may have been truncated at the limit.
  const bool framed = framing.length || framing.chunked;
  if (too_long && (!body || !framed)) return endless;
  if (!body) return Maybe();
  return Maybe({.status = status, .body = *std::move(body)});
}

}  // namespace gauntlet
