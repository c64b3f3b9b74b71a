//! Mistakes in what a problem says of grading.
#![allow(unused)]
use gpubench::prelude::*;

#[problem(axes(n = [1]), exact, hidden())]
fn without_cases(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(m = [2]))]
fn of_an_unknown_axis(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(y = [2]))]
fn of_a_buffer(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = [2], n = [3]))]
fn of_an_axis_twice(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = [2], n = draw(1..9), count = 2))]
fn listed_and_drawn(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = [-2]))]
fn of_another_type(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = 2))]
fn without_a_list(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(1..9)))]
fn drawn_without_a_count(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = [2], count = 3))]
fn counted_without_a_draw(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(1..9), count = 0))]
fn drawn_never(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(1..9), count = 1001))]
fn drawn_too_often(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(9..9), count = 1))]
fn drawn_from_nothing(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(1..), count = 1))]
fn drawn_without_an_end(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(n = draw(9), count = 1))]
fn drawn_from_a_number(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1], gain = [1.0]), exact, hidden(gain = draw(1..9), count = 1))]
fn drawn_floats(n: usize, gain: f32, #[shape(n)] y: &mut [f32]) {}

#[problem(cases((m, n) = [(1, 2)]), exact, hidden(n = draw(1..9), count = 1))]
fn a_part_of_a_group(m: usize, n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, hidden(axes(n = [2])))]
fn within_axes(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, score = median)]
fn of_an_unknown_score(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, score)]
fn without_a_score(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, limits(memory = "2 GiB"))]
fn of_an_unknown_limit(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, limits(time = "10 parsecs"))]
fn of_an_unknown_unit(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, limits(source = 65536))]
fn of_a_number(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, limits())]
fn without_limits(n: usize, #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]), exact, limits(time = "1s", time = "2s"))]
fn of_a_limit_twice(n: usize, #[shape(n)] y: &mut [f32]) {}

#[gpubench(axes(n = [1]), exact, reference = |_, _| {}, hidden(n = [2]))]
fn of_a_benchmark(launcher: &mut Launcher, n: usize, #[shape(n)] y: Out<f32>) -> Result<()> {
    Ok(())
}

fn main() {}
