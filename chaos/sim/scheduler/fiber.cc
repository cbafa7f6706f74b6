#include "chaos/sim/scheduler/fiber.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/check.h"
#include "engine/out_of_memory.h"
#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>
#include <fmt/format.h>
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

namespace fcontext = boost::context::detail;

constexpr size_t kGuardBytes = 4096;

// A separate function, so that the frame where unwinding begins has nothing to
// clean up.
[[noreturn, gnu::noinline]] void CannotUnwind(int reason) {
  CHECK(false, fmt::format("a stack cannot be unwound: reason {}", reason));
  __builtin_unreachable();
}

}  // namespace

struct FiberContext::Bottom {
  [[noreturn]] static void Run(fcontext::transfer_t from) {
    auto* const self = static_cast<FiberContext*>(from.data);
    self->Arrived(from.fctx);
    while (self->body_) {
      self->body_();
      self->body_ = nullptr;
      self->done_ = true;
      self->Suspend();
    }
    self->SwitchForGood();
  }

  // Stop function of the unwinder, called at each frame: at Run, the bottom of
  // the stack, switches away and never returns.
  static _Unwind_Reason_Code StopHere(int /*version*/,
                                      _Unwind_Action /*actions*/,
                                      _Unwind_Exception_Class /*type*/,
                                      _Unwind_Exception* /*exception*/,
                                      _Unwind_Context* frame, void* context) {
    if (_Unwind_GetRegionStart(frame) != reinterpret_cast<uintptr_t>(&Run)) {
      return _URC_NO_REASON;
    }
    auto* const self = static_cast<FiberContext*>(context);
    self->done_ = true;
    self->abandoned_ = true;
    self->SwitchForGood();
  }
};

FiberContext::FiberContext(size_t stack_bytes) : stack_bytes_(stack_bytes) {
  mapping_ =
      mmap(nullptr, stack_bytes_ + kGuardBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) OutOfMemory();
  // Splits the mapping; the kernel limits the number of mappings.
  if (mprotect(mapping_, kGuardBytes, PROT_NONE) != 0) {
    munmap(mapping_, stack_bytes_ + kGuardBytes);
    OutOfMemory();
  }
  stack_bottom_ = static_cast<char*>(mapping_) + kGuardBytes;
  StartOver();
}

void FiberContext::StartOver() {
#ifdef GAUNTLET_FIBER_ASAN
  // The addresses may have belonged to another stack, and an abandoned body
  // leaves its frames poisoned.
  __asan_unpoison_memory_region(stack_bottom_, stack_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  thread_fiber_ = __tsan_create_fiber(0);
#endif
  exceptions_ = {};
  fake_stack_ = nullptr;
  self_ =
      fcontext::make_fcontext(static_cast<char*>(stack_bottom_) + stack_bytes_,
                              stack_bytes_, &Bottom::Run);
}

FiberContext::~FiberContext() {
  CHECK(done_, "a fiber's stack is freed while something runs on it");
  Switch();
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_destroy_fiber(thread_fiber_);
#endif
  munmap(mapping_, stack_bytes_ + kGuardBytes);
}

void FiberContext::Begin(std::function<void()> body) {
  CHECK(done_, "a fiber's stack is taken while something runs on it");
  body_ = std::move(body);
  done_ = false;
}

bool FiberContext::Resume() {
  void* const of_thread = abi::__cxa_get_globals();
  SwapExceptionState(of_thread, exceptions_);
  FiberContext& last = *Switch();
  SwapExceptionState(of_thread, last.exceptions_);
  if (std::exchange(last.abandoned_, false)) {
    last.body_ = nullptr;
#ifdef GAUNTLET_FIBER_TSAN
    __tsan_destroy_fiber(last.thread_fiber_);
#endif
    last.StartOver();
  }
  return !last.done_;
}

void FiberContext::Suspend() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, caller_bottom_, caller_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller_, 0);
#endif
  Arrived(fcontext::jump_fcontext(caller_, this).fctx);
}

void FiberContext::SuspendFor(FiberContext& next) {
  CHECK(&next != this && !next.done_, "a fiber goes on for one that cannot");
  void* const of_thread = abi::__cxa_get_globals();
  SwapExceptionState(of_thread, exceptions_);
  SwapExceptionState(of_thread, next.exceptions_);
  next.caller_ = caller_;
  next.before_ = this;
#ifdef GAUNTLET_FIBER_ASAN
  next.caller_bottom_ = caller_bottom_;
  next.caller_bytes_ = caller_bytes_;
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_,
                                 next.stack_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  next.thread_caller_ = thread_caller_;
  __tsan_switch_to_fiber(next.thread_fiber_, 0);
#endif
  Arrived(fcontext::jump_fcontext(next.self_, &next).fctx);
}

void FiberContext::Abandon() {
  unwinding_ = {};
#ifdef GAUNTLET_FIBER_ASAN
  // As before a throw: unpoisons the frames that unwinding will remove. Called
  // after everything that this frame poisons, as landing pads call the
  // sanitizer from here.
  __asan_handle_no_return();
#endif
  CannotUnwind(_Unwind_ForcedUnwind(&unwinding_, &Bottom::StopHere, this));
}

FiberContext* FiberContext::Switch() {
#ifdef GAUNTLET_FIBER_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_bottom_, stack_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  thread_caller_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_fiber_, 0);
#endif
  const fcontext::transfer_t from = fcontext::jump_fcontext(self_, this);
  auto* const last = static_cast<FiberContext*>(from.data);
  last->self_ = from.fctx;
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  return last;
}

// Ends a switch to this context: `from` is where the suspended side, either
// another context or the caller of Resume, continues later.
void FiberContext::Arrived(void* from) {
  FiberContext* const before = std::exchange(before_, nullptr);
  (before == nullptr ? caller_ : before->self_) = from;
#ifdef GAUNTLET_FIBER_ASAN
  const bool direct = before != nullptr;
  __sanitizer_finish_switch_fiber(fake_stack_,
                                  direct ? nullptr : &caller_bottom_,
                                  direct ? nullptr : &caller_bytes_);
#endif
}

void FiberContext::SwitchForGood() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_start_switch_fiber(nullptr, caller_bottom_, caller_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller_, 0);
#endif
  fcontext::jump_fcontext(caller_, this);
  CHECK(false, "a fiber that left for good was resumed");
  __builtin_unreachable();
}

void FiberContext::SwapExceptionState(void* of_thread, ExceptionState& state) {
  ExceptionState kept;
  std::memcpy(&kept, of_thread, sizeof(kept));
  std::memcpy(of_thread, &state, sizeof(state));
  state = kept;
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
