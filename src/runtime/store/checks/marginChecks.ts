/**
 * The checks of `ledger verify` for close-outs and negative balance protection. An episode's orders close positions of its
 * client. Each write-off is the debt of a retail client with nothing open, once for each episode. An episode shows its write-off
 * less its repayments. No retail client is left with a debt.
 *
 * The checks compare records only with each other, because marks are not stored. Other checks, which have the marks at hand,
 * prove that a recorded state follows from them (docs/scenarios.md; F9, F10; D23).
 */
import { liveCloseOutStates } from "../../../machines/margin/CloseOut.ts"

const live = liveCloseOutStates.map((state) => `'${state}'`).join(", ")
const signedQty = "(CASE f.side WHEN 'BUY' THEN 1 ELSE -1 END) * f.qty::numeric"

/** SQL that is true for the key of a repayment, which has a number after its episode: nbp:7:1. */
const isRepayment = (key: string): string => `split_part(${key}, ':', 3) <> ''`
/** The write-offs of clients, without their repayments; one row each. */
const writeOffs = `off AS MATERIALIZED (
  SELECT tx_id, key, ts, client_id FROM ledger_transactions
   WHERE type = 'NBP_WRITEOFF' AND client_id IS NOT NULL AND NOT ${isRepayment("key")})`
const minor = (text: string): string => `replace(${text}, '.', '')::bigint`
/** The object that a posting belongs to, as `withdrawal ID` or `swap ID`; null for any other posting. */
const objectOf = `CASE WHEN t.refs ->> 'requestId' IS NOT NULL THEN 'withdrawal ' || (t.refs ->> 'requestId')
                     WHEN t.refs ->> 'swapId' IS NOT NULL THEN 'swap ' || (t.refs ->> 'swapId') END`
/** SQL that is true if the withdrawal or swap of a posting is older than the write-off of an episode. */
const standsBehind = `coalesce((t.refs ->> 'requestId')::bigint < (e.context -> 'behind' ->> 'requestId')::bigint,
                      (t.refs ->> 'swapId')::bigint < (e.context -> 'behind' ->> 'swapId')::bigint)`

/** The checks on close-outs and write-offs, for the list in ledgerChecks.ts. */
export const marginChecks = [
  {
    name: "every write-off posting has the amount that its close-out shows",
    figure: `SELECT count(*) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF' AND NOT ${isRepayment("key")}`,
    breaks: `WITH due AS (
               SELECT 'nbp:' || id AS key, client_id, ${minor("context ->> 'writtenOff'")} AS amount
                 FROM close_outs WHERE context ->> 'writtenOff' <> '0.000000'),
             booked AS (
               SELECT t.key, p.client_id, p.amount FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id
                WHERE p.client_id IS NOT NULL AND t.type = 'NBP_WRITEOFF' AND NOT ${isRepayment("t.key")})
             SELECT coalesce(d.key, b.key) || ' ' || coalesce(d.amount, b.amount) AS what
               FROM due d FULL JOIN booked b USING (key, client_id, amount)
              WHERE d.key IS NULL OR b.key IS NULL LIMIT 1`
  },
  {
    name: "every close-out shows its write-off, repayments and remainder as booked",
    figure: "SELECT count(*) AS n FROM close_outs WHERE unrepaid > 0",
    breaks: `WITH booked AS (
               SELECT split_part(t.key, ':', 2) AS id, -sum(p.amount) AS repaid, count(*) AS n
                 FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id
                WHERE p.client_id IS NOT NULL AND t.type = 'NBP_WRITEOFF' AND ${isRepayment("t.key")} GROUP BY 1),
             shown AS (
               SELECT id::text AS id, unrepaid, ${minor("context ->> 'writtenOff'")} AS off,
                      ${minor("context ->> 'repaid'")} AS repaid, (context ->> 'repayments')::bigint AS n
                 FROM close_outs WHERE context ->> 'repaid' IS NOT NULL)
             SELECT 'CO-' || coalesce(s.id, b.id) || ': ' || coalesce(s.repaid, 0) || ' repaid of ' || coalesce(s.off, 0) || ', '
                    || coalesce(s.unrepaid, 0) || ' is left, booked is ' || coalesce(b.repaid, 0) AS what
               FROM shown s FULL JOIN booked b USING (id)
              WHERE s.id IS NULL OR (s.repaid, s.n) <> (coalesce(b.repaid, 0), coalesce(b.n, 0)) OR s.unrepaid <> s.off - s.repaid
                 OR s.unrepaid < 0 LIMIT 1`
  },
  {
    // An object returns at least the money that it repays. A charge for it may have left in the same commit.
    name: "every write-off repayment is covered by returns of an older withdrawal or swap",
    figure: `SELECT count(*) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF' AND ${isRepayment("key")}`,
    breaks: `WITH repaid AS MATERIALIZED (
               SELECT t.client_id, ${objectOf} AS object, bool_and(coalesce(${standsBehind}, false)) AS behind, -sum(p.amount) AS amount
                 FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id IS NOT NULL
                 LEFT JOIN close_outs e ON e.id::text = split_part(t.key, ':', 2) AND e.client_id = t.client_id
                WHERE t.type = 'NBP_WRITEOFF' AND ${isRepayment("t.key")} GROUP BY 1, 2),
             came AS (
               SELECT p.client_id, ${objectOf} AS object, sum(p.amount) AS amount
                 FROM postings p JOIN ledger_transactions t ON t.tx_id = p.tx_id
                WHERE p.client_id IN (SELECT client_id FROM repaid) AND p.currency = 'USDC' AND p.kind = 'cash' AND p.amount > 0
                  AND t.type <> 'NBP_WRITEOFF' GROUP BY 1, 2)
             SELECT 'client ' || r.client_id || ': ' || coalesce(r.object, 'an unnamed object') || ' has repaid ' || r.amount
                    || ' but returned ' || coalesce(c.amount, 0) AS what
               FROM repaid r LEFT JOIN came c USING (client_id, object)
              WHERE NOT r.behind OR r.amount > coalesce(c.amount, 0) LIMIT 1`
  },
  {
    // While a write-off is not fully repaid, each object behind the write-off has repaid with all the money that the
    // object has returned since.
    name: "while a write-off is unrepaid, its client keeps no returns of an older withdrawal or swap",
    figure: "SELECT count(*) AS n FROM close_outs WHERE unrepaid > 0",
    breaks: `WITH owed AS MATERIALIZED (
               SELECT e.id, e.client_id, e.context, t.tx_id
                 FROM close_outs e JOIN ledger_transactions t ON t.key = 'nbp:' || e.id WHERE e.unrepaid > 0),
             moved AS (
               SELECT e.id, ${objectOf} AS object, sum(p.amount) AS amount
                 FROM owed e JOIN postings p ON p.client_id = e.client_id AND p.tx_id > e.tx_id
                 JOIN ledger_transactions t ON t.tx_id = p.tx_id
                WHERE p.currency = 'USDC' AND p.kind = 'cash' AND ${standsBehind} GROUP BY 1, 2)
             SELECT 'CO-' || id || ' is not repaid, and ' || object || ' has returned to its client ' || amount AS what
               FROM moved WHERE amount > 0 LIMIT 1`
  },
  {
    // The cash is summed in the order of booking. Transaction ids show this order, because they increase within a client's
    // mailbox.
    name: "every write-off leaves its client with zero cash",
    figure: "SELECT count(DISTINCT client_id) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF'",
    breaks: `WITH ${writeOffs},
             run AS (
               SELECT p.tx_id, sum(p.amount) OVER (PARTITION BY p.client_id ORDER BY p.tx_id) AS cash
                 FROM postings p WHERE p.currency = 'USDC' AND p.kind = 'cash' AND p.client_id IN (SELECT client_id FROM off))
             SELECT DISTINCT off.key || ' leaves ' || run.cash AS what FROM off JOIN run USING (tx_id) WHERE run.cash <> 0 LIMIT 1`
  },
  {
    // The posting of a trade gives its place in the order of bookings. A client with a trade without a posting is left out.
    name: "no write-off is booked while its client has a position",
    figure: `SELECT count(*) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF' AND NOT ${isRepayment("key")}`,
    breaks: `WITH ${writeOffs},
             placed AS MATERIALIZED (
               SELECT split_part(key, ':', 2) AS order_id, split_part(key, ':', 3) AS trade_id, min(tx_id) AS tx_id
                 FROM ledger_transactions WHERE type IN ('PNL', 'COMMISSION') AND client_id IN (SELECT client_id FROM off) GROUP BY 1, 2),
             traded AS MATERIALIZED (
               SELECT f.client_id, f.symbol, ${signedQty} AS qty, p.tx_id
                 FROM fills f LEFT JOIN placed p ON p.order_id = f.order_id::text AND p.trade_id = f.trade_id::text
                WHERE f.family = 'PERP' AND f.client_id IN (SELECT client_id FROM off)),
             unplaced AS (SELECT DISTINCT client_id FROM traded WHERE tx_id IS NULL),
             moves AS (
               SELECT client_id, symbol, tx_id, qty, NULL AS key FROM traded
                UNION ALL
               SELECT off.client_id, s.symbol, off.tx_id, 0, off.key
                 FROM off JOIN (SELECT DISTINCT client_id, symbol FROM traded) AS s USING (client_id)),
             run AS (SELECT *, sum(qty) OVER (PARTITION BY client_id, symbol ORDER BY tx_id) AS net FROM moves)
             SELECT key || ' is booked with a position of ' || trim_scale(net) || ' of ' || symbol AS what
               FROM run WHERE key IS NOT NULL AND net <> 0 AND client_id NOT IN (SELECT client_id FROM unplaced) LIMIT 1`
  },
  {
    // The stored category may be newer than the write-off. The first change after the write-off names the category of that
    // time; without a change the stored one holds.
    name: "every write-off belongs to a client that was RETAIL at the time",
    figure: `SELECT count(*) AS n FROM ledger_transactions WHERE type = 'NBP_WRITEOFF' AND NOT ${isRepayment("key")}`,
    breaks: `WITH ${writeOffs},
             later AS (
               SELECT DISTINCT ON (off.key) off.key, d.decision FROM off JOIN decisions d USING (client_id)
                WHERE d.decision LIKE 'CATEGORIZED_%' AND d.decided_at > off.ts ORDER BY off.key, d.decided_at, d.id)
             SELECT off.key || ' of client ' || off.client_id AS what
               FROM off JOIN clients c ON c.id = off.client_id LEFT JOIN later USING (key)
              WHERE coalesce(later.decision = 'CATEGORIZED_RETAIL', c.categorization <> 'RETAIL') LIMIT 1`
  },
  {
    // A client without a recorded risk state was never evaluated, because no market was attached. Its debt is no finding
    // (A1-12).
    name: "no RETAIL client has negative cash without an open position, contract or close-out",
    figure: "SELECT count(*) AS n FROM risk_monitors",
    breaks: `SELECT 'client ' || c.id || ' owes ' || -b.cash AS what
               FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC' JOIN risk_monitors m ON m.client_id = c.id
              WHERE c.categorization = 'RETAIL' AND b.cash < 0
                AND NOT EXISTS (SELECT FROM positions p WHERE p.client_id = c.id AND p.state = 'OPEN')
                AND NOT EXISTS (SELECT FROM barrier_contracts k WHERE k.client_id = c.id AND k.state = 'OPEN')
                AND NOT EXISTS (SELECT FROM close_outs e WHERE e.client_id = c.id AND e.state IN (${live})) LIMIT 1`
  },
  {
    name: "the restriction CLOSE_OUT exists only while its client's risk state is not NORMAL",
    figure: "SELECT count(*) AS n FROM close_outs",
    breaks: `SELECT 'client ' || c.id AS what FROM clients c LEFT JOIN risk_monitors m ON m.client_id = c.id
              WHERE (c.context -> 'restrictions')::text LIKE '%"CLOSE_OUT"%' AND coalesce(m.state, 'NORMAL') = 'NORMAL' LIMIT 1`
  },
  {
    // A cancelled order may have the reason of its cancellation instead of its episode, so only orders with the episode are
    // matched.
    name: "every close-out order is reduce-only and counted by its client's close-out",
    figure: "SELECT count(*) AS n FROM orders WHERE context ->> 'note' LIKE 'CO-%'",
    breaks: `WITH sent AS MATERIALIZED (
               SELECT context ->> 'note' AS note, client_id, count(*) AS n, bool_and(context ->> 'reduceOnly' = 'true') AS reduces
                 FROM orders WHERE context ->> 'origin' = 'CLOSE_OUT' AND context ->> 'note' LIKE 'CO-%' GROUP BY 1, 2),
             told AS (
               SELECT 'CO-' || id AS note, client_id, (context ->> 'orders')::bigint AS n FROM close_outs WHERE (context ->> 'orders')::bigint > 0)
             SELECT s.note || ' of client ' || s.client_id || ': ' || s.n
                    || ' orders, its close-out counts ' || coalesce(t.n, 0) || CASE WHEN s.reduces THEN '' ELSE ', not all reduce-only' END AS what
               FROM sent s LEFT JOIN told t USING (note, client_id)
              WHERE s.n > coalesce(t.n, 0) OR NOT s.reduces LIMIT 1`
  },
  {
    // The trades count in the venue's order. After lost events the service books them in another order, but each trade was
    // correct in the venue's.
    name: "every trade of a reduce-only order reduces its position without reversing it",
    figure: "SELECT count(*) AS n FROM fills WHERE closed_qty IS NOT NULL",
    breaks: `WITH bound AS MATERIALIZED (
               SELECT id, client_id, symbol FROM orders
                WHERE context ->> 'reduceOnly' = 'true' OR (context ->> 'origin' = 'CLOSE_OUT' AND context ->> 'note' LIKE 'CO-%')),
             run AS (
               SELECT f.order_id, f.trade_id, ${signedQty} AS qty,
                      sum(${signedQty}) OVER (PARTITION BY f.client_id, f.symbol ORDER BY f.trade_id, f.id) AS net
                 FROM fills f WHERE f.family = 'PERP' AND (f.client_id, f.symbol) IN (SELECT client_id, symbol FROM bound))
             SELECT 'trade ' || trade_id || ' of order ' || order_id || ' takes the position from ' || trim_scale(net - qty) || ' to '
                    || trim_scale(net) AS what
               FROM run WHERE order_id IN (SELECT id FROM bound) AND (sign(net - qty) <> -sign(qty) OR abs(qty) > abs(net - qty)) LIMIT 1`
  }
] as const
