#include "engine/app/cluster/cluster_address.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "engine/cluster/address_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kPlacePollInterval = std::chrono::milliseconds(200);

constexpr std::string_view kAdviceToListen =
    "use --listen ADDRESS (0.0.0.0 for all interfaces)";

// Retries `ask`, which resolves a name, until it succeeds or the deadline
// passes (kDeadlineExceeded).
Result<std::string> Await(const std::function<Result<std::string>()>& ask,
                          std::string_view what, Clock& clock, Time deadline) {
  while (true) {
    Result<std::string> found = ask();
    if (found.ok()) return found;
    if (found.status().code() == Code::kInvalidArgument) {
      return Annotate(found.status(), what);
    }
    if (clock.Now() >= deadline) {
      return DeadlineExceeded(
          fmt::format("{}: {}", what, found.status().message()));
    }
    clock.SleepUntil(std::min(deadline, clock.Now() + kPlacePollInterval));
  }
}

// Chooses the address at which one worker listens, and the address at which the
// others reach it.
class Chooser {
 public:
  Chooser(const ResolvedCluster& cluster, const Host& host, Clock& clock,
          Time deadline)
      : cluster_(cluster), host_(host), clock_(clock), deadline_(deadline) {}

  // Returns the address to listen on, for peers that reach this worker at
  // `address`.
  Result<std::string> ListenAddress(const std::string& address) const {
    ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
    if (!cluster_.listen.empty()) {
      return AddressOf(cluster_.listen, parsed.port);
    }
    if (IsLoopbackHost(parsed.host)) return address;
    Result<std::string> own =
        Await([&] { return LocalAddressOf(parsed.host); },
              fmt::format("rank {}: listening at {}", rank(), address), clock_,
              deadline_);
    if (!own.ok()) {
      return Annotated(own.status(), fmt::format("; {}", kAdviceToListen));
    }
    RETURN_IF_ERROR(CheckReached(*own, address));
    return AddressOf(*own, parsed.port);
  }

  // Chooses a host and a free port for a worker whose address is not in the
  // cluster's list.
  Status ChooseAddress(ReachableWorker& place) const {
    WorkerSpec& spec = place.spec;
    const std::string& chief = spec.addresses.front();
    ASSIGN_OR_RETURN(
        std::string own,
        Await([&] { return OwnHostTowards(chief); },
              fmt::format("rank {}: waiting for the chief ({})", rank(), chief),
              clock_, deadline_));
    std::string listen_host = cluster_.listen;
    if (listen_host.empty()) {
      RETURN_IF_ERROR(CheckReached(own, chief));
      listen_host = own;
    } else if (!IsAnyHost(listen_host)) {
      own = listen_host;
    } else if (IsLoopbackHost(own) && !IsLoopbackHost(HostOf(chief))) {
      // The chief's name resolves to loopback, so the chief is on this host.
      // Other hosts reach this worker by the host's name.
      own = host_.Name();
    }
    ASSIGN_OR_RETURN(place.port, ReservePort(listen_host));
    spec.listen_on = AddressOf(listen_host, place.port->port);
    std::string& address = spec.addresses[static_cast<size_t>(spec.rank)];
    address = AddressOf(own, place.port->port);
    return Annotate(CheckAddress(address), "this host's address");
  }

 private:
  int rank() const { return cluster_.place.rank; }

  static Status Annotated(const Status& status, const std::string& remedy) {
    return {status.code(), status.message() + remedy};
  }

  // Returns kInvalidArgument if the name in `address` resolves to a loopback
  // address, `own`, and other hosts may need to reach this worker. On some
  // hosts, the host's own name resolves to such an address.
  Status CheckReached(const std::string& own,
                      const std::string& address) const {
    const std::string name(HostOf(address));
    if (!IsLoopbackHost(own) || IsLoopbackHost(name) ||
        cluster_.all_on_this_host) {
      return OkStatus();
    }
    return InvalidArgument(fmt::format(
        "rank {}: {} resolves to {} on this host, which other hosts cannot "
        "reach; {}",
        rank(), name, own, kAdviceToListen));
  }

  const ResolvedCluster& cluster_;
  const Host& host_;
  Clock& clock_;
  const Time deadline_;
};

}  // namespace

Result<ReachableWorker> MakeReachable(const ResolvedCluster& cluster,
                                      const Host& host, Clock& clock,
                                      Time deadline) {
  const ClusterPlace& cluster_place = cluster.place;
  ReachableWorker place{.spec = {.worker = cluster_place.rank,
                                 .incarnation = cluster.incarnation,
                                 .rank = cluster_place.rank,
                                 .addresses = cluster_place.addresses}};
  WorkerSpec& spec = place.spec;
  // Without addresses this is the only worker: nothing connects to it, so any
  // port will do.
  if (spec.addresses.empty()) spec.addresses = {"127.0.0.1:0"};
  if (spec.addresses.size() == 1) return place;
  if (cluster.rule != ClusterRule::kTfConfig) {
    spec.address_book = AddressBook::kSentByChief;
  }
  const Chooser chooser(cluster, host, clock, deadline);
  const std::string& own = spec.addresses[static_cast<size_t>(spec.rank)];
  if (own.empty()) {
    RETURN_IF_ERROR(chooser.ChooseAddress(place));
  } else {
    ASSIGN_OR_RETURN(spec.listen_on, chooser.ListenAddress(own));
  }
  return place;
}

}  // namespace gauntlet
