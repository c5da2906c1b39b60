#!/bin/sh
# Buys two tickets: sign up, wait in the queue, hold the best seats, pay from the wallet.
#
#   examples/curl.sh [URL]        needs curl and jq
#
# PODO_SCHEDULE names the date to buy for; without it, the first one on sale is used.
set -eu

url=${1:-http://127.0.0.1:8080}
email="curl-$(date +%s)-$$@podo.example"
password='sweet red grapes'

get() {
    path=$1
    shift
    curl --silent --show-error --fail-with-body "$@" "$url$path"
}

# post PATH BODY [CURL OPTIONS]
post() {
    path=$1 body=$2
    shift 2
    curl --silent --show-error --fail-with-body --request POST \
        --header 'Content-Type: application/json' --data "$body" "$@" "$url$path"
}

schedule=${PODO_SCHEDULE:-}
if [ -z "$schedule" ]; then
    event=$(get '/api/events?scheduleStatus=ONGOING' | jq --raw-output '.items[0].id // empty')
    [ -n "$event" ] || { echo "No date is on sale at $url yet." >&2; exit 1; }
    schedule=$(get "/api/events/$event" |
        jq --raw-output 'first(.schedules[] | select(.status == "ONGOING")).id')
fi
echo "date         $schedule"

account=$(jq --null-input --arg email "$email" --arg password "$password" \
    '{email: $email, password: $password}')
post /api/auth/signup "$(echo "$account" | jq '. + {name: "Kim Curl"}')" > /dev/null
token=$(post /api/auth/login "$account" | jq --raw-output .accessToken)
fan="Authorization: Bearer $token"
echo "account      $email"

# The queue token proves the place; pollAfterMs says when to ask again.
place=$(post /api/queue/enter "{\"scheduleId\":\"$schedule\"}" --header "$fan")
queue_token=$(echo "$place" | jq --raw-output .token)
until [ "$(echo "$place" | jq --raw-output .state)" = ADMITTED ]; do
    sleep "$(echo "$place" | jq '.pollAfterMs / 1000')"
    place=$(get "/api/queue/status?scheduleId=$schedule" \
        --header "$fan" --header "Queue-Token: $queue_token")
done
entry=$(echo "$place" | jq --raw-output .entryToken)
echo "admitted"

# Every call that moves seats or money has an Idempotency-Key. If a reply is lost, send the same request
# with the same key again: the server answers as it did the first time and does nothing twice.
held=$(post /api/booking/seats/best "{\"scheduleId\":\"$schedule\",\"count\":2}" \
    --header "$fan" --header "Entry-Token: $entry" --header "Idempotency-Key: seats-$$")
reservation=$(echo "$held" | jq --raw-output .reservationId)
amount=$(echo "$held" | jq .amount)
echo "held         $(echo "$held" | jq --raw-output '[.seats[].number] | join(", ")') for $amount won"

post /api/wallet/charge "{\"amount\":$amount}" \
    --header "$fan" --header "Idempotency-Key: charge-$$" > /dev/null
paid=$(post /api/payment/wallet "{\"reservationId\":\"$reservation\",\"amount\":$amount}" \
    --header "$fan" --header "Idempotency-Key: pay-$$")
echo "booking      $(echo "$paid" | jq --raw-output .reservation.bookingNumber)"
echo "tickets      $(echo "$paid" | jq --raw-output '.tickets | length')"
