"""The connection to the broker: connects, keeps alive, sends and receives. It never blocks and stores nothing.

What is published without a connection is refused; a connection that ends takes everything on its way with it. What
must arrive is in the ledger.
"""

import mqtt

KEEPALIVE_MS = 15000
CONNECT_MS = 8000
BACKOFF_MS = (500, 10000)
_MOST_OUT = 12000
_UNAVAILABLE = 3
_REASONS = {
    1: "it speaks no MQTT 3.1.1",
    2: "the client id",
    _UNAVAILABLE: "it is not ready",
    4: "user or password",
    5: "user, password or rights",
}
_SUBSCRIBE = 1  # the number of the only SUBSCRIBE of a connection
_COMPLAINTS = 8  # that are remembered, so that each is made once
_AGAIN = (11, 35, 107, 115, 119, 128)  # EAGAIN, EWOULDBLOCK, EINPROGRESS, and what a socket says while it connects


class RefusedError(OSError):
    """The broker is there and does not want this temple."""


class Link:
    """One temple's connection to its broker, kept up by its turns."""

    def __init__(self, dial, settings, client_id, will_topic, topics, say=None):
        """Store the arguments. `dial` begins to connect and returns a socket that never blocks.

        It returns None while the broker's name is looked up, and raises OSError where there is no way. `say` shows
        why there is no connection, each reason once until there is one.
        """
        self._dial = dial
        self._settings = settings
        self._client_id = client_id
        self._will_topic = will_topic
        self._topics = topics
        self._socket = None
        self._out = []  # packets, the first of them perhaps a rest: to join them would copy all of it each time
        self._size = 0
        self._number = 0
        self._wait_ms = BACKOFF_MS[0]
        self._next_ms = 0
        self._say = say
        self._complaints = []
        self._subscribe_ms = None  # since when a SUBACK is waited for
        self.up = False  # connected, and all topics are subscribed to
        self.refused = False

    def turn(self, now_ms, will):
        """Do what can be done now; return what happened: "up", "down", or (topic, payload, retained)."""
        if self._socket is None:
            if now_ms >= self._next_ms:
                self._begin(now_ms, will)
            return []
        try:
            happened = self._listen(now_ms)
            if now_ms - self._received_ms > (KEEPALIVE_MS * 3 // 2 if self.up else CONNECT_MS):
                raise OSError("the broker is silent")
            if self._subscribe_ms is not None and now_ms - self._subscribe_ms > KEEPALIVE_MS:
                raise OSError("the broker does not answer a subscription")
            if self.up and now_ms - self._spoke_ms > KEEPALIVE_MS // 2:
                self._write(mqtt.PINGREQ)
                self._spoke_ms = now_ms
            self._flush(now_ms)
            return happened
        except OSError as error:
            self._complain(error)
            return self._end(now_ms)

    def publish(self, topic, payload, retain=False):
        """Hand a message over at QoS 1; False if there is no connection, or no room."""
        if not self.up or self._size + len(payload) > _MOST_OUT:
            return False
        self._number = self._number % 65535 + 1
        self._write(mqtt.publish(topic, payload, self._number, retain))
        return True

    def room(self):
        """Return whether a token would be taken now."""
        return self.up and self._size < _MOST_OUT - 1000

    def cut(self, now_ms):
        """End the connection without DISCONNECT."""
        return self._end(now_ms) if self._socket is not None else []

    def leave(self):
        """Write out what there is, and disconnect in good order."""
        if self.up:
            self._write(mqtt.DISCONNECT)
            try:
                self._flush(0)
                while self._socket.recv(1024):  # what is left unread would cut the farewell short
                    pass
            except OSError:
                pass
        self.cut(0)

    def _begin(self, now_ms, will):
        try:
            self._socket = self._dial(self._settings["broker"], self._settings["port"])
        except OSError as error:
            self._complain(error)
            self._end(now_ms)
            return
        if self._socket is None:
            return
        self._reader = mqtt.Reader()
        self._received_ms = self._spoke_ms = now_ms
        user, password = self._settings.get("user"), self._settings.get("password")
        self._write(mqtt.connect(self._client_id, KEEPALIVE_MS // 1000, self._will_topic, will, user, password))

    def _listen(self, now_ms):
        happened = []
        while True:
            try:
                data = self._socket.recv(1024)
            except OSError as error:
                if error.args and error.args[0] in _AGAIN:
                    return happened
                raise
            if data is None:  # what some streams say for "not yet"
                return happened
            if not data:
                raise OSError("the broker closed the connection")
            self._received_ms = now_ms
            for kind, flags, body in self._reader.feed(data):
                if kind == mqtt.CONNACK:
                    if len(body) != 2:
                        raise mqtt.MqttError("a CONNACK of %d bytes" % len(body))
                    if body[1]:
                        kind = OSError if body[1] == _UNAVAILABLE else RefusedError
                        raise kind("the broker refuses this temple: %s" % _REASONS.get(body[1], "code %d" % body[1]))
                    self._number, self._subscribe_ms = _SUBSCRIBE, now_ms
                    self._write(mqtt.subscribe(self._topics, _SUBSCRIBE))
                elif kind == mqtt.SUBACK and self._subscribe_ms is not None:
                    refused = mqtt.refused(body, _SUBSCRIBE, self._topics)
                    if refused:
                        raise RefusedError("the broker does not let this temple read %s" % ", ".join(refused))
                    self._subscribe_ms = None
                    self.up, self.refused, self._complaints = True, False, []
                    self._wait_ms = BACKOFF_MS[0]
                    happened.append("up")
                elif kind == mqtt.PUBLISH:
                    topic, payload, number, retained = mqtt.arrived(flags, body)
                    if number is not None:
                        self._write(mqtt.puback(number))
                    happened.append((topic.decode(), payload, retained))

    def _complain(self, error):
        self.refused = isinstance(error, RefusedError)
        words = str(error)
        if words not in self._complaints:
            self._complaints = self._complaints[1 - _COMPLAINTS :]
            self._complaints.append(words)
            if self._say is not None:
                self._say(words)

    def _write(self, data):
        self._out.append(data)
        self._size += len(data)

    def _flush(self, now_ms):
        while self._out:
            try:
                sent = self._socket.send(self._out[0])
            except OSError as error:
                if error.args and error.args[0] in _AGAIN:
                    return
                raise
            if not sent:
                return
            self._spoke_ms = now_ms
            self._size -= sent
            rest = memoryview(self._out[0])[sent:]
            if len(rest):
                self._out[0] = rest
            else:
                self._out.pop(0)

    def _end(self, now_ms):
        was_up, self.up, self._subscribe_ms = self.up, False, None
        if self._socket is not None:
            try:
                self._socket.close()
            except OSError:
                pass
            self._socket = None
        self._out = []
        self._size = 0
        self._next_ms = now_ms + self._wait_ms
        self._wait_ms = min(2 * self._wait_ms, BACKOFF_MS[1])
        return ["down"] if was_up else []
