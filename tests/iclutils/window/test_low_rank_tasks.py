"""Low-rank links: kernels by cubature and by sampled tasks."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import alignment, low_rank_tasks
from iclutils.window.low_rank_tasks import LINKS, LowRankLink

F64 = torch.float64


def basis(d: int, k: int, *role: int) -> torch.Tensor:
    """Orthonormal columns, ``(d, k)``."""
    gaussian = torch.randn(d, d, generator=stream(0, "test frame", *role), dtype=F64)
    return torch.linalg.qr(gaussian).Q[:, :k]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("link", LINKS)
def test_cubature_integrates_the_kernel_exactly(link: str, k: int) -> None:
    B = basis(5, k)
    f = LowRankLink(B, link)
    x = torch.randn(7, 5, generator=stream(0, "points"), dtype=F64)
    u = (x / x.norm(dim=-1, keepdim=True)) @ B
    value = f.of_latent(f.cubature() @ u.mT)
    mean = value.mT @ value / len(f.cubature())
    # rounding, and for the cosine its Fourier tail from J_32(8) = 1e-13 on
    torch.testing.assert_close(mean, f.kernel(u, u), rtol=0, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_kernel_is_the_mean_over_sampled_tasks(link: str) -> None:
    """12 comparisons at 5 standard errors: 7e-6 false alarms."""
    B = torch.stack([basis(5, 2, trial) for trial in range(3)])
    f = LowRankLink(B, link)
    x = torch.randn(3, 20000, 2, 5, generator=stream(0, "pairs"), dtype=F64)[:, :1]
    x = (x / x.norm(dim=-1, keepdim=True)).expand(-1, 20000, -1, -1)
    value = f.evaluate(f.sample((3, 20000), stream(0, "sampled tasks")), x)
    product = value[..., 0] * value[..., 1]
    u = torch.einsum("tmd,tdk->tmk", x[:, 0], B)
    se = product.std(1) / math.sqrt(20000)
    assert ((product.mean(1) - f.kernel(u, u)[:, 0, 1]).abs() < 5 * se).all()


@pytest.mark.parametrize("link", LINKS)
def test_the_lipschitz_constant_is_the_steepest_slope(link: str) -> None:
    f = LowRankLink(basis(5, 2), link)
    s = torch.linspace(-1, 1, 2001, dtype=F64).requires_grad_()
    (slope,) = torch.autograd.grad(f.of_latent(s).sum(), s)
    # the grid misses the steepest point by at most 5e-4, which costs its square
    assert float(slope.abs().max()) == pytest.approx(f.L, rel=1e-5)


def test_all_links_draw_the_same_tasks() -> None:
    assert len({LowRankLink(basis(5, 2), link).law for link in LINKS}) == 1
    assert LowRankLink(basis(5, 3), "linear").law != LowRankLink(basis(5, 2), "linear").law


def test_low_rank_link_refuses_what_it_cannot_do() -> None:
    B = basis(5, 3)
    with pytest.raises(KeyError, match="link must be one of"):
        LowRankLink(B, "sine")
    with pytest.raises(ValueError, match="orthonormal"):
        LowRankLink(2 * B, "linear")
    with pytest.raises(ValueError, match="k at most 2; got k = 3"):
        LowRankLink(B, "cosine").cubature()


def test_random_subspaces_have_overlap_k_over_d() -> None:
    """At 5 standard errors: 6e-7 false alarms."""
    B = low_rank_tasks.random_subspaces(4000, 6, 2, stream(0, "subspaces"))
    seen = alignment.overlap(torch.diag(torch.arange(6, dtype=F64)), B)
    assert float((seen.mean() - 2 / 6).abs()) < 5 * float(seen.std()) / math.sqrt(4000)


def test_a_basis_and_its_complement_make_a_frame() -> None:
    B = low_rank_tasks.random_subspaces(3, 5, 2, stream(0, "B"))
    frame = torch.cat([B, low_rank_tasks.complement(B)], dim=-1)
    torch.testing.assert_close(frame.mT @ frame, torch.eye(5, dtype=F64).expand(3, 5, 5))


def test_gram_roots_are_the_roots_of_gram_matrices() -> None:
    J = low_rank_tasks.gram_roots(3, 4, stream(0, "J"))
    G = torch.randn(3, 4, 4, generator=stream(0, "J"), dtype=F64)
    torch.testing.assert_close(J, J.mT)
    torch.testing.assert_close(J @ J, G.mT @ G)
    assert (torch.linalg.eigvalsh(J) > 0).all()


@pytest.mark.parametrize(
    ("count", "d", "k", "word"),
    [(0, 5, 2, "count"), (1, 1, 1, "d"), (1, 5, 5, "k"), (1, 5, 0, "k")],
)
def test_bad_numbers_are_refused(count: int, d: int, k: int, word: str) -> None:
    with pytest.raises(ValueError, match=f"{word} must be"):
        low_rank_tasks.random_subspaces(count, d, k, stream(0, "x"))
