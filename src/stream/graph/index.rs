//! Finds what a graph has already, in time that does not grow with the graph.

use super::super::codec::Coded;
use super::super::view::ViewOp;
use super::{Node, Value};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Nodes and views of a graph, by a hash of their content.
#[derive(Clone, Default)]
pub(in crate::stream) struct Index {
    nodes: BTreeMap<u64, SmallVec<[u32; 2]>>,
    views: BTreeMap<u64, SmallVec<[u32; 2]>>,
}

impl Index {
    /// The value of a node, which is added unless an equal one is there.
    pub fn node(&mut self, node: Node, nodes: &mut Vec<Node>) -> Value {
        let next = nodes.len() as u32;
        // equal products have memory of their own, as one by one: whether it is shared decides the
        // strides that a write in place leaves
        if !node.is_input() && !node.is_call() {
            let alike = self.nodes.entry(hash_of(&node.step)).or_default();
            if let Some(k) = alike.iter().find(|k| nodes[**k as usize].is(&node)) {
                return Value(*k);
            }
            alike.push(next);
        }
        nodes.push(node);
        Value(next)
    }
    /// The place of a view, which is added unless it is there.
    pub fn view(&mut self, view: &ViewOp, views: &mut Vec<ViewOp>) -> usize {
        let next = views.len() as u32;
        let alike = self.views.entry(hash_of(view)).or_default();
        if let Some(k) = alike.iter().find(|k| views[**k as usize] == *view) {
            return *k as usize;
        }
        alike.push(next);
        views.push(view.clone());
        next as usize
    }
}

/// A hash of what is stored as words.
pub(in crate::stream) fn hash_of(x: &impl Coded) -> u64 {
    let mut hash = 0;
    x.write(&mut |word| hash = mix(hash, word));
    hash
}
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}
