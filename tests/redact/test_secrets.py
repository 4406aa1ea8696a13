"""A corpus of planted secrets, in every dress that a member can give them; none may survive."""

from __future__ import annotations

import base64
import json
import random
import string
from urllib.parse import quote

import pytest

from tests.redact.machine import redactor as redactor_of

RANDOM = random.Random(20251201)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(count - 2)) + "a7"


def shapes() -> list[str]:
    """One token of each issuer."""
    upper = string.ascii_uppercase + string.digits
    return [
        *(f"gh{kind}_{letters(36)}" for kind in "pousr"),
        f"github_pat_{letters(22)}_{letters(59)}",
        f"glpat-{letters(20)}",
        f"hf_{letters(34)}",
        f"AKIA{letters(16, upper).upper()}",
        f"LTAI{letters(20)}",
        f"AIza{letters(35)}",
        f"xoxb-{letters(12)}-{letters(24)}",
        f"sk-{letters(48)}",
        f"npm_{letters(36)}",
        f"pypi-{letters(80)}",
        f"eyJ{letters(20)}.eyJ{letters(40)}.{letters(43)}",
    ]


# How a secret stands in logs, tracebacks, JSON, argv, source and shells; {} is the secret.
DRESSES = (
    "{}",
    "token {} was used",
    '"{}"',
    "'{}',",
    '{{"argv": ["--x", "{}"]}}',
    "x={}&y=1",
    'raise Error("{}")\\n',
    "https://example.com/?q={}",
    "  | {} |",
)
# Secrets without a shape, told by the name before them.
NAMED = (
    "password={}", "PASSWORD: {}", "passwd = '{}'", '"password": "{}"', '\\"secret\\": \\"{}\\"', "--password {}",
    "--token={}", "DB_PASSWORD={}", "access_token={}", "?access_token={}&x=1", "PRIVATE-TOKEN: {}",
    "Authorization: Bearer {}", "authorization: Basic {}", "'Authorization': 'token {}'", "api_key={}",
    "API_KEY='{}'", "aws_secret_access_key = {}", "client_secret={}", "Cookie={}", "http://bob:{}@proxy.lan:3128",
)  # fmt: skip


def corpus() -> list[tuple[str, str]]:
    """Pairs of secret and text."""
    cases = [(secret, dress.format(secret)) for dress in DRESSES for secret in shapes()]
    for _ in range(10):
        for dress in NAMED:
            secret = letters(20)
            cases.append((secret, dress.format(secret)))
    return cases


CORPUS = corpus()


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS) >= 300


def test_no_planted_secret_survives() -> None:
    survivors = [text for secret, text in CORPUS if secret in redactor_of().text(text)]
    assert survivors == []


def test_no_planted_secret_survives_among_others_in_one_member() -> None:
    text = "\n".join(text for _, text in CORPUS)
    found = redactor_of().text(text)
    assert [secret for secret, _ in CORPUS if secret in found] == []


def test_private_keys_go_with_all_their_lines() -> None:
    body = "\n".join(letters(64) for _ in range(12))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    assert redactor_of().text(f"a\n{key}\nb") == "a\nsecret-1\nb"
    assert redactor_of().text(json.dumps({"key": key})) == '{"key": "secret-1"}'


def test_a_private_key_without_an_end_loses_its_body_only() -> None:
    body = "\n".join(letters(64) for _ in range(12))
    found = redactor_of().text(f"-----BEGIN PRIVATE KEY-----\n{body}\nTraceback: the rest\n")
    assert body[:64] not in found
    assert "Traceback: the rest" in found


def test_values_of_secret_variables_go_in_every_spelling() -> None:
    secret = 'pa"ss/w\\rd 1'
    text = " ".join(
        (secret, json.dumps(secret), base64.b64encode(secret.encode()).decode(), quote(secret, safe=""))
    )
    found = redactor_of(environ={"DB_PASSWORD": secret}).text(text)
    assert found == 'secret-1 "secret-1" secret-1 secret-1'


def test_the_password_of_a_proxy_goes_also_outside_of_its_url() -> None:
    found = redactor_of(environ={"HTTPS_PROXY": "http://bob:hunter22@proxy:3128"}).text("login with hunter22")
    assert found == "login with secret-1"


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096", "num_tokens: 128", "token = get_token()", "token: !async.token",
        "tokenizer=AutoTokenizer", "key = tl.program_id(0)", 'triton.autotune(key=["n_elements"])',
        "password=None", "password = getpass()",
        "secret = os.environ['X']", "keyword=abcdefgh1234", "hf_hub_download", "sk-learn", "passes=12",
        "%token = async.token : !async.token", "-----BEGIN CERTIFICATE-----",
    ],
)  # fmt: skip
def test_code_that_only_speaks_of_secrets_stays(text: str) -> None:
    assert redactor_of().text(text) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [("TOKENIZERS_PARALLELISM", "false"), ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1"), ("API_KEY", "123"),
     ("OLDPWD", "somewhere"), ("HF_TOKEN_PATH", "relative")],
)  # fmt: skip
def test_harmless_variables_do_not_redact_their_values(name: str, value: str) -> None:
    assert redactor_of(environ={name: value}).text(f"value {value} here") == f"value {value} here"


def test_secrets_are_not_in_the_map() -> None:
    redactor = redactor_of(environ={"API_KEY": "abcdef123456"})
    redactor.text("abcdef123456 password=hunter2222")
    assert redactor.mapping == {}
    assert dict(redactor.counts) == {"secret": 2}
