/**
 * Checks of `ledger verify` on withdrawals: the reserve is the sum of the REQUESTED withdrawals and the holds of working orders,
 * each request has exactly the postings of its state, and no other posting has their types (doc 3, Withdrawal request; D10).
 */
import { heldByOrders } from "./orderChecks.ts"
import { heldByNouns } from "./nounChecks.ts"

/** Legs of each step: ledger type, whether it is the house's, the balance that it moves, and its sign. */
const legs = `(VALUES ('reserve', 'WITHDRAWAL_RESERVE', false, 'cash', -1), ('reserve', 'WITHDRAWAL_RESERVE', false, 'reserved', 1),
                      ('out', 'WITHDRAWAL', false, 'reserved', -1), ('out', 'WITHDRAWAL', true, 'cash', 1),
                      ('release', 'WITHDRAWAL_RELEASE', false, 'cash', 1), ('release', 'WITHDRAWAL_RELEASE', false, 'reserved', -1),
                      ('fail', 'WITHDRAWAL', false, 'cash', 1), ('fail', 'WITHDRAWAL', true, 'cash', -1)) AS l (step, type, house, kind, sign)`

/** The steps up to each state; a REJECTED request with a ledger transaction was approved before. */
const steps = `(VALUES ('REQUESTED', false, 'reserve'), ('APPROVED', true, 'reserve'), ('APPROVED', true, 'out'),
                       ('PAID', true, 'reserve'), ('PAID', true, 'out'), ('CANCELLED', false, 'reserve'), ('CANCELLED', false, 'release'),
                       ('REJECTED', false, 'reserve'), ('REJECTED', false, 'release'),
                       ('REJECTED', true, 'reserve'), ('REJECTED', true, 'out'), ('REJECTED', true, 'fail')) AS s (state, approved, step)`

/** Entries of the list in ledgerChecks.ts. */
export const withdrawalChecks = [
  {
    name: "every client's reserve equals the sum of its REQUESTED withdrawals and the holds of its orders and takes",
    figure: "SELECT count(*) AS n FROM withdrawal_requests WHERE state = 'REQUESTED'",
    breaks: `WITH asked AS (
               SELECT client_id, currency, sum(amount) AS amount
                 FROM (SELECT client_id, currency, amount::numeric FROM withdrawal_requests WHERE state = 'REQUESTED'
                       ${[heldByOrders, ...heldByNouns].map((held) => `UNION ALL (${held})`).join(" ")}) AS each GROUP BY client_id, currency),
             held AS (SELECT client_id, currency, reserved FROM balances WHERE reserved <> 0)
             SELECT 'client ' || client_id || ' ' || currency || ': reserve ' || coalesce(h.reserved, 0) || ', requested and held by orders and takes '
                    || trim_scale(coalesce(a.amount, 0)) AS what
               FROM held h FULL JOIN asked a USING (client_id, currency)
              WHERE coalesce(h.reserved, 0) <> coalesce(a.amount, 0) LIMIT 1`
  },
  {
    name: "every withdrawal request has exactly the postings of its state",
    figure: "SELECT count(*) AS n FROM withdrawal_requests",
    breaks: `WITH due AS MATERIALIZED (
               SELECT 'withdrawal:' || r.id || ':' || l.step AS key, l.type, l.kind, r.currency, l.sign * r.amount AS amount,
                      CASE WHEN l.house THEN 'transit' ELSE 'client:' || r.client_id END AS account
                 FROM withdrawal_requests r
                 JOIN ${steps} ON s.state = r.state AND s.approved = (r.context ->> 'ledgerTxId' IS NOT NULL)
                 JOIN ${legs} ON l.step = s.step),
             booked AS MATERIALIZED (
               SELECT t.key, t.type, p.kind, p.currency, p.amount, p.account
                 FROM ledger_transactions t JOIN postings p USING (tx_id) WHERE t.key LIKE 'withdrawal:%'),
             counted AS (
               SELECT key, account, kind, amount, sum(n) AS n
                 FROM (SELECT key, type, kind, currency, amount, account, 1 AS n FROM due
                       UNION ALL SELECT key, type, kind, currency, amount, account, -1 FROM booked) AS both_sides
                GROUP BY key, type, kind, currency, amount, account HAVING sum(n) <> 0)
             SELECT key || ' ' || account || ' ' || kind || ' ' || amount
                    || CASE WHEN n > 0 THEN ' is not booked' ELSE ' is booked but not due' END AS what
               FROM counted LIMIT 1`
  },
  {
    name: "every withdrawal request has a state that fits its steps, and shows its stored amount",
    figure: "SELECT count(*) AS n FROM withdrawal_requests WHERE state NOT IN ('REQUESTED', 'APPROVED')",
    breaks: `SELECT 'request ' || r.id || ' is ' || r.state || ', showing ' || (r.context ->> 'amount') AS what
               FROM withdrawal_requests r
               LEFT JOIN ledger_transactions t ON t.tx_id = (r.context ->> 'ledgerTxId')::bigint
              WHERE (CASE r.state
                       WHEN 'REQUESTED' THEN r.context ->> 'decidedAt' IS NULL AND r.context ->> 'ledgerTxId' IS NULL
                       WHEN 'APPROVED' THEN r.context ->> 'ledgerTxId' IS NOT NULL AND r.context ->> 'paidAt' IS NULL
                       WHEN 'PAID' THEN r.context ->> 'ledgerTxId' IS NOT NULL AND r.context ->> 'paidAt' IS NOT NULL
                       WHEN 'REJECTED' THEN r.context ->> 'decidedAt' IS NOT NULL AND r.context ->> 'paidAt' IS NULL
                       WHEN 'CANCELLED' THEN r.context ->> 'decidedAt' IS NOT NULL AND r.context ->> 'ledgerTxId' IS NULL
                       ELSE false END) IS NOT TRUE
                 OR replace(r.context ->> 'amount', '.', '')::numeric IS DISTINCT FROM r.amount
                 OR r.context ->> 'currency' IS DISTINCT FROM r.currency
                 OR (r.context ->> 'paidAt')::bigint IS DISTINCT FROM r.paid_at
                 OR (r.context ->> 'ledgerTxId' IS NOT NULL AND t.key IS DISTINCT FROM 'withdrawal:' || r.id || ':out') LIMIT 1`
  },
  {
    name: "every withdrawal posting without a request belongs to a payout with both steps",
    figure: "SELECT count(*) AS n FROM ledger_transactions WHERE key LIKE 'payout:%'",
    breaks: `WITH outs AS MATERIALIZED (
               SELECT t.key, t.type, split_part(t.key, ':', 2) AS payout, t.client_id, p.currency, p.amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE t.type IN ('WITHDRAWAL_RESERVE', 'WITHDRAWAL', 'WITHDRAWAL_RELEASE') AND t.key NOT LIKE 'withdrawal:%'
                  AND p.client_id IS NOT NULL AND p.kind = 'reserved')
             SELECT 'payout ' || payout || ' of client ' || client_id || ' has steps that do not match' AS what
               FROM outs GROUP BY payout, client_id, currency
             HAVING sum(amount) <> 0 OR count(*) <> 2 OR count(*) FILTER (WHERE key = 'payout:' || payout || ':reserve') <> 1
                 OR count(*) FILTER (WHERE key = 'payout:' || payout || ':out') <> 1 LIMIT 1`
  }
] as const
