// Parses addresses and numbers that a cluster's launcher wrote: untrusted text.
#ifndef GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_
#define GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Returns the text in quotes, on one line and not too long.
std::string QuotedText(std::string_view text);

// Accepts a name, an IPv4 address, or an IPv6 address in brackets.
// kInvalidArgument says what was expected.
Status CheckHost(std::string_view host);

// Accepts "host:port" with a host that CheckHost accepts, and a port from 1 to
// 65535.
Status CheckAddress(std::string_view address);

// Returns "host:port"; adds brackets to an IPv6 address. The result may still
// fail CheckAddress.
std::string AddressOf(std::string_view host, int port);

// Returns the host, with its brackets if any. REQUIRES: CheckAddress is Ok.
std::string_view HostOf(std::string_view address);

// Returns true iff only this host can reach `host`: "localhost", 127.0.0.0/8,
// ::1 (with or without brackets). False for all other names, even if a resolver
// maps them to loopback.
bool IsLoopbackHost(std::string_view host);

// Returns true iff `host` stands for all interfaces of a host: "0.0.0.0", "::",
// "[::]".
bool IsAnyHost(std::string_view host);

// Parses a whole number in decimal digits, in [low, high].
Result<int64_t> ParseNumberText(std::string_view text, int64_t low,
                                int64_t high);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_
