#include "engine/cluster/address_text.h"

#include <charconv>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxHost = 253;  // RFC 1035, section 2.3.4
constexpr size_t kMaxShown = 60;
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
constexpr std::string_view kIpv6Characters = "0123456789abcdefABCDEF:.%";

bool IsBracketed(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']';
}

bool IsHost(std::string_view host) {
  if (host.empty() || host.size() > kMaxHost) return false;
  if (!IsBracketed(host)) {
    return host.find_first_not_of(kNameCharacters) == host.npos;
  }
  const std::string_view inside = host.substr(1, host.size() - 2);
  return inside.find_first_not_of(kIpv6Characters) == inside.npos;
}

}  // namespace

std::string QuotedText(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, kMaxShown)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return shown + (text.size() > kMaxShown ? "…'" : "'");
}

Status CheckHost(std::string_view host) {
  if (IsHost(host)) return OkStatus();
  return InvalidArgument(
      fmt::format("expected a host name or an IP address (IPv6 in brackets), "
                  "found {}",
                  QuotedText(host)));
}

Status CheckAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon != std::string_view::npos && IsHost(address.substr(0, colon)) &&
      ParseNumberText(address.substr(colon + 1), 1, 65535).ok()) {
    return OkStatus();
  }
  return InvalidArgument(
      fmt::format("expected host:port with a port from 1 to 65535, found {}",
                  QuotedText(address)));
}

std::string AddressOf(std::string_view host, int port) {
  const bool bare_ipv6 =
      host.find(':') != std::string_view::npos && !IsBracketed(host);
  return bare_ipv6 ? fmt::format("[{}]:{}", host, port)
                   : fmt::format("{}:{}", host, port);
}

std::string_view HostOf(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

bool IsLoopbackHost(std::string_view host) {
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == host.npos;
}

bool IsAnyHost(std::string_view host) {
  return host == "0.0.0.0" || host == "::" || host == "[::]";
}

Result<int64_t> ParseNumberText(std::string_view text, int64_t low,
                                int64_t high) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) {
    return value;
  }
  return InvalidArgument(
      fmt::format("expected a whole number from {} to {}, found {}", low, high,
                  QuotedText(text)));
}

}  // namespace gauntlet
