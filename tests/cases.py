"""Many cases of one sentence in one test, where a test for each would cost more than the cases themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def every_case(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], str] = str
) -> Callable[[Test], Test]:
    """Give a test each case in turn, as `pytest.mark.parametrize` gives them to as many tests.

    Every case is tried, whatever the others do, and each that fails is named in the failure. They share the test's
    fixtures, and whatever an earlier case left in them.
    """
    wanted = (names,) if isinstance(names, str) else names
    tried = list(cases)
    assert tried, f"no case of {', '.join(wanted)}"

    def decorated(test: Test) -> Test:
        @wraps(test)
        def every(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for case in tried:
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as error:
                    error.add_note(
                        f"in the case {ids(case) if isinstance(names, str) else ', '.join(map(ids, case))}"
                    )
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(tried)} cases fail", failed)

        own = inspect.signature(test)
        left = [each for name, each in own.parameters.items() if name not in wanted]
        every.__signature__ = own.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest asks for fixtures
        return every

    return decorated
