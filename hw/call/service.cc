#include "hw/call/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

// How long the thread sleeps: after something happened, and at most.
constexpr std::chrono::microseconds kShortNap{50};
constexpr std::chrono::microseconds kLongNap{250};
// More than any machine has; keeps sums from overflowing.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

}  // namespace

CallService::CallService(Mesh& mesh, CallPort& port, std::uint32_t topic)
    : mesh_(mesh), port_(port), topic_(topic), chunks_(mesh.ranks()) {}

CallService::~CallService() { stop(); }

void CallService::start() {
  thread_ = std::thread([this] { run(); });
}

void CallService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CallService::run() {
  std::chrono::microseconds nap = kShortNap;
  while (true) {
    try {
      bool moved = hear();
      while (port_.help()) moved = true;
      nap = moved ? kShortNap : std::min(2 * nap, kLongNap);
    } catch (...) {
      // The rank's own thread tells what it was: a rank that is lost, as a rule.
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
      return;
    }
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, nap, [&] { return stopping_; })) return;
  }
}

void CallService::require_running() {
  if (!failed_.load(std::memory_order_acquire)) return;
  port_.require_all_stay();
  const std::lock_guard lock(mutex_);
  std::rethrow_exception(failure_);
}

bool CallService::hear() {
  bool heard = false;
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank == mesh_.rank()) continue;
    while (const std::optional<Bytes> bytes = mesh_.try_receive(rank, topic_)) {
      heard = true;
      const auto request = ByteReader(*bytes).get<ServiceRequest>();
      if (request.kind == ServiceRequest::Kind::kLeave) {
        port_.depart(rank);
        continue;
      }
      const ServiceAnswer answer = serve(rank, request);
      ByteWriter writer;
      writer.add_text(answer.error);
      writer.add(answer.id);
      writer.add_list(std::span<const RemoteMemory>(answer.memory));
      mesh_.send(rank, topic_ + 1, writer.take());
    }
  }
  return heard;
}

CallService::Granted CallService::grant(std::uint64_t bytes) {
  if (bytes == 0 || bytes > kMostBytes) throw InputError("expected 1 to 2^46 bytes");
  return port_.with_transport([&](Transport& transport) {
    Granted granted{Pages(bytes, transport.numa_node()), {}};
    granted.registered = transport.register_memory(granted.pages.bytes());
    return granted;
  });
}

ServiceAnswer CallService::serve(std::uint32_t from, const ServiceRequest& request) {
  ServiceAnswer answer;
  try {
    if (request.kind == ServiceRequest::Kind::kFree) {
      free(request.count);
      return answer;
    }
    const std::uint32_t count = request.kind == ServiceRequest::Kind::kChunks ? request.count : 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      Granted granted = grant(request.bytes);
      answer.memory.push_back(granted.registered.remote);
      const std::lock_guard lock(mutex_);
      if (request.kind == ServiceRequest::Kind::kChunks) {
        chunks_[from].push_back(std::move(granted));
        if (i == 0) answer.id = static_cast<std::uint32_t>(chunks_[from].size() - 1);
      } else {
        const auto unused = std::ranges::find_if(memories_, [](const auto& one) { return !one; });
        answer.id = static_cast<std::uint32_t>(unused - memories_.begin());
        if (unused == memories_.end()) {
          memories_.emplace_back(std::move(granted));
        } else {
          *unused = std::move(granted);
        }
      }
    }
  } catch (const std::exception& error) {
    answer.error = error.what();
  }
  return answer;
}

void CallService::free(std::uint32_t id) {
  std::optional<Granted> freed;
  {
    const std::lock_guard lock(mutex_);
    if (id < memories_.size()) freed = std::exchange(memories_[id], std::nullopt);
  }
  if (!freed) throw InputError(fmt::format("there is no memory {}", id));
  port_.with_transport(
      [&](Transport& transport) { transport.unregister_memory(freed->registered); });
}

ServiceAnswer CallService::ask(std::uint32_t rank, const ServiceRequest& request) {
  ServiceAnswer answer;
  if (rank == mesh_.rank()) {
    answer = serve(rank, request);
  } else {
    mesh_.send(rank, topic_, std::as_bytes(std::span(&request, 1)));
    CallRest rest(port_, "a service thread's answer");
    std::optional<Bytes> bytes;
    while (!(bytes = mesh_.try_receive(rank, topic_ + 1))) {
      require_running();
      if (port_.progress()) {
        rest.moved();
      } else {
        rest.rest();
      }
    }
    ByteReader reader(*bytes);
    answer.error = reader.text();
    answer.id = reader.get<std::uint32_t>();
    answer.memory = reader.list<RemoteMemory>();
  }
  if (!answer.error.empty()) {
    throw EnvironmentError(fmt::format("calls: rank {} refused: {}", rank, answer.error));
  }
  return answer;
}

void CallService::leave() {
  const ServiceRequest request{ServiceRequest::Kind::kLeave, 0, 0};
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank != mesh_.rank()) mesh_.send(rank, topic_, std::as_bytes(std::span(&request, 1)));
  }
}

std::span<std::byte> CallService::chunk(std::uint32_t source, std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= chunks_[source].size()) return {};
  return chunks_[source][id].pages.bytes();
}

std::span<std::byte> CallService::memory(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= memories_.size() || !memories_[id]) return {};
  return memories_[id]->pages.bytes();
}

}  // namespace slackline::hw
