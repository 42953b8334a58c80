"""Functions of `flex.nn` that are compositions of others, as defined by torch.nn.functional."""

from flex._lazy import Functions

FUNCTIONS = Functions(
    __name__,
    {
        "margins": "hinge_embedding_loss soft_margin_loss triplet_margin_with_distance_loss",
        "classes": "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss",
    },
)
