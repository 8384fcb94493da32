#include "hw/call/code.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.h"

namespace slackline::hw {
namespace {

struct Search {
  std::uintptr_t anchor;
  std::optional<sched::Digest> found;
};

sched::Digest digest_of(const dl_phdr_info& object) {
  constexpr std::size_t kPiece = std::size_t{1} << 15;
  sched::DigestWriter writer;
  for (int h = 0; h < object.dlpi_phnum; ++h) {
    const ElfW(Phdr)& header = object.dlpi_phdr[h];
    // Code alone has no addresses in it that the loader has set.
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || (header.p_flags & PF_W) != 0) {
      continue;
    }
    writer.add_u64(header.p_vaddr);
    writer.add_u64(header.p_memsz);
    const auto* code = reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr);
    for (std::size_t at = 0; at < header.p_filesz; at += kPiece) {
      writer.add_bytes(code + at, std::min<std::size_t>(kPiece, header.p_filesz - at));
    }
  }
  return writer.finish();
}

int look_at(dl_phdr_info* object, std::size_t /*bytes*/, void* data) {
  auto* const search = static_cast<Search*>(data);
  for (int h = 0; h < object->dlpi_phnum; ++h) {
    const ElfW(Phdr)& header = object->dlpi_phdr[h];
    if (header.p_type != PT_LOAD || object->dlpi_addr + header.p_vaddr != search->anchor) continue;
    search->found = digest_of(*object);
    return 1;
  }
  return 0;
}

}  // namespace

sched::Digest code_digest(const char* anchor) {
  Search search{reinterpret_cast<std::uintptr_t>(anchor), {}};
  dl_iterate_phdr(look_at, &search);
  if (!search.found) {
    throw EnvironmentError("calls: the program's own code cannot be found in its memory");
  }
  return *search.found;
}

}  // namespace slackline::hw
