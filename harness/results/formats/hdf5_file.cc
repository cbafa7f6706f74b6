#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/posix/posix_status.h"
#include "engine/utf8.h"
#include "harness/results/formats/formats.h"
#include "harness/results/formats/hdf5_values.h"
#include "harness/results/formats/temporary_file.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxText = uint64_t{64} << 20;
constexpr uint64_t kMaxRank = 64;

void Limit(int resource, uint64_t most) {
  const rlimit limit{.rlim_cur = most, .rlim_max = most};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// Returns the size of this process's address space, in bytes.
uint64_t AddressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Runs in the child before it reads: limits its time, memory and output, and
// detaches it from this program's signal handlers and terminal.
void Confine(uint64_t file_size, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM,
                           SIGINT, SIGHUP, SIGXCPU, SIGXFSZ}) {
    std::signal(number, SIG_DFL);
  }
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nowhere, standard);
  constexpr uint64_t kSeconds = 30;
  constexpr uint64_t kBytesPerSecond = uint64_t{5} << 20;
  constexpr uint64_t kRecords = uint64_t{64} << 20;
  constexpr uint64_t kMemory = uint64_t{1} << 30;
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_AS, AddressSpace() + kMemory + file_size);
  Limit(RLIMIT_CPU, kSeconds + file_size / kBytesPerSecond);
  Limit(RLIMIT_FSIZE, UnpackedLimit(file_size) + kRecords);
}

// Forks a process that writes the file's values to the descriptor `values`, and
// waits until it exits.
Status RunReader(const FileBytes& file, int values) {
  std::array<int, 2> alive{};
  if (pipe2(alive.data(), O_CLOEXEC) != 0)
    return PosixError(errno, file.path(), "pipe");
  const Descriptor read_end(alive[0]);
  Descriptor write_end(alive[1]);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return PosixError(errno, file.path(), "fork");
  if (child == 0) {
    Confine(file.size(), self);
    WriteHdf5Values(file.descriptor(), values, UnpackedLimit(file.size()));
    _exit(0);
  }
  write_end.Reset();
  char none = 0;
  RetryOnInterrupt([&] { return read(read_end.get(), &none, 1); });
  int status = 0;
  const pid_t ended =
      RetryOnInterrupt([&] { return waitpid(child, &status, 0); });
  if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return ResourceExhausted(file.path() +
                             ": its values cannot be written to $TMPDIR");
  }
  return OkStatus();
}

// Reads the records of hdf5_values.h. Trusts none of them: the process that
// wrote them may have been corrupted by the file.
class Records {
 public:
  explicit Records(const Bytes& bytes) : bytes_(bytes) {}

  Result<uint64_t> TakeNumber() {
    std::array<std::byte, sizeof(uint64_t)> read{};
    if (bytes_->size() - at_ < read.size()) return Cut();
    RETURN_IF_ERROR(bytes_->Read(at_, read));
    at_ += read.size();
    uint64_t number = 0;
    for (size_t i = read.size(); i-- > 0;)
      number = number << 8 | std::to_integer<uint64_t>(read[i]);
    return number;
  }
  Result<std::string> TakeText() {
    ASSIGN_OR_RETURN(const uint64_t size, TakeNumber());
    if (size > std::min(bytes_->size() - at_, kMaxText)) return Cut();
    std::string text(size, '\0');
    RETURN_IF_ERROR(bytes_->Read(at_, std::as_writable_bytes(std::span(text))));
    at_ += size;
    return text;
  }
  Result<Bytes> TakeBytes(uint64_t size) {
    if (size > bytes_->size() - at_) return Cut();
    Bytes part = PartOf(bytes_, at_, size);
    at_ += size;
    return part;
  }
  static Status Cut() {
    return DataLoss("the process that reads HDF5 crashed, or took too long");
  }

 private:
  const Bytes bytes_;
  uint64_t at_ = 0;
};

Result<ResultTensor> TakeTensor(Records& records, Hdf5Tag tag,
                                const Bytes& file) {
  ResultTensor tensor;
  ASSIGN_OR_RETURN(const std::string name, records.TakeText());
  tensor.name = EscapeBytes(name);
  ASSIGN_OR_RETURN(std::string type, records.TakeText());
  ASSIGN_OR_RETURN(const uint64_t width, records.TakeNumber());
  ASSIGN_OR_RETURN(const uint64_t is_big_endian, records.TakeNumber());
  ASSIGN_OR_RETURN(const uint64_t rank, records.TakeNumber());
  if (rank > kMaxRank || width == 0 ||
      width > std::numeric_limits<uint32_t>::max()) {
    return Records::Cut();
  }
  for (uint64_t i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(tensor.shape.emplace_back(), records.TakeNumber());
  }
  const auto known = FindElementType(type);
  tensor.type = known
                    ? *known
                    : OpaqueType(std::move(type), static_cast<uint32_t>(width));
  if (is_big_endian != 0) tensor.type = BigEndian(std::move(tensor.type));
  ASSIGN_OR_RETURN(const uint64_t size, records.TakeNumber());
  ASSIGN_OR_RETURN(const uint64_t expected,
                   ByteCount(tensor.shape, tensor.type.bytes));
  if (!tensor.IsSequence() && size != expected) return Records::Cut();
  if (tag == Hdf5Tag::kHere) {
    ASSIGN_OR_RETURN(tensor.bytes, records.TakeBytes(size));
    return tensor;
  }
  ASSIGN_OR_RETURN(const uint64_t offset, records.TakeNumber());
  if (offset > file->size() || size > file->size() - offset) {
    return DataLoss(
        fmt::format("{}: its bytes are beyond the file's end", tensor.name));
  }
  tensor.bytes = PartOf(file, offset, size);
  return tensor;
}

}  // namespace

Status AddHdf5File(const std::string& name,
                   const std::shared_ptr<FileBytes>& file, TensorList& list) {
  ASSIGN_OR_RETURN(Descriptor values, OpenUnnamedFile());
  RETURN_IF_ERROR(RunReader(*file, values.get()));
  ASSIGN_OR_RETURN(const std::shared_ptr<FileBytes> written,
                   FileBytes::Of(file->path(), std::move(values)));
  Records records(written);
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t number, records.TakeNumber());
    const auto tag = static_cast<Hdf5Tag>(number);
    if (tag == Hdf5Tag::kEnd) return OkStatus();
    if (tag == Hdf5Tag::kFailure) {
      ASSIGN_OR_RETURN(const std::string reason, records.TakeText());
      return DataLoss(reason);
    }
    if (tag != Hdf5Tag::kHere && tag != Hdf5Tag::kInFile) return Records::Cut();
    ASSIGN_OR_RETURN(ResultTensor tensor, TakeTensor(records, tag, file));
    tensor.name = name.empty() ? tensor.name : name + "/" + tensor.name;
    RETURN_IF_ERROR(list.Add(std::move(tensor)));
  }
}

}  // namespace gauntlet
