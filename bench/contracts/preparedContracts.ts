/**
 * Stores very many open contracts without a request for each over HTTP. One contract that was opened over HTTP is the
 * pattern. In the database its request is copied as a request with an accept in flight; in the venue's books its
 * contract is copied, with the event that reports it. The next start processes these events like any others. So the
 * service itself makes the contracts, commissions, events and seals, and both sides agree.
 */
import type { StoredContract } from "../../simulator/venue/core/Contracts.ts"
import { defaultMarkets } from "../../simulator/venue/core/defaultMarkets.ts"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { wireContract } from "../../simulator/venue/core/wire.ts"
import { acceptRef } from "../../src/machines/rfq/Rfq.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { onDatabase } from "../reference/database.ts"
import { prefixOf, silent, withBooks } from "../venueBooks.ts"

/** The first ids of copied requests, and of copied contracts, accounts and trades at the venue. */
const firstRequest = 2_000_000_000
const firstAtVenue = 1_000_000_000
/** Barriers lie one tick apart below this price; after the lowest one the series begins again. */
const highestBarrier = 590_000
const barriers = 20_000
const ticksOfOne = 10

export interface CopiedContracts {
  /** The client whose contract is copied. */
  readonly traderId: number
  /** The clients that get copies, and the number of copies for each. */
  readonly clientIds: ReadonlyArray<number>
  readonly each: number
}

/** Stores the requests of all copies with accepts in flight. Returns the uids of the clients in their order. */
export const storeRequests = (
  databaseUrl: string,
  { traderId, clientIds, each }: CopiedContracts
): Promise<ReadonlyArray<string>> =>
  onDatabase(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO rfqs (id, partner_id, client_id, state, version, context, symbol, currency, amount, created_at,
                         close_contract_id, venue_open)
       SELECT ${firstRequest} + n, t.partner_id, c.id, 'OPEN', t.version,
              (t.context::jsonb || jsonb_build_object(
                 'rfqId', ${firstRequest} + n, 'clientId', c.id, 'account', c.uid,
                 'barrierLevel', ((${highestBarrier} - n % ${barriers})::numeric / ${ticksOfOne})::numeric(12, 1)::text,
                 'accepting', jsonb_build_object(
                   'quoteId', t.context -> 'acceptedQuoteId', 'price', t.context -> 'entryPrice',
                   'premium', t.context -> 'premium', 'commission', t.context -> 'commission',
                   'at', t.context -> 'updatedAt', 'by', 'system:router'),
                 'acceptedQuoteId', NULL, 'contractId', NULL, 'entryPrice', NULL, 'premium', NULL, 'venueOpen', true)
              )::json,
              t.symbol, t.currency, t.amount, t.created_at, NULL, true
         FROM rfqs t, (SELECT id, uid, row_number() OVER (ORDER BY id) - 1 AS place FROM clients WHERE id = ANY($2)) c,
              generate_series(0, $3::bigint - 1) AS k, LATERAL (SELECT c.place * $3::bigint + k AS n) AS numbered
        WHERE t.client_id = $1 AND t.state = 'ACCEPTED'`,
      [traderId, clientIds, each]
    )
    await client.query("ANALYZE rfqs")
    const { rows } = await client.query<{ readonly uid: string }>(
      "SELECT uid FROM clients WHERE id = ANY($1) ORDER BY id",
      [clientIds]
    )
    return rows.map(({ uid }) => uid)
  })

/** Stores the venue's side of `storeRequests`: contracts of the same terms, and the events that report them. */
export const storeVenueContracts = (dataDirectory: string, uids: ReadonlyArray<string>, each: number): Promise<void> =>
  withBooks(dataDirectory, (state) => {
    const pattern = state.contracts.find(({ state: is }) => is === "OPEN")
    const market = defaultMarkets.find(({ symbol }) => symbol === pattern?.symbol)
    const quoteId = Number(pattern?.ref.split("-")[2])
    if (pattern === undefined || market === undefined) throw new Error("no contract to copy is open at the venue")
    const prefix = prefixOf(state, pattern.accountId)
    const contracts: Array<StoredContract> = []
    const events: Array<VenueEvent> = []
    for (const [place, uid] of uids.entries()) {
      const name = `${prefix}${uid}`
      for (let k = 0; k < each; k++) {
        const n = place * each + k
        const [id, accountId] = [firstAtVenue + n, firstAtVenue + place]
        const ref = `${prefix}${acceptRef(firstRequest + n, quoteId)}`
        const contract = { ...pattern, id, ref, tradeId: id, accountId, barrier: highestBarrier - (n % barriers) }
        contracts.push(contract)
        const fact = {
          type: "contract",
          account: name,
          sequence: k + 1,
          contract: wireContract(market, name, contract)
        } as const
        events.push({ number: state.events.number + events.length + 1, at: state.now, fact })
      }
    }
    const next: VenueState = {
      ...state,
      accounts: [
        ...state.accounts,
        ...uids.map((uid, place) => ({
          id: firstAtVenue + place,
          name: `${prefix}${uid}`,
          sequence: each,
          positions: []
        }))
      ],
      contracts: [...state.contracts, ...contracts],
      refs: [
        ...state.refs,
        ...contracts.map(({ ref, id }) => {
          const known = { outcome: "EXECUTED", reason: null, at: state.now, contract: id } as const
          return [ref, known] as const
        })
      ],
      events: { number: state.events.number + events.length, events: [...state.events.events, ...events] }
    }
    return [next, undefined]
  })

/**
 * Memory of a venue per open contract, bytes: the difference between its books with all contracts and its books with
 * the pattern alone.
 */
export const venueBytesEach = (dataDirectory: string, collectGarbage: () => void): Promise<number> =>
  withBooks(dataDirectory, (state) => {
    const [first, ...others] = state.contracts.filter(({ state: is }) => is === "OPEN")
    const held = (contracts: VenueState["contracts"]): number => {
      collectGarbage()
      const before = process.memoryUsage().heapUsed
      const venue = Venue.restore({ ...structuredClone({ ...state, contracts }) }, silent)
      collectGarbage()
      const bytes = process.memoryUsage().heapUsed - before
      if (venue.now !== state.now) throw new Error("the books are others")
      return bytes
    }
    const few = first === undefined ? [] : [first]
    const [all, almostNone] = [held([...few, ...others]), held(few)]
    return [null, (all - almostNone) / Math.max(1, others.length)]
  })
