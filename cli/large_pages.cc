// A program's large allocations in large pages. The tables of a schedule of millions of operations
// are some hundred megabytes, gone through once or twice: in small pages a third of the time to
// make one went to page faults. It makes no difference to any result; where the system has no large
// pages to give, it gives small ones.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kLargePage = 2u << 20;

void* allocate(std::size_t bytes) {
  if (bytes < kLargePage) return std::malloc(bytes == 0 ? 1 : bytes);
  const std::size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  if (whole < bytes) return nullptr;
  void* const memory = std::aligned_alloc(kLargePage, whole);
  // What is left behind the last whole one stays in small pages, or would take half of a large one.
  if (memory != nullptr) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const memory = allocate(bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
