#include "hw/call/service_words.h"

#include <span>
#include <string_view>

#include "base/shown_text.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

using Kind = ServiceRequest::Kind;

// More than any machine has; keeps sums from overflowing.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
constexpr std::size_t kMostError = 2048;

std::uint64_t granted_by(const ServiceRequest& request) {
  if (request.kind == Kind::kChunks) return request.count;
  return request.kind == Kind::kAllocate || request.kind == Kind::kAllocateInNode ? 1 : 0;
}

}  // namespace

std::vector<std::byte> encode(const ServiceRequest& request) {
  ByteWriter writer;
  writer.add(request.kind);
  writer.add(request.bytes);
  writer.add(request.count);
  writer.add(request.node);
  return writer.take();
}

ServiceRequest read_service_request(ByteReader& reader) {
  ServiceRequest request;
  request.kind = reader.choice(Kind::kLeave);
  request.bytes = reader.get<std::uint64_t>();
  request.count = reader.get<std::uint32_t>();
  request.node = reader.get<std::int32_t>();
  ByteReader::require(request.bytes <= kMostBytes, "more bytes than any machine has");
  ByteReader::require(
      request.kind != Kind::kChunks || (request.count >= 1 && request.count <= kMostChunksAtOnce),
      "a number of chunks that is none");
  ByteReader::require(request.node >= -1, "a NUMA node that is none");
  return request;
}

std::vector<std::byte> encode(const ServiceAnswer& answer) {
  ByteWriter writer;
  writer.add_text(std::string_view(answer.error).substr(0, kMostError));
  writer.add(answer.id);
  writer.add_list(std::span<const RemoteMemory>(answer.memory));
  writer.add(answer.pages.kind);
  writer.add(answer.pages.page_bytes);
  writer.add(answer.pages.bytes);
  writer.add(answer.pages.node);
  writer.add_list(std::span<const std::int32_t>(answer.nodes));
  return writer.take();
}

ServiceAnswer read_service_answer(ByteReader& reader, const ServiceRequest& request) {
  ServiceAnswer answer;
  answer.error = sched::shown(reader.text(kMostError));
  answer.id = reader.get<std::uint32_t>();
  answer.memory = reader.list<RemoteMemory>(kMostChunksAtOnce);
  answer.pages.kind = reader.choice(PageKind::kSetAside);
  answer.pages.page_bytes = reader.get<std::uint64_t>();
  answer.pages.bytes = reader.get<std::uint64_t>();
  answer.pages.node = reader.get<std::int32_t>();
  answer.nodes = reader.list<std::int32_t>(kMostNodes);
  if (answer.error.empty()) {
    ByteReader::require(answer.memory.size() == granted_by(request),
                        "another number of grants than was asked for");
  }
  return answer;
}

}  // namespace slackline::hw
