/**
 * Sets up the contracts part: a PARTNER-custody partner with very many clients, each with cash and contracts, and a
 * webhook endpoint. A second partner's requests must stay fast whatever happens to the first partner's contracts.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import { operator, until } from "../operator.ts"
import { onDatabase } from "../reference/database.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients, partnerCall, putWebhook } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import type { ReceiverAnswer, ReceiverQuestion } from "../webhooks/protocol.ts"
import { heapOptions } from "./heapOf.ts"
import type { PacedLoadQuestion, PacedResult } from "./protocol.ts"

export interface HousePlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly contractsEach: number
  /** The number of the second partner's clients. */
  readonly others: number
  readonly progress: (line: string) => void
}

export interface House {
  readonly plan: HousePlan
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
  /** The client whose contract is the pattern of all other contracts. */
  readonly traderId: number
  readonly other: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  readonly load: Child<PacedLoadQuestion, PacedResult>
  readonly receiver: Child<ReceiverQuestion, ReceiverAnswer>
}

export const symbol = "BTC-USDC-KO"
/** Mark prices: at the opening of the contracts, and beyond every barrier. */
export const prices = { entry: "60000", beyondAll: "56000" } as const
const terms = { side: "BUY", qty: "0.01", barrier: { level: "58000.0", takeProfit: "64000.0" } } as const
/** USDC of each client: more than ten such contracts cost. */
const cash = "2000.00"

export const startHouse = (dataDirectory: string): Promise<RunningService> =>
  startService(dataDirectory, heapOptions, ["--allow-webhook-host", "127.0.0.1"])

export const holdPrice = (service: RunningService, price: string) =>
  operator(service, "POST", "/sim/venue/price", { symbol, price })

const openPattern = async (service: RunningService, partner: BenchPartner, clientId: number): Promise<void> => {
  await partnerCall(service, partner, {
    method: "POST",
    path: `/partner/v1/clients/${clientId}/rfq`,
    body: { symbol, ...terms },
    idempotencyKey: "pattern"
  })
  const isOpen = () =>
    onDatabase(service.databaseUrl, async (client) => {
      const { rows } = await client.query("SELECT 1 FROM barrier_contracts WHERE client_id = $1", [clientId])
      return rows.length === 1
    })
  await until("the pattern of all contracts is open", isOpen)
}

/** Makes clients without contracts, and a trader with one contract. The service has ended on return. */
export const makeHouse = async (plan: HousePlan): Promise<House> => {
  const service = await startHouse(plan.dataDirectory)
  const partner = await createPartner(service, "KNOCK")
  const other = await createPartner(service, "OTHER")
  const [pattern, traderId] = (await onboardClients(service, partner, 2, "knock")).clientIds as [number, number]
  await holdPrice(service, prices.entry)
  await makeTrader(service, partner, traderId, { custody: "PARTNER", cash })
  await openPattern(service, partner, traderId)
  const others = (await onboardClients(service, other, plan.others, "other")).clientIds
  const clientIds = await storeClients(service.databaseUrl, pattern, plan.clients)
  plan.progress(`${clientIds.length} clients stored, the pattern of their contracts is open`)
  const receiver = new Child<ReceiverQuestion, ReceiverAnswer>("webhooks/receiver.ts")
  const tls = (name: string) => readFileSync(join(plan.dataDirectory, "tls", name), "utf8")
  const listen = { kind: "listen", cert: tls("server.pem"), key: tls("server.key"), mode: "healthy" } as const
  const { port } = (await receiver.ask(listen)) as { readonly port: number }
  await putWebhook(service, partner, `https://127.0.0.1:${port}/hooks`)
  await service.stop()
  const load = new Child<PacedLoadQuestion, PacedResult>("contracts/pacedLoad.ts")
  return { plan, partner, clientIds, traderId, other: { ...other, clientIds: others }, load, receiver }
}

/** Funds all clients by reports over HTTP. */
export const fundHouse = async ({ load, partner, clientIds }: House, service: RunningService): Promise<void> => {
  const { port, ca } = service
  const { partnerKey } = partner
  const { errors, firstError } = await load.ask({
    kind: "fund",
    port,
    ca,
    partnerKey,
    clientIds,
    tag: "fund",
    amount: cash
  })
  if (errors > 0) throw new Error(`${errors} reports failed, the first one with: ${firstError}`)
}

/** The number of contracts in each state. */
export const contractsBy = (service: RunningService): Promise<ReadonlyMap<string, number>> =>
  onDatabase(service.databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly state: string; readonly n: string }>(
      "SELECT state, count(*) AS n FROM barrier_contracts GROUP BY state"
    )
    return new Map(rows.map(({ state, n }) => [state, Number(n)]))
  })

/**
 * Throws if `ledger verify` or `sim verify` finds a fault, or if the numbers of open and ended contracts differ from
 * the given ones.
 */
export const checkHouse = async (
  service: RunningService,
  wanted: { readonly open: number; readonly ended: number }
) => {
  await checkAgreement(service)
  const found = await contractsBy(service)
  const open = found.get("OPEN") ?? 0
  const ended = [...found.values()].reduce((sum, n) => sum + n, 0) - open
  if (open !== wanted.open || ended !== wanted.ended)
    throw new Error(`${open} contracts are open and ${ended} ended, not ${wanted.open} and ${wanted.ended}`)
}
