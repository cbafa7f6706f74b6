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

// A whole number of decimal or hexadecimal digits and nothing else.
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

bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

Status BadUrl(std::string_view text, std::string_view expected) {
  return InvalidArgument(fmt::format(
      "URL \"{}\": expected {}", text.substr(0, kMaxUrlBytes / 8), expected));
}

Status NoHttp(std::string_view expected, std::string_view found) {
  return DataLoss(fmt::format("answer: expected {}, found \"{}\"", expected,
                              found.substr(0, kQuotedBytes)));
}

// What a header's lines say of the body.
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
    // What follows a ';' is for others.
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

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  if (!text.starts_with(kScheme)) return BadUrl(text, "http://ADDRESS/PATH");
  if (text.size() > kMaxUrlBytes) {
    return BadUrl(text, fmt::format("at most {} bytes", kMaxUrlBytes));
  }
  std::string_view rest = text.substr(kScheme.size());
  const std::string_view place = rest.substr(0, rest.find('/'));
  rest.remove_prefix(place.size());
  const size_t colon = place.find(':');
  HttpUrl url = {.host = std::string(place.substr(0, colon))};
  if (!IsIpv4(url.host)) {
    return BadUrl(text, "an IPv4 address such as 169.254.169.254, no name");
  }
  if (colon != place.npos) {
    const auto port = DigitsOf(place.substr(colon + 1), 10);
    if (!port || *port < 1 || *port > 65535) {
      return BadUrl(text, "a port from 1 to 65535 after the ':'");
    }
    url.port = static_cast<int>(*port);
  }
  if (!std::ranges::all_of(rest, IsVisible) || rest.find('#') != rest.npos) {
    return BadUrl(text, "a path of printable ASCII without '#'");
  }
  if (!rest.empty()) url.path = rest;
  return url;
}

std::string HttpUrlText(const HttpUrl& url) {
  return url.port == 80
             ? fmt::format("http://{}{}", url.host, url.path)
             : fmt::format("http://{}:{}{}", url.host, url.port, url.path);
}

std::string HttpGetRequest(const HttpUrl& url) {
  const std::string port = url.port == 80 ? "" : fmt::format(":{}", url.port);
  return fmt::format(
      "GET {} HTTP/1.1\r\n"
      "Host: {}{}\r\n"
      "Metadata-Flavor: Google\r\n"
      "Accept: */*\r\n"
      "Connection: close\r\n\r\n",
      url.path, url.host, port);
}

Result<std::optional<HttpAnswer>> ReadHttpAnswer(std::string_view bytes,
                                                 HttpStream stream) {
  using Maybe = std::optional<HttpAnswer>;
  const bool too_long = bytes.size() >= kMaxHttpAnswerBytes;
  bytes = bytes.substr(0, kMaxHttpAnswerBytes);
  const Status endless = DataLoss(fmt::format(
      "answer: expected less than {} bytes, found more", kMaxHttpAnswerBytes));
  // What is no HTTP is told apart as soon as its first bytes are there.
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
  // A body that ends with the connection may have been cut at the limit.
  const bool framed = framing.length || framing.chunked;
  if (too_long && (!body || !framed)) return endless;
  if (!body) return Maybe();
  return Maybe({.status = status, .body = *std::move(body)});
}

}  // namespace gauntlet
