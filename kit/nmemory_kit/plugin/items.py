"""Cases as pytest sees them: a collector a pack, an item a case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..contract import Case, Pack
from ..report.foreign import harmless
from ..run.result import CaseResult, Verdict
from .failure import BrokenShouldWarning, CaseFailedError, CaseUndecidedError, headline, told, warning

if TYPE_CHECKING:
    from .conformance import Conformance


class PackCollector(pytest.Collector):
    """The chosen cases of a pack."""

    def __init__(self, *, conformance: Conformance, pack: Pack, cases: Sequence[Case], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._conformance, self._pack, self._cases = conformance, pack, cases

    def collect(self) -> Iterable[CaseItem]:
        """An item a case, in the order of their ids; those that may have to run alone come last."""
        files = {file.stem: file for file in Path(str(self._pack.root)).glob("cases/*/*.json")}
        for case in sorted(self._cases, key=lambda case: (case.alone, case.id)):
            yield CaseItem.from_parent(
                self,
                name=case.id,
                nodeid=case.path,
                case=case,
                pack=self._pack,
                conformance=self._conformance,
                file=files.get(case.id, self.path),
            )


class CaseItem(pytest.Item):
    """A case. It is done in the set-up, so that one that nobody could decide is an error and not a failure."""

    def __init__(self, *, case: Case, pack: Pack, conformance: Conformance, file: Path, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case, self.pack = case, pack
        self._conformance, self._file = conformance, file
        self.result: CaseResult | None = None
        self.add_marker("nmemory")
        self.extra_keyword_matches.update((pack.protocol, pack.path))

    def setup(self) -> None:
        """Do the case. Raises ``CaseUndecidedError``; a case that does not apply is skipped."""
        result = self.result = self._conformance.result(self)
        self.user_properties += [("clauses", " ".join(result.clauses)), ("verdict", result.verdict.value)]
        if result.verdict is Verdict.SKIP:
            pytest.skip(harmless(result.reason or "it does not apply"))
        if result.verdict in (Verdict.NOT_RUN, Verdict.ERROR):
            raise CaseUndecidedError(headline(result))

    def runtest(self) -> None:
        """Tell what became of the case. Raises ``CaseFailedError``."""
        assert self.result is not None
        match self.result.verdict:
            case Verdict.XFAIL:
                pytest.xfail(harmless(self.result.reason or ""))
            case Verdict.XPASS:
                raise CaseFailedError(headline(self.result))
            case Verdict.FAIL if self.result.binding or self._conformance.settings.strict:
                raise CaseFailedError(headline(self.result))
            case Verdict.FAIL:
                self.warn(BrokenShouldWarning(f"{self.nodeid}: {warning(self.result)}"))

    def described(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
        """A failure in words, or None where it is the kit's own and needs its traceback."""
        if self.result is None or not isinstance(excinfo.value, CaseFailedError | CaseUndecidedError):
            return None
        # pytest's own representation, which xdist can send, with the words of the case in it.
        shown: Any = excinfo.getrepr(style="value", chain=False)
        shown.reprtraceback.reprentries[0].lines[:] = told(self.result, self._conformance.again(self))
        shown.reprcrash.message = headline(self.result)
        shown.reprcrash.path, shown.reprcrash.lineno = str(self._file), 1
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """The case's file and its id."""
        return self._file, 0, self.nodeid
