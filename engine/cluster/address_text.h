// Addresses and numbers as a cluster's launcher writes them: text from outside.
#ifndef GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_
#define GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Text from outside in quotes, on one line and not too long.
std::string QuotedText(std::string_view text);

// A name, an IPv4 address, or an IPv6 address in brackets. kInvalidArgument
// says what was expected.
Status CheckHost(std::string_view host);

// "host:port" with such a host and a port from 1 to 65535.
Status CheckAddress(std::string_view address);

// "host:port"; an IPv6 address is given its brackets. The result may still
// fail CheckAddress.
std::string AddressOf(std::string_view host, int port);

// REQUIRES: CheckAddress is Ok. The host keeps its brackets.
std::string_view HostOf(std::string_view address);

// True iff nobody but this host reaches the host: "localhost", 127.0.0.0/8,
// ::1 (with or without brackets). A name that a resolver maps there is none.
bool IsLoopbackHost(std::string_view host);

// True iff it stands for all interfaces of a host: "0.0.0.0", "::", "[::]".
bool IsAnyHost(std::string_view host);

// A whole number in decimal digits, in [low, high].
Result<int64_t> ParseNumberText(std::string_view text, int64_t low,
                                int64_t high);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_ADDRESS_TEXT_H_
