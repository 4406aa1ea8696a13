"""CANN, driver and firmware in the layouts of 8.0 to 9.1."""

from __future__ import annotations

import pytest

from bundler.evidence.cann import running_version
from tests.evidence.machines import Machine, toolkit_info


@pytest.mark.parametrize("version", ["8.0.RC3", "8.1.RC1", "8.2.RC1", "8.3.RC2"])
@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_up_to_8_3_it_is_below_ascend_toolkit(machine: Machine, version: str, arch: str) -> None:
    base = f"/usr/local/Ascend/ascend-toolkit/{version}"
    machine.write(f"{base}/{arch}-linux/ascend_toolkit_install.info", toolkit_info(version, arch))
    machine.link("/usr/local/Ascend/ascend-toolkit/latest", version)
    facts = machine.facts()
    assert facts["cann.version"].value == version
    assert facts["cann.path"].value == "/usr/local/Ascend/ascend-toolkit/latest"
    assert facts["cann.others"].value == "none"


@pytest.mark.parametrize("version", ["8.5.0", "9.0.0", "9.1.0"])
def test_from_8_5_it_is_in_a_folder_of_its_own(machine: Machine, version: str) -> None:
    top = f"/usr/local/Ascend/cann-{version}/aarch64-linux"
    machine.write(f"{top}/ascend_toolkit_install.info", toolkit_info(version))
    machine.write(f"{top}/ascend_ops_install.info", f"package_name=Ascend-cann-A3-ops\nversion={version}\n")
    machine.link("/usr/local/Ascend/cann", f"cann-{version}")
    facts = machine.facts()
    assert facts["cann.version"].value == version
    assert facts["cann.path"].value == "/usr/local/Ascend/cann"
    assert facts["cann.innerversion"].value == "V100R001C25SPC002B220"
    assert facts["cann.ops"].value == f"Ascend-cann-A3-ops {version}"


def test_the_variable_decides_between_several_and_the_others_are_named(machine: Machine) -> None:
    for version in ("8.2.RC1", "8.3.RC1"):
        base = f"/usr/local/Ascend/ascend-toolkit/{version}"
        machine.write(f"{base}/aarch64-linux/ascend_toolkit_install.info", toolkit_info(version))
    machine.link("/usr/local/Ascend/ascend-toolkit/latest", "8.3.RC1")
    home = "/usr/local/Ascend/ascend-toolkit/8.2.RC1"
    facts = machine.facts(environ={"ASCEND_HOME_PATH": home})
    assert (facts["cann.version"].value, facts["cann.path"].source) == ("8.2.RC1", "ASCEND_HOME_PATH")
    assert facts["cann.others"].value == "/usr/local/Ascend/ascend-toolkit/latest (8.3.RC1)"


def test_a_user_install_below_home_is_found(machine: Machine) -> None:
    machine.write(
        "/home/devuser/Ascend/ascend-toolkit/latest/version.cfg", "toolkit_running_version=[1:8.1.RC1]\n"
    )
    fact = machine.facts()["cann.version"]
    assert (fact.value, fact.source) == ("8.1.RC1", "version.cfg")


def test_the_recorded_install_path_is_used(machine: Machine) -> None:
    machine.write("/etc/Ascend/ascend_cann_install.info", "Install_Path=/opt/ascend\n")
    machine.write("/opt/ascend/nnae/latest/runtime/version.info", "Version=8.0.0\n")
    assert machine.facts()["cann.version"].value == "8.0.0"


def test_a_folder_without_files_tells_its_version_by_its_name(machine: Machine) -> None:
    (machine.root / "usr/local/Ascend/cann-8.5.0").mkdir(parents=True)
    fact = machine.facts()["cann.version"]
    assert (fact.value, fact.source) == ("8.5.0", "folder name")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("# version: 1.0\nruntime_running_version=[7.6.0.1.220:8.2.RC1]\n", "8.2.RC1"),
        ("runtime_running_version=[1:8.0]\ntoolkit_running_version=[7.6.0.1.220:8.2.RC2]\n", "8.2.RC2"),
        ("toolkit_running_version=[8.3.RC2]\n", "8.3.RC2"),
        ("toolkit_upgrade_version=[7:8.0.0]\n", None),
        ("", None),
        ("garbage [", None),
    ],
)
def test_version_cfg_is_read(text: str, version: str | None) -> None:
    assert running_version(text) == version


def test_without_cann_the_reason_says_where_it_was_looked_for(machine: Machine) -> None:
    fact = machine.facts()["cann.version"]
    assert fact.value is None
    assert "ASCEND_HOME_PATH" in fact.reason


def test_driver_and_firmware_are_read(machine: Machine) -> None:
    driver = "Version=25.5.0\nascendhal_version=7.35.23\nInnerversion=V100R001C23SPC006B220\n"
    machine.write("/usr/local/Ascend/driver/version.info", driver)
    firmware = "Version=7.8.0.5.216\nfirmware_version=1.0\npackage_version=25.5.0\n"
    machine.write("/usr/local/Ascend/firmware/version.info", firmware)
    facts = machine.facts()
    names = ("driver.version", "driver.ascendhal", "firmware.version", "firmware.package")
    assert [facts[name].value for name in names] == ["25.5.0", "7.35.23", "7.8.0.5.216", "25.5.0"]


def test_a_driver_elsewhere_is_found(machine: Machine) -> None:
    machine.write("/etc/ascend_install.info", "Driver_Install_Path_Param=/opt/hw\n")
    machine.write("/opt/hw/driver/version.info", "Version=24.1.rc3\n")
    assert machine.facts()["driver.version"].value == "24.1.rc3"


def test_in_a_container_a_missing_driver_is_not_visible_rather_than_absent(machine: Machine) -> None:
    machine.write("/.dockerenv")
    facts = machine.facts()
    assert facts["driver.version"].reason == "not visible in this container"
    assert facts["firmware.version"].reason == "not visible in this container"
    assert facts["container.kind"].value == "docker"
