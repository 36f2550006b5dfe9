// How long to wait before a worker that has died is replaced.
#pragma once

#include <chrono>

class Backoff {
  public:
    /// The wait after a worker that lived so long: short at first, twice as long with each one that
    /// dies at its start, and short again after one that did not.
    std::chrono::milliseconds after(std::chrono::milliseconds lived);

  private:
    std::chrono::milliseconds next_{50};
};
