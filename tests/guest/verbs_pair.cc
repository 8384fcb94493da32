#include "tests/guest/verbs_pair.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/end_with_parent.h"

namespace slackline::guest {
namespace {

constexpr std::chrono::seconds kLongestWait{30};
constexpr std::uint8_t kPort = 1;

[[noreturn]] void fail(const std::string& what, int error = 0) {
  throw std::runtime_error(error == 0 ? what : what + ": " + std::strerror(error));
}

template <class Object>
Object* made(Object* object, const char* call) {
  if (object == nullptr) fail(call, errno);
  return object;
}

void done(int error, const char* call) {
  if (error != 0) fail(call, error);
}

bool holds_ipv4(const ibv_gid& gid) {
  static constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

Verbs<ibv_context> open_first_device() {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  ibv_context* context = count > 0 ? ibv_open_device(devices[0]) : nullptr;
  if (devices != nullptr) ibv_free_device_list(devices);
  if (context == nullptr) fail("no RDMA device can be opened");
  return Verbs<ibv_context>(context);
}

// Runs one side; what it throws becomes a failure of the test.
void run_side(int socket, const std::function<void(Side&)>& body, const char* name) {
  try {
    Side side(socket);
    body(side);
    // Neither takes its memory away while the other may still be at work on it.
    side.meet();
  } catch (const std::exception& error) {
    ADD_FAILURE() << name << " side: " << error.what();
  }
}

}  // namespace

Side::Side(int socket) : socket_(socket), memory_(kMemory) {
  const timeval longest{.tv_sec = kLongestWait.count(), .tv_usec = 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  SideAddress mine;
  open(mine);
  static_assert(std::is_trivially_copyable_v<SideAddress>);
  exchange(&mine, &other_, sizeof mine);
  connect(mine);
  // The other can receive from here on, and not before.
  meet();
}

Side::~Side() { close(socket_); }

void Side::open(SideAddress& mine) {
  context_ = open_first_device();
  done(ibv_query_port(context_.get(), kPort, &port_), "ibv_query_port");
  bool found = false;
  for (int i = 0; i < port_.gid_tbl_len && !found; ++i) {
    if (ibv_query_gid(context_.get(), kPort, i, &mine.gid) != 0 || !holds_ipv4(mine.gid)) continue;
    gid_index_ = static_cast<std::uint8_t>(i);
    found = true;
  }
  if (!found) fail("the port has no GID of an IPv4 address");

  domain_.reset(made(ibv_alloc_pd(context_.get()), "ibv_alloc_pd"));
  region_.reset(made(ibv_reg_mr(domain_.get(), memory_.data(), memory_.size(),
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
                     "ibv_reg_mr"));
  for (Verbs<ibv_cq>* queue : {&requests_, &receives_}) {
    queue->reset(
        made(ibv_create_cq(context_.get(), kQueueDepth, nullptr, nullptr, 0), "ibv_create_cq"));
  }
  ibv_qp_init_attr attributes{};
  attributes.send_cq = requests_.get();
  attributes.recv_cq = receives_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = kQueueDepth;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = kInline;
  queue_pair_.reset(made(ibv_create_qp(domain_.get(), &attributes), "ibv_create_qp"));

  mine.queue_pair = queue_pair_->qp_num;
  // Different on either side, so that one mistaken for the other shows.
  mine.first_packet =
      (queue_pair_->qp_num * 4097 + static_cast<std::uint32_t>(getpid())) & 0xffffff;
  mine.memory = reinterpret_cast<std::uint64_t>(memory_.data());
  mine.remote_key = region_->rkey;
}

void Side::connect(const SideAddress& mine) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = kPort;
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  done(ibv_modify_qp(queue_pair_.get(), &attributes,
                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
       "ibv_modify_qp to INIT");

  attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = port_.active_mtu;
  attributes.dest_qp_num = other_.queue_pair;
  attributes.rq_psn = other_.first_packet;
  attributes.max_dest_rd_atomic = kReadsOutstanding;
  attributes.min_rnr_timer = 12;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.grh.dgid = other_.gid;
  attributes.ah_attr.grh.sgid_index = gid_index_;
  attributes.ah_attr.grh.hop_limit = 64;
  attributes.ah_attr.port_num = kPort;
  done(ibv_modify_qp(queue_pair_.get(), &attributes,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
       "ibv_modify_qp to RTR");

  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = mine.first_packet;
  attributes.timeout = 14;
  // Not 7: Soft-RoCE would repeat for ever, and a side that died would never be noticed.
  attributes.retry_cnt = 6;
  attributes.rnr_retry = 7;
  attributes.max_rd_atomic = kReadsOutstanding;
  done(ibv_modify_qp(queue_pair_.get(), &attributes,
                     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                         IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
       "ibv_modify_qp to RTS");
}

ibv_sge Side::entry(std::size_t offset, std::size_t bytes) const {
  if (offset > memory_.size() || bytes > memory_.size() - offset) fail("entry past the memory");
  return {.addr = reinterpret_cast<std::uint64_t>(memory_.data()) + offset,
          .length = static_cast<std::uint32_t>(bytes),
          .lkey = region_->lkey};
}

void Side::post(ibv_wr_opcode operation, std::uint64_t id, std::size_t offset, std::size_t bytes,
                std::size_t remote_offset, unsigned flags, std::uint32_t immediate) {
  ibv_sge local = entry(offset, bytes);
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &local;
  request.num_sge = 1;
  request.opcode = operation;
  request.send_flags = flags;
  request.imm_data = immediate;
  request.wr.rdma.remote_addr = other_.memory + remote_offset;
  request.wr.rdma.rkey = other_.remote_key;
  ibv_send_wr* refused = nullptr;
  done(ibv_post_send(queue_pair_.get(), &request, &refused), "ibv_post_send");
}

void Side::post_atomic(ibv_wr_opcode operation, std::uint64_t id, std::size_t offset,
                       std::size_t remote_offset, std::uint64_t compare_add, std::uint64_t swap) {
  ibv_sge local = entry(offset, sizeof(std::uint64_t));
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &local;
  request.num_sge = 1;
  request.opcode = operation;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.atomic.remote_addr = other_.memory + remote_offset;
  request.wr.atomic.rkey = other_.remote_key;
  request.wr.atomic.compare_add = compare_add;
  request.wr.atomic.swap = swap;
  ibv_send_wr* refused = nullptr;
  done(ibv_post_send(queue_pair_.get(), &request, &refused), "ibv_post_send of an atomic");
}

void Side::post_receive(std::uint64_t id, std::size_t offset, std::size_t bytes) {
  ibv_sge local = entry(offset, bytes);
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &local;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  done(ibv_post_recv(queue_pair_.get(), &request, &refused), "ibv_post_recv");
}

ibv_wc Side::next(ibv_cq* queue) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  ibv_wc completion{};
  for (;;) {
    const int count = ibv_poll_cq(queue, 1, &completion);
    if (count > 0) return completion;
    if (count < 0) fail("ibv_poll_cq");
    if (std::chrono::steady_clock::now() > end) fail("no completion came in time");
  }
}

ibv_wc Side::expect(std::uint64_t id, ibv_wc_opcode kind) {
  // Every kind that completes a receive has this bit.
  const ibv_wc completion = next((kind & IBV_WC_RECV) != 0 ? receives_.get() : requests_.get());
  const std::string what = "completion " + std::to_string(completion.wr_id);
  if (completion.status != IBV_WC_SUCCESS) {
    fail(what + ": " + ibv_wc_status_str(completion.status));
  }
  if (completion.wr_id != id) fail(what + ", expected " + std::to_string(id));
  if (completion.opcode != kind) {
    fail(what + " is of kind " + std::to_string(completion.opcode) + ", expected " +
         std::to_string(kind));
  }
  return completion;
}

bool Side::idle() {
  ibv_wc completion{};
  return ibv_poll_cq(requests_.get(), 1, &completion) == 0 &&
         ibv_poll_cq(receives_.get(), 1, &completion) == 0;
}

void Side::meet() {
  const char mine = 'm';
  char theirs = 0;
  exchange(&mine, &theirs, 1);
}

void Side::exchange(const void* mine, void* theirs, std::size_t bytes) {
  if (send(socket_, mine, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) {
    fail("the other side has ended", errno);
  }
  const ssize_t got = recv(socket_, theirs, bytes, MSG_WAITALL);
  if (got < 0) fail("the other side does not answer", errno);
  if (got != static_cast<ssize_t>(bytes)) fail("the other side has ended");
}

void run_pair(const std::function<void(Side&)>& first, const std::function<void(Side&)>& second) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0) << std::strerror(errno);
  // What is in the buffer would be printed twice.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  ASSERT_GE(child, 0) << std::strerror(errno);
  if (child == 0) {
    sched::end_with_parent(parent);
    close(sockets[0]);
    run_side(sockets[1], second, "second");
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  close(sockets[1]);
  run_side(sockets[0], first, "first");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "the second side failed (status " << status << "; what it printed is above)";
}

}  // namespace slackline::guest
