// A library that is none of ours.
extern "C" __attribute__((visibility("default"))) int SomethingElse() {
  return 1;
}
