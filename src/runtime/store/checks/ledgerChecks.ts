/**
 * The SQL checks of `ledger verify`: sums, postings, balances, reserves and events here; each other file of this folder
 * checks one kind of object (operator surface, ledger verify).
 */
import { venueAccount } from "../../../machines/postingRules.ts"
import { accountChecks } from "./accountChecks.ts"
import { contractChecks } from "./contractChecks.ts"
import { marginChecks } from "./marginChecks.ts"
import { collateralChecks } from "./collateralChecks.ts"
import { depositChecks } from "./depositChecks.ts"
import { fundingChecks } from "./fundingChecks.ts"
import { figureChecks } from "./figureChecks.ts"
import { houseChecks } from "./houseChecks.ts"
import { orderChecks } from "./orderChecks.ts"
import { nounChecks } from "./nounChecks.ts"
import { onceChecks } from "./onceChecks.ts"
import { ownershipChecks } from "./ownershipChecks.ts"
import type { SqlCheck } from "./SqlCheck.ts"
import { settlementChecks } from "./settlementChecks.ts"
import { statementChecks } from "./statementChecks.ts"
import { withdrawalChecks } from "./withdrawalChecks.ts"

/** All SQL checks, in the order in which `ledger verify` shows them. */
export const ledgerChecks: ReadonlyArray<SqlCheck> = [
  {
    name: "every transaction sums to zero per currency",
    figure: "SELECT count(*) AS n FROM ledger_transactions",
    breaks: `SELECT 'transaction ' || tx_id || ' ' || currency || ' sums to ' || sum(amount) AS what
               FROM postings GROUP BY tx_id, currency HAVING sum(amount) <> 0 LIMIT 1`
  },
  {
    name: "every posting belongs to a transaction and every transaction has postings",
    figure: "SELECT count(*) AS n FROM postings",
    breaks: `SELECT coalesce('posting ' || p.posting_id || ' has no transaction', 'transaction ' || t.tx_id || ' has no posting') AS what
               FROM postings p FULL JOIN ledger_transactions t USING (tx_id)
              WHERE p.tx_id IS NULL OR t.tx_id IS NULL LIMIT 1`
  },
  {
    name: "every client's cash and reserve equal the sums of its postings",
    figure: "SELECT count(*) AS n FROM balances",
    breaks: `WITH sums AS (
               SELECT client_id, currency, sum(amount) FILTER (WHERE kind = 'cash') AS cash,
                      sum(amount) FILTER (WHERE kind = 'reserved') AS reserved
                 FROM postings WHERE client_id IS NOT NULL GROUP BY client_id, currency)
             SELECT 'client ' || client_id || ' ' || currency || ': balance ' || coalesce(b.cash, 0) || ' + ' || coalesce(b.reserved, 0)
                    || ', postings ' || coalesce(s.cash, 0) || ' + ' || coalesce(s.reserved, 0) AS what
               FROM balances b FULL JOIN sums s USING (client_id, currency)
              WHERE coalesce(b.cash, 0) <> coalesce(s.cash, 0) OR coalesce(b.reserved, 0) <> coalesce(s.reserved, 0) LIMIT 1`
  },
  {
    name: "every client's balance with the venue equals its postings in the venue account",
    figure: "SELECT count(*) AS n FROM balances WHERE from_venue <> 0",
    breaks: `WITH sums AS (
               SELECT t.client_id, p.currency, -sum(p.amount) AS amount
                 FROM postings p JOIN ledger_transactions t USING (tx_id)
                WHERE p.client_id IS NULL AND p.account = '${venueAccount}' GROUP BY t.client_id, p.currency)
             SELECT 'client ' || client_id || ' ' || currency || ': balance with the venue ' || coalesce(b.from_venue, 0)
                    || ', postings ' || coalesce(s.amount, 0) AS what
               FROM balances b FULL JOIN sums s USING (client_id, currency)
              WHERE coalesce(b.from_venue, 0) <> coalesce(s.amount, 0) LIMIT 1`
  },
  {
    name: "no reserve is negative",
    figure: "SELECT count(*) AS n FROM balances WHERE reserved <> 0",
    breaks:
      "SELECT 'client ' || client_id || ' ' || currency || ' reserved ' || reserved AS what FROM balances WHERE reserved < 0 LIMIT 1"
  },
  ...houseChecks,
  ...collateralChecks,
  ...depositChecks,
  ...withdrawalChecks,
  ...contractChecks,
  ...marginChecks,
  ...orderChecks,
  ...nounChecks,
  ...statementChecks,
  ...fundingChecks,
  ...accountChecks,
  ...settlementChecks,
  ...figureChecks,
  ...ownershipChecks,
  ...onceChecks,
  {
    name: "every audit row, decision, transaction, posting, interfirm record and custody change is sealed",
    figure: "SELECT count(*) AS n FROM seals",
    breaks: `WITH last AS (SELECT * FROM seals ORDER BY number DESC LIMIT 1)
             SELECT what FROM (
               SELECT 'audit row ' || id AS what FROM audit WHERE id > coalesce((SELECT audit_to FROM last), 0)
               UNION ALL SELECT 'decision ' || id FROM decisions WHERE id > coalesce((SELECT decision_to FROM last), 0)
               UNION ALL SELECT 'transaction ' || tx_id FROM ledger_transactions WHERE tx_id > coalesce((SELECT transaction_to FROM last), 0)
               UNION ALL SELECT 'posting ' || posting_id FROM postings WHERE posting_id > coalesce((SELECT posting_to FROM last), 0)
               UNION ALL SELECT 'interfirm record ' || id FROM interfirm_records WHERE id > coalesce((SELECT interfirm_to FROM last), 0)
               UNION ALL SELECT 'change of custody ' || id FROM custody_changes WHERE id > coalesce((SELECT custody_to FROM last), 0)
             ) AS unsealed LIMIT 1`
  },
  {
    name: "every partner's event numbers have no gap",
    figure: "SELECT count(*) AS n FROM events",
    breaks: `SELECT 'partner ' || partner_id || ' has ' || count(*) || ' events up to ' || max(seq) AS what
               FROM events GROUP BY partner_id HAVING count(*) <> max(seq) LIMIT 1`
  },
  {
    name: "every claimed client reference and e-mail address belongs to a client",
    figure: "SELECT count(*) AS n FROM claims WHERE name LIKE 'ref:%' OR name LIKE 'email:%'",
    breaks: `SELECT 'claim ' || split_part(name, ':', 1) || ' of client ' || owner || ' has no client' AS what
               FROM claims LEFT JOIN clients ON clients.id = owner
              WHERE (name LIKE 'ref:%' OR name LIKE 'email:%') AND clients.id IS NULL LIMIT 1`
  }
]
