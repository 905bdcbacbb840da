/**
 * Statements over random lives, built from a real database: each figure equals that of a second implementation by the
 * definitions, to the last unit (A2-69 to A2-73, A2-83, F20 to F22, STS-19 to STS-27).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { formatAmount, usdcMinor } from "../../../src/machines/shared/Money.ts"
import { type Period, quarterOf, startOfDay, taxPeriod } from "../../../src/machines/statement/statementPeriod.ts"
import { naiveContract, naiveMean, naivePercent } from "../../fixtures/naiveStatements.ts"
import { naiveFifo, naiveHmrc, type NaiveSlice } from "../../fixtures/naiveTax.ts"
import { fraction, Fraction } from "../../fixtures/naiveTrading.ts"
import { isDeep } from "../../support/every.ts"
import { openPgBench } from "../engine/pgBench.ts"
import { spot } from "../order/TradingWorld.ts"
import { someLife } from "./someLife.ts"
import { type Model, type Stated, stored } from "./Statement.ts"
import { type CostKind, dayMillis, type Held, knockOut, StatedLife } from "./StatementLife.ts"

const usdc = (minor: bigint): string => (minor < 0n ? `-${formatAmount(-minor, "USDC")}` : formatAmount(minor, "USDC"))
const textOf = (minor: bigint, asset: Held): string =>
  minor < 0n ? `-${formatAmount(-minor, asset)}` : formatAmount(minor, asset)
const sum = (figures: ReadonlyArray<bigint>): bigint => figures.reduce((total, each) => total + each, 0n)
const inside =
  ({ from, to }: Period) =>
  ({ at }: { readonly at: number }): boolean =>
    at >= from && at < to

const sliceOf = (row: Model): NaiveSlice => ({
  acquired: row.acquired,
  disposed: row.disposed,
  quantity: BigInt(row.quantity.replace(".", "")),
  proceeds: usdcMinor(row.proceeds),
  cost: usdcMinor(row.cost),
  method: row.method
})

const costKinds: ReadonlyArray<readonly [description: RegExp, kind: CostKind]> = [
  [/^Commission on trades/, "PERP"],
  [/^Commission on spot/, "SPOT"],
  [/^Commission at the opening/, "BARRIER"],
  [/^The service's share/, "SHARE"],
  [/^Venue fees/, "FEE"],
  [/^Net funding/, "FUNDING"],
  [/^Spread/, "SPREAD"]
]

const compareTax = async (stated: Stated, year: number, isBritish: boolean): Promise<ReadonlyArray<NaiveSlice>> => {
  const { life } = stated
  const period = taxPeriod(year, isBritish)
  const model = await stated.model("TAX", period, isBritish)
  const until = isBritish ? period.to + 30 * dayMillis : period.to
  const moves = life.moves.filter(({ at }) => at < until)
  const slices = (isBritish ? naiveHmrc(moves) : naiveFifo(moves)).filter(
    ({ disposed }) => disposed >= period.from && disposed < period.to
  )
  const section = (name: string): Model => model.sections.find((each: Model) => each.name === name)
  assert.deepStrictEqual(section("DISPOSALS").rows.map(sliceOf), slices)
  const results = slices.map(({ proceeds, cost }) => proceeds - cost)
  assert.deepInclude(section("TOTALS"), {
    disposals: new Set(slices.map(({ disposed }) => disposed)).size,
    proceeds: usdc(sum(slices.map(({ proceeds }) => proceeds))),
    costs: usdc(sum(slices.map(({ cost }) => cost))),
    gains: usdc(sum(results.filter((result) => result > 0n))),
    losses: usdc(-sum(results.filter((result) => result < 0n)))
  })
  const total = (name: string): Model => section("TOTALS").rows.find(({ asset }: Model) => asset === name)
  const costsOf = (kind: CostKind) =>
    sum(life.costs.filter((cost) => cost.kind === kind && inside(period)(cost)).map(({ amount }) => amount))
  assert.deepStrictEqual(
    [total("PERPETUALS").cost, total("BARRIERS").cost, total("STAKING").cost, total("FUNDING").result],
    [usdc(costsOf("PERP")), usdc(costsOf("BARRIER")), usdc(costsOf("SHARE")), usdc(-costsOf("FUNDING"))]
  )
  for (const [name, figure] of [
    ["PERPETUALS", "cost"],
    ["PERPETUALS", "result"],
    ["BARRIERS", "cost"],
    ["BARRIERS", "result"],
    ["STAKING", "result"],
    ["FUNDING", "result"]
  ] as const)
    assert.strictEqual(
      usdc(sum(section(name).rows.map((row: Model) => usdcMinor(row[figure])))),
      total(name)[figure],
      `${name} ${figure}`
    )
  return slices
}

/** The midnights that a note names, including each one of a range. */
const daysNamed = (note: string): ReadonlyArray<number> =>
  [...note.matchAll(/([0-9-]{10})(?: to ([0-9-]{10}))?/g)].flatMap(([, first, last = first]) => {
    const days: Array<number> = []
    for (let day = Date.parse(first ?? ""); day <= Date.parse(last ?? ""); day += dayMillis) days.push(day)
    return days
  })

const compareCosts = async (stated: Stated, period: Period): Promise<void> => {
  const { life } = stated
  const model = await stated.model("COSTS", period)
  const [section] = model.sections as ReadonlyArray<Model>
  const own = life.costs.filter(inside(period))
  for (const [description, kind] of costKinds) {
    const row = section.rows.find((each: Model) => description.test(each.description))
    const amount = sum(own.filter((cost) => cost.kind === kind).map((cost) => cost.amount))
    assert.strictEqual(row.amount, usdc(amount), kind)
  }
  const total = sum(own.map(({ amount }) => amount))
  const turnover = sum(life.traded.filter(inside(period)).map(({ amount }) => amount))
  const midnights: Array<number> = []
  for (let day = startOfDay(period.from); day < period.to; day += dayMillis)
    if (day >= period.from && day >= life.createdAt) midnights.push(day)
  const days = midnights.map((day) => life.equityAt(day))
  const [start, end, average] = [life.equityAt(period.from), life.equityAt(period.to), naiveMean(days)]
  const unvalued = [...new Set([period.from, ...midnights, period.to].filter((at) => life.unvaluedAt(at) > 0))]
  assert.strictEqual(section.holdingsValued, unvalued.length > 0 ? false : undefined)
  // The note names each of those days, alone or within a range.
  const note = model.notes.find((each: string) => each.startsWith("Equities are not wholly valued"))
  assert.deepStrictEqual(daysNamed(note ?? ""), [...new Set(unvalued.map(startOfDay))])
  // The gain equals the realized results and payments plus the changes in value of open positions and contracts.
  const cash = (moment: number) => life.standingAt(moment)?.cash["USDC"] ?? 0n
  const gains = sum(life.gains.filter(inside(period)).map(({ amount }) => amount))
  const gained = gains + (end - cash(period.to)) - (start - cash(period.from))
  assert.deepInclude(section, {
    total: usdc(total),
    turnover: usdc(turnover),
    startEquity: usdc(start),
    endEquity: usdc(end),
    averageEquity: average === null ? null : usdc(average),
    netDeposits: usdc(end - start - gained),
    pctOfTurnover: naivePercent(total, turnover),
    pctOfAverageEquity: naivePercent(total, average),
    returnAfterCostsPct: naivePercent(gained, average),
    returnBeforeCostsPct: naivePercent(gained + total, average)
  })
}

const compareAccount = async (stated: Stated, period: Period): Promise<Model> => {
  const model = await stated.model("ACCOUNT", period)
  const held = (moment: number, asset: Held) => {
    const standing = stated.life.standingAt(moment)
    return {
      cash: textOf(standing?.cash[asset] ?? 0n, asset),
      reserved: textOf(standing?.reserved[asset] ?? 0n, asset)
    }
  }
  for (const section of model.sections) {
    const { currency, opening, closing, rows, totals } = section
    assert.deepStrictEqual([opening, closing], [held(period.from, currency), held(period.to, currency)])
    for (const kind of ["cash", "reserved"] as const) {
      const own = rows.filter((row: Model) => row.kind === kind)
      let balance = BigInt(opening[kind].replace(".", ""))
      for (const row of own) {
        balance += BigInt(row.amount.replace(".", ""))
        assert.strictEqual(row.balance, textOf(balance, currency))
      }
      assert.strictEqual(closing[kind], textOf(balance, currency))
    }
    const amounts = (list: ReadonlyArray<Model>) => sum(list.map(({ amount }) => BigInt(amount.replace(".", ""))))
    for (const { type, amount } of totals)
      assert.strictEqual(amount, textOf(amounts(rows.filter((row: Model) => row.type === type)), currency))
    assert.strictEqual(amounts(totals), amounts(rows))
  }
  return model
}

const compareExecutions = async (stated: Stated, period: Period, account: Model): Promise<void> => {
  const [{ rows }] = (await stated.model("TRANSACTIONS", period)).sections
  assert.deepStrictEqual(
    rows.map(({ bookedAt, consideration }: Model) => ({ at: bookedAt, consideration })),
    stated.life.executions.filter(inside(period))
  )
  // The charges of executions equal the charges of the account, except the charge of a delisting without a payment.
  for (const { currency, totals } of account.sections) {
    const charged = totals.find(({ type }: Model) => type === "COMMISSION")?.amount ?? textOf(0n, currency)
    const shown = sum(
      rows
        .filter((row: Model) => row.currency === currency)
        .map(({ commission }: Model) => BigInt(commission.replace(".", "")))
    )
    const delisted = stated.life.delistedShare(period, currency)
    assert.strictEqual(charged, textOf(-shown - delisted, currency), currency)
  }
}

const compareAssets = async (stated: Stated, period: Period): Promise<void> => {
  const { life } = stated
  const model = await stated.model("CLIENT_ASSETS", period)
  const rowsOf = (name: string): ReadonlyArray<Model> => model.sections.find((each: Model) => each.name === name).rows
  const standing = life.standingAt(period.to)
  const marks = life.dailyMarks.get(period.to) ?? new Map<string, string>()
  const loans = [...(standing?.loans ?? [])]
  const worth = (minor: bigint, asset: Held) =>
    asset === "USDC" ? minor : new Fraction(minor, 10n ** 8n).times(fraction(marks.get(spot) ?? "0")).floor(6)
  assert.deepStrictEqual(
    rowsOf("SWAPS").map(({ swapId, quantity, claim, writtenOff, value }) => [
      swapId,
      quantity,
      claim,
      writtenOff,
      value
    ]),
    loans.map(([id, { asset, principal, claim, writtenOff }]) => [
      id,
      textOf(principal, asset),
      textOf(claim, asset),
      textOf(writtenOff, asset),
      asset === "BTC" && !marks.has(spot) ? null : usdc(worth(principal, asset))
    ])
  )
  for (const asset of ["USDC", "BTC"] as const) {
    const row = rowsOf(asset === "USDC" ? "CASH" : "ASSETS").find(({ currency }) => currency === asset)
    const [cash, reserved] = [standing?.cash[asset] ?? 0n, standing?.reserved[asset] ?? 0n]
    const lent = sum(loans.filter(([, loan]) => loan.asset === asset).map(([, { principal }]) => principal))
    if (cash === 0n && reserved === 0n && lent === 0n) assert.isUndefined(row)
    else
      assert.deepStrictEqual(
        [row.quantity, row.reserved, row.inSwaps],
        [textOf(cash + reserved, asset), textOf(reserved, asset), textOf(lent, asset)]
      )
  }
  const positions = [...(standing?.positions ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1))
  assert.deepStrictEqual(
    rowsOf("POSITIONS").map(({ asset, value }) => [asset, value]),
    positions.map(([symbol, { qty, average }]) => {
      const mark = marks.get(symbol)
      return [symbol, mark === undefined ? null : usdc(qty.times(fraction(mark).minus(average)).floor(6))]
    })
  )
  const mark = marks.get(knockOut)
  assert.deepStrictEqual(
    rowsOf("CONTRACTS").map(({ contractId, value }) => [contractId, value]),
    [...(standing?.contracts ?? [])].map(([id, each]) => [
      id,
      mark === undefined ? null : usdc(naiveContract(each, fraction(mark)))
    ])
  )
}

describe("an independent computation of statements", () => {
  it("agrees with each kind, of any history and over any period", { timeout: 300_000 }, async () => {
    const methods = new Map<string, number>()
    let [writtenOff, standing] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        someLife,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
        async (life, cuts) => {
          const bench = await openPgBench()
          try {
            const stated = await stored(life, bench)
            const year = new Date(life.createdAt).getUTCFullYear()
            for (const isBritish of [false, true]) {
              for (const slice of await compareTax(stated, year, isBritish))
                methods.set(slice.method, (methods.get(slice.method) ?? 0) + 1)
            }
            const span = life.now - life.createdAt
            const moments = cuts
              .map((share) => Math.floor(life.createdAt - dayMillis + share * span))
              .toSorted((a, b) => a - b)
            const [first = 0, second = 0, third = 0] = moments
            let before: Model = null
            for (const period of [
              { from: first, to: second + 1 },
              { from: second + 1, to: third + 2 },
              { from: startOfDay(first), to: startOfDay(third) + dayMillis }
            ]) {
              const account = await compareAccount(stated, period)
              if (before?.periodTo === period.from) meet(before, account)
              before = account
              await compareExecutions(stated, period, account)
              await compareCosts(stated, period)
            }
            for (const quarter of [1, 2, 3, 4]) {
              await compareAssets(stated, quarterOf(year, quarter))
              const then = life.standingAt(quarterOf(year, quarter).to)
              standing += then?.loans.size ?? 0
              writtenOff += [...(then?.loans.values() ?? [])].filter((loan) => loan.writtenOff > 0n).length
            }
          } finally {
            await bench.close()
          }
        }
      ),
      { numRuns: isDeep ? 12 : 6, seed: 17 }
    )
    for (const method of ["FIFO", "SAME_DAY", "THIRTY_DAY", "S104"]) assert.isAbove(methods.get(method) ?? 0, 5, method)
    assert.isAbove(standing, 5)
    assert.isAbove(writtenOff, 0)
  })
})

describe("an amount of unknown value", () => {
  it("STS-9: counts as zero in TAX, which states and names it; its sale has no cost", async () => {
    const bench = await openPgBench()
    try {
      const life = new StatedLife(Date.UTC(2026, 1, 1))
      life.deposit("BTC", 200_000n)
      life.pass(dayMillis)
      life.place(spot, "SELL", "0.001000", "60000.0")
      life.fill([...life.naive.orders.keys()][0] ?? 0, "0.001000", "60000.0")
      const stated = await stored(life, bench)
      const year = taxPeriod(2026, false)
      const totals = (model: Model) => model.sections.at(-1)
      const known = await stated.model("TAX", year)
      assert.notProperty(totals(known), "holdingsValued")
      // Removes the stored marks, as if the assets had no market at the booking.
      await bench.query("ALTER TABLE ledger_transactions DISABLE TRIGGER ALL")
      await bench.query(
        `UPDATE ledger_transactions SET refs = (refs::jsonb || '{"mark":null,"markTs":null,"valueUsdc":null}'::jsonb)::json
          WHERE refs->>'mark' IS NOT NULL AND type <> 'SPOT_SETTLE'`
      )
      const unknown = await stated.model("TAX", year)
      assert.strictEqual(totals(unknown).holdingsValued, false)
      assert.deepInclude(unknown.sections[0].rows[0], { asset: "BTC", cost: "0.000000", assumed: true })
      assert.deepInclude(
        unknown.notes,
        "Not valued, for want of a market price when it was booked, and counted as zero: 0.00200000 BTC on 2026-02-01T00:00:00.000Z."
      )
      assert.notInclude(known.notes.join(" "), "Not valued")
    } finally {
      await bench.close()
    }
  })
})

/** The end of one statement equals the beginning of the next, in every currency that both have. */
const meet = (before: Model, after: Model): void => {
  for (const { currency, closing } of before.sections) {
    const next = after.sections.find((section: Model) => section.currency === currency)
    assert.deepStrictEqual(next?.opening, closing, currency)
  }
}
