// A file descriptor that is closed by its destructor.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_DESCRIPTOR_H_
#define GAUNTLET_ENGINE_REAL_POSIX_DESCRIPTOR_H_

#include <utility>

#include <unistd.h>

namespace gauntlet {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes ownership of the descriptor; negative: none.
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  // Closes the descriptor. Ignores the result of close(2): data that matters
  // has been synced by then.
  void Reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_DESCRIPTOR_H_
