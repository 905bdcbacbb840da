/**
 * The conditions that close-outs must meet in the end, for all clients (F9, F10; A2-97): for crash runs and tests of
 * guarantees.
 */
import { assert } from "@effect/vitest"
import type { RealService } from "../support/RealService.ts"
import type { Trader } from "./tradeWorld.ts"

interface Querying {
  readonly query: <Row extends object>(statement: string) => Promise<ReadonlyArray<Row>>
}

/** Retail clients with a debt although they have no open position, working order or call in flight. */
const owingText = `SELECT b.client_id::text FROM balances b JOIN clients c ON c.id = b.client_id
  WHERE b.currency = 'USDC' AND b.cash < 0 AND c.categorization = 'RETAIL'
  AND NOT EXISTS (SELECT FROM positions p WHERE p.client_id = c.id AND p.state = 'OPEN')
  AND NOT EXISTS (SELECT FROM barrier_contracts k WHERE k.client_id = c.id AND k.state = 'OPEN')
  AND NOT EXISTS (SELECT FROM close_outs e WHERE e.client_id = c.id AND e.state <> 'DONE')`

/** Orders of episodes that could have opened a position. */
const openingText = `SELECT id::text FROM orders WHERE context->>'origin' = 'CLOSE_OUT'
  AND context->>'note' LIKE 'CO-%' AND (context->>'reduceOnly') <> 'true'`

/** Episodes whose write-offs differ from the ledger's, or are more than one. */
const writtenOffText = `SELECT e.id::text FROM close_outs e LEFT JOIN ledger_transactions l
  ON l.type = 'NBP_WRITEOFF' AND l.key = 'nbp:' || e.id
  GROUP BY e.id, e.context->>'writtenOff' HAVING count(l.key) > 1
  OR (count(l.key) = 1) <> ((e.context->>'writtenOff')::numeric > 0)`

/** Orders of an episode that filled more than the position that was open when they were sent. */
const overfilledText = `SELECT client_id::text, symbol FROM positions WHERE state = 'OPEN' AND client_id IN
  (SELECT client_id FROM close_outs) AND EXISTS (SELECT FROM orders o WHERE o.client_id = positions.client_id
    AND o.symbol = positions.symbol AND o.context->>'origin' = 'CLOSE_OUT' AND o.context->>'note' LIKE 'CO-%'
    AND (o.context->>'side' = 'SELL') = (positions.net_qty::numeric < 0) AND o.created_at >= positions.opened_at)`

/** Actions of an episode after its end, except repayments. */
const afterEndText = `SELECT a.object, a.action FROM audit a JOIN audit e ON e.object = a.object AND e.action = 'closeout.end'
  WHERE a.action LIKE 'closeout.%' AND a.action <> 'closeout.repay' AND a.id > e.id`

export const closeOutBooks = ({ query }: Querying) => ({
  /** Checks that the trader has no open position and no debt, is NORMAL, and has no live episode. */
  closedOut: async (service: RealService, { id }: Trader, about: string): Promise<void> => {
    const shown = await service.done("client", "show", String(id))
    const usdc = shown.balances.find(({ currency }: { readonly currency: string }) => currency === "USDC")
    assert.deepInclude(shown, { riskState: "NORMAL", restrictions: [] }, about)
    assert.strictEqual(usdc?.cash, "0.000000", about)
    const open = `SELECT id FROM positions WHERE client_id = ${id} AND state = 'OPEN'
      UNION ALL SELECT id FROM barrier_contracts WHERE client_id = ${id} AND state = 'OPEN'
      UNION ALL SELECT id FROM close_outs WHERE client_id = ${id} AND state <> 'DONE'`
    assert.deepStrictEqual(await query(open), [], about)
  },

  /** The checks of all clients. */
  hold: async (about: string): Promise<void> => {
    for (const text of [owingText, openingText, writtenOffText, overfilledText, afterEndText]) {
      assert.deepStrictEqual(await query(text), [], `${text}, ${about}`)
    }
  }
})
