/** What `ledger verify` asks of close-outs (F10): each has written off what it says, once, and nothing else is booked as one. */

/** Entries of the list in ledgerChecks.ts. */
export const marginChecks = [
  {
    name: "every write-off is that of one close-out, of what it shows",
    figure: "SELECT count(*) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF'",
    breaks: `WITH due AS (
               SELECT 'nbp:' || id AS key, client_id, replace(context ->> 'writtenOff', '.', '')::bigint AS amount
                 FROM close_outs WHERE context ->> 'writtenOff' <> '0.000000'),
             booked AS (
               SELECT t.key, p.client_id, p.amount FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id
                WHERE p.client_id IS NOT NULL AND t.type = 'NBP_WRITEOFF')
             SELECT coalesce(d.key, b.key) || ' ' || coalesce(d.amount, b.amount) AS what
               FROM due d FULL JOIN booked b USING (key, client_id, amount)
              WHERE d.key IS NULL OR b.key IS NULL LIMIT 1`
  }
] as const
