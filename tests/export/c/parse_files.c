/* Parses the files that are named on the standard input, and prints a code and a message for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

int main(void) {
  char path[4096];
  while (fgets(path, sizeof path, stdin)) {
    path[strcspn(path, "\n")] = 0;
    unsigned char *bytes;
    size_t size;
    tapeflow_status status;
    tapeflow_program program;
    if (tapeflow_read_file(path, &bytes, &size, &status) == TAPEFLOW_OK) {
      tapeflow_program_parse(bytes, size, &program, &status);
      tapeflow_program_clear(&program);
      free(bytes);
    }
    printf("%d %s\n", (int)status.code, status.message);
  }
  return 0;
}
