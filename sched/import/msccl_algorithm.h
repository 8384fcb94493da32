// An MSCCL algorithm as it stands in its file, without its meaning.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace slackline::sched {

enum class MscclAction : std::uint8_t {
  kSend,
  kRecv,
  kRcs,
  kRrs,
  kRrc,
  kRrcs,
  kCopy,
  kReduce,
  kNop
};

constexpr bool receives(MscclAction action) {
  return action >= MscclAction::kRecv && action <= MscclAction::kRrcs;
}
constexpr bool sends(MscclAction action) {
  return action == MscclAction::kSend || action == MscclAction::kRcs ||
         action == MscclAction::kRrs || action == MscclAction::kRrcs;
}
/// What it says as source is memory of its own GPU.
constexpr bool reads_own(MscclAction action) {
  return action == MscclAction::kSend ||
         (action >= MscclAction::kRrs && action <= MscclAction::kReduce);
}
constexpr bool writes_own(MscclAction action) {
  return action != MscclAction::kSend && action != MscclAction::kRrs && action != MscclAction::kNop;
}

/// Chunks of a buffer: 'i', 'o' or 's'.
struct MscclChunks {
  char buffer = 'i';
  std::uint32_t offset = 0;
};

struct MscclInstruction {
  std::uint32_t line = 0;
  MscclAction action = MscclAction::kNop;
  bool tells = false;  // hasdep
  std::uint32_t count = 0;
  MscclChunks source;
  MscclChunks target;
  std::int32_t block = -1;  // depid: the thread block that it waits for, or none
  std::int32_t step = -1;   // deps
};

struct MscclThreadBlock {
  std::uint32_t line = 0;
  std::int32_t send = -1;
  std::int32_t recv = -1;
  std::uint32_t channel = 0;
  std::vector<MscclInstruction> steps;
};

struct MscclProcessor {
  std::uint32_t line = 0;
  std::uint32_t input = 0;  // chunks
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;
  std::vector<MscclThreadBlock> blocks;
};

struct MscclAlgorithm {
  std::uint32_t line = 0;
  std::string_view name;
  std::string_view collective;
  std::uint32_t chunks = 0;  // nchunksperloop
  bool in_place = false;     // and in place only
  std::vector<MscclProcessor> gpus;
};

/// Texts are views of `text`. Throws InputError as read_msccl() says for what shows in one element,
/// or in the order of them.
MscclAlgorithm parse_msccl(std::string_view text, std::string_view file);

}  // namespace slackline::sched
