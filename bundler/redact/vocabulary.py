"""Words that are never taken for a private name where they stand alone: generic accounts and hosts, and words
of the compiler's own language, whose loss would damage evidence (a user may well be called `max` or
`triton`)."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """A set of words written as prose."""
    return frozenset(text.split())


GENERIC = words(
    """
    root admin administrator user users guest test tester nobody daemon default public shared share common
    build builder jenkins runner docker ubuntu debian centos fedora openeuler euler kylin ascend huawei
    hwhiaiuser ma-user developer dev host hostname localhost localdomain server node worker master slave main
    login vm container workspace work home data mnt opt usr var tmp src path secret email serial word url
    """
)
LANGUAGE = words(
    """
    module func function tensor memref vector index value block region return call local global constant arith
    affine linalg scf cf math memory bufferization annotation hivm hfusion hacc triton mlir llvm cube aicore
    aiv aic mix kernel grid program float double half true false none null unit dense sparse shape stride size
    offset loop while yield reduce broadcast transpose matmul softmax attention python python3 torch error
    warning note info debug failed pass passes dialect operation target version device stage inline private
    nested visibility attributes attribute string input output inputs outputs result operand operands types
    """
)


def may_stand_alone(name: bytes, at_least: int) -> bool:
    """Whether a private name is long and rare enough to be replaced as a bare word, outside of paths."""
    text = name.decode("utf-8", "replace").lower()
    return len(name) >= at_least and text not in GENERIC and text not in LANGUAGE and not text.isdigit()
