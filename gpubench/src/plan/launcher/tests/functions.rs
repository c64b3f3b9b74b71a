//! Launches by the functions of kernels.

use super::*;

crate::cuda_source!(KERNELS = "../../../../tests/abi/kernels/named.cu");

/// Returns the recorded launch without its place.
fn recorded(launch: impl FnOnce(&mut Launcher, In<f32>, Out<f32>) -> Result<()>) -> Launch {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    launch(&mut launcher, x, y).unwrap();
    let place = String::new();
    Launch {
        place,
        ..only_launch(launcher)
    }
}

#[test]
fn a_function_records_the_same_launch_as_the_kernels_name() {
    let grid = Grid::new(2, 64).shared(512).cluster(2).programmatic();
    let by_function = recorded(|launcher, x, _| {
        let scratch = launcher.scratch::<u8>(64)?;
        KERNELS::scale(launcher, grid, x.offset(3), scratch, 0.5)
    });
    let by_name = recorded(|launcher, x, _| {
        let scratch = launcher.scratch::<u8>(64)?;
        launcher.launch(KERNELS.kernel("outer::inner::scale"), grid, (x.offset(3), scratch, 0.5))
    });
    assert_eq!(by_function, by_name);
}

#[test]
fn integers_become_those_that_the_kernel_declares() {
    let by_function =
        recorded(|launcher, x, y| KERNELS::r#match(launcher, Grid::new(1, 1), x, y, -1, 7usize, 3u8, 4i64));
    let by_name =
        recorded(|launcher, x, y| launcher.launch(KERNELS.kernel("match"), Grid::new(1, 1), (x, y, -1, 7u32, 3, 4)));
    assert_eq!(by_function, by_name);
    let bytes = |value: i128| {
        recorded(|launcher, _, y| {
            let value = i64::try_from(value).map_err(Error::new)?;
            KERNELS::kernel(launcher, Grid::new(1, 1), y, value, value, true)
        })
    };
    assert_eq!(bytes(-1).arguments[2], Argument::Value(vec![255]));
    assert_eq!(bytes(255).arguments[2], Argument::Value(vec![255]));
}

#[test]
fn an_integer_that_does_not_fit_fails_the_launch_and_the_case() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let large = 1usize << 31;
    let line = line!() + 1;
    let error = KERNELS::r#match(&mut launcher, Grid::new(1, 1), x, y, large, 0, 0, 0).unwrap_err();
    let expected = format!(
        "{}:{line}: `blur`: launch of `match`: argument 3: 2147483648 does not fit in `int launcher`",
        file!()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(launcher.finish().unwrap_err().to_string(), expected);
    let mut launcher = launcher_on(gpu());
    let error = KERNELS::r#match(&mut launcher, Grid::new(1, 1), x, y, 0, -1, 0, 0).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("argument 4: -1 does not fit in `unsigned grid`")
    );
}
