# SPDX-License-Identifier: BSD-2-Clause
"""What all tests share. Where a package cannot be had, its tests are skipped with a word."""

import importlib.util
import os

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("tests", deadline=None, max_examples=60, derandomize=True,
                                     suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("tests")


# What make check-torch-device leaves out.
NOT_ON_A_DEVICE = {
    "test_a_call_costs_less_than_a_cast": "the time is that of the processor's way",
    "test_a_table_has_a_gradient": "operators take formats that have a text",
    "test_counts_stay_where_a_nan_is_refused": "a device refuses that policy before it counts",
    "test_gradients_in_a_batch": "the operators' gradients, which a device takes always, are mapped",
}


def pytest_collection_modifyitems(items):
    for item in items if os.environ.get("FPEMU_CUDA_PLAYED") else ():
        if item.originalname in NOT_ON_A_DEVICE:
            item.add_marker(pytest.mark.skip(reason=NOT_ON_A_DEVICE[item.originalname]))


def installed(name):
    return importlib.util.find_spec(name) is not None


@pytest.fixture(scope="session")
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    module.set_num_threads(2)
    return module


@pytest.fixture
def seeded(torch):
    torch.manual_seed(7)


@pytest.fixture(scope="session")
def ml_dtypes():
    return pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")


@pytest.fixture(scope="session")
def jax():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return pytest.importorskip("jax", reason="jax is not installed")


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def vectors():
    """The folder of known answers."""
    return os.path.join(os.path.dirname(__file__), "..", "vectors")
