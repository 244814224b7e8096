"""The connection to the broker: connects, keeps alive, sends and receives. It never blocks and stores nothing.

What is published without a connection is refused; a connection that ends takes everything on its way with it. What
must arrive is in the ledger.
"""

import mqtt

KEEPALIVE_MS = 15000
CONNECT_MS = 8000
BACKOFF_MS = (500, 10000)
_MOST_OUT = 12000
_AGAIN = (11, 35, 107, 115, 119, 128)  # EAGAIN, EWOULDBLOCK, EINPROGRESS, and what a socket says while it connects


class Link:
    """One temple's connection to its broker, kept up by its turns."""

    def __init__(self, dial, settings, client_id, will_topic, topics):
        """Store the arguments. `dial` begins to connect and returns a socket that never blocks.

        It returns None while the broker's name is looked up, and raises OSError where there is no way.
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
        self.up = False
        self.complaint = None

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
            if self.up and now_ms - self._spoke_ms > KEEPALIVE_MS // 2:
                self._write(mqtt.PINGREQ)
                self._spoke_ms = now_ms
            self._flush(now_ms)
            return happened
        except OSError as error:
            self.complaint = str(error)
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
            self.complaint = str(error)
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
                    if len(body) != 2 or body[1]:
                        raise OSError("the broker refuses this temple: %d" % (body[1] if len(body) > 1 else -1))
                    self.up = True
                    self.complaint = None
                    self._wait_ms = BACKOFF_MS[0]
                    self._number += 1
                    self._write(mqtt.subscribe(self._topics, self._number))
                    happened.append("up")
                elif kind == mqtt.PUBLISH:
                    topic, payload, number, retained = mqtt.arrived(flags, body)
                    if number is not None:
                        self._write(mqtt.puback(number))
                    happened.append((topic.decode(), payload, retained))

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
        was_up, self.up = self.up, False
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
