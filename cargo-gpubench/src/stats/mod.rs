//! Statistics as pure functions: convergence, summaries and confidence intervals.
