// Who knows whose address before the workers meet.
#ifndef GAUNTLET_ENGINE_CLUSTER_ADDRESS_BOOK_H_
#define GAUNTLET_ENGINE_CLUSTER_ADDRESS_BOOK_H_

#include <cstdint>

namespace gauntlet {

// kKnown: all know all. kToldByChief: each knows its own and the chief's, the
// others' are empty; the chief hears them in hellos and tells them to all in
// its welcome.
enum class AddressBook : uint8_t { kKnown, kToldByChief };

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_ADDRESS_BOOK_H_
