// With whom a life trains at the moment of a fault.
#ifndef GAUNTLET_HARNESS_ORACLE_PEERS_H_
#define GAUNTLET_HARNESS_ORACLE_PEERS_H_

#include <cstdint>
#include <vector>

#include "harness/oracle/evidence.h"

namespace gauntlet {

// How many workers that life of the job has.
int WorkersIn(const RunSetup& setup, int life);

// Of the generation that the fault fired in, where workers restart singly; 0:
// it fired between two.
uint64_t GenerationAt(const Firing& firing);

// The lives, or parts of lives, that train with the one that the fault fired
// in, or try to: nobody else can lose it.
std::vector<const LifeEvents*> PeersOf(const Evidence& evidence,
                                       const Firing& firing);

// Whether it is the process of one of them.
bool IsAnyOf(const std::vector<const LifeEvents*>& lives,
             const LifeEvents& life);

// Whether both met the same life in the same generation, the other one later.
bool IsBefore(const Firing& firing, const Firing& other);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PEERS_H_
