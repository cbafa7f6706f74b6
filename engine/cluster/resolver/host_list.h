// Slurm's lists of hosts: "login,rack[0-1]host[01-03,7]".
//
// Parts are separated by commas. Each pair of brackets in a part holds numbers
// and ranges of numbers. A part stands for the names of all combinations of
// these numbers; the rightmost bracket varies fastest. A range keeps the
// leading zeros of its first number: [01-03] is 01, 02, 03 (slurm.schedmd.com,
// "Hostlist expressions"). Brackets do not nest.
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// First host and number of hosts of a list. The list is never expanded, so that
// a short text cannot make the program allocate a lot of memory.
struct HostListHead {
  std::string first;
  uint64_t hosts = 0;
};

// Returns the head of the list. kInvalidArgument names the error: an empty
// part, unmatched or nested brackets, a malformed or descending range, an
// invalid host name, or more than ten million hosts.
Result<HostListHead> ReadHostList(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_HOST_LIST_H_
