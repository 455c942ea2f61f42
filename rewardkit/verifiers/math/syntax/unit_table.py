"""The known units: SI with its prefixes, and what schoolbooks use besides."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from typing import Final

Unit = tuple[tuple[tuple[str, int], ...], Fraction]
"""Dimensions with their powers, and the size in basic units."""

RADIANS: Final[Unit] = ((("radian", 1),), Fraction(1))
"""What is said to be in radians; a radian inside a product of units has no dimension."""

UNITLESS: Final[Unit] = ((), Fraction(1))

_PREFIXES: Final = """
Y yotta 24
Z zetta 21
E exa 18
P peta 15
T tera 12
G giga 9
M mega 6
k kilo 3
h hecto 2
da deca 1
d deci -1
c centi -2
m milli -3
μ µ u micro -6
n nano -9
p pico -12
f femto -15
a atto -18
"""
"""Symbols, name and power of ten of each prefix."""

_PREFIXED: Final = """
m meter metre | length
g gram gramme | mass | 1/1000
s second | time
A ampere amp | current
K kelvin | kelvin
mol mole | amount
cd candela | luminosity
l L liter litre | length^3 | 1/1000
N newton | mass length time^-2
J joule | mass length^2 time^-2
W watt | mass length^2 time^-3
V volt | mass length^2 time^-3 current^-1
C coulomb | current time
F farad | mass^-1 length^-2 time^4 current^2
Ω Omega ohm | mass length^2 time^-3 current^-2
S siemens | mass^-1 length^-2 time^3 current^2
Hz hertz | time^-1
Pa pascal | mass length^-1 time^-2
T tesla | mass time^-2 current^-1
H henry | mass length^2 time^-2 current^-2
Wb weber | mass length^2 time^-2 current^-1
lm lumen | luminosity
lx lux | luminosity length^-2
Bq becquerel | time^-1
Gy gray | length^2 time^-2
eV electronvolt | mass length^2 time^-2 | 1602176634/10000000000000000000000000000
bar | mass length^-1 time^-2 | 100000
cal calorie | mass length^2 time^-2 | 523/125
Wh | mass length^2 time^-2 | 3600
Ah | current time | 3600
bit | bit
B byte | bit | 8
"""
_PLAIN: Final = """
min minute | time | 60
h hr hour | time | 3600
day | time | 86400
week wk | time | 604800
fortnight | time | 1209600
yr year | year
month | year | 1/12
decade | year | 10
century centurie | year | 100
in inch inche | length | 127/5000
ft foot feet | length | 381/1250
yd yard | length | 1143/1250
mi mile | length | 201168/125
furlong | length | 201168/1000
Å angstrom | length | 1/10000000000
micron | length | 1/1000000
hectare ha | length^2 | 10000
acre | length^2 | 316160658/78125
gallon gal | length^3 | 473176473/125000000000
quart qt | length^3 | 473176473/500000000000
pint pt | length^3 | 473176473/1000000000000
cup | length^3 | 473176473/2000000000000
tablespoon tbsp | length^3 | 473176473/32000000000000
teaspoon tsp | length^3 | 157725491/32000000000000
cc | length^3 | 1/1000000
gm | mass | 1/1000
lb pound | mass | 45359237/100000000
oz ounce | mass | 45359237/1600000000
ton tonne | mass | 1000
stone | mass | 317514659/50000000
u amu dalton | atomic
mph | length time^-1 | 1397/3125
kph kmh kmph | length time^-1 | 5/18
knot kn | length time^-1 | 463/900
atm atmosphere | mass length^-1 time^-2 | 101325
psi | pound_per_inch
mmHg torr | mercury
rpm | turn time^-1 | 1/60
revolution turn | turn
dollar usd USD buck | money
cent ¢ | money | 1/100
euro EUR | euro
£ GBP | sterling
yen JPY | yen
yuan rmb RMB CNY | yuan
rupee Rs INR | rupee
ruble rouble RUB | ruble
won KRW | won
lira TRY | lira
peso MXN | peso
shekel ILS | shekel
dong VND | dong
naira NGN | naira
baht THB | baht
franc CHF | franc
° degree deg | angle
arcminute | angle | 1/60
arcsecond | angle | 1/3600
rad radian sr steradian | radian
°C ℃ celsius Celsius | °C
°F ℉ fahrenheit Fahrenheit | °F
% percent pct | share | 1/100
dB decibel | decibel
"""


def _dimensions(text: str) -> tuple[tuple[str, int], ...]:
    found = [(name, int(power or 1)) for name, power in re.findall(r"([^\s^]+)(?:\^(-?\d))?", text)]
    return tuple(sorted(found)) if found != [("radian", 1)] else ()


@functools.cache
def unit_table() -> dict[str, Unit]:
    """Every known spelling of a unit, in the singular, and the unit."""
    table: dict[str, Unit] = {}
    for line in _PREFIXED.strip().splitlines():
        names, dimensions, size = (*line.split(" | "), "1")[:3]
        for name in names.split():
            base = (_dimensions(dimensions), Fraction(size))
            table.update(_with_prefixes(name, base))
    for line in (*_PREFIXED.strip().splitlines(), *_PLAIN.strip().splitlines()):
        names, dimensions, size = (*line.split(" | "), "1")[:3]
        for name in names.split():
            table[name] = (_dimensions(dimensions), Fraction(size))
    return table


def _with_prefixes(name: str, base: Unit) -> dict[str, Unit]:
    """A symbol with the symbols of prefixes, a word with their words."""
    symbol = len(name) <= 2 or name in ("mol", "bar", "cal", "bit")
    found: dict[str, Unit] = {}
    for line in _PREFIXES.strip().splitlines():
        *symbols, word, power = line.split()
        for prefix in symbols if symbol else [word]:
            found[prefix + name] = (base[0], base[1] * Fraction(10) ** int(power))
    return found
