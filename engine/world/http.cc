#include "engine/world/http.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr size_t kMaxUrlBytes = 2048;

// Parses a whole decimal number and nothing else.
std::optional<uint64_t> DigitsOf(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Returns true iff inet_pton parses the text as an address of this family.
// inet_pton accepts IPv4 addresses only as four decimal numbers, and no IPv6
// zones.
bool IsAddress(int family, std::string_view text) {
  in6_addr address = {};  // larger than an IPv4 address
  return text.find('\0') == text.npos &&
         inet_pton(family, std::string(text).c_str(), &address) == 1;
}

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// Returns true iff the text is a host name (RFC 1035, section 2.3.4). Rejects a
// name whose last label is a number, such as "a.10": resolvers take it for an
// IPv4 address in an older notation.
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
  return !hexadecimal && label.find_first_not_of("0123456789") != label.npos;
}

bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

Status BadUrl(std::string_view text, std::string_view expected) {
  return InvalidArgument(fmt::format(
      "URL \"{}\": expected {}", text.substr(0, kMaxUrlBytes / 8), expected));
}

// Returns "[::1]" for "[::1]:80", or the text before the ':' of a port.
std::string_view HostPart(std::string_view place) {
  if (!place.starts_with('[')) return place.substr(0, place.find(':'));
  const size_t end = place.find(']');
  return end == place.npos ? place : place.substr(0, end + 1);
}

std::optional<HttpUrl> UrlOfHost(std::string_view host) {
  using Kind = HttpUrl::HostKind;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!IsAddress(AF_INET6, host)) return std::nullopt;
    return HttpUrl{.host = std::string(host), .kind = Kind::kIpv6};
  }
  if (IsAddress(AF_INET, host)) return HttpUrl{.host = std::string(host)};
  if (!IsName(host)) return std::nullopt;
  return HttpUrl{.host = std::string(host), .kind = Kind::kName};
}

// Returns host and port in the notation of a URL.
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
    const auto port = DigitsOf(place.substr(host.size() + 1));
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

}  // namespace gauntlet
