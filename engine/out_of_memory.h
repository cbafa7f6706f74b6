// Handling of exhausted memory outside of operator new.
#ifndef GAUNTLET_ENGINE_OUT_OF_MEMORY_H_
#define GAUNTLET_ENGINE_OUT_OF_MEMORY_H_

#include <new>

namespace gauntlet {

// Reports exhausted memory as operator new does: calls the new-handler once. If
// there is none, or it returns, throws std::bad_alloc.
[[noreturn]] inline void OutOfMemory() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_OUT_OF_MEMORY_H_
