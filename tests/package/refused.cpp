#include <hypertape/autodiff/function.hpp>

int main() {}
