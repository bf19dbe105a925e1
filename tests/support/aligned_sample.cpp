#include <Eigen/Core>

/// What the library must not do: the sum has a temporary of Eigen's own type.
double hypertape_aligned_sample(Eigen::Index n) { return (Eigen::VectorXd::Ones(n) * 2).eval().sum(); }
