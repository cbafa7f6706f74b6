#include "harness/cli/cluster_place.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/cluster/address_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(200);

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// The host that stands for all interfaces beside an address of this kind.
std::string_view AnyHost(std::string_view own) {
  return own.find(':') == own.npos ? "0.0.0.0" : "::";
}

// Where to listen for those who call this worker at `address`.
Result<std::string> ListenAddress(const std::string& address) {
  ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  if (IsLoopback(parsed.host)) return address;
  std::string own = parsed.host;
  if (parsed.kind == HostPort::Kind::kName) {
    // Its own name may not be known to it yet, or never be.
    const Result<std::string> found = OwnHostTowards(address);
    own = found.ok() ? *found : "";
  }
  return AddressOf(AnyHost(own), parsed.port);
}

Result<std::string> AwaitOwnHost(const std::string& chief, int rank,
                                 Clock& clock, Time deadline) {
  while (true) {
    Result<std::string> own = OwnHostTowards(chief);
    if (own.ok() || own.status().code() == Code::kInvalidArgument) return own;
    if (clock.Now() >= deadline) {
      return DeadlineExceeded(
          fmt::format("rank {}: waiting for the chief ({}): {}", rank, chief,
                      own.status().message()));
    }
    clock.SleepUntil(std::min(deadline, clock.Now() + kLookEvery));
  }
}

Status ChooseAddress(ReachablePlace& place, const Host& host, Clock& clock,
                     Time deadline) {
  WorkerSpec& spec = place.spec;
  const std::string& chief = spec.addresses.front();
  ASSIGN_OR_RETURN(std::string own,
                   AwaitOwnHost(chief, spec.rank, clock, deadline));
  ASSIGN_OR_RETURN(const HostPort chief_at, ParseHostPort(chief));
  const bool all_here = IsLoopback(chief_at.host);
  const std::string listen_host = all_here ? own : std::string(AnyHost(own));
  // The chief is on this host and known by a name: others know it by that too.
  if (!all_here && IsLoopback(own)) own = host.Name();
  ASSIGN_OR_RETURN(place.port, ReservePort(listen_host));
  spec.listen_on = AddressOf(listen_host, place.port->port);
  std::string& address = spec.addresses[static_cast<size_t>(spec.rank)];
  address = AddressOf(own, place.port->port);
  return Annotate(CheckAddress(address), "this host's address");
}

}  // namespace

Result<ReachablePlace> MakeReachable(const ResolvedCluster& cluster,
                                     const Host& host, Clock& clock,
                                     Time deadline) {
  const ClusterPlace& told = cluster.place;
  ReachablePlace place{.spec = {.worker = told.rank,
                                .life = cluster.life,
                                .rank = told.rank,
                                .addresses = told.addresses}};
  WorkerSpec& spec = place.spec;
  // By itself it is reached by nobody, on any port.
  if (spec.addresses.empty()) spec.addresses = {"127.0.0.1:0"};
  if (spec.addresses.size() == 1) return place;
  if (cluster.rule != ClusterRule::kTfConfig) {
    spec.address_book = AddressBook::kToldByChief;
  }
  const std::string& own = spec.addresses[static_cast<size_t>(spec.rank)];
  if (own.empty()) {
    RETURN_IF_ERROR(ChooseAddress(place, host, clock, deadline));
  } else {
    ASSIGN_OR_RETURN(spec.listen_on, ListenAddress(own));
  }
  return place;
}

}  // namespace gauntlet
