// Slurm's lists of hosts: "login,rack[0-1]host[01-03,7]".
//
// Parts are separated by commas; within a part, each pair of brackets holds
// numbers and ranges of numbers, and the part stands for all combinations, the
// rightmost bracket running fastest. A range keeps the zeros in front of its
// first number: [01-03] is 01, 02, 03 (slurm.schedmd.com, "Hostlist
// expressions"). Brackets do not nest.
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// First host and size of such a list. The list is never written out in full, so
// that a short text cannot request a lot of memory.
struct HostListHead {
  std::string first;
  uint64_t hosts = 0;
};

// kInvalidArgument names what is wrong: an empty part, brackets that do not
// match or that nest, a range that is none or runs backwards, a host that is no
// host name, more than ten million hosts.
Result<HostListHead> ReadHostList(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_
