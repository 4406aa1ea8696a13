"""What is replaced and what stays, one behaviour a test."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.redact.machine import redactor as redactor_of


def redact(text: str, **options: Any) -> str:
    return redactor_of(**options).text(text)


class TestHomeFolders:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('loc("/home/devuser/work/k.py":50:0)', 'loc("/home/user-1/work/k.py":50:0)'),
            ("/Users/Jim/x", "/Users/user-1/x"),
            ("at /home/devuser.", "at /home/user-1."),
            ("PATH=/home/devuser/bin:/home/other/bin", "PATH=/home/user-1/bin:/home/user-2/bin"),
            (r"\/home\/devuser\/x", r"\/home\/user-1\/x"),
            ("%2Fhome%2Fdevuser%2Fx", "%2Fhome%2Fuser-1%2Fx"),
            ("%252Fhome%252Fdevuser", "%252Fhome%252Fuser-1"),
            (r"C:\Users\Jim\x", r"C:\Users\user-1\x"),
            (r"C:\\Users\\Jim\\x", r"C:\\Users\\user-1\\x"),
            ("/mnt/data/home/devuser/x", "/mnt/data/home/user-1/x"),
            (r"/home/\u5f20\u4e09/x", "/home/user-1/x"),
            ("/home/张三/x", "/home/user-1/x"),
            (r"/home/\E5\BC\A0/x", "/home/user-1/x"),
        ],
    )
    def test_the_account_is_replaced_and_the_rest_of_the_path_stays(self, before: str, after: str) -> None:
        account = {redactor_of().text(before): after}
        assert account == {after: after}

    @pytest.mark.parametrize(
        "text",
        ["/root/x", "/home/$USER/x", "/home/<user>/x", "/home/*/x", "/home/...", "/home/", "/home/.cache"],
    )
    def test_what_names_nobody_stays(self, text: str) -> None:
        assert redact(text, home="/root", user="root") == text

    def test_root_as_the_home_of_a_named_user_is_replaced(self) -> None:
        assert redact("cd /root/x", home="/root", user="carol") == "cd /path-1/x"

    def test_a_home_elsewhere_is_replaced_in_every_spelling(self) -> None:
        home = "/data/team7/carol"
        text = f"{home}/k.py {json.dumps(home).replace('/', chr(92) + '/')} {quote(home, safe='')}"
        found = redact(text, home=home, user="carol")
        assert "team7" not in found
        assert "carol" not in found
        assert found.startswith("/path-1/k.py")

    def test_an_account_is_replaced_in_other_folders_too(self) -> None:
        text = "/home/devuser/a /tmp/torchinductor_devuser/b /scratch/devuser/c"
        assert redact(text) == "/home/user-1/a /tmp/torchinductor_user-1/b /scratch/user-1/c"

    def test_a_name_learned_from_one_member_is_replaced_in_another(self) -> None:
        redactor = redactor_of()
        redactor.learn(b"/home/devuser/a")
        assert redactor.text("/scratch/devuser/c") == "/scratch/user-1/c"


class TestNames:
    def test_the_users_name_is_replaced_as_a_word(self) -> None:
        text = "logged in as carol; carol's job; user=carol"
        assert redact(text, user="carol") == "logged in as user-1; user-1's job; user=user-1"

    def test_symbols_values_and_parts_of_words_are_left_alone(self) -> None:
        text = "func.func @carol(%carol: i32) #carol !carol ^carol carolina .carol"
        assert redact(text, user="carol") == text

    @pytest.mark.parametrize("name", ["max", "add", "root", "tensor", "triton", "user"])
    def test_a_name_that_is_a_word_of_the_compiler_is_replaced_only_in_paths(self, name: str) -> None:
        ir = f"#hivm.reduce_op<{name}> {name} reduce {name}"
        assert redact(ir, user=name) == ir
        assert f"/home/{name}/" not in redact(f"/home/{name}/k.py", user=name)

    def test_the_host_is_one_host_by_its_short_and_its_full_name(self) -> None:
        text = "npu-node7 npu-node7.corp.lan alice@npu-node7:~$ http://npu-node7.corp.lan/x"
        found = redact(text, hostname="npu-node7.corp.lan", user="alice")
        assert found == "host-1 host-1 user-1@host-1:~$ http://host-1/x"

    @pytest.mark.parametrize("host", ["vm", "localhost", "ubuntu"])
    def test_a_generic_host_name_stays(self, host: str) -> None:
        assert redact(f"on {host} now", hostname=host) == f"on {host} now"

    def test_words_of_the_user_go_wherever_they_stand(self) -> None:
        text = "Project Falcon: falcon_kernel FALCON"
        assert redact(text, words=["Falcon"]) == "Project word-1: word-1_kernel word-1"


class TestNetwork:
    @pytest.mark.parametrize(
        "text",
        [
            "10.1.2.3", "192.168.0.7", "172.16.1.1", "123.45.67.89", "10.1.2.3:8080", "10.0.0.0/8",
            "addr 8.2.0.1", "MASTER_ADDR=11.2.3.4", "http://8.8.8.8/", "connect to 8.8.4.4", "[10.1.2.3]",
            '"peer": "9.9.9.9"', "root@10.0.0.5:/x",
        ],
    )  # fmt: skip
    def test_ipv4_addresses_go(self, text: str) -> None:
        assert "ip-1" in redact(text)

    @pytest.mark.parametrize(
        "text",
        [
            "8.2.0.1", "Version=8.2.0.1", "CANN 8.2.0.1", "version: 10.2.0.1", "driver 25.5.0.1", "v10.1.2.3",
            "7.6.0.1.220:8.2.RC1", "torch==10.0.0.1", "cann-10.1.2.3", "127.0.0.1", "0.0.0.0", "255.255.255.0",
            "1.2.3", "300.1.2.3", "10.1.2.3rc1", "0.5.0.25e-3",
        ],
    )  # fmt: skip
    def test_versions_and_loopback_stay(self, text: str) -> None:
        assert redact(text) == text

    @pytest.mark.parametrize(
        "text", ["fe80::1", "2001:db8::ff00:42:8329", "fe80::1%eth0", "[2001:db8::1]:80"]
    )
    def test_ipv6_addresses_go(self, text: str) -> None:
        assert "ip-1" in redact(text)

    @pytest.mark.parametrize(
        "text",
        ["mlir::func::FuncOp", "add::fade", "::1", "a::b", "12:34:56", 'loc("x":12:3)', "0000:66:00.0"],
    )
    def test_scopes_times_and_bus_ids_stay(self, text: str) -> None:
        assert redact(text) == text

    @pytest.mark.parametrize("text", ["aa:bb:cc:dd:ee:ff", "HWaddr 00:1A:2B:3C:4D:5E", "AA-BB-CC-DD-EE-01"])
    def test_mac_addresses_go(self, text: str) -> None:
        assert "mac-1" in redact(text)

    @pytest.mark.parametrize(
        "text", ["jim.smith@example.com", "jim@corp.huawei.local", "J.S+x@mail.example.co.uk"]
    )
    def test_mail_addresses_go(self, text: str) -> None:
        assert redact(f"<{text}>") == "<email-1>"

    @pytest.mark.parametrize("text", ["q@k.T", "p@v.to(tl.float16)", "x@w.values", "foo@1.2.3", "call @f.x"])
    def test_matrix_products_and_symbols_stay(self, text: str) -> None:
        assert redact(text) == text

    def test_private_hosts_in_urls_go_and_public_ones_stay(self) -> None:
        text = "https://github.com/a/b https://git.corp.lan/a/b http://proxy:3128"
        assert redact(text) == "https://github.com/a/b https://host-1/a/b http://host-2:3128"

    def test_credentials_in_a_url_go(self) -> None:
        found = redact("https://bob:pa55w@rd@github.com/x")
        assert found == "https://secret-1@github.com/x"

    @pytest.mark.parametrize(
        "text",
        ["--index-url https://pypi.corp.lan/team/simple", "index-url = https://pypi.corp.lan/team/simple",
         "PIP_EXTRA_INDEX_URL=https://pypi.corp.lan/team/simple"],
    )  # fmt: skip
    def test_a_private_package_index_goes_as_a_whole(self, text: str) -> None:
        found = redact(text)
        assert "team" not in found
        assert "corp" not in found

    def test_a_public_package_index_stays(self) -> None:
        assert redact("--index-url https://pypi.org/simple") == "--index-url https://pypi.org/simple"


def test_serial_numbers_of_devices_go() -> None:
    board = "\tSerial Number                  : 0123ABCD4567\n\tVDie ID : 12345678 9ABCDEF0 11112222\n"
    found = redact(board)
    assert "0123ABCD4567" not in found
    assert "9ABCDEF0" not in found
    assert found.count("\n") == 2
