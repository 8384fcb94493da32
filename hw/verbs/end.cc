#include "hw/verbs/end.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "hw/verbs/queue_depth.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kMostSegments = 16;
constexpr std::uint32_t kMostInline = 256;  // bytes
constexpr std::size_t kRun = 16;            // requests given to the device at once

// A receive may be posted as late as it likes: for ever, and again after 0.08 ms.
constexpr std::uint8_t kNotReadyRetries = 7;
constexpr std::uint8_t kNotReadyTimer = 6;

std::uint32_t depth_of(const ChannelEnd& end, std::uint32_t bound, const VerbsDevice& device) {
  return std::max(1u, std::min({queue_depth(end.initiates, end.requests, bound),
                                device.max_requests(), device.max_completions()}));
}

ibv_wr_opcode opcode_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kSend:
      return IBV_WR_SEND_WITH_IMM;
    case RequestKind::kWrite:
      return IBV_WR_RDMA_WRITE;
    case RequestKind::kWriteImm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case RequestKind::kRead:
      return IBV_WR_RDMA_READ;
    case RequestKind::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case RequestKind::kCompareSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case RequestKind::kFetchAnd:
    case RequestKind::kFetchOr:
    case RequestKind::kFetchXor:
    case RequestKind::kRecv:
      break;
  }
  throw InternalError("a request that verbs does not have where a channel starts");
}

bool carries_bytes(RequestKind kind) {
  return kind == RequestKind::kSend || kind == RequestKind::kWrite ||
         kind == RequestKind::kWriteImm;
}

std::uint64_t bytes_of(const WorkRequest& request) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : request.local) bytes += segment.bytes;
  return bytes;
}

// Fills in entries; answers how many. A segment without bytes would mean 2^31 of them to some.
int gather(const WorkRequest& request, const VerbsDevice& device, ibv_sge* entries) {
  int count = 0;
  for (const Segment& segment : request.local) {
    if (segment.bytes == 0) continue;
    entries[count++] = {.addr = reinterpret_cast<std::uint64_t>(segment.data),
                        .length = static_cast<std::uint32_t>(segment.bytes),
                        .lkey = device.local_key(segment.handle)};
  }
  return count;
}

}  // namespace

VerbsEnd::VerbsEnd(const ChannelEnd& end, std::uint32_t serial, std::uint32_t first_packet,
                   std::uint32_t bound, VerbsDevice& device, VerbsQueues& queues)
    : end_(end),
      serial_(serial),
      first_packet_(first_packet & 0xffffff),
      device_(device),
      queues_(queues),
      depth_(depth_of(end, bound, device)),
      queue_(queues.reserve(depth_)),
      max_segments_(max_segments(device)),
      // Half of the room, so that the other half is in use while a completion is on its way.
      signalling_(std::max(1u, depth_ / 2)),
      slots_(depth_) {
  create();
}

std::uint32_t VerbsEnd::max_segments(const VerbsDevice& device) {
  return std::min(kMostSegments, device.max_segments());
}

VerbsEnd::~VerbsEnd() {
  pair_.reset();
  queues_.release(queue_, depth_);
}

void VerbsEnd::create() {
  // A device may have less room for bytes in a request than is asked for, and says so by failing.
  for (std::uint32_t inline_bytes = kMostInline; !pair_; inline_bytes /= 2) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = queue_;
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap.max_send_wr = end_.initiates ? depth_ : 1;
    attributes.cap.max_recv_wr = end_.initiates ? 1 : depth_;
    attributes.cap.max_send_sge = attributes.cap.max_recv_sge = max_segments_;
    attributes.cap.max_inline_data = end_.initiates ? inline_bytes : 0;
    pair_.reset(ibv_create_qp(device_.domain(), &attributes));
    if (!pair_ && (errno != EINVAL || inline_bytes == 0)) {
      device_.throw_failed("creating a queue pair", errno);
    }
    max_inline_ = std::min(kMostInline, attributes.cap.max_inline_data);
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port();
  attributes.pkey_index = device_.path().partition_index;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (device_.has_atomics()) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
         "its first state");
}

VerbsEndAddress VerbsEnd::address() const {
  return {end_.channel, end_.initiates ? 1u : 0u, queue_pair(), first_packet_};
}

std::uint32_t VerbsEnd::queue_pair() const { return pair_->qp_num; }

void VerbsEnd::connect(const VerbsPort& port, const VerbsEndAddress& other) {
  become_reachable(port, other);
  become_able_to_send(port);
}

void VerbsEnd::become_reachable(const VerbsPort& port, const VerbsEndAddress& other) {
  const VerbsPort& own = device_.address();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  const std::uint8_t mtu = std::min(own.mtu, port.mtu);
  device_.set_agreed(mtu);
  attributes.path_mtu = static_cast<ibv_mtu>(mtu);
  attributes.dest_qp_num = other.queue_pair;
  attributes.rq_psn = other.first_packet;
  attributes.max_dest_rd_atomic = std::min(own.reads_in, port.reads_out);
  attributes.min_rnr_timer = kNotReadyTimer;
  attributes.ah_attr.port_num = device_.port();
  attributes.ah_attr.dlid = port.lid;
  attributes.ah_attr.sl = device_.path().service_level;
  // InfiniBand needs the global header only to leave its subnet, the GID's first half.
  if (own.ethernet != 0 || port.lid == 0 ||
      !std::equal(own.gid.begin(), own.gid.begin() + 8, port.gid.begin())) {
    attributes.ah_attr.is_global = 1;
    std::memcpy(attributes.ah_attr.grh.dgid.raw, port.gid.data(), port.gid.size());
    attributes.ah_attr.grh.sgid_index = device_.gid_index();
    attributes.ah_attr.grh.hop_limit = 64;
    attributes.ah_attr.grh.traffic_class = device_.path().traffic_class;
  }
  modify(attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         fmt::format("where it may receive ({}, from {})", hw::describe(port), hw::describe(own)));
}

void VerbsEnd::become_able_to_send(const VerbsPort& port) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = device_.path().ack_timeout;
  attributes.retry_cnt = device_.path().retries;
  attributes.rnr_retry = kNotReadyRetries;
  attributes.max_rd_atomic = std::min(device_.address().reads_out, port.reads_in);
  modify(attributes,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "where it may send");
}

void VerbsEnd::modify(ibv_qp_attr& attributes, int mask, const std::string& to) {
  const int error = ibv_modify_qp(pair_.get(), &attributes, mask);
  if (error == 0) return;
  device_.throw_failed(fmt::format("taking the queue pair of channel {} with rank {} to {}",
                                   end_.channel, end_.peer, to),
                       error);
}

std::size_t VerbsEnd::post(std::span<const WorkRequest> requests) {
  if (failed()) throw_failure("");
  const bool held_before = !held_.empty();
  std::size_t given = held_before ? 0 : std::min(room(), requests.size());
  for (std::size_t done = 0; done < given; done += kRun) {
    const auto run = requests.subspan(done, std::min(kRun, given - done));
    end_.initiates ? post_sends(run) : post_receives(run);
  }
  if (end_.initiates) return given;
  for (const WorkRequest& request : requests.subspan(given)) {
    require_sound(request, bytes_of(request));
    held_.push_back({request, {request.local.begin(), request.local.end()}});
  }
  return requests.size();
}

void VerbsEnd::post_held() {
  std::array<WorkRequest, kRun> batch;
  while (!held_.empty() && room() != 0) {
    const std::size_t count = std::min({kRun, room(), held_.size()});
    for (std::size_t i = 0; i < count; ++i) {
      batch[i] = held_[i].request;
      batch[i].local = held_[i].segments;
    }
    post_receives({batch.data(), count});
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

std::uint64_t VerbsEnd::work_id(std::uint64_t request) const {
  return std::uint64_t{serial_} << 32 | static_cast<std::uint32_t>(request);
}

std::uint32_t VerbsEnd::serial_of(const ibv_wc& completion) {
  return static_cast<std::uint32_t>(completion.wr_id >> 32);
}

void VerbsEnd::require_sound(const WorkRequest& request, std::uint64_t bytes) const {
  if (bytes > device_.max_message()) {
    throw InputError(
        fmt::format("channel {} with rank {}: a message of {} bytes; {} takes {} at most: choose "
                    "smaller blocks",
                    end_.channel, end_.peer, bytes, device_.name(), device_.max_message()));
  }
  if (request.local.size() > max_segments_) throw InternalError("too many segments");
  if (!is_atomic(request.kind)) return;
  if (request.local.size() != 1 || bytes != 8) {
    throw InternalError("an atomic's result has 8 bytes");
  }
  if (request.remote.address % 8 != 0) {
    throw InputError(
        fmt::format("channel {} with rank {}: an atomic at {:#x} there; expected a multiple of 8",
                    end_.channel, end_.peer, request.remote.address));
  }
}

void VerbsEnd::post_sends(std::span<const WorkRequest> requests) {
  std::array<ibv_send_wr, kRun> work;
  std::array<ibv_sge, kRun * kMostSegments> entries;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const WorkRequest& request = requests[i];
    const std::uint64_t bytes = bytes_of(request);
    require_sound(request, bytes);
    ibv_send_wr& wr = work[i];
    wr = {};
    wr.wr_id = work_id(next_);
    wr.next = i + 1 < requests.size() ? &work[i + 1] : nullptr;
    wr.sg_list = &entries[i * kMostSegments];
    wr.num_sge = gather(request, device_, wr.sg_list);
    wr.opcode = opcode_of(request.kind);
    wr.imm_data = htonl(request.immediate);
    if (is_atomic(request.kind)) {
      const bool adds = request.kind == RequestKind::kFetchAdd;
      wr.wr.atomic.remote_addr = request.remote.address;
      wr.wr.atomic.rkey = static_cast<std::uint32_t>(request.remote.key);
      wr.wr.atomic.compare_add = adds ? request.operand : request.compare;
      wr.wr.atomic.swap = request.operand;
    } else {
      wr.wr.rdma.remote_addr = request.remote.address;
      wr.wr.rdma.rkey = static_cast<std::uint32_t>(request.remote.key);
    }
    using Want = SelectiveSignalling::Want;
    const auto decision = signalling_.begin(request.signalled ? Want::kCompletion : Want::kNothing);
    if (decision.signalled) wr.send_flags |= IBV_SEND_SIGNALED;
    if (carries_bytes(request.kind) && bytes != 0 && bytes <= max_inline_) {
      wr.send_flags |= IBV_SEND_INLINE;
    }
    slot(next_++) = {request.tag, decision.flush, request.kind, request.signalled};
  }
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(pair_.get(), work.data(), &refused); error != 0) {
    device_.throw_failed(fmt::format("posting on channel {}", end_.channel), error);
  }
}

void VerbsEnd::post_receives(std::span<const WorkRequest> requests) {
  std::array<ibv_recv_wr, kRun> work;
  std::array<ibv_sge, kRun * kMostSegments> entries;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const WorkRequest& request = requests[i];
    require_sound(request, bytes_of(request));
    ibv_recv_wr& wr = work[i];
    wr = {};
    wr.wr_id = work_id(next_);
    wr.next = i + 1 < requests.size() ? &work[i + 1] : nullptr;
    wr.sg_list = &entries[i * kMostSegments];
    wr.num_sge = gather(request, device_, wr.sg_list);
    slot(next_++) = {request.tag, 0, RequestKind::kRecv, request.signalled};
  }
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv(pair_.get(), work.data(), &refused); error != 0) {
    device_.throw_failed(fmt::format("posting a receive on channel {}", end_.channel), error);
  }
}

void VerbsEnd::complete(const ibv_wc& completion, std::deque<Completion>& ready) {
  // Ids carry the lowest 32 bits of a request's number; far fewer requests are under way.
  const std::uint64_t request =
      first_ + static_cast<std::uint32_t>(completion.wr_id - (first_ & 0xffffffff));
  if (request >= next_) throw InternalError("verbs: a completion of no request");
  const Slot& done = slot(request);
  first_ = request + 1;
  signalling_.completed(done.flush);
  if (!done.wanted) return;
  Completion told{done.tag, done.kind, 0, 0};
  if (done.kind == RequestKind::kRecv) {
    told.immediate = ntohl(completion.imm_data);
    if (completion.opcode == IBV_WC_RECV) told.bytes = completion.byte_len;
  }
  ready.push_back(told);
}

void VerbsEnd::fail(const ibv_wc& completion) {
  Failure failure = Failure::kRules;
  switch (completion.status) {
    case IBV_WC_WR_FLUSH_ERR:
      failure = Failure::kFlushed;
      break;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
    case IBV_WC_REM_ABORT_ERR:
      failure = Failure::kPeer;
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      failure = Failure::kRefused;
      break;
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
      failure = Failure::kMachine;
      break;
    default:
      break;
  }
  fail(failure, fmt::format("{} (vendor's code {:#x})", ibv_wc_status_str(completion.status),
                            completion.vendor_err));
}

void VerbsEnd::fail(int event) {
  const auto type = static_cast<ibv_event_type>(event);
  fail(type == IBV_EVENT_QP_FATAL ? Failure::kMachine : Failure::kRules, ibv_event_type_str(type));
}

void VerbsEnd::fail(Failure failure, std::string how) {
  if (failure <= failure_) return;
  failure_ = failure;
  how_ = std::move(how);
}

void VerbsEnd::throw_failure(const std::string& outage) const {
  const std::string meanwhile = outage.empty() ? "" : fmt::format("; this rank's port {}", outage);
  if (failure_ == Failure::kPeer) {
    throw PeerLost(end_.peer,
                   fmt::format("rank {} does not answer: verbs, {}, channel {}: {}{}", end_.peer,
                               device_.name(), end_.channel, how_, meanwhile));
  }
  const std::string message = fmt::format("verbs: {}: channel {} with rank {}: {}{}",
                                          device_.name(), end_.channel, end_.peer, how_, meanwhile);
  // What breaks when a port goes down is not always said to be the port's.
  if (!outage.empty()) throw EnvironmentError(message);
  if (failure_ == Failure::kRefused) throw Error(message, InternalError("").exit_code());
  if (failure_ == Failure::kRules) throw InternalError(message);
  throw EnvironmentError(message);
}

}  // namespace slackline::hw
