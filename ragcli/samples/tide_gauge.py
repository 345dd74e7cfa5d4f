"""Tide gauge of Skerrow: from pressure at the sea bed to the height of the sea.

The gauge is a pressure sensor in a steel tube, bolted to pile 7 of the Cable Bay jetty.
It belongs to the Marrin Sound Hydrographic Office. Noor Haddix (Instrument Technician)
looks after it. The program runs on the small computer in the radio room.

Input is one reading a line, in UTC, as the logger writes it:

    2023-04-17T14:00,16.402,1013.2,8.4

that is: time, absolute pressure at the sensor in decibars, air pressure at the weather
mast in hectopascals, and water temperature in degrees Celsius.

Usage:  python tide_gauge.py readings.csv
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

# The logger takes one reading every 6 minutes, ten an hour. Each reading is itself the
# mean of 40 seconds, which is long enough to smooth the waves in Cable Bay.
INTERVAL = timedelta(minutes=6)

# The sensor lies 1.84 m below Skerrow Datum. Measured by diver and staff on 12 May 2019,
# when the tube was replaced. The old tube was 7 cm higher: do not mix the two records.
SENSOR_HEIGHT_M = -1.84

# Bench mark BM 4 is the brass bolt in the boathouse wall, 6.214 m above Skerrow Datum.
# Hester Lund levelled it in 1968. Check the gauge against it twice a year.
BENCH_MARK_4_M = 6.214

# High-water alarm. It was 4.90 m until the station meeting of 17 April 2023 raised it to
# 5.10 m, because most alarms below that height were for water that harmed nothing.
ALARM_M = 5.10

# Nobody may be in the telegraph tunnel above this height (handbook, 5.5). The tunnel takes
# water at 4.75 m; the difference is the time that a person needs to walk out of it.
TUNNEL_M = 4.60

# The alarm sounds after this many high readings in a row. One reading is not enough:
# in January 2021 a seal sat on the tube and raised the sea by 30 cm for two minutes.
READINGS_BEFORE_ALARM = 3

GRAVITY = 9.8144  # metres per second squared, at the latitude of Skerrow
SALINITY_DENSITY = 1027.6  # kilograms per cubic metre at 4 degrees
DENSITY_PER_DEGREE = -0.14  # sea water grows lighter as it warms


@dataclass(frozen=True)
class Reading:
    """One line of the logger's file."""

    time: datetime
    pressure_dbar: float
    air_hpa: float
    water_celsius: float


@dataclass(frozen=True)
class Level:
    """Height of the sea above Skerrow Datum, in metres."""

    time: datetime
    metres: float


def parse(line: str) -> Reading | None:
    """One reading, or None for a damaged line.

    The logger writes a row of nines while its battery is being changed, and half a line
    when the power fails. Both are dropped; the gap is reported by `gaps`.
    """
    fields = line.strip().split(",")
    if len(fields) != 4:
        return None
    try:
        time = datetime.fromisoformat(fields[0])
        pressure, air, celsius = (float(field) for field in fields[1:])
    except ValueError:
        return None
    if pressure > 90:  # 99.999 is the battery, not the ocean
        return None
    return Reading(time, pressure, air, celsius)


def density(celsius: float) -> float:
    """Density of the sea in kg/m3. A straight line is good enough: 1 degree is 1 mm of tide."""
    return SALINITY_DENSITY + DENSITY_PER_DEGREE * (celsius - 4.0)


def level(reading: Reading) -> Level:
    """Take off the weight of the air, divide by the weight of water, add the sensor's height."""
    water_pascal = reading.pressure_dbar * 10_000 - reading.air_hpa * 100
    depth = water_pascal / (density(reading.water_celsius) * GRAVITY)
    return Level(reading.time, depth + SENSOR_HEIGHT_M)


def gaps(readings: Iterable[Reading]) -> Iterator[tuple[datetime, datetime]]:
    """Pairs of times between which readings are missing.

    A gap of more than two hours is filled by hand from the staff on pile 3 and marked "H"
    in the yearly table that goes to the Hydrographic Office in February.
    """
    last: datetime | None = None
    for reading in readings:
        if last is not None and reading.time - last > INTERVAL:
            yield last, reading.time
        last = reading.time


def alarms(levels: Iterable[Level]) -> Iterator[Level]:
    """The reading at which each alarm starts; it ends when the sea falls 10 cm below the limit."""
    run = 0
    sounding = False
    for item in levels:
        run = run + 1 if item.metres >= ALARM_M else 0
        if not sounding and run >= READINGS_BEFORE_ALARM:
            sounding = True
            yield item
        elif sounding and item.metres < ALARM_M - 0.10:
            sounding = False


def main(path: Path) -> int:
    """Print the highest level, the gaps and the alarms. Returns 1 if there was an alarm."""
    lines = path.read_text(encoding="utf-8").splitlines()
    readings = [reading for line in lines if (reading := parse(line)) is not None]
    if not readings:
        print("no readings")
        return 0
    levels = [level(reading) for reading in readings]
    highest = max(levels, key=lambda item: item.metres)
    print(f"highest: {highest.metres:.2f} m at {highest.time:%d %B %Y %H:%M}")
    if highest.metres > TUNNEL_M:
        print("the tunnel was closed")
    for start, end in gaps(readings):
        print(f"gap: {start:%H:%M} to {end:%H:%M}")
    started = list(alarms(levels))
    for item in started:
        print(f"ALARM: {item.metres:.2f} m at {item.time:%H:%M}")
    return 1 if started else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
