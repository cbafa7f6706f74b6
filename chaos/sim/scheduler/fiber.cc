#include "chaos/sim/scheduler/fiber.h"

#include <exception>
#include <utility>

#include "engine/check.h"
#include "engine/out_of_memory.h"
#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GAUNTLET_FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define GAUNTLET_FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GAUNTLET_FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define GAUNTLET_FIBER_TSAN 1
#endif
#ifdef GAUNTLET_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef GAUNTLET_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gauntlet {
namespace {

constexpr size_t kGuardBytes = 4096;

// A stack allocator, as Boost.Context defines it. Boost's own one with a guard
// page does not check that the page is protected.
class GuardedStack {
 public:
  explicit GuardedStack(size_t bytes) : bytes_(bytes) {}

  boost::context::stack_context allocate() {
    void* const mapping =
        mmap(nullptr, kGuardBytes + bytes_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) OutOfMemory();
    // mprotect splits the mapping in two. It fails if the process has reached
    // the kernel's limit on the number of mappings.
    if (mprotect(mapping, kGuardBytes, PROT_NONE) != 0) {
      munmap(mapping, kGuardBytes + bytes_);
      OutOfMemory();
    }
    boost::context::stack_context stack;
    stack.size = bytes_;
    stack.sp = static_cast<char*>(mapping) + kGuardBytes + bytes_;
    return stack;
  }

  void deallocate(boost::context::stack_context& stack) noexcept {
    const size_t size = kGuardBytes + stack.size;
    munmap(static_cast<char*>(stack.sp) - size, size);
  }

 private:
  size_t bytes_;
};

[[maybe_unused]] void* BottomOf(const boost::context::stack_context& stack) {
  return static_cast<char*>(stack.sp) - stack.size;
}

}  // namespace

FiberContext::FiberContext(size_t stack_bytes)
    : stack_(GuardedStack(stack_bytes).allocate()) {
#ifdef GAUNTLET_FIBER_ASAN
  // The sanitizer may still treat parts of an earlier stack at these addresses
  // as poisoned.
  __asan_unpoison_memory_region(BottomOf(stack_), stack_.size);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  // The constructor of fiber_ switches to the new stack and back. The sanitizer
  // is notified of both switches here.
  void* const thread_caller = __tsan_get_current_fiber();
  thread_fiber_ = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(thread_fiber_, 0);
#endif
  fiber_ = boost::context::fiber(
      std::allocator_arg,
      boost::context::preallocated(stack_.sp, stack_.size, stack_),
      GuardedStack(stack_bytes), [this](boost::context::fiber&& caller) {
        return RunBodies(std::move(caller));
      });
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller, 0);
#endif
}

FiberContext::~FiberContext() {
  CHECK(done_, "a fiber's stack is freed while something runs on it");
  // Ends the context, which frees its stack.
  Switch();
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_destroy_fiber(thread_fiber_);
#endif
}

void FiberContext::Begin(std::function<void()> body) {
  CHECK(done_, "a fiber's stack is taken while something runs on it");
  body_ = std::move(body);
  done_ = false;
}

bool FiberContext::Resume() {
  Switch();
  return !done_;
}

void FiberContext::Suspend() {
  CHECK(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr,
        "a fiber suspends while it handles an exception");
  SwitchBack();
}

void FiberContext::Unwind() { throw Unwinding(); }

// Notifies the thread sanitizer of both switches here, so that it sees each
// function return on the stack on which it was called.
void FiberContext::Switch() {
#ifdef GAUNTLET_FIBER_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, BottomOf(stack_), stack_.size);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  void* const thread_caller = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_fiber_, 0);
#endif
  fiber_ = std::move(fiber_).resume();
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller, 0);
#endif
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

boost::context::fiber FiberContext::RunBodies(boost::context::fiber caller) {
  caller_ = std::move(caller);
  Arrived();
  while (body_) {
    try {
      body_();
    } catch (const Unwinding&) {
    }
    body_ = nullptr;
    done_ = true;
    SwitchBack();
  }
  Leaves(nullptr);
  return std::move(caller_);
}

void FiberContext::SwitchBack() {
  Leaves(&fake_stack_);
  caller_ = std::move(caller_).resume();
  Arrived();
}

void FiberContext::Arrived() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_, &caller_bytes_);
#endif
}

void FiberContext::Leaves([[maybe_unused]] void** fake_stack) {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_start_switch_fiber(fake_stack, caller_bottom_, caller_bytes_);
#endif
}

FiberPool::FiberPool(size_t stack_bytes) : stack_bytes_(stack_bytes) {}

FiberPool::~FiberPool() = default;

std::unique_ptr<FiberContext> FiberPool::Take() {
  if (idle_.empty()) return std::make_unique<FiberContext>(stack_bytes_);
  std::unique_ptr<FiberContext> context = std::move(idle_.back());
  idle_.pop_back();
  return context;
}

void FiberPool::Put(std::unique_ptr<FiberContext> context) {
  idle_.push_back(std::move(context));
}

}  // namespace gauntlet
