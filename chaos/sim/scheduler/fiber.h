// Stacks to run on: the machine-level half of a simulated task.
//
// A FiberContext is a stack of its own with a body running on it. Resume
// switches to it, SuspendFor on to another one and Suspend back. Contexts are
// pooled: the stack of a body that has returned runs the next one. Address and
// thread sanitizers are notified of every switch, and C++ exception state is
// kept per context, so that a body may suspend inside a catch block.
//
// A body can be ended at the point where it is suspended. Its stack is unwound
// by the forced unwinding of the Itanium C++ ABI, which calls every destructor
// on the way and, unlike an exception, does not look for a handler first. It
// also runs each catch (...), which has to end with `throw;`, and may not be in
// a handler of another exception. A noexcept frame on the way, such as a
// destructor that waits, ends the program.
//
// All contexts of a pool belong to the thread that made the pool.
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
  // Maps a stack of that many bytes with a guard page below it.
  explicit FiberContext(size_t stack_bytes);
  // REQUIRES: nothing runs on it.
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // The next switch to this context calls the body, which must not throw. When
  // the body has returned, its captures are destroyed on this context too.
  // REQUIRES: nothing runs on it.
  void Begin(std::function<void()> body);
  // Runs this context, and those that SuspendFor switches to, until the running
  // one suspends (returns true) or ends (returns false). The caller has to know
  // which one that is.
  bool Resume();
  // Switches back to the caller of Resume. REQUIRES: running on this context.
  void Suspend();
  // Switches to `next`, as if the caller of Resume had resumed that one.
  // REQUIRES: running on this context; the body of `next` has not begun or is
  // suspended.
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
  // The function at the bottom of each stack, below what runs there.
  struct Bottom;
  // Resets the context to the bottom of its stack, as if nothing had run there.
  void StartOver();
  // Returns which one came back.
  FiberContext* Switch();
  void Arrived(void* from);
  [[noreturn]] void SwitchForGood();

  size_t stack_bytes_;
  void* mapping_ = nullptr;
  void* stack_bottom_ = nullptr;
  void* self_ = nullptr;            // point at which this context continues
  void* caller_ = nullptr;          // point to which Suspend switches
  FiberContext* before_ = nullptr;  // was suspended for this one just now
  std::function<void()> body_;      // empty: leave for good
  bool done_ = true;
  bool abandoned_ = false;
  _Unwind_Exception unwinding_{};
  ExceptionState exceptions_;
  // State of the sanitizers for this stack and the caller's.
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

  // A context on which nothing runs.
  std::unique_ptr<FiberContext> Take();
  void Put(std::unique_ptr<FiberContext> context);

 private:
  size_t stack_bytes_;
  std::vector<std::unique_ptr<FiberContext>> idle_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_
