//! Linear algebra of matrices whose workspaces the border does not hide.

use super::{FAILED, alone, each_failure, numbers};
use flex::linalg::{self, MatrixNorm, QrMode, Triangular};
use flex::{DType, ops};

#[test]
fn factorisations_survive_failed_allocations() {
    let _alone = alone();
    for shape in [[24, 24], [60, 60]] {
        let n = shape[0];
        let noise = numbers(&shape, DType::F64);
        let a = &ops::add(&noise, ops::eye(n, n, 0, DType::F64).unwrap()).unwrap();
        let a = &ops::multiply(a, 0.01).unwrap();
        let definite = &ops::matmul(a, &ops::matrix_transpose(a).unwrap()).unwrap();
        let definite = &ops::add(definite, ops::eye(n, n, 0, DType::F64).unwrap()).unwrap();
        let (factor, pivots) = &linalg::lu_factor(definite).unwrap();
        let upper = Triangular::default();
        macro_rules! fail {
            ($($e:expr),* $(,)?) => { $(
                FAILED.set(0);
                each_failure(stringify!($e), || $e);
                assert!(FAILED.get() > 0, "{}: no allocation has failed", stringify!($e));
            )* };
        }
        fail!(
            linalg::cholesky(definite, true),
            linalg::cholesky_solve(a, definite, true),
            linalg::solve_triangular(definite, a, upper),
            linalg::lu(a),
            linalg::lu_factor(a),
            linalg::Lu::from_factors(factor, pivots)?.solve(a),
            linalg::solve(definite, a),
            linalg::inv(definite),
            linalg::det(a),
            linalg::slogdet(a),
            linalg::qr(a, QrMode::Complete),
            linalg::eigh(definite),
            linalg::eigvalsh(definite),
            linalg::eig(a),
            linalg::eigvals(a),
            linalg::svd(a, true),
            linalg::svdvals(a),
            linalg::pinv(a, None),
            linalg::matrix_rank(a, None),
            linalg::lstsq(a, a, None).map(|found| found.x),
            linalg::cond(a, MatrixNorm::One),
            linalg::expm(a),
            linalg::matrix_power(a, 5),
            linalg::matrix_norm(a, MatrixNorm::Nuclear, false),
        );
    }
}
