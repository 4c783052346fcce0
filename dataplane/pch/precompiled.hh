// What most files of the dataplane include, compiled once: two thirds of the time that such a file takes to
// compile.
#include "dataplane/path/worker_context.hh"
