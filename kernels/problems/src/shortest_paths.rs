//! The lengths of the shortest paths between all vertices of a graph.

use gpubench::prelude::*;

cuda_source!(SHORTEST_PATHS_REFERENCE = "references/shortest_paths.cu");

/// Computes the length of the shortest path from each vertex of a graph to each other.
///
/// `edges[i][j]` is the length of the edge from vertex i to vertex j. It is infinity if there is
/// none, and 0 for i = j. Edges have a direction. Write the least sum of lengths along a path from
/// i to j to `distances[i][j]`; each vertex can be reached from each other. There are at most 4096
/// vertices.
///
/// About every fourth pair of vertices has an edge, and the numbers of the vertices are random. A
/// shortest path may have as many as n - 1 edges, and some have more than n / 2. Lengths are whole
/// numbers from 1 on, stored as `f32`, and no sum of two shortest paths has to be rounded, so the
/// comparison is exact.
//
// The vertices are on a ring in random order. Three quarters of the ring are a chain of cheap edges
// from each vertex to the next one, and no other edge is worth while there. So a kernel that stops
// after paths of n / 2 edges is wrong. On the other quarter, edges to the next vertex are dear, and
// those that skip some win. Along the ring a path is at most 80 for each vertex: below 2^19.
#[problem(
    axes(n = [2048, 1999]),
    cpu(axes(n = [64, 51])),
    cuda(reference = launch(vertex_by_vertex)),
    exact,
    bytes = 8 * n * n,
    hidden(n = draw(2..=80), count = 4),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn shortest_paths(
    n: usize,
    #[fill(ByKernel(SHORTEST_PATHS_REFERENCE.kernel("write_edges")), [n, n])] edges: &[f32],
    #[shape([n, n])] distances: &mut [f32],
) {
    distances.copy_from_slice(edges);
    for over in 0..n {
        for from in 0..n {
            for to in 0..n {
                let through = distances[from * n + over] + distances[over * n + to];
                let direct = &mut distances[from * n + to];
                *direct = direct.min(through);
            }
        }
    }
}

fn vertex_by_vertex(launcher: &mut Launcher, n: usize, edges: In<f32>, distances: Out<f32>) -> Result<()> {
    launcher.copy(edges, distances)?;
    let kernel = SHORTEST_PATHS_REFERENCE.kernel("through");
    for over in 0..n {
        launcher.launch(kernel.clone(), Grid::covering(n * n, 256), (distances, n, over))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shortest_paths;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    const NONE: f32 = f32::INFINITY;

    #[test]
    fn the_reference_prefers_two_short_edges_to_a_long_one() {
        let mut distances = [9.0; 9];
        let edges = [0.0, 1.0, 9.0, NONE, 0.0, 2.0, 4.0, NONE, 0.0];
        shortest_paths(3, &edges, &mut distances);
        assert_eq!(distances, [0.0, 1.0, 3.0, 6.0, 0.0, 2.0, 4.0, 5.0, 0.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        const N: usize = 50;
        let mut rng = Rng::new(1);
        let mut edges = vec![NONE; N * N];
        for from in 0..N {
            edges[from * N + from] = 0.0;
            for (far, to) in (1..=6).map(|far| (far, (from + far) % N)) {
                edges[from * N + to] = (far * far / 8 + 1 + rng.index(100)) as f32;
            }
        }
        let mut distances = vec![0.0; N * N];
        shortest_paths(N, &edges, &mut distances);
        no_constant_passes(&distances, Tolerance::EXACT);
    }
}
