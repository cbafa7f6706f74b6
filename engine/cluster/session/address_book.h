// Addresses that the workers know before they connect.
#ifndef GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_
#define GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_

#include <cstdint>

namespace gauntlet {

// kKnown: every worker knows all addresses. kSentByChief: each worker knows its
// own and the chief's address; the others are empty. Each worker sends its
// address to the chief in its hello, and the chief sends all addresses in its
// welcome.
enum class AddressBook : uint8_t { kKnown, kSentByChief };

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_
