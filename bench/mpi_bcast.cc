// Times MPI_Bcast: what bench/run_against_mpi holds real runs against. Not part of the build: the
// script compiles it with mpicxx.
//
// usage: mpirun -np RANKS mpi_bcast BYTES ITERATIONS WARM_UP large|small
//
// In large pages, as our runs have them, or in small ones, as programs have that do not ask.
//
// Prints one line per iteration, in seconds: from the barrier before it to when the last rank was
// through.
#include <mpi.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count != 5) {
    std::fprintf(stderr, "usage: mpi_bcast BYTES ITERATIONS WARM_UP large|small\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const auto bytes = static_cast<std::size_t>(std::atoll(arguments[1]));
  const int iterations = std::atoi(arguments[2]);
  const int warm_up = std::atoi(arguments[3]);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  madvise(memory, bytes, arguments[4][0] == 'l' ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(memory, rank + 1, bytes);
  for (int i = 0; i < warm_up + iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Bcast(memory, static_cast<int>(bytes), MPI_CHAR, 0, MPI_COMM_WORLD);
    const double own = MPI_Wtime() - begin;
    double last = 0;
    MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && i >= warm_up) std::printf("%.9f\n", last);
  }
  MPI_Finalize();
  return 0;
}
