//! How far operations are taken together.

use super::Chain;
use super::call::call;
use burn_fusion::{FuserProperties, FuserStatus, OperationFuser};
use burn_ir::OperationIr;

/// Operations at most, so that values that are no longer needed don't wait for long.
const LONGEST: usize = 128;

/// Takes operations as long as streams have them. Shapes don't matter, since a plan may have any
/// number of passes.
#[derive(Clone, Default)]
pub(super) struct Fuser {
    operations: Vec<OperationIr>,
    /// Those that compute.
    passes: usize,
    closed: bool,
}

impl OperationFuser<Chain> for Fuser {
    fn fuse(&mut self, operation: &OperationIr) {
        if self.closed {
            return;
        }
        match (operation, call(operation)) {
            (OperationIr::Drop(_), _) => self.closed = self.operations.is_empty(),
            (OperationIr::Init(_), _) => (),
            (_, Some(call)) => self.passes += usize::from(call.computes()),
            (_, None) => self.closed = true,
        }
        if !self.closed {
            self.operations.push(operation.clone());
            self.closed = self.operations.len() == LONGEST;
        }
    }
    fn finish(&mut self) -> Chain {
        Chain::new(self.operations.clone())
    }
    fn reset(&mut self) {
        *self = Fuser::default();
    }
    fn status(&self) -> FuserStatus {
        match self.closed {
            true => FuserStatus::Closed,
            false => FuserStatus::Open,
        }
    }
    fn properties(&self) -> FuserProperties {
        FuserProperties {
            score: self.passes as u64,
            // one by itself runs as fast outside of a queue
            ready: self.passes > 1,
        }
    }
    fn len(&self) -> usize {
        self.operations.len()
    }
    fn clone_dyn(&self) -> Box<dyn OperationFuser<Chain>> {
        Box::new(self.clone())
    }
}
