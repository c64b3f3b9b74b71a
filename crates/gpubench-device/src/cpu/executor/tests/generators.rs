//! cuRAND's XORWOW generator. The expected numbers are from NVIDIA's own header, version 10.3.10.

use super::*;

#[test]
fn a_xorwow_generator_has_curands_numbers() {
    expect_checks(
        "#include <curand_kernel.h>
         __device__ bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fabs(b); }",
        "curandState s; CHECK(sizeof(s) == 48);
         curand_init(0, 0, 0, &s);
         CHECK(curand(&s) == 3179217846u && curand(&s) == 1883133293u);
         CHECK(curand_uniform(&s) == 0.517012656f && curand_uniform_double(&s) == 0.071367583822620595);
         CHECK(near(curand_normal(&s), 1.22961378) && near(curand_normal(&s), 0.173870713) && near(curand_normal_double(&s), -0.997959958636089));
         curand_init(1234, 5, 7, &s);
         CHECK(curand(&s) == 3351265907u && curand(&s) == 3629609298u);
         CHECK(curand_uniform(&s) == 0.0967250243f && curand_uniform_double(&s) == 0.16058594555931566);
         CHECK(near(curand_normal(&s), 0.815766335) && near(curand_normal(&s), 0.804962456) && near(curand_normal_double(&s), -0.709250654721962));
         curand_init(0xdeadbeefcafef00d, 0x8000000000000001, 123456789012345, &s);
         CHECK(curand(&s) == 501533627u && curand(&s) == 4128210223u);
         curand_init(9, 0, 0, &s); skipahead(1000, &s);
         CHECK(curand(&s) == 2239501035u);
         skipahead_sequence(3, &s);
         CHECK(curand(&s) == 1634290330u && near(curand_log_normal(&s, 0.5f, 0.25f), 1.61097157));",
    );
}

#[test]
fn skipping_numbers_is_the_same_as_drawing_them() {
    expect_checks(
        "#include <curand_kernel.h>",
        "curandState drawn, skipped; curand_init(7, 3, 0, &drawn);
         for (unsigned n = 0; n < 300; n++) {
             curand_init(7, 3, n, &skipped);
             CHECK(curand(&skipped) == curand(&drawn));
         }",
    );
}

#[test]
fn threads_of_one_seed_have_sequences_of_their_own() {
    let text = "
        #include <curand_kernel.h>
        __global__ void set_up(curandState *states) {
            const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            curand_init(1234, i, 0, states + i);
        }
        __global__ void draw(curandState *states, float *means, int draws) {
            const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            curandState mine = states[i];
            double sum = 0;
            for (int n = 0; n < draws; n++) sum += curand_uniform(&mine);
            means[i] = float(sum / draws);
            states[i] = mine;
        }";
    let module = build(text, &["set_up", "draw"]).expect("it compiles");
    let of_name = |name| module.kernel(name).expect("the kernel is exported");
    let (mut states, mut means) = (vec![0u64; 256 * 6], vec![0f32; 256]);
    let shape = line(4, 64);
    launch(&pool(2), of_name("set_up"), &shape, &[address(&mut states)]).expect("no fault");
    let arguments = [address(&mut states), address(&mut means), 1000];
    launch(&pool(2), of_name("draw"), &shape, &arguments).expect("no fault");
    assert!(means.iter().all(|mean| (0.45..0.55).contains(mean)), "{means:?}");
    means.sort_by(f32::total_cmp);
    means.dedup();
    assert!(means.len() > 250, "{} different means", means.len());
}
