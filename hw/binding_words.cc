// Where a rank may sit as bytes.
#include "hw/binding.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kMostCores = 1u << 16;

}  // namespace

Bytes encode(const RankSeat& seat) {
  WireWriter writer;
  writer.u32(static_cast<std::uint32_t>(seat.near));
  writer.u32(static_cast<std::uint32_t>(seat.cores.size()));
  for (const std::uint32_t core : seat.cores) writer.u32(core);
  return writer.take();
}

RankSeat decode_rank_seat(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  RankSeat seat;
  const std::uint32_t near = reader.u32();
  seat.near = near < kMostCores ? static_cast<int>(near) : -1;
  const std::uint32_t count = reader.u32();
  if (count == 0 || count > kMostCores) throw WireError("a number of cores that is none");
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t core = reader.u32();
    if (core >= kMostCores || (i > 0 && core <= seat.cores.back())) {
      throw WireError("a core that is none");
    }
    seat.cores.push_back(core);
  }
  if (!reader.at_end()) throw WireError("bytes behind them");
  return seat;
}

}  // namespace slackline::hw
