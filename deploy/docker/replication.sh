#!/bin/sh
# Lets the replica follow. PostgreSQL's image runs it when it makes the database.
set -eu
echo "host replication podo all scram-sha-256" >> "$PGDATA/pg_hba.conf"
