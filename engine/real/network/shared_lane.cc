#include "engine/real/network/shared_lane.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// A record in the lane: its size, then the frame, contiguous.
constexpr uint32_t kRecordHeaderBytes = 16;
// In place of a size: the next record is at the beginning of the memory.
constexpr uint32_t kSkip = UINT32_MAX;
// Messages of a write and of a read whose deadline has passed.
constexpr std::string_view kNoRoomInTime =
    "the other worker took no frame in time";
constexpr std::string_view kNoFrameInTime = "no frame came in time";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

uint32_t RecordBytes(size_t frame) {
  const auto whole = static_cast<uint32_t>((frame + 15) / 16 * 16);
  return kRecordHeaderBytes + whole;
}

std::string LaneName(const Nonce& nonce) {
  std::string name = "gauntlet-lane-";
  for (const std::byte byte : nonce) {
    name += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return name;
}

// Returns true iff the path is a descriptor of that connection's memory.
bool IsLane(const std::string& path, const Nonce& nonce) {
  char target[256];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  return size > 0 && std::string_view(target, static_cast<size_t>(size))
                         .starts_with("/memfd:" + LaneName(nonce));
}

void WakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Sleeps while the word equals `seen`, until the deadline or a wake-up.
void SleepOn(std::atomic<uint32_t>& word, uint32_t seen, Time deadline) {
  const auto left = deadline.time_since_epoch().count();
  const timespec until = {.tv_sec = left / 1'000'000'000,
                          .tv_nsec = left % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen,
          deadline == kNever ? nullptr : &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

Time SteadyNow() {
  return Time(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

// Progress of one end, and the means by which the other end waits for it.
struct alignas(64) SharedLane::Side {
  std::atomic<uint32_t> bytes;    // total, modulo 2^32
  std::atomic<uint32_t> waiting;  // not 0: the other end sleeps, or is about to
                                  // sleep
  std::atomic<uint32_t> bell;     // futex on which the other end sleeps
};

// The shared memory; initially all zero.
struct SharedLane::Memory {
  Side written;
  Side read;
  alignas(4096) char records[kCapacity];

  char* At(uint32_t bytes) { return records + bytes % kCapacity; }
};

SharedLane::SharedLane(Descriptor file, void* memory)
    : file_(std::move(file)), memory_(*static_cast<Memory*>(memory)) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
}

SharedLane::~SharedLane() { munmap(&memory_, sizeof(Memory)); }

Result<std::unique_ptr<SharedLane>> SharedLane::Map(Descriptor file) {
  void* const memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                            MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return PosixError(errno, "lane", "mmap");
  return std::unique_ptr<SharedLane>(new SharedLane(std::move(file), memory));
}

Result<std::unique_ptr<SharedLane>> SharedLane::Create(const Nonce& nonce) {
  Descriptor file(
      memfd_create(LaneName(nonce).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Sealed, so that neither process can truncate the memory while the other
  // uses it.
  if (!file.valid() || ftruncate(file.get(), sizeof(Memory)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0) {
    return PosixError(errno, "lane", "memfd_create");
  }
  return Map(std::move(file));
}

Result<std::unique_ptr<SharedLane>> SharedLane::Open(const LaneOffer& offer,
                                                     const Nonce& nonce) {
  const std::string path =
      fmt::format("/proc/{}/fd/{}", offer.process, offer.descriptor);
  if (!IsLane(path, nonce)) return NotFound(path + ": not this connection's");
  Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return PosixError(errno, path, "open");
  struct stat found {};
  if (!IsLane(fmt::format("/proc/self/fd/{}", file.get()), nonce) ||
      (fcntl(file.get(), F_GET_SEALS) & kSeals) != kSeals ||
      fstat(file.get(), &found) != 0 || found.st_size != sizeof(Memory)) {
    return NotFound(path + ": not a lane");
  }
  return Map(std::move(file));
}

LaneOffer SharedLane::offer() const {
  return {.process = static_cast<uint64_t>(getpid()),
          .descriptor = static_cast<uint32_t>(file_.get())};
}

// Sleeps without spinning: if other processes need the cores, an end that spins
// or yields first only delays the other end.
bool SharedLane::Wait(Side& other, Time deadline,
                      const std::function<bool()>& ready) {
  while (!ready()) {
    const uint32_t seen = other.bell;
    other.waiting = 1;
    // broken_ is read before the last call of `ready`, so that a frame that was
    // written before the break is still received.
    const bool ends = broken_ || SteadyNow() >= deadline;
    if (ready()) return true;
    if (ends) return false;
    SleepOn(other.bell, seen, deadline);
  }
  return true;
}

Status SharedLane::WaitStatus(std::string_view deadline_message) const {
  return broken_ ? Unavailable("lane: broken")
                 : DeadlineExceeded(std::string(deadline_message));
}

void SharedLane::Advance(Side& own, uint32_t bytes) {
  own.bytes += bytes;
  if (own.waiting == 0) return;
  own.waiting = 0;
  ++own.bell;
  WakeAll(own.bell);
}

void SharedLane::Break() {
  broken_ = true;
  for (Side* const side : {&memory_.written, &memory_.read}) {
    ++side->bell;
    WakeAll(side->bell);
  }
}

bool SharedLane::WaitForRoom(uint32_t bytes, Time deadline) {
  return Wait(memory_.read, deadline, [&] {
    return memory_.written.bytes - memory_.read.bytes <= kCapacity - bytes;
  });
}

Status SharedLane::Write(std::string_view frame, Time deadline) {
  CHECK(frame.size() <= kMaxFrameBytes, "the channel refuses larger frames");
  if (broken_) return WaitStatus(kNoRoomInTime);
  const uint32_t record = RecordBytes(frame.size());
  uint32_t at = memory_.written.bytes;
  const uint32_t left = kCapacity - at % kCapacity;
  if (left < record) {
    if (!WaitForRoom(left, deadline)) return WaitStatus(kNoRoomInTime);
    std::memcpy(memory_.At(at), &kSkip, sizeof kSkip);
    Advance(memory_.written, left);
    at += left;
  }
  if (!WaitForRoom(record, deadline)) return WaitStatus(kNoRoomInTime);
  const auto size = static_cast<uint32_t>(frame.size());
  std::memcpy(memory_.At(at), &size, sizeof size);
  std::memcpy(memory_.At(at) + kRecordHeaderBytes, frame.data(), frame.size());
  Advance(memory_.written, record);
  return OkStatus();
}

Result<Frame> SharedLane::Read(Time deadline) {
  while (true) {
    const uint32_t at = memory_.read.bytes;
    const bool came = Wait(memory_.written, deadline,
                           [&] { return memory_.written.bytes != at; });
    if (!came) return WaitStatus(kNoFrameInTime);
    uint32_t size = 0;
    std::memcpy(&size, memory_.At(at), sizeof size);
    const uint32_t left = kCapacity - at % kCapacity;
    if (size == kSkip) {
      Advance(memory_.read, left);
      continue;
    }
    if (size > kMaxFrameBytes || RecordBytes(size) > left) {
      return DataLoss(fmt::format("lane: a record of {} bytes", size));
    }
    Frame frame(memory_.At(at) + kRecordHeaderBytes, size);
    Advance(memory_.read, RecordBytes(size));
    return frame;
  }
}

}  // namespace gauntlet
