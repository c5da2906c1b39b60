"""Reads completed bookings from Kafka: the topic `booking-completed` of docs/messages.md.

Kafka delivers at least once, and so does Podo. A message that comes again has the same `id`, so this
program remembers the ids it has handled, together with its work, and commits the offset last. Whatever
happens in between, each booking counts once.
"""

import argparse
import json
import os
import sqlite3

from confluent_kafka import Consumer, KafkaException

VERSION = 1


def open_book(path):
    """The bookings, and in the same row what tells a repeat: the message's id."""
    book = sqlite3.connect(path)
    book.execute("create table if not exists bookings (message_id text primary key, number text, won int)")
    return book


def handle(book, message):
    """True when the booking is new."""
    if message["version"] != VERSION:
        raise SystemExit(f"version {message['version']} of the messages is not known here")
    # New types and new fields may come at any time: skip what you don't need.
    if message["type"] != "ReservationConfirmed":
        return False
    data = message["data"]
    row = (message["id"], data["bookingId"], data["amount"])
    with book:
        return book.execute("insert or ignore into bookings values (?, ?, ?)", row).rowcount == 1


def options():
    """KAFKA_OPTIONS: any other property of librdkafka, as `key=value,key=value`."""
    pairs = os.environ.get("KAFKA_OPTIONS", "").split(",")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--topic", default="booking-completed", help="with bus_prefix in front, if you set one")
    parser.add_argument("--book", default="bookings.db", help="where the bookings are kept")
    parser.add_argument("--count", type=int, default=0, help="stop after so many new bookings")
    arguments = parser.parse_args()

    book = open_book(arguments.book)
    consumer = Consumer({
        "bootstrap.servers": arguments.brokers,
        "group.id": "booking-example",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        **options(),
    })
    consumer.subscribe([arguments.topic])
    n_new = 0
    try:
        while arguments.count == 0 or n_new < arguments.count:
            record = consumer.poll(1.0)
            if record is None:
                continue
            if record.error():
                if not record.error().fatal():
                    print(f"retrying after {record.error()}", flush=True)
                    continue
                raise KafkaException(record.error())
            message = json.loads(record.value())
            data = message["data"]
            if handle(book, message):
                n_new += 1
                seats = ", ".join(seat["number"] for seat in data["seats"])
                print(f"{data['bookingId']}: {seats} for {data['amount']} won", flush=True)
            consumer.commit(record, asynchronous=False)
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
