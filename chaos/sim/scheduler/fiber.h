// Stacks to run on: the machine-level part of a simulated task.
//
// A FiberContext is a stack with a body running on it. Resume switches to it,
// and Suspend back. Contexts are pooled: when a body has ended, its stack is
// reused. Address and thread sanitizers are notified of every switch.
//
// A body can be ended where it is suspended. An exception then leaves it, and
// destroys everything on its stack. So each catch (...) on the way must end
// with `throw;`. A noexcept frame on the way, such as a destructor that waits,
// terminates the program.
//
// C++ keeps the exceptions in flight per thread, not per stack. So a body must
// not suspend while it handles an exception.
//
// All contexts of a pool belong to the thread that created the pool.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <boost/context/fiber.hpp>

namespace gauntlet {

class FiberContext {
 public:
  // Maps a stack of `stack_bytes` with a guard page below it.
  explicit FiberContext(size_t stack_bytes);
  // REQUIRES: no body is running on it.
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // Sets the body, which the next Resume calls and which must not throw. When
  // it has ended, its captures are destroyed on this context too. REQUIRES: no
  // body is running on it.
  void Begin(std::function<void()> body);
  // Runs the body until it suspends (returns true) or ends (returns false).
  bool Resume();
  // Switches back to the caller of Resume. REQUIRES: running on this context;
  // no exception is handled or in flight.
  void Suspend();
  // Ends the body: destroys everything on the stack and the body's captures,
  // then switches back to the caller of Resume. REQUIRES: running on this
  // context.
  [[noreturn]] void Unwind();

 private:
  struct Unwinding {};  // thrown by Unwind

  // Switches to this context, until it switches back.
  void Switch();
  // Function at the bottom of the stack; returns when there is no body.
  boost::context::fiber RunBodies(boost::context::fiber caller);
  void SwitchBack();
  // Notify the address sanitizer on this stack: after a switch to it, and
  // before a switch back to the caller.
  void Arrived();
  void Leaves(void** fake_stack);  // null: the stack is never entered again

  boost::context::stack_context stack_;
  boost::context::fiber fiber_;   // this context; empty while it runs
  boost::context::fiber caller_;  // of Resume; empty while this is suspended
  std::function<void()> body_;    // empty: ends the context
  bool done_ = true;
  // Sanitizer state of this stack and the caller's.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] const void* caller_bottom_ = nullptr;
  [[maybe_unused]] size_t caller_bytes_ = 0;
  [[maybe_unused]] void* thread_fiber_ = nullptr;
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
