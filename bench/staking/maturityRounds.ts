/**
 * Measures very many maturities at one instant. The writers pay all swaps at once, and the service books the venue's
 * events while another partner reads and reports. The reference is plain SQL with a transaction for each swap. The
 * swaps are taken over HTTP. Then, while service and venue have ended, the maturities in the venue's agenda are moved
 * to one instant shortly after the next start; no other work is due at that instant.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import type { PacedLoadQuestion, PacedResult } from "../contracts/protocol.ts"
import type { SliceResult } from "../load/protocol.ts"
import { besideOthers, fund, startWorld } from "../margin/MarginWorld.ts"
import { cpuMicros, serverCpuMicros, usedBetween } from "../processFacts.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { postmasterPid, type RunningService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients, putWebhook } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import { withBooks } from "../venueBooks.ts"
import { venueSeat } from "../venueSeat.ts"
import type { ReceiverAnswer, ReceiverQuestion } from "../webhooks/protocol.ts"
import { putOffer } from "./boardOffer.ts"
import { endPlainSwaps, openPlainSwaps } from "./plainMaturities.ts"
import type { StakingSlice } from "./protocol.ts"

export interface MaturityPlan {
  readonly dataDirectory: string
  /** The number of the other partner's clients. */
  readonly others: number
  /** The number of swaps, each of a different client. */
  readonly swaps: number
  /** Swaps that plain SQL ends in one round. */
  readonly plain: number
  /** How long the other partner's callers run without any maturity, ms. */
  readonly calmMillis: number
  readonly progress: (line: string) => void
}

export interface MaturityFindings {
  readonly swaps: number
  /** From the instant at the venue until the last swap is stored as matured in this service. */
  readonly seconds: number
  /** Swaps per second. */
  readonly rate: number
  /** Microseconds of processor time per swap. */
  readonly program: number
  readonly database: number
  readonly venue: number
  readonly beside: PacedResult
  readonly without: PacedResult
  /** One statement per swap, at the fastest number of connections. */
  readonly plain: { readonly rate: Spread; readonly concurrency: number }
}

const cash = "20.00"
const qty = "10"
const terms = { rateBps: 400, tenorDays: 30 } as const
const takeConnections = 64
/** The time for the start, and the interval of the polls for the last swap, ms. */
const startMillis = 45_000
const apartMillis = 2_000
const patienceMillis = 1_800_000
const concurrencies = [8, 16] as const
const plainRounds = 3

interface World {
  readonly plan: MaturityPlan
  readonly partner: BenchPartner
  readonly other: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  readonly load: Child<PacedLoadQuestion, PacedResult>
  readonly receiver: Child<ReceiverQuestion, ReceiverAnswer>
  readonly referenceUrl: string
  readonly plainClients: ReadonlyArray<number>
}

/** Takes a swap for each of very many clients. The service has ended on return. */
const makeWorld = async (plan: MaturityPlan): Promise<World> => {
  const { dataDirectory, progress } = plan
  const service = await startWorld(dataDirectory)
  const partner = await createPartner(service, "MATURE")
  const other = await createPartner(service, "OTHER")
  const [pattern] = (await onboardClients(service, partner, 1, "mature")).clientIds as [number]
  await makeTrader(service, partner, pattern, { custody: "PARTNER", cash })
  const others = (await onboardClients(service, other, plan.others, "other")).clientIds
  const referenceUrl = await makeReferenceDatabase(service.databaseUrl, "reference_maturities")
  const plainClients = await plainWorld(referenceUrl, pattern, plan.plain)
  const clientIds = await storeClients(service.databaseUrl, pattern, plan.swaps)
  progress(`${clientIds.length} clients stored`)
  const receiver = new Child<ReceiverQuestion, ReceiverAnswer>("webhooks/receiver.ts")
  const tls = (name: string) => readFileSync(join(dataDirectory, "tls", name), "utf8")
  const listen = { kind: "listen", cert: tls("server.pem"), key: tls("server.key"), mode: "healthy" } as const
  const { port } = (await receiver.ask(listen)) as { readonly port: number }
  await putWebhook(service, partner, `https://127.0.0.1:${port}/hooks`)
  const load = new Child<PacedLoadQuestion, PacedResult>("contracts/pacedLoad.ts")
  await fund({ load, partner }, service, clientIds, { tag: "fund", cash })
  await takeAll(service, partner, clientIds)
  progress(`${clientIds.length} swaps taken`)
  await service.stop()
  return { plan, partner, other: { ...other, clientIds: others }, load, receiver, referenceUrl, plainClients }
}

const takeAll = async (
  service: RunningService,
  partner: BenchPartner,
  clientIds: ReadonlyArray<number>
): Promise<void> => {
  const offerId = await putOffer(service, partner, { ...terms, qty: String(Number(qty) * clientIds.length) })
  const load = new Child<StakingSlice, SliceResult>("staking/load.ts")
  try {
    const window = { port: service.port, ca: service.ca, partnerKey: partner.partnerKey, millis: patienceMillis }
    const asked = { ...window, connections: takeConnections, clientIds, offerId, qty, count: clientIds.length }
    const { errors, firstError } = await load.ask({ kind: "take", ...asked })
    if (errors > 0) throw new Error(`${errors} takes failed, the first one with: ${firstError}`)
  } finally {
    await load.stop()
  }
}

const plainWorld = async (databaseUrl: string, pattern: number, count: number): Promise<ReadonlyArray<number>> => {
  const clientIds = await storeClients(databaseUrl, pattern, count)
  await onDatabase(databaseUrl, (client) =>
    client.query(
      `INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited)
       SELECT id, 'USDC', partner_id, 0, 0, 0 FROM clients WHERE id = ANY($1)`,
      [clientIds]
    )
  )
  return clientIds
}

/** Moves all maturities in the venue's agenda to one instant. Returns the instant. */
const moveMaturities = ({ dataDirectory, calmMillis, swaps }: MaturityPlan): Promise<number> =>
  withBooks(dataDirectory, (state) => {
    const at = Date.now() + startMillis + calmMillis + apartMillis
    const moved = state.agenda.filter(({ due }) => due.type === "maturity").map(({ due }) => ({ at, due }))
    if (moved.length !== swaps) throw new Error(`${moved.length} maturities stand in the venue's agenda, not ${swaps}`)
    const rest = state.agenda.filter(({ due }) => due.type !== "maturity")
    // The agenda's next entry is its last element.
    return [{ ...state, agenda: [...rest, ...moved].toSorted((one, other) => other.at - one.at) }, at]
  })

const maturedOf = (databaseUrl: string): Promise<number> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly n: string }>(
      "SELECT count(*) AS n FROM swaps WHERE state = 'MATURED'"
    )
    return Number(rows[0]?.n)
  })

type Measured = Omit<MaturityFindings, "plain" | "swaps">

const measureInstant = async (world: World, service: RunningService, at: number): Promise<Measured> => {
  const { plan } = world
  const venuePid = (await venueSeat(plan.dataDirectory)).pid
  const postmaster = postmasterPid(plan.dataDirectory)
  const spare = at - plan.calmMillis - apartMillis - Date.now()
  if (spare < 0) throw new Error("the service has begun too late for its maturities")
  await pause(spare)
  const { beside: without } = await besideOthers(world, service, "calm", () => pause(plan.calmMillis - 500))
  const look = () => ({ app: cpuMicros(service.pid), venue: cpuMicros(venuePid), server: serverCpuMicros(postmaster) })
  await pause(Math.max(0, at - Date.now() - 500))
  const { found, beside } = await besideOthers(world, service, "mature", async () => {
    const before = look()
    for (let done = 0; done < plan.swaps;) {
      await pause(200)
      done = await maturedOf(service.databaseUrl)
      if (Date.now() > at + patienceMillis) throw new Error(`${done} of ${plan.swaps} swaps have matured in vain time`)
    }
    return { before, after: look(), seconds: (Date.now() - at) / 1_000 }
  })
  const { before, after, seconds } = found
  const each = (micros: number) => micros / plan.swaps
  return {
    seconds,
    rate: plan.swaps / seconds,
    program: each(after.app - before.app),
    database: each(usedBetween(before.server, after.server)),
    venue: each(after.venue - before.venue),
    beside,
    without
  }
}

/** Checks that every swap has one payment, one charge and one notification. */
const checkRows = ({ databaseUrl }: RunningService, swaps: number): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<Readonly<Record<string, string>>>(
      `SELECT count(*) FILTER (WHERE state = 'MATURED' AND paid = amount + reward AND commission > 0) AS matured,
              (SELECT count(*) FROM settlement_items WHERE type IN ('SWAP_SETTLE', 'COMMISSION')) AS items,
              (SELECT count(*) FROM notifications WHERE kind = 'SWAP_SETTLED') AS told FROM swaps`
    )
    const { matured, items, told } = rows[0] as (typeof rows)[number]
    if ([matured, items, told].join() !== [swaps, 2 * swaps, swaps].join())
      throw new Error(`of ${swaps} swaps ${matured} have matured, with ${items} items and ${told} notifications`)
  })

const measurePlain = async ({
  plan,
  referenceUrl: databaseUrl,
  plainClients
}: World): Promise<MaturityFindings["plain"]> => {
  const once = async (concurrency: number, clientIds: ReadonlyArray<number>) =>
    endPlainSwaps({ databaseUrl, concurrency, swapIds: await openPlainSwaps(databaseUrl, clientIds) })
  let best = { concurrency: 0, rate: 0 }
  for (const concurrency of concurrencies) {
    const rate = await once(concurrency, plainClients.slice(0, plainClients.length / 4))
    plan.progress(`maturities by plain SQL, ${concurrency} connections: ${rate.toFixed(0)} swaps a second`)
    if (rate > best.rate) best = { concurrency, rate }
  }
  const rates: Array<number> = []
  for (let round = 0; round < plainRounds; round++) rates.push(await once(best.concurrency, plainClients))
  return { rate: spreadOf(rates), concurrency: best.concurrency }
}

export const measureMaturities = async (plan: MaturityPlan): Promise<MaturityFindings> => {
  const world = await makeWorld(plan)
  try {
    const at = await moveMaturities(plan)
    const service = await startWorld(plan.dataDirectory)
    try {
      const measured = await measureInstant(world, service, at)
      plan.progress(`${plan.swaps} swaps have matured within ${measured.seconds.toFixed(1)} s`)
      await checkAgreement(service)
      await checkRows(service, plan.swaps)
      return { swaps: plan.swaps, ...measured, plain: await measurePlain(world) }
    } finally {
      await service.stop()
    }
  } finally {
    await world.load.stop()
    await world.receiver.stop()
  }
}
