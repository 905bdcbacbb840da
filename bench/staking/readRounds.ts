/**
 * Balances and overviews over HTTP at 64 connections, of accounts with eight currencies, fifty swaps, and few or very
 * many earlier trades, while the marks move.
 */
import { Child } from "../child.ts"
import type { SliceResult } from "../load/protocol.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { operator } from "../operator.ts"
import { type Row, rowOf } from "../rounds.ts"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { onboardTraders } from "../traders.ts"
import { type PreparedAccount, spotPrices, storeAccounts, takeSwaps } from "./preparedAccounts.ts"
import { type ReadKind, readKinds, type StakingSlice } from "./protocol.ts"

export interface ReadPlan {
  readonly dataDirectory: string
  /** The number of earlier trades of the smaller and of the larger account. */
  readonly behind: readonly [number, number]
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

export interface AccountReadRow {
  readonly kind: ReadKind
  readonly behind: number
  readonly row: Row
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

  constructor(plan: ReadPlan, service: RunningService, partner: BenchPartner) {
    this.plan = plan
    this.service = service
    this.partner = partner
  }

  async run(accounts: ReadonlyArray<PreparedAccount>): Promise<ReadFindings> {
    try {
      await operator(this.service, "POST", "/sim/venue/clear", {})
      const reads: Array<AccountReadRow> = []
      for (const kind of readKinds)
        for (const account of accounts)
          reads.push({ kind, behind: account.trades, row: await this.rounds(kind, account) })
      return { reads }
    } finally {
      await this.load.stop()
    }
  }

  private async slice(kind: ReadKind, { clientId }: PreparedAccount, millis: number) {
    const { service, plan, partner, load } = this
    const processes = { app: service.pid, postmaster: postmasterPid(plan.dataDirectory), generator: load.pid }
    const { measured } = await measureSlice(processes, () =>
      load.ask({
        kind,
        port: service.port,
        ca: service.ca,
        partnerKey: partner.partnerKey,
        connections,
        millis,
        clientIds: [clientId]
      })
    )
    return measured
  }

  private async rounds(kind: ReadKind, account: PreparedAccount): Promise<Row> {
    const { plan } = this
    const slices: Array<SliceResult & Used> = []
    for (let round = 0; round <= plan.rounds; round++) {
      const slice = await this.slice(kind, account, round === 0 ? plan.warmMillis : plan.sliceMillis)
      plan.progress(
        `${kind}, ${account.trades} trades behind, ${round === 0 ? "warm-up" : `round ${round}`}: ${slice.rate.toFixed(0)}/s`
      )
      slices.push(slice)
    }
    return rowOf("service", slices.slice(1))
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
  // A service that starts now reads the accounts as they are stored.
  await filling.stop()
  const service = await startService(plan.dataDirectory)
  try {
    return await new Reads(plan, service, partner).run(accounts)
  } finally {
    await service.stop()
  }
}
