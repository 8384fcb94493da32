#include "hw/shm_room.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"

namespace slackline::hw {
namespace {

// Of libfabric 1.17 with its usual queues of 1024. When an endpoint is opened, it wants so much to
// be free for each core of the machine; and this it fills at once. A file system that is full while
// a segment is filled ends the process by SIGBUS.
constexpr std::uint64_t kSegmentBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kFilledBytes = std::uint64_t{4} << 20;

}  // namespace

std::optional<ShmRoom> shm_room() {
  struct statvfs status = {};
  if (statvfs("/dev/shm", &status) != 0) return std::nullopt;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return ShmRoom{std::uint64_t{status.f_bavail} * status.f_frsize,
                 std::uint64_t{status.f_blocks} * status.f_frsize,
                 static_cast<std::uint32_t>(std::max(cores, 1L))};
}

std::uint64_t shm_bytes_needed(std::uint32_t ranks, std::uint32_t cores) {
  // The last one finds what the others have filled.
  return kFilledBytes * (std::max(ranks, 1u) - 1) + std::max(kSegmentBytes * cores, kSegmentBytes);
}

void require_shm_room(std::uint32_t ranks, const std::optional<ShmRoom>& room) {
  // Without a limit it says that it has no blocks at all.
  if (!room || room->all_bytes == 0) return;
  const std::uint64_t needed = shm_bytes_needed(ranks, room->cores);
  if (room->free_bytes >= needed) return;
  throw EnvironmentError(
      fmt::format("shared memory: {} on a machine of {} need {} in /dev/shm, {}",
                  ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks),
                  room->cores == 1 ? "1 core" : fmt::format("{} cores", room->cores),
                  sched::human_bytes(needed), shm_room_and_cure(*room)));
}

bool is_shm_full(const std::optional<ShmRoom>& room) {
  return room && room->all_bytes != 0 && room->free_bytes < kSegmentBytes;
}

std::string shm_room_and_cure(const ShmRoom& room) {
  return fmt::format(
      "{} of its {} are free; remove what nobody uses there (`ls -l /dev/shm`), make it larger "
      "(`mount -o remount,size=1G /dev/shm`, `docker run --shm-size=1g`), or take --transport tcp",
      sched::human_bytes(room.free_bytes), sched::human_bytes(room.all_bytes));
}

}  // namespace slackline::hw
