// Headers of most dataplane files, compiled once: two thirds of a file's compile time.
#include "dataplane/path/worker_context.hh"
