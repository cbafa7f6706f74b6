// A library that is not a device library.
extern "C" __attribute__((visibility("default"))) int SomethingElse() {
  return 1;
}
