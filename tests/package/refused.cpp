#include <hypertape/tape/function.hpp>

int main() {}
