//! Lists of cases that do not match their axes.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(m: usize, n: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape([m, n]))
}

/// Declares a benchmark with these options.
macro_rules! clear {
    ($name:ident: $($options:tt)*) => {
        #[gpubench(tensors = plane(m, n), reference = |_, _, zeros: &mut [f32]| zeros.fill(0.0), exact, $($options)*)]
        fn $name(launcher: &mut Launcher, m: usize, n: usize, zeros: Out<f32>) -> Result<()> {
            launcher.memset(zeros, 0)
        }
    };
}

clear!(a_short_tuple: cases((m, n) = [(1, 2), (3,)]));
clear!(a_long_tuple: cases((m, n) = [(1, 2), (3, 4, 5)]));
clear!(a_bare_value: cases((m, n) = [(1, 2), 3]));
clear!(no_cases: cases((m, n) = []));
clear!(nothing: cases());
clear!(no_names: cases(() = [(1, 2)]));
clear!(an_axis_twice: cases((m, m) = [(1, 2)]));
clear!(an_axis_in_both: axes(n = [1]), cases((m, n) = [(1, 2)]));
clear!(an_axis_in_both_in_another_order: cases((m, n) = [(1, 2)]), axes(n = [1]));
clear!(an_axis_in_two_lists: cases((m, n) = [(1, 2)], (n, m) = [(1, 2)]));
clear!(one_axis: cases(m = [1]), axes(n = [1]));
clear!(one_axis_in_parentheses: cases((m) = [1]), axes(n = [1]));
clear!(a_group_among_axes: axes((m, n) = [(1, 2)]));
clear!(an_unknown_axis: cases((m, n, k) = [(1, 2, 3)]));
clear!(a_missing_axis: axes(m = [1]));
clear!(a_value_of_another_type: cases((m, n) = [(1, 2), (3, 4.5)]));
clear!(values_of_another_type: cases((m, n) = (0..3).map(|bits| (1usize << bits, 1u8))));
clear!(a_text: cases((m, n) = "1, 2"));
clear!(a_part_for_a_device: cases((m, n) = [(1, 2)]), cpu(axes(m = [1])));
clear!(cases_twice_for_a_device: cases((m, n) = [(1, 2)]), cpu(cases((m, n) = [(1, 2)]), cases((m, n) = [(1, 2)])));
clear!(cases_given_twice: cases((m, n) = [(1, 2)]), cases((m, n) = [(1, 2)]));
clear!(a_missing_file: cases((m, n) = csv("missing.csv")));
clear!(an_absolute_path: cases((m, n) = json("/etc/shapes.json")));
clear!(no_path: cases((m, n) = csv()));
clear!(a_path_that_is_no_literal: axes(m = json(PATH), n = [1]));
clear!(a_file_for_a_missing_axis: cases((m, k) = csv("shapes.csv")), axes(n = [1]));

fn main() {}
