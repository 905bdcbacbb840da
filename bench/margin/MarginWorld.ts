/**
 * Sets up the margin part: a PARTNER-custody partner with very many clients who have cash and positions on both sides,
 * and a webhook endpoint that accepts every delivery. A second partner's requests must stay fast whatever happens to
 * the first partner's clients.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Child } from "../child.ts"
import { heapOptions } from "../contracts/heapOf.ts"
import type { PacedLoadQuestion, PacedResult } from "../contracts/protocol.ts"
import { operator, until } from "../operator.ts"
import { onDatabase } from "../reference/database.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients, partnerCall, putWebhook } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import type { ReceiverAnswer, ReceiverQuestion } from "../webhooks/protocol.ts"
import { type HeldPosition, storePositions, storeVenuePositions, uidsOf } from "./preparedPositions.ts"

export interface MarginWorldPlan {
  readonly dataDirectory: string
  /** The number of the second partner's clients. */
  readonly others: number
  /**
   * Runs before the crowds are stored, while the database is small. `pattern`: the client from which the crowds are
   * copied.
   */
  readonly prepare?: (service: RunningService, pattern: number) => Promise<void>
  readonly progress: (line: string) => void
}

/** Clients with the same cash. */
export interface Crowd {
  readonly count: number
  /** USDC of each client. Null: none, because the positions are worth more than their price. */
  readonly cash: string | null
  /** The positions of the n-th client. */
  readonly held: (n: number) => ReadonlyArray<Pick<HeldPosition, "symbol" | "netQty" | "price">>
}

export interface MarginWorld {
  readonly plan: MarginWorldPlan
  readonly partner: BenchPartner
  /** The client ids of each crowd. */
  readonly crowds: ReadonlyArray<ReadonlyArray<number>>
  readonly other: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  readonly load: Child<PacedLoadQuestion, PacedResult>
  readonly receiver: Child<ReceiverQuestion, ReceiverAnswer>
}

export const symbol = "BTC-USDC-PERP"
/** The mark while the clients and positions are stored. */
export const entry = "60000"
/** The venue's own book, deep enough that every closing order finds a price. */
const book = { size: "100", levels: 100 } as const
const traderCash = "1000000.00"
/** Requests per second of the second partner. */
export const paced = { readsPerSecond: 100, reportsPerSecond: 50 } as const

export const startWorld = (dataDirectory: string, nodeOptions = ""): Promise<RunningService> =>
  startService(dataDirectory, `${heapOptions} ${nodeOptions}`, ["--allow-webhook-host", "127.0.0.1"])

/** Holds index, mark and last price of a market's base. Returns the venue's business time at which they were set. */
export const holdMark = async (service: RunningService, of: string, price: string): Promise<number> => {
  const text = await operator(service, "POST", "/sim/venue/price", { symbol: of, price })
  return (JSON.parse(text) as { readonly data: { readonly at: number } }).data.at
}

/** Places the order from which all positions are copied. */
export const tradePattern = async (service: RunningService, partner: BenchPartner, clientId: number): Promise<void> => {
  await partnerCall(service, partner, {
    method: "POST",
    path: `/partner/v1/clients/${clientId}/orders`,
    body: { symbol, side: "BUY", type: "MARKET", qty: "0.0100" },
    idempotencyKey: "pattern"
  })
  const isFilled = () =>
    onDatabase(service.databaseUrl, async (client) => {
      const { rows } = await client.query("SELECT 1 FROM positions WHERE client_id = $1", [clientId])
      return rows.length === 1
    })
  await until("the pattern of all positions is there", isFilled)
}

/** Makes all clients and positions, here and at the venue. The service has ended on return. */
export const makeMarginWorld = async (plan: MarginWorldPlan, crowds: ReadonlyArray<Crowd>): Promise<MarginWorld> => {
  const { dataDirectory, progress } = plan
  const service = await startWorld(dataDirectory)
  const partner = await createPartner(service, "MARGIN")
  const other = await createPartner(service, "OTHER")
  const [pattern, traderId] = (await onboardClients(service, partner, 2, "margin")).clientIds as [number, number]
  await holdMark(service, symbol, entry)
  await operator(service, "POST", "/sim/venue/book", { symbol, ...book })
  await makeTrader(service, partner, traderId, { custody: "PARTNER", cash: traderCash })
  await tradePattern(service, partner, traderId)
  const others = (await onboardClients(service, other, plan.others, "other")).clientIds
  await plan.prepare?.(service, pattern)
  const stored = await storeClients(
    service.databaseUrl,
    pattern,
    crowds.reduce((sum, { count }) => sum + count, 0)
  )
  progress(`${stored.length} clients stored`)
  const receiver = new Child<ReceiverQuestion, ReceiverAnswer>("webhooks/receiver.ts")
  const tls = (name: string) => readFileSync(join(dataDirectory, "tls", name), "utf8")
  const listen = { kind: "listen", cert: tls("server.pem"), key: tls("server.key"), mode: "healthy" } as const
  const { port } = (await receiver.ask(listen)) as { readonly port: number }
  await putWebhook(service, partner, `https://127.0.0.1:${port}/hooks`)
  const load = new Child<PacedLoadQuestion, PacedResult>("contracts/pacedLoad.ts")
  let next = 0
  const groups = crowds.map(({ count }) => stored.slice(next, (next += count)))
  const world = { plan, partner, crowds: groups, other: { ...other, clientIds: others }, load, receiver }
  for (const [at, { cash }] of crowds.entries()) {
    if (cash !== null) await fund(world, service, groups[at] ?? [], { tag: `fund${at}`, cash })
  }
  progress("whoever is to have cash has it")
  const uidOf = await uidsOf(service.databaseUrl, stored)
  const held = groups.flatMap((clientIds, at) =>
    clientIds.flatMap((clientId, n) =>
      (crowds[at] as Crowd).held(n).map((one) => ({ ...one, clientId, uid: uidOf.get(clientId) as string }))
    )
  )
  await storePositions(service.databaseUrl, traderId, held)
  await service.stop()
  await storeVenuePositions(dataDirectory, held)
  progress(`${held.length} positions stored on both sides`)
  return world
}

export const endMarginWorld = async ({ load, receiver }: MarginWorld): Promise<void> => {
  await load.stop()
  await receiver.stop()
}

/** Funds clients by reports over HTTP. */
export const fund = async (
  { load, partner }: Pick<MarginWorld, "load" | "partner">,
  { port, ca }: RunningService,
  clientIds: ReadonlyArray<number>,
  { tag, cash: amount }: { readonly tag: string; readonly cash: string }
): Promise<void> => {
  const { partnerKey } = partner
  const { errors, firstError } = await load.ask({ kind: "fund", port, ca, partnerKey, clientIds, tag, amount })
  if (errors > 0) throw new Error(`${errors} reports failed, the first one with: ${firstError}`)
}

/** Runs `work` beside the second partner's requests. Returns the latencies of these requests and the result of `work`. */
export const besideOthers = async <A>(
  { load, other }: Pick<MarginWorld, "load" | "other">,
  { port, ca }: RunningService,
  tag: string,
  work: () => Promise<A>
): Promise<{ readonly found: A; readonly beside: PacedResult }> => {
  const { partnerKey, clientIds } = other
  await load.ask({ kind: "begin", port, ca, partnerKey, clientIds, tag, ...paced })
  try {
    const found = await work()
    return { found, beside: await load.ask({ kind: "end" }) }
  } catch (error) {
    await load.ask({ kind: "end" })
    throw error
  }
}
