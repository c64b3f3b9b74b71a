/* Writes to the doorbell of a GPU, a mapping of `/dev/nvidia0`, as often as told. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **words) {
  int file = open("/dev/nvidia0", O_RDWR);
  char *page = mmap(0, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || page == MAP_FAILED) { perror("/dev/nvidia0"); return 9; }
  volatile int *doorbell = (int *)(page + 0x90);
  /* The first submission makes the doorbell; it is found soon after. */
  *doorbell = 1;
  usleep(500000);
  long submissions = count > 1 ? atol(words[1]) : 1;
  for (long i = 0; i < submissions; i++) *doorbell = (int)i;
  if (count > 2) sleep(atoi(words[2]));
  return 0;
}
