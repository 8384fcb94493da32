// The order of a processor's accesses to memory that a device reads and writes as well. The fences
// of C++ are for threads of one program: on arm64 they reach as far as the processors do and no
// further, and a device stands beyond.
#pragma once

#include <atomic>

namespace slackline::hw {

/// Between the reading of what a device writes last (a flag, a mark of validity) and the reading of
/// what it wrote before: the latter is as new. As rdma-core's udma_from_device_barrier() and
/// Linux's dma_rmb() have it.
inline void order_after_device_writes() {
#if defined(__aarch64__)
  asm volatile("dmb oshld" ::: "memory");
#elif defined(__x86_64__)
  std::atomic_thread_fence(std::memory_order_acquire);  // loads stay in order: the compiler's too
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Between the writing of what a device is to read and the writing that tells it so: it sees both
/// in this order. As rdma-core's udma_to_device_barrier().
inline void order_before_device_reads() {
#if defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace slackline::hw
