"""What the plugin does once a target is named: it reaches the target, adds the items, keeps the account."""

from __future__ import annotations

import re
from collections.abc import Generator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ..contract import Case, Pack, PackError, load_pack, pack_names
from ..report.foreign import harmless, harmless_lines
from ..run.conduct import why
from ..run.excuse import Excuse, ExcuseError, check_excuses, excuse, read_excuses
from ..run.options import Options
from ..run.reach import Reached, reach
from ..run.result import CaseResult
from ..run.select import UnknownName, choose
from ..run.session import NotATarget, fit, not_run
from ..run.verdict import TargetVerdict
from ..target import TargetError, Unreachable
from .account import Account, lines, unwire, wire
from .driver import Driver
from .failure import transcript
from .handle import TargetHandle
from .items import CaseItem, PackCollector
from .own import OWN, SUFFIX, OwnFile
from .settings import Settings

_CASE_ID = re.compile(r"[a-z-]+/v\d+/[a-z0-9-]+")
_OWN_ID = re.compile(r"own/[^:]+")


class Conformance:
    """The hooks, and what they know. A worker of xdist has its own session; the controller tells it what to do."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = Settings.of(config)
        self.account = Account()
        self._told: dict[str, Any] = getattr(config, "workerinput", {}).get("nmemory", {})
        self._is_worker = hasattr(config, "workerinput")
        self._only_lists: bool = config.getoption("collectonly")
        self._asked = self._take_case_ids()
        self._reached: Reached
        self._options: Options
        self._driver: Driver | None = None
        self._unreachable: str | None = None
        self._cases: tuple[Case, ...] = ()
        self._excuses: tuple[Excuse, ...] = ()
        #: Item id -> the cases that follow it without another test between them.
        self._ahead: dict[str, tuple[Case, ...]] = {}
        self._shown: Path | None = None

    @property
    def packs(self) -> tuple[Pack, ...]:
        """The contracts that the target is judged by."""
        return self.account.packs

    # --- what items and fixtures ask for ------------------------------------------------------------------------

    def result(self, item: CaseItem) -> CaseResult:
        """What became of an item's case, in the light of the excuses."""
        driver = self._open()
        if driver is None:
            return not_run(item.case, self._unreachable or "")
        return excuse(driver.result(item.case, self._ahead.get(item.nodeid, ())), item.case, self._excuses)

    def handle(self) -> TargetHandle:
        """The target, for tests."""
        driver = self._open()
        if driver is None:
            pytest.fail(self._unreachable or "", pytrace=False)
        return TargetHandle(driver)

    def again(self, item: CaseItem) -> str:
        """The command that does one case again."""
        again = self._reached.target.redactor.text(self.settings.again)
        if OWN in item.case.path:
            return f"{again} -k {item.case.id} {item.nodeid.removeprefix('own/')}{SUFFIX}"
        return f"{again} --nmemory-case {item.case.id}"

    # --- a session of pytest ------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find out what there is to do. Raises ``UsageError`` where the target or the choice of cases is no good."""
        try:
            self._reached = reach(self.settings.address)
            self._options = self._reached.options(synthesize=self.settings.synthesize)
            self._choose()
        except (TargetError, PackError, ExcuseError, UnknownName) as error:
            raise pytest.UsageError(f"nmemory: {harmless(str(error))}") from None

    def pytest_report_header(self) -> str | None:
        """Who is judged, by what."""
        if self.account.identity is None:
            return None
        who = self.account.identity
        named = " ".join(filter(None, (who.name, who.version))) or "no name given"
        packs = ", ".join(pack.path for pack in self.packs)
        return harmless(
            f"nmemory: {who.display} ({named}, MCP {who.mcp_version}) by {packs}, run {self._options.run}", 400
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Add the packs to what a session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *(self._collector(collector, pack) for pack in self.packs)]
        return report

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> OwnFile | None:
        """Collect the project's own cases."""
        if not file_path.name.endswith(SUFFIX):
            return None
        own: OwnFile = OwnFile.from_parent(parent, path=file_path, conformance=self)
        return own

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan what was chosen; cases that stand side by side may be begun together."""
        self.account.plan([item.nodeid for item in session.items])
        if self._is_worker:
            return  # which of them this worker gets is not known yet
        for is_case, block in groupby(session.items, key=lambda item: isinstance(item, CaseItem)):
            if is_case:
                items = [item for item in block if isinstance(item, CaseItem)]
                self._ahead |= dict.fromkeys((item.nodeid for item in items), tuple(item.case for item in items))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a report carry the result, and tell what did not pass in words, with the transcript."""
        report = yield
        if isinstance(item, CaseItem) and item.result is not None:
            # Not in `repr_failure`: pytest does not ask it about what goes wrong in the set-up.
            if call.excinfo is not None and report.failed and (described := item.described(call.excinfo)) is not None:
                report.longrepr = described
            if call.when == "setup":
                # Not the time that pytest waited: cases overlap, and this one may have been done long before.
                report.duration = item.result.took
                report.nmemory = wire(item.result)  # type: ignore[attr-defined]
            if report.failed and item.result.transcript:
                report.sections.append(("nmemory transcript", transcript(item.result.transcript)))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Enter a result into the account, wherever it was done."""
        text = getattr(report, "nmemory", None)
        if text is not None:
            self.account.add(unwire(text))
        if report.nodeid in self.account.planned or _OWN_ID.fullmatch(report.nodeid):
            self._name_in_junit(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Keep the dots of one pack in one line: pytest would take each id for a file of its own."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        if nodeid not in self.account.planned or not getattr(reporter, "showfspath", False):
            return
        if self._shown is None or reporter.currentfspath != self._shown:
            reporter.write_fspath_result(nodeid.rpartition("/")[0], "")
        self._shown = reporter.currentfspath = self.config.rootpath / nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave the target, and see to it that a run that decided nothing is not green."""
        self._close()
        if self._is_worker:
            self.config.workeroutput["nmemory"] = {  # type: ignore[attr-defined]
                "left": list(self.account.left),
                "noise": list(self.account.noise),
            }
        elif self._inconclusive() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the verdict and the books."""
        if (self.account.planned or self.account.own) and not self._only_lists:
            terminalreporter.section("nMEMORY conformance")
            for line in lines(self.account):
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Leave the target where the session never came to its end."""
        self._close()

    # --- xdist --------------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what the controller found out, so that all collect the same."""
        node.workerinput["nmemory"] = {"packs": [pack.path for pack in self.packs]}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Plan what a worker collected; all collect the same."""
        self.account.plan(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from a worker what stays behind."""
        output = getattr(node, "workeroutput", {}).get("nmemory", {})
        self.account.left += tuple(output.get("left", ()))
        self.account.noise += tuple(output.get("noise", ()))

    # --- in private ---------------------------------------------------------------------------------------------

    def _take_case_ids(self) -> tuple[str, ...]:
        """Case ids among the arguments, such as pytest prints them: they are no files."""
        ids = [arg for arg in self.config.args if _CASE_ID.fullmatch(arg) and not Path(arg).exists()]
        self.config.args[:] = [arg for arg in self.config.args if arg not in ids]
        return tuple(ids)

    def _choose(self) -> None:
        """Which packs, which cases, which excuses."""
        settings = self.settings
        if self._told:
            packs = tuple(map(load_pack, self._told["packs"]))
        elif settings.protocol is not None:
            packs = (load_pack(settings.protocol),)
        else:
            packs = tuple(map(load_pack, pack_names()))
        if not self._is_worker and not (settings.protocol and self._only_lists):
            packs = self._meet(packs)
        self.account.packs = packs
        self._cases = choose(packs, (*settings.cases, *self._asked), settings.clauses)
        if settings.excuses is not None:
            self._excuses = read_excuses(settings.excuses)
            check_excuses(self._excuses, choose(packs), datetime.now(UTC).date())

    def _meet(self, packs: tuple[Pack, ...]) -> tuple[Pack, ...]:
        """Reach the target and see which packs its tools belong to. A controller of xdist leaves at once."""
        driver = self._open(packs)
        if driver is None:
            raise pytest.UsageError(f"nmemory: {self._unreachable}")
        self.account.identity, self.account.capabilities = driver.identity, driver.capabilities
        if self.settings.protocol is None:
            packs = fit(packs, driver.identity.tools)
        if not packs:
            offered = ", ".join(driver.identity.tools[:8]) or "none"
            self._close()
            raise pytest.UsageError(
                harmless(
                    f"nmemory: the target offers no tool of a contract that this kit knows; its tools: {offered}", 600
                )
            )
        if self.config.getoption("dist", "no") != "no":
            self._close()
        return packs

    def _open(self, packs: tuple[Pack, ...] | None = None) -> Driver | None:
        """The open session, or None where there is no reaching the target; the reason is kept."""
        if self._driver is None and self._unreachable is None:
            limit = self._reached.limits.run
            driver = Driver(self._reached.target, packs or self.packs, self._options, limit)
            try:
                driver.open()
            except Unreachable as error:
                told = harmless_lines(f"the target could not be reached: {why(error.fault)}")
                self._unreachable = self._options.redact("\n  | ".join(told))
            except NotATarget as error:
                self._unreachable = self._options.redact(harmless(f"the target could not be judged: {error}"))
            else:
                self._driver = driver
        return self._driver

    def _close(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()
            self.account.left += driver.left
            self.account.noise += driver.noise

    def _collector(self, session: pytest.Session, pack: Pack) -> PackCollector:
        cases = [case for case in self._cases if case.path.startswith(f"{pack.path}/")]
        collector: PackCollector = PackCollector.from_parent(
            session, name=pack.path, nodeid=pack.path, conformance=self, pack=pack, cases=cases
        )
        return collector

    def _inconclusive(self) -> bool:
        return (
            bool(self.account.planned)
            and not self._only_lists
            and self.account.balance().verdict is TargetVerdict.INCONCLUSIVE
        )

    def _name_in_junit(self, report: pytest.TestReport) -> None:
        """Give a case a class in JUnit XML: its pack; pytest would take the whole id for a file name."""
        from _pytest.junitxml import xml_key

        xml = self.config.stash.get(xml_key, None)
        if xml is not None:
            pack, _, name = report.nodeid.rpartition("/")
            reporter = xml.node_reporter(report)
            reporter.add_attribute("classname", ".".join(filter(None, (xml.prefix, pack.replace("/", ".")))))
            reporter.add_attribute("name", name)
