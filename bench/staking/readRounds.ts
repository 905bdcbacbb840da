/**
 * Balances and overviews over HTTP at 64 connections, of accounts with eight currencies and fifty swaps that have little or very much
 * behind them, beside Fastify and pg that add it up. Both have to answer the same to the last figure; then the marks move.
 */
import { readFileSync } from "node:fs"
import { Agent } from "node:https"
import { join } from "node:path"
import { Child } from "../child.ts"
import type { SliceResult } from "../load/protocol.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { operator, until } from "../operator.ts"
import { makeReferenceDatabase } from "../reference/database.ts"
import { rowOf, type Rows } from "../rounds.ts"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { textOf } from "../textOf.ts"
import { onboardTraders } from "../traders.ts"
import { copySwaps, type PreparedAccount, spotPrices, storeAccounts, takeSwaps } from "./preparedAccounts.ts"
import { type HeldMark, type ReadKind, readKinds, type ReadServerQuestion, type StakingSlice } from "./protocol.ts"

export interface ReadPlan {
  readonly dataDirectory: string
  /** Trades behind the smaller and the larger account. */
  readonly behind: readonly [number, number]
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

export interface AccountReadRow {
  readonly kind: ReadKind
  readonly behind: number
  readonly rows: Rows
}

export interface ReadFindings {
  readonly reads: ReadonlyArray<AccountReadRow>
}

const connections = 64
const cash = "100000.00"
const swapsEach = 50

class Reads {
  private readonly plan: ReadPlan
  private readonly service: RunningService
  private readonly partner: BenchPartner
  private readonly load = new Child<StakingSlice, SliceResult>("staking/load.ts")
  private readonly reference = new Child<ReadServerQuestion, { readonly port: number }>("staking/readReference.ts")

  constructor(plan: ReadPlan, service: RunningService, partner: BenchPartner) {
    this.plan = plan
    this.service = service
    this.partner = partner
  }

  async run(accounts: ReadonlyArray<PreparedAccount>): Promise<ReadFindings> {
    try {
      const port = await this.serveReference(accounts)
      for (const account of accounts) for (const kind of readKinds) await this.compare(kind, account, port)
      await operator(this.service, "POST", "/sim/venue/clear", {})
      const reads: Array<AccountReadRow> = []
      for (const kind of readKinds)
        for (const account of accounts)
          reads.push({ kind, behind: account.trades, rows: await this.rounds(kind, account, port) })
      return { reads }
    } finally {
      await this.load.stop()
      await this.reference.stop()
    }
  }

  private async serveReference(accounts: ReadonlyArray<PreparedAccount>): Promise<number> {
    const { service, plan } = this
    const databaseUrl = await makeReferenceDatabase(service.databaseUrl, "reference_reads")
    await storeAccounts(databaseUrl, accounts)
    await copySwaps(
      service.databaseUrl,
      databaseUrl,
      accounts.map(({ clientId }) => clientId)
    )
    const file = (name: string) => readFileSync(join(plan.dataDirectory, "tls", name), "utf8")
    const tls = { certificate: file("server.pem"), key: file("server.key") }
    const { port } = await this.reference.ask({ databaseUrl, marks: await this.heldMarks(accounts), ...tls })
    return port
  }

  private text(url: string, { clientId }: PreparedAccount, kind: ReadKind): Promise<string> {
    const agent = new Agent({ ca: this.service.ca })
    const path = `/partner/v1/clients/${clientId}${kind === "balances" ? "/balances" : "/account/overview"}`
    return textOf({ ...this.service, url }, agent, { method: "GET", path, key: this.partner.partnerKey }).finally(() =>
      agent.destroy()
    )
  }

  /** The marks as the service shows them. */
  private async heldMarks([account]: ReadonlyArray<PreparedAccount>): Promise<ReadonlyArray<HeldMark>> {
    if (account === undefined) throw new Error("no account")
    let marks: ReadonlyArray<HeldMark> = []
    await until("every mark is there", async () => {
      const { balances } = JSON.parse(await this.text(this.service.url, account, "balances")) as {
        readonly balances: ReadonlyArray<{
          readonly currency: string
          readonly mark: string | null
          readonly markFresh: boolean
        }>
      }
      const fresh = balances.filter(({ currency, markFresh }) => currency !== "USDC" && markFresh)
      marks = fresh.map(({ currency, mark }) => ({
        symbol: `${currency}-USDC`,
        price: mark ?? "0",
        places: mark?.split(".")[1]?.length ?? 0
      }))
      return marks.length === spotPrices.length
    })
    return marks
  }

  /** Both sides answer the same, but for the time. */
  private async compare(kind: ReadKind, account: PreparedAccount, port: number): Promise<void> {
    const timeless = (text: string) => text.replace(/"asOf":[0-9]+/, "")
    const ours = timeless(await this.text(this.service.url, account, kind))
    const theirs = timeless(await this.text(`https://127.0.0.1:${port}`, account, kind))
    if (ours !== theirs) throw new Error(`service and reference answer differently: ${ours} ${theirs}`)
  }

  private async slice(kind: ReadKind, { clientId }: PreparedAccount, port: number, pid: number, millis: number) {
    const { service, plan, partner, load } = this
    const processes = { app: pid, postmaster: postmasterPid(plan.dataDirectory), generator: load.pid }
    const { measured } = await measureSlice(processes, () =>
      load.ask({
        kind,
        port,
        ca: service.ca,
        partnerKey: partner.partnerKey,
        connections,
        millis,
        clientIds: [clientId]
      })
    )
    return measured
  }

  private async rounds(kind: ReadKind, account: PreparedAccount, port: number): Promise<Rows> {
    const { plan, service } = this
    const ours: Array<SliceResult & Used> = []
    const theirs: Array<SliceResult & Used> = []
    for (let round = 0; round <= plan.rounds; round++) {
      const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
      const own = await this.slice(kind, account, service.port, service.pid, millis)
      const other = await this.slice(kind, account, port, this.reference.pid, millis)
      plan.progress(
        `${kind}, ${account.trades} trades behind, ${round === 0 ? "warm-up" : `round ${round}`}: service ${own.rate.toFixed(0)}/s, reference ${other.rate.toFixed(0)}/s`
      )
      if (round === 0) continue
      ours.push(own)
      theirs.push(other)
    }
    return { service: rowOf("service", ours), typical: null, tuned: rowOf("Fastify + pg", theirs), plain: null }
  }
}

export const measureReads = async (plan: ReadPlan): Promise<ReadFindings> => {
  const filling = await startService(plan.dataDirectory)
  const partner = await createPartner(filling, "READS")
  const clientIds = await onboardTraders(filling, partner, plan.behind.length, { custody: "PARTNER", cash }, "READS")
  const accounts = clientIds.map((clientId, at): PreparedAccount => ({ clientId, trades: plan.behind[at] ?? 0 }))
  for (const [asset, price] of spotPrices)
    await operator(filling, "POST", "/sim/venue/price", { symbol: `${asset}-USDC`, price })
  await takeSwaps(filling, partner, accounts, swapsEach)
  await storeAccounts(filling.databaseUrl, accounts)
  plan.progress(`${plan.behind.join(" and ")} trades stored`)
  // A service that begins now reads the accounts as they are stored.
  await filling.stop()
  const service = await startService(plan.dataDirectory)
  try {
    return await new Reads(plan, service, partner).run(accounts)
  } finally {
    await service.stop()
  }
}
