// Memory that is had in other ways than by operator new.
#ifndef GAUNTLET_ENGINE_OUT_OF_MEMORY_H_
#define GAUNTLET_ENGINE_OUT_OF_MEMORY_H_

#include <new>

namespace gauntlet {

// There is none: as where operator new finds none. The handler that is set for
// that is called, once; std::bad_alloc where it returns, or there is none.
[[noreturn]] inline void OutOfMemory() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_OUT_OF_MEMORY_H_
