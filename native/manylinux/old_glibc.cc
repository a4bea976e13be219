// What the headers of a newer glibc ask for, and glibc 2.28 does not have. Only in what is linked for 2.28
// (cmake/manylinux.sh), and hidden there: a newer glibc keeps its own.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

extern "C" {

// 2.32. Shared pointers count without atomics while it is true.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// 2.36. std::random_device asks for it.
__attribute__((visibility("hidden"))) unsigned arc4random() {
  unsigned bits;
  if (getentropy(&bits, sizeof bits) != 0) std::abort();
  return bits;
}

// 2.30. 2.28 waits by the clock that the condition was made with, which is the clock of the day: the time that is left
// is the same by each. It may wake early, as any wait on a condition may: the callers look again.
__attribute__((visibility("hidden"))) int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                                 clockid_t clock, const timespec* until) {
  constexpr long kSecond = 1'000'000'000;
  timespec here, day;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - here.tv_sec;
  day.tv_nsec += until->tv_nsec - here.tv_nsec;
  for (; day.tv_nsec < 0; --day.tv_sec) day.tv_nsec += kSecond;
  for (; day.tv_nsec >= kSecond; ++day.tv_sec) day.tv_nsec -= kSecond;
  return pthread_cond_timedwait(condition, mutex, &day);
}

}  // extern "C"
