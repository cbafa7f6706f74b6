// System calls of x86-64, and requests of ioctl, that the headers of Debian 12
// lack.
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_

#include <cstdint>

#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif

namespace gauntlet {

// Older forms of fallocate: FS_IOC_RESVSP, FS_IOC_ZERO_RANGE and so on, of
// linux/falloc.h.
inline constexpr uint32_t kReserveSpace = 0x40305828;
inline constexpr uint32_t kUnreserveSpace = 0x40305829;
inline constexpr uint32_t kReserveSpace64 = 0x4030582a;
inline constexpr uint32_t kUnreserveSpace64 = 0x4030582b;
inline constexpr uint32_t kZeroRange = 0x40305839;

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_
