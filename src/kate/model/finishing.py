"""From a trained network to what a fitted model encodes with: its neurons, its vectors, how the neurons respond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kate.engines.network import Network
from kate.model.block_products import block_products
from kate.model.encoder import Encoder, NeuronOutput
from kate.model.vector_map import ResponseProducts, make_vector_map, response_products
from kate.sparse_arrays import sparse
from kate.topics.neuron_poles import Responses

__all__ = ["Finished", "finish", "restored"]

Floats = NDArray[np.float32]


class Finished(NamedTuple):
    """What encoding needs of a trained network."""

    neurons: Encoder  # Wᵀx + b (or its activation) of every neuron
    encoder: Encoder  # the vectors
    responses: Responses  # of the neurons, over the documents


def finish(
    network: Network,
    counts: sparse.csr_matrix,
    read: sparse.csr_matrix,
    settings: Mapping[str, Any],
    weights: Floats | None,
    start: Floats | None,
    before: tuple[Responses, float] | None = None,
    *,
    on_gpu: bool = False,
    n_jobs: int | None = None,
) -> Finished:
    """Everything from one pass over the documents; ``read`` are their counts as the encoder reads them.

    ``before`` are the responses to documents of earlier calls, and their share of all documents.
    """
    neurons = _neurons_of(network, settings, weights)
    if settings["output"] != "projection":
        responses = Responses.of(neurons.respond, counts)
        if before is not None:
            responses = responses.blended(*before)
        is_centred = settings["mean"] == "subtract"
        return Finished(neurons, neurons.centered_on(responses.mean) if is_centred else neurons, responses)
    products = response_products(read, network.W, start, on_gpu=on_gpu, n_jobs=n_jobs)
    responses = _responses(products, network.b)
    if before is not None:
        responses = responses.blended(*before)
    with block_products(n_jobs):
        vector_map = make_vector_map(
            network.W,
            start,
            products,
            settings["n_components"],
            settings["start_share"],
            project_mean=settings["mean"] == "project",
        )
    return Finished(neurons, Encoder.of_map(vector_map, settings["scaling"], weights), responses)


def _neurons_of(network: Network, settings: Mapping[str, Any], weights: Floats | None) -> Encoder:
    """The neurons of a network as they encode: without competition."""
    output: NeuronOutput = "preactivation" if settings["output"] == "projection" else settings["output"]
    nothing = np.zeros_like(network.b)
    return Encoder(
        network.W, network.b, nothing, settings["scaling"], settings["activation"], output, weights
    )


def restored(
    arrays: Mapping[str, NDArray[Any]], responses: Responses, settings: Mapping[str, Any]
) -> Finished:
    """The same from saved arrays: W, b and, where there is one, the map of the vectors and the weights of the words."""
    weights = arrays.get("weights")
    network = Network(arrays["W"], arrays["b"], np.zeros(0, np.float32))
    neurons = _neurons_of(network, settings, weights)
    if settings["output"] == "projection":
        return Finished(neurons, Encoder.of_map(arrays["map"], settings["scaling"], weights), responses)
    is_centred = settings["mean"] == "subtract"
    return Finished(neurons, neurons.centered_on(responses.mean) if is_centred else neurons, responses)


def _responses(products: ResponseProducts, b: Floats) -> Responses:
    """The mean and standard deviation of every neuron's Wᵀt + b."""
    mean = products.sum_a / max(1, products.n_documents)
    variance = np.diag(products.aa) / max(1, products.n_documents) - mean**2
    deviation = np.sqrt(np.maximum(variance, 0))
    deviation[deviation <= 1e-6 * np.abs(mean)] = 0  # rounding only: the neuron responds to all alike
    return Responses((mean + b).astype(np.float32), deviation.astype(np.float32))
