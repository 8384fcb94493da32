#include "hw/call/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "hw/bytes.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {
namespace {

// How long the thread sleeps: after something happened, and at most.
constexpr std::chrono::microseconds kShortNap{50};
constexpr std::chrono::microseconds kLongNap{250};
// Words of one rank in a row, so that none keeps others waiting.
constexpr int kTurn = 64;

// What the other rank would take for a stranger's is refused here.
std::vector<std::byte> checked(const ServiceRequest& request) {
  std::vector<std::byte> bytes = encode(request);
  try {
    ByteReader reader(bytes);
    static_cast<void>(read_service_request(reader));
  } catch (const BadBytes& error) {
    throw InputError(fmt::format("calls: a request for memory: {}", error.what()));
  }
  return bytes;
}

RegionOptions region_options(CallPort& port, const CallsOptions& options) {
  RegionOptions regions;
  regions.region_bytes = options.region_bytes;
  regions.near = port.with_transport([](Transport& use) { return use.numa_node(); });
  return regions;
}

}  // namespace

CallService::CallService(Mesh& mesh, CallPort& port, std::uint32_t topic,
                         std::uint32_t first_channel, const CallsOptions& options)
    : mesh_(mesh),
      port_(port),
      topic_(topic),
      budget_(options.most_granted_bytes),
      wire_(port, mesh.rank(), mesh.ranks(), first_channel),
      regions_(std::make_shared<RegionAllocator>(region_options(port, options), budget_,
                                                 [&port](std::span<std::byte> memory) {
                                                   return port.with_transport([&](Transport& use) {
                                                     return use.register_memory(memory);
                                                   });
                                                 })),
      chunks_(mesh.ranks()) {
  port.set_service([this](const Completion& completion) {
    wire_.complete(completion);
    if (wire_.has_request()) stopped_.notify_all();
  });
}

CallService::~CallService() { stop(); }

void CallService::start() {
  wire_.start();
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
      bool moved = false;
      while (port_.help()) moved = true;
      if (wire_.tend()) moved = true;
      if (hear()) moved = true;
      if (hear_leaving()) moved = true;
      nap = moved ? kShortNap : std::min(2 * nap, kLongNap);
    } catch (...) {
      // The rank's own thread tells what it was: a rank that is lost, as a rule.
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
      return;
    }
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, nap, [&] { return stopping_ || wire_.has_request(); });
    if (stopping_) return;
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
  while (const std::optional<ServiceWire::Message> message = wire_.take_request()) {
    heard = true;
    const ServiceRequest request =
        read_from(message->from, "request for memory", message->bytes, read_service_request);
    wire_.send(message->from, ServiceWire::Kind::kAnswer, encode(serve(message->from, request)));
  }
  return heard;
}

// Over the mesh, which lives longer than the transport. Who could not even say so is gone. That is
// asked before its words are looked for: they have all come by then.
bool CallService::hear_leaving() {
  bool heard = false;
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank == mesh_.rank()) continue;
    const bool gone = mesh_.is_gone(rank);
    for (int i = 0; i < kTurn; ++i) {
      const std::optional<Bytes> bytes = mesh_.try_receive(rank, topic_);
      if (!bytes) break;
      heard = true;
      const ServiceRequest request =
          read_from(rank, "request for memory", *bytes, read_service_request);
      if (request.kind != ServiceRequest::Kind::kLeave) {
        throw EnvironmentError(
            fmt::format("rank {} asks for memory over the mesh; expected a request over the "
                        "transport of calls",
                        rank));
      }
      port_.depart(rank);
    }
    if (gone) port_.depart(rank);
  }
  return heard;
}

void CallService::throw_over_budget(std::uint64_t bytes) const {
  throw EnvironmentError(
      fmt::format("{} more, and other ranks have {} of this one's memory; expected {} together, "
                  "CallsOptions::most_granted_bytes",
                  sched::human_bytes(bytes), sched::human_bytes(budget_.taken()),
                  sched::human_bytes(budget_.most())));
}

// What a rank has of itself does not count.
CallService::Granted CallService::grant(std::uint32_t to, std::uint64_t bytes) {
  if (bytes == 0) throw InputError("expected 1 byte or more");
  const bool counts = to != mesh_.rank();
  if (counts && !budget_.take(bytes)) throw_over_budget(bytes);
  try {
    return port_.with_transport([&](Transport& transport) {
      Granted made{Pages(bytes, transport.numa_node()), nullptr, {}, to};
      made.registered = transport.register_memory(made.pages.bytes());
      return made;
    });
  } catch (...) {
    if (counts) budget_.give_back(bytes);
    throw;
  }
}

CallService::Granted CallService::grant_in_node(std::uint32_t to, std::uint64_t bytes, int node) {
  if (bytes == 0) throw InputError("expected 1 byte or more");
  std::optional<RegionBlock> block = regions_->allocate(bytes, node);
  if (!block) throw_over_budget(bytes);
  Granted granted;
  granted.registered = block->registered;
  granted.to = to;
  // Whoever frees it: it goes back when nobody uses it any more.
  granted.block = std::shared_ptr<const RegionBlock>(new RegionBlock(*block),
                                                     [regions = regions_](const RegionBlock* used) {
                                                       regions->free(*used);
                                                       delete used;
                                                     });
  return granted;
}

// Before anybody has heard of it, or when nobody may use it any more.
void CallService::give_up(const Granted& granted) {
  if (granted.block) return;
  port_.with_transport(
      [&](Transport& transport) { transport.unregister_memory(granted.registered); });
  if (granted.to != mesh_.rank()) budget_.give_back(granted.pages.bytes().size());
}

// All or none: the source counts on the first to have the id 0.
void CallService::grant_chunks(std::uint32_t to, const ServiceRequest& request,
                               ServiceAnswer& answer) {
  if (request.count > kMostChunks - chunks_[to].size()) {
    throw InputError(fmt::format("expected {} chunks at most", kMostChunks));
  }
  std::vector<Granted> made;
  try {
    while (made.size() < request.count) made.push_back(grant(to, request.bytes));
  } catch (...) {
    for (const Granted& granted : made) give_up(granted);
    throw;
  }
  const std::lock_guard lock(mutex_);
  answer.id = static_cast<std::uint32_t>(chunks_[to].size());
  for (Granted& granted : made) {
    answer.memory.push_back(granted.registered.remote);
    chunks_[to].push_back(std::move(granted));
  }
}

void CallService::grant_memory(std::uint32_t to, const ServiceRequest& request,
                               ServiceAnswer& answer) {
  const bool in_node = request.kind == ServiceRequest::Kind::kAllocateInNode;
  auto kept = std::make_shared<Granted>(in_node ? grant_in_node(to, request.bytes, request.node)
                                                : grant(to, request.bytes));
  answer.memory.push_back(kept->registered.remote);
  if (kept->block) answer.pages = kept->block->pages;
  const std::lock_guard lock(mutex_);
  const auto unused = std::ranges::find_if(memories_, [](const auto& one) { return !one; });
  answer.id = static_cast<std::uint32_t>(unused - memories_.begin());
  if (unused == memories_.end()) {
    memories_.push_back(std::move(kept));
  } else {
    *unused = std::move(kept);
  }
}

ServiceAnswer CallService::serve(std::uint32_t from, const ServiceRequest& request) {
  ServiceAnswer answer;
  try {
    switch (request.kind) {
      case ServiceRequest::Kind::kChunks:
        grant_chunks(from, request, answer);
        break;
      case ServiceRequest::Kind::kAllocate:
      case ServiceRequest::Kind::kAllocateInNode:
        grant_memory(from, request, answer);
        break;
      case ServiceRequest::Kind::kFree:
        free(request.count);
        break;
      case ServiceRequest::Kind::kNodes: {
        const std::vector<int> nodes = NumaNodes::of_this_machine().numbers();
        if (nodes.size() > kMostNodes) throw InputError("more NUMA nodes than an answer tells of");
        answer.nodes.assign(nodes.begin(), nodes.end());
        break;
      }
      case ServiceRequest::Kind::kLeave:
        throw InputError("no request for memory");
    }
  } catch (const std::exception& error) {
    answer = {};
    answer.error = error.what();
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
  give_up(*freed);
}

ServiceAnswer CallService::ask(std::uint32_t rank, const ServiceRequest& request) {
  ServiceAnswer answer;
  if (rank == mesh_.rank()) {
    answer = serve(rank, request);
  } else {
    wire_.send(rank, ServiceWire::Kind::kRequest, checked(request));
    CallRest rest(port_, "a service thread's answer");
    std::optional<Bytes> bytes;
    while (!(bytes = wire_.take_answer(rank))) {
      require_running();
      const bool posted = wire_.tend();
      if (port_.progress() || posted) {
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
  return chunks_[source][id].bytes();
}

std::span<std::byte> CallService::memory(std::uint32_t id) const { return held(id).bytes; }

HeldMemory CallService::held(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= memories_.size() || !memories_[id]) return {};
  const std::shared_ptr<Granted>& granted = memories_[id];
  return {granted, granted->bytes(), granted->registered.handle};
}

}  // namespace slackline::hw
