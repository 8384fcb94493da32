#include "hw/call/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

// How long the thread sleeps: after something happened, and at most.
constexpr std::chrono::microseconds kShortNap{50};
constexpr std::chrono::microseconds kLongNap{250};
// Requests of one rank in a row, so that none keeps others waiting.
constexpr int kTurn = 64;

}  // namespace

CallService::CallService(Mesh& mesh, CallPort& port, std::uint32_t topic, std::uint64_t most_bytes)
    : mesh_(mesh), port_(port), topic_(topic), most_bytes_(most_bytes), chunks_(mesh.ranks()) {}

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
    for (int i = 0; i < kTurn; ++i) {
      const std::optional<Bytes> bytes = mesh_.try_receive(rank, topic_);
      if (!bytes) break;
      heard = true;
      const ServiceRequest request =
          read_from(rank, "request for memory", *bytes, read_service_request);
      if (request.kind == ServiceRequest::Kind::kLeave) {
        port_.depart(rank);
        continue;
      }
      mesh_.send(rank, topic_ + 1, encode(serve(rank, request)));
    }
  }
  return heard;
}

CallService::Granted CallService::grant(std::uint32_t to, std::uint64_t bytes) {
  if (bytes == 0) throw InputError("expected 1 byte or more");
  const std::uint64_t others = others_bytes_;
  if (to != mesh_.rank() && bytes > most_bytes_ - others) {
    throw EnvironmentError(fmt::format(
        "{} more, and other ranks have {} of this one's memory; expected {} together, "
        "CallsOptions::most_granted_bytes",
        sched::human_bytes(bytes), sched::human_bytes(others), sched::human_bytes(most_bytes_)));
  }
  Granted granted = port_.with_transport([&](Transport& transport) {
    Granted made{Pages(bytes, transport.numa_node()), {}, to};
    made.registered = transport.register_memory(made.pages.bytes());
    return made;
  });
  if (to != mesh_.rank()) others_bytes_ += bytes;
  return granted;
}

ServiceAnswer CallService::serve(std::uint32_t from, const ServiceRequest& request) {
  ServiceAnswer answer;
  try {
    if (request.kind == ServiceRequest::Kind::kFree) {
      free(request.count);
      return answer;
    }
    const bool chunks = request.kind == ServiceRequest::Kind::kChunks;
    const std::uint32_t count = chunks ? request.count : 1;
    if (chunks && count > kMostChunks - chunks_[from].size()) {
      throw InputError(fmt::format("expected {} chunks at most", kMostChunks));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Granted granted = grant(from, request.bytes);
      answer.memory.push_back(granted.registered.remote);
      const std::lock_guard lock(mutex_);
      if (chunks) {
        chunks_[from].push_back(std::move(granted));
        if (i == 0) answer.id = static_cast<std::uint32_t>(chunks_[from].size() - 1);
      } else {
        const auto unused = std::ranges::find_if(memories_, [](const auto& one) { return !one; });
        answer.id = static_cast<std::uint32_t>(unused - memories_.begin());
        auto kept = std::make_shared<Granted>(std::move(granted));
        if (unused == memories_.end()) {
          memories_.push_back(std::move(kept));
        } else {
          *unused = std::move(kept);
        }
      }
    }
  } catch (const std::exception& error) {
    answer.error = error.what();
    answer.memory.clear();
  }
  return answer;
}

void CallService::free(std::uint32_t id) {
  std::shared_ptr<Granted> freed;
  {
    const std::lock_guard lock(mutex_);
    if (id < memories_.size()) freed = std::exchange(memories_[id], nullptr);
  }
  if (!freed) throw InputError(fmt::format("there is no memory {}", id));
  port_.with_transport(
      [&](Transport& transport) { transport.unregister_memory(freed->registered); });
  if (freed->to != mesh_.rank()) others_bytes_ -= freed->pages.bytes().size();
}

ServiceAnswer CallService::ask(std::uint32_t rank, const ServiceRequest& request) {
  ServiceAnswer answer;
  if (rank == mesh_.rank()) {
    answer = serve(rank, request);
  } else {
    mesh_.send(rank, topic_, encode(request));
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
    answer = read_from(rank, "answer to a request for memory", *bytes,
                       [&](ByteReader& reader) { return read_service_answer(reader, request); });
  }
  if (!answer.error.empty()) {
    throw EnvironmentError(fmt::format("calls: rank {} refused: {}", rank, answer.error));
  }
  return answer;
}

void CallService::leave() {
  const ServiceRequest request{ServiceRequest::Kind::kLeave, 0, 0};
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank != mesh_.rank()) mesh_.send(rank, topic_, encode(request));
  }
}

std::span<std::byte> CallService::chunk(std::uint32_t source, std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= chunks_[source].size()) return {};
  return chunks_[source][id].pages.bytes();
}

std::span<std::byte> CallService::memory(std::uint32_t id) const {
  const std::shared_ptr<const Pages> pages = held(id);
  return pages ? pages->bytes() : std::span<std::byte>();
}

std::shared_ptr<const Pages> CallService::held(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= memories_.size() || !memories_[id]) return nullptr;
  return {memories_[id], &memories_[id]->pages};
}

}  // namespace slackline::hw
