/* Writes to one word: from a thread that is there when the watch begins, from the main thread, and
 * from a thread that begins later. Writes to the words next to it do not count. */
#include <pthread.h>
#include <stdio.h>

static volatile int words[4] __attribute__((aligned(16)));
static pthread_barrier_t barrier;
static void *early(void *unused) {
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 500; i++) words[1] = i;
  return unused;
}
static void *later(void *unused) {
  for (int i = 0; i < 1000; i++) words[1] = i;
  return unused;
}
int main(void) {
  pthread_t first, second;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&first, 0, early, 0);
  printf("%p\n", (void *)&words[1]);
  fflush(stdout);
  getchar();
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 20000; i++) words[1] = words[0] = words[2] = i;
  pthread_create(&second, 0, later, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  puts("written");
  fflush(stdout);
  getchar();
  return 0;
}
