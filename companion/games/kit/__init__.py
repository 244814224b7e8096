"""What every game is made of: values and pure functions. A game imports this package of ours and nothing else."""

from msgspec import Struct as Struct
from msgspec.structs import fields as fields
from msgspec.structs import replace as replace

from companion.games.kit.chance import Below as Below
from companion.games.kit.chance import Chance as Chance
from companion.games.kit.codec import decoded as decoded
from companion.games.kit.codec import encoded as encoded
from companion.games.kit.game import Game as Game
from companion.games.kit.log import Line as Line
from companion.games.kit.moves import CHANCE as CHANCE
from companion.games.kit.moves import TEMPLE as TEMPLE
from companion.games.kit.moves import Arg as Arg
from companion.games.kit.moves import Choice as Choice
from companion.games.kit.moves import Facts as Facts
from companion.games.kit.moves import Json as Json
from companion.games.kit.moves import Move as Move
from companion.games.kit.moves import Refusal as Refusal
from companion.games.kit.moves import Seat as Seat
from companion.games.kit.moves import Value as Value
from companion.games.kit.options import LONGEST_LINE as LONGEST_LINE
from companion.games.kit.options import LONGEST_TEXT as LONGEST_TEXT
from companion.games.kit.options import MOST_LINES as MOST_LINES
from companion.games.kit.options import Fault as Fault
from companion.games.kit.options import Option as Option
from companion.games.kit.options import Reader as Reader
from companion.games.kit.options import complete as complete
from companion.games.kit.temple import TokenAudit as TokenAudit
from companion.games.kit.temple import TokenDrop as TokenDrop
from companion.games.kit.temple import UnclaimedToken as UnclaimedToken
