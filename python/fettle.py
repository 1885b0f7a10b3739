# SPDX-License-Identifier: Apache-2.0
"""Asks a Fettle controller, and changes what it may change. The standard library is all that it needs.

    import fettle

    controller = fettle.Controller()
    for node in controller.node_list(fields="Name,State,Why")["nodes"]:
        print(node["Name"], node["State"], node["Why"])
    controller.node_drain("lx[07-08]", "bad DIMM")
    controller.get("/v1/journal", {"nodes": "lx07", "tail": 10})
    controller.post("/v1/nodes/undrain", {"nodes": "lx07"}, dry_run=True)

get() and post() reach every call of /usr/share/fettle/openapi.yaml, which describes parameters, bodies and
answers; an answer is the dict that its JSON is. The calls that scripts make most have a method with their
operationId. Whatever goes wrong is a fettle.Error.

A call has a connection of its own, so that several threads may share a Controller.

A change has an id, which the controllers remember with what came of it. When its answer is lost, it is asked for
again with the same id, until an answer says what came of it or the time is over.
"""

import http.client
import json
import os
import re
import socket
import ssl
import time
import urllib.parse
import uuid

SOCKET = "/run/fettle/fettled.sock"
ANSWER_BYTES_MAX = 64 << 20
TIMEOUT_S = 30
TOKEN_BYTES_MAX = 8 << 10
ROUND_S = 0.2  # between two rounds through all controllers
UNSAID = ("unreachable", "timeout", "protocol", "outcome_unknown")  # nobody said what came of a change


class Error(Exception):
    """Why a call did not succeed: a sentence for a person, and a code for programs.

    code    as fettle-api(7) lists them: "not_found", "conflict", "forbidden", ...; of what the controller did not
            say: "invalid" (the address or a certificate here), "unreachable", "timeout" and "protocol" (the answer
            is not Fettle's). After "outcome_unknown" a change may have been made: look before it is asked for again.
            After every other code it was not.
    status  of HTTP; None of what the controller did not say
    """

    def __init__(self, code, message, status=None):
        super().__init__(message)
        self.code = code
        self.status = status


class _LocalConnection(http.client.HTTPConnection):
    """HTTP over a local socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Controller:
    """A controller, by its address.

    controller  "/path" or "unix:/path" of a local socket, or "https://HOST:PORT"; several, with commas between, are
                those of one cluster: one that cannot be reached is passed over, and so is, for a change, one that does
                not lead
    cert, key   files with the certificate to show and its key, PEM (HTTPS only): `fettle cert create` makes them
    ca          file with the authority that signs controllers, PEM (HTTPS only, and needed there)
    token       file with a bearer token, which is read at each call; nobody else may read it (HTTPS only)
    timeout     of each step of a call (connecting, sending, reading), in seconds; a change is asked for again for
                as long

    What is not given is taken from FETTLE_CONTROLLER, FETTLE_CERT, FETTLE_KEY, FETTLE_CA and FETTLE_TOKEN, and at last
    the address is /run/fettle/fettled.sock. Nothing connects before the first call.
    """

    def __init__(self, controller=None, cert=None, key=None, ca=None, timeout=TIMEOUT_S, token=None):
        given = controller or os.environ.get("FETTLE_CONTROLLER") or SOCKET
        self._addresses = [_parse_address(a.strip()) for a in given.split(",")]
        self.timeout = timeout
        self._tls = None
        self._token = token or os.environ.get("FETTLE_TOKEN")
        if any(a.host for a in self._addresses):
            self._tls = _tls_context(*(given or os.environ.get(variable) for given, variable in
                                       ((cert, "FETTLE_CERT"), (key, "FETTLE_KEY"), (ca, "FETTLE_CA"))))

    @property
    def address(self):
        """The controller that answered last, or is asked first."""
        return self._addresses[0].name

    # --- calls ---

    def get(self, path, query=None):
        """The answer to GET of a path, "/v1/nodes/lx07", with these parameters; those that are None are left out."""
        return self._ask("GET", path, query)

    def post(self, path, body=None, dry_run=False):
        """The answer to POST: what was changed, durably. Members of the body that are None are left out.
        dry_run: nothing is changed; "changed" and "would" of the answer say what would be."""
        return self._ask("POST", path, {"dry_run": "true"} if dry_run else None, _without_none(body))

    def events(self, last_id=None):
        """Each event as it comes, as long as the caller wants more: {"name", "id", and the members of its data}.

        last_id is the id of the event after which to go on. An event with the name "resync" says that some may
        have been missed: read anew whatever is kept of the controller's answers. Ends with an Error when the
        connection does."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        address = self._addresses[0]
        with self._exchange(address, "GET", "/v1/events", None, headers) as answer:
            event = {}
            for line in answer:
                line = line.decode().rstrip("\r\n")
                key, _, value = line.partition(": ")
                if key in ("id", "event", "data"):
                    event[key] = value
                elif not line and "data" in event:
                    yield {"name": event.get("event"), "id": event.get("id"), **_parse(event["data"])}
                    event = {}
        raise Error("unreachable", f"the event stream of {address.name} ended")

    # --- the calls that scripts make most ---

    def whoami_show(self):
        """For whom the controller takes this caller, and what the caller may do."""
        return self.get("/v1/whoami")

    def status_show(self):
        return self.get("/v1/status")

    def node_list(self, nodes=None, fields=None):
        """nodes is a host list, "lx[01-64]"; fields are names with commas between, "Name,State"."""
        return self.get("/v1/nodes", {"nodes": nodes, "fields": fields})

    def node_show(self, name):
        return self.get(f"/v1/nodes/{name}")

    def node_drain(self, nodes, reason, dry_run=False):
        return self.post("/v1/nodes/drain", {"nodes": nodes, "reason": reason}, dry_run)

    def node_forget(self, nodes, force=False, dry_run=False):
        return self.post("/v1/nodes/forget", {"nodes": nodes, "force": force}, dry_run)

    def node_undrain(self, nodes, claim=None, dry_run=False):
        return self.post("/v1/nodes/undrain", {"nodes": nodes, "claim": claim}, dry_run)

    # --- one exchange ---

    def _ask(self, method, path, query=None, body=None):
        target = urllib.parse.quote(path)
        if query := urllib.parse.urlencode(_without_none(query)):
            target += "?" + query
        changes = method == "POST" and "dry_run" not in (query or {})
        call = _Call(self, method, target, body, {"Idempotency-Key": uuid.uuid4().hex} if changes else {})
        return _parse(call.run())

    def _connect(self, address):
        if address.host:
            return http.client.HTTPSConnection(address.host, address.port, timeout=self.timeout, context=self._tls)
        return _LocalConnection(address.path, self.timeout)

    def _exchange(self, address, method, target, body, headers):
        if self._token and address.host:
            headers = {**headers, "Authorization": f"Bearer {_read_token(self._token)}"}
        return _Exchange(address.name, self._connect(address), method, target, body, headers)


class _Call:
    """A request on its way from controller to controller."""

    def __init__(self, controller, method, target, body, headers):
        self._controller, self._request, self._headers = controller, (method, target, body), headers
        self._until = time.monotonic() + controller.timeout
        self._lost = None  # why nobody said what came of a change that was sent

    def run(self):
        """The text of the answer."""
        while True:
            follows, why = False, None
            for address in list(self._controller._addresses):
                try:
                    text = self._ask(address)
                except Error as e:
                    why = e
                    follows |= e.code == "not_leader"
                    if not self._goes_on(e):
                        raise
                    continue
                self._prefer(address)
                return text
            if not (self._lost or follows and len(self._controller._addresses) > 1) or time.monotonic() + ROUND_S > self._until:
                raise self._end(why)
            time.sleep(ROUND_S)

    def _ask(self, address):
        exchange = self._controller._exchange(address, *self._request, self._headers)
        try:
            with exchange as answer:
                text = answer.read(ANSWER_BYTES_MAX + 1)
        except Error as e:
            if self._headers and exchange.sent and e.code in UNSAID and not self._lost:
                self._lost = e
            raise
        if len(text) > ANSWER_BYTES_MAX:
            raise Error("too_large", f"the answer of {address.name} is longer than {ANSWER_BYTES_MAX >> 20} MiB")
        return text

    def _goes_on(self, e):
        """Whether another controller, or this one later, may say more."""
        if self._lost:
            return e.code in (*UNSAID, "not_leader", "unavailable")
        return e.code in ("unreachable", "timeout", "not_leader") if len(self._controller._addresses) > 1 else False

    def _end(self, why):
        if not self._lost or why.code == "outcome_unknown":
            return why
        return Error("outcome_unknown", f"it is not known whether the change was made: {self._lost}; look before you try again")

    def _prefer(self, address):
        addresses = self._controller._addresses
        at = addresses.index(address)
        self._controller._addresses = addresses[at:] + addresses[:at]


class _Exchange:
    """A request and the stream of its answer; what goes wrong between them is an Error."""

    def __init__(self, address, connection, method, target, body, headers):
        self._address, self._connection = address, connection
        self.sent = False  # the controller may have got the request
        self._request = (method, target, None if body is None else json.dumps(body),
                         {"User-Agent": "python-fettle", "Content-Type": "application/json", **headers})

    def __enter__(self):
        try:
            self._connection.connect()
            self.sent = True
            self._connection.request(*self._request)
            answer = self._connection.getresponse()
            if answer.status != 200:
                raise _refusal(answer.status, answer.read(ANSWER_BYTES_MAX))
            return answer
        except BaseException as e:
            self.__exit__(type(e), e, None)
            raise

    def __exit__(self, kind, e, trace):
        self._connection.close()
        if isinstance(e, TimeoutError):
            raise Error("timeout", f"no answer of the controller at {self._address} in time") from e
        if isinstance(e, ssl.SSLError):
            raise Error("unreachable", f"no TLS with {self._address}: {e.strerror or e}") from e
        if isinstance(e, OSError):
            raise Error("unreachable", f"no controller at {self._address}: {e.strerror or e}") from e
        if isinstance(e, http.client.HTTPException):
            raise Error("protocol", f"what {self._address} says is not HTTP: {e!r}") from e


def _refusal(status, text):
    try:
        error = json.loads(text)["error"]
        return Error(error["code"], error["message"], status)
    except (ValueError, LookupError, TypeError):
        return Error("protocol", f"HTTP status {status}, and no error of Fettle's", status)


def _parse(text):
    try:
        answer = json.loads(text)
    except ValueError as e:
        raise Error("protocol", f"an answer is not JSON: {e}") from e
    if not isinstance(answer, dict):
        raise Error("protocol", "an answer is no JSON object")
    return answer


def _without_none(members):
    return {key: value for key, value in (members or {}).items() if value is not None}


class _Address:
    """Where a controller is: the path of a local socket, or host and port."""

    def __init__(self, name, path=None, host=None, port=None):
        self.name, self.path, self.host, self.port = name, path, host, port


def _parse_address(address):
    if address.startswith("https://"):
        return _Address(address, None, *_parse_host(address))
    path = address[len("unix:"):] if address.startswith("unix:") else address
    if not path.startswith("/"):
        raise Error("invalid", f'controller address "{address}" is neither a path nor https://HOST:PORT')
    return _Address(address, path)


def _parse_host(address):
    """("host", port) of "https://host:port"."""
    try:
        parts = urllib.parse.urlsplit(address)
        if parts.hostname and parts.port and parts.path in ("", "/") and not parts.query and not parts.username:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise Error("invalid", f'controller address "{address}" is not https://HOST:PORT')


def _read_token(path):
    """The token in a file that nobody else may read."""
    try:
        with open(path, encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise Error("forbidden", f"others than its owner may read or write {path}")
            token = file.read(TOKEN_BYTES_MAX + 1).strip()
    except (OSError, ValueError) as e:
        raise Error("invalid", f"{path}: {e}") from e
    if not re.fullmatch(r"[!-~]+", token) or len(token) > TOKEN_BYTES_MAX:
        raise Error("invalid", f"{path}: not one token of at most {TOKEN_BYTES_MAX} bytes")
    return token


def _tls_context(cert, key, ca):
    if not ca:
        raise Error("invalid", "https needs the authority that signs controllers (ca, or FETTLE_CA)")
    if key and not cert:
        raise Error("invalid", "there is a key, and no certificate (cert, or FETTLE_CERT)")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_verify_locations(ca)
    except OSError as e:
        raise Error("invalid", f"{ca}: {e.strerror or e}") from e
    try:
        if cert:
            context.load_cert_chain(cert, key)
    except OSError as e:
        raise Error("invalid", f"{cert}{', ' + key if key else ''}: {e.strerror or e}") from e
    return context
