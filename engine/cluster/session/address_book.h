// Addresses known to the workers before they meet.
#ifndef GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_
#define GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_

#include <cstdint>

namespace gauntlet {

// kKnown: every worker knows all addresses. kSentByChief: each worker knows its
// own and the chief's, and the others are empty. The chief receives them in
// hellos and sends them to all in its welcome.
enum class AddressBook : uint8_t { kKnown, kSentByChief };

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_ADDRESS_BOOK_H_
