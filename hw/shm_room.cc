#include "hw/shm_room.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/units.h"
#include "hw/descriptor.h"

namespace slackline::hw {
namespace {

// Of libfabric 1.17 with its usual queues of 1024. When an endpoint is opened, it wants so much to
// be free for each core of the machine; and this it fills at once. A file system that is full while
// a segment is filled ends the process by SIGBUS.
constexpr std::uint64_t kSegmentBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kFilledBytes = std::uint64_t{4} << 20;
constexpr const char* kFolder = "/dev/shm";

// Why no file can be made there; 0 if one can, or the file system knows none without a name. What
// only more room cures is said by who knows how much there is.
int error_of_new_file() {
  const Descriptor file(open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return 0;
  switch (errno) {
    case ENOENT:
    case ENOTDIR:
    case EROFS:
    case EACCES:
    case EPERM:
      return errno;
    default:
      return 0;
  }
}

}  // namespace

std::optional<ShmRoom> shm_room() {
  ShmRoom room;
  room.refused = error_of_new_file();
  struct statvfs status = {};
  if (statvfs(kFolder, &status) != 0) return room.refused == 0 ? std::nullopt : std::optional(room);
  room.free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
  room.all_bytes = std::uint64_t{status.f_blocks} * status.f_frsize;
  room.cores = static_cast<std::uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  if (status.f_files != 0) room.free_files = status.f_favail;
  return room;
}

std::uint64_t shm_bytes_needed(std::uint32_t ranks, std::uint32_t cores) {
  // The last one finds what the others have filled.
  return kFilledBytes * (std::max(ranks, 1u) - 1) + std::max(kSegmentBytes * cores, kSegmentBytes);
}

void require_shm_usable(const std::optional<ShmRoom>& room) {
  if (!room || room->refused == 0) return;
  throw EnvironmentError(fmt::format(
      "shared memory: no file can be made in /dev/shm: {}; expected a tmpfs there that this user "
      "may write (`mount -o remount,rw /dev/shm`, `mount -t tmpfs -o mode=1777 tmpfs /dev/shm`), "
      "or take --transport tcp",
      strerror(room->refused)));
}

void require_shm_room(std::uint32_t ranks, const std::optional<ShmRoom>& room) {
  require_shm_usable(room);
  if (room && room->free_files && *room->free_files < ranks) {
    throw EnvironmentError(fmt::format(
        "shared memory: {} need a file each in /dev/shm, and {} more may be made; remove what "
        "nobody uses there, allow more (`mount -o remount,nr_inodes=1k /dev/shm`), or take "
        "--transport tcp",
        ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks), *room->free_files));
  }
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
