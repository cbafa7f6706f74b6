// Stacks to run on: the machine-level part of a simulated task.
//
// A FiberContext is a stack with a body running on it. Resume switches to it,
// SuspendFor to another context, and Suspend back. Contexts are pooled: when a
// body has returned, its stack is reused. Address and thread sanitizers are
// notified of every switch, and C++ exception state is kept per context, so
// that a body may suspend inside a catch block.
//
// A body can be ended where it is suspended. Its stack is unwound by the forced
// unwinding of the Itanium C++ ABI, which runs every destructor on the way and,
// unlike an exception, does not search for a handler first. It also runs each
// catch (...), which must end with `throw;`; it must not start inside a handler
// of another exception. A noexcept frame on the way, such as a destructor that
// waits, terminates the program.
//
// All contexts of a pool belong to the thread that created the pool.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <unwind.h>

namespace gauntlet {

class FiberContext {
 public:
  // Maps a stack of `stack_bytes` with a guard page below it.
  explicit FiberContext(size_t stack_bytes);
  // REQUIRES: no body is running on it.
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // Sets the body, which the next switch to this context calls and which must
  // not throw. When it has returned, its captures are destroyed on this context
  // too. REQUIRES: no body is running on it.
  void Begin(std::function<void()> body);
  // Runs this context, and those that SuspendFor switches to, until the running
  // one suspends (returns true) or ends (returns false). The caller must keep
  // track of which one is running.
  bool Resume();
  // Switches back to the caller of Resume. REQUIRES: running on this context.
  void Suspend();
  // Switches to `next`, as if Resume's caller had resumed it. REQUIRES: running
  // on this context; the body of `next` has not begun or is suspended.
  void SuspendFor(FiberContext& next);
  // Ends the body: destroys everything on the stack and the body's captures,
  // then switches back to the caller of Resume. REQUIRES: running on this
  // context.
  [[noreturn]] void Abandon();

 private:
  // Layout of the Itanium C++ ABI's __cxa_eh_globals.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void SwapExceptionState(void* of_thread, ExceptionState& state);
  // Function at the bottom of each stack.
  struct Bottom;
  // Resets the context to the bottom of its stack, as if nothing had run there.
  void StartOver();
  // Returns the context that switched back.
  FiberContext* Switch();
  void Arrived(void* from);
  [[noreturn]] void SwitchForGood();

  size_t stack_bytes_;
  void* mapping_ = nullptr;
  void* stack_bottom_ = nullptr;
  void* self_ = nullptr;            // point at which this context continues
  void* caller_ = nullptr;          // point to which Suspend switches
  FiberContext* before_ = nullptr;  // just suspended to run this one
  std::function<void()> body_;      // empty: ends the context
  bool done_ = true;
  bool abandoned_ = false;
  _Unwind_Exception unwinding_{};
  ExceptionState exceptions_;
  // Sanitizer state of this stack and the caller's.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] const void* caller_bottom_ = nullptr;
  [[maybe_unused]] size_t caller_bytes_ = 0;
  [[maybe_unused]] void* thread_fiber_ = nullptr;
  [[maybe_unused]] void* thread_caller_ = nullptr;
};

class FiberPool {
 public:
  // Untouched pages of a stack take no memory.
  static constexpr size_t kDefaultStackBytes = size_t{512} << 10;

  explicit FiberPool(size_t stack_bytes = kDefaultStackBytes);
  ~FiberPool();

  // Returns a context without a body.
  std::unique_ptr<FiberContext> Take();
  void Put(std::unique_ptr<FiberContext> context);

 private:
  size_t stack_bytes_;
  std::vector<std::unique_ptr<FiberContext>> idle_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_
