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


def installed(name):
    return importlib.util.find_spec(name) is not None


@pytest.fixture(scope="session")
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    module.set_num_threads(2)
    return module


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
