/**
 * Invariants after every scenario (docs/scenarios.md): the books verify themselves, service and venue agree, deliveries arrive
 * without a gap, no reserve is negative, account totals add up, and the recorded risk of an account matches the current marks.
 * Each invariant returns its first difference (A2-60, A2-61; F3, F9, F23, STS-10).
 */
import { Effect, type Scope } from "effect"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { ofRoute } from "./Answer.ts"
import { compareDecimals, shown } from "./matching.ts"
import { type Broken, broken, type Firm, type Session } from "./Session.ts"

/** Limit on checked clients of each partner: a scenario has a few. */
const pageSize = 200

export const invariants: Readonly<
  Record<string, (session: Session) => Effect.Effect<string | null, Broken, Scope.Scope>>
> = {
  "ledger verify": (session) => proof(session, "ledger", "verify"),
  "sim verify": (session) => proof(session, "sim", "verify"),
  "deliveries without a gap": (session) =>
    firstOf([...session.firms.values()].map((firm) => (firm.receivers.size === 0 ? nothing : deliveriesOf(firm)))),
  "no reserve is negative, and every account adds up": (session) =>
    firstOf([...session.firms.values()].map((firm) => accountsOf(firm))),
  "the recorded risk state follows from fresh marks": (session) =>
    firstOf([...session.firms.values()].map((firm) => riskStatesOf(firm)))
}

/** The first broken invariant, as a sentence. */
export const brokenInvariant = (session: Session): Effect.Effect<string | null, Broken, Scope.Scope> =>
  firstOf(
    Object.entries(invariants).map(([name, invariant]) =>
      Effect.map(invariant(session), (difference) => (difference === null ? null : `${name}: ${difference}`))
    )
  )

const nothing: Effect.Effect<string | null> = Effect.succeed(null)

const firstOf = <E, R>(checks: ReadonlyArray<Effect.Effect<string | null, E, R>>): Effect.Effect<string | null, E, R> =>
  Effect.gen(function* () {
    for (const check of checks) {
      const difference = yield* check
      if (difference !== null) return difference
    }
    return null
  })

const proof = (session: Session, ...args: ReadonlyArray<string>): Effect.Effect<string | null> =>
  Effect.map(
    Effect.promise(() => session.world.command(args)),
    ({ exit, refusal }) => (exit === 0 ? null : (refusal?.msg ?? `exit status ${exit}`))
  )

interface DeliveryRow {
  readonly deliveryId: number
  readonly event: string
  readonly status: string
}

/** Checks all pages of the delivery log: ids fall from page to page, and the receiver accepted every SENT delivery. */
const deliveriesOf = (firm: Firm): Effect.Effect<string | null, Broken> =>
  Effect.gen(function* () {
    const accepted = new Set(
      [...firm.receivers.values()].flatMap(({ arrived }) =>
        arrived.flatMap(({ id, accepted }) => (accepted && id !== null ? [id] : []))
      )
    )
    let last = Number.POSITIVE_INFINITY
    for (let before: number | null = null; ;) {
      const from: string = before === null ? "" : `&before=${before}`
      const page = yield* read(firm, `/webhook/deliveries?limit=50${from}`)
      if (page === null) return null
      const { deliveries, nextBefore } = page as {
        readonly deliveries: ReadonlyArray<DeliveryRow>
        readonly nextBefore: number | null
      }
      for (const { deliveryId, event, status } of deliveries) {
        if (deliveryId >= last) return `delivery ${deliveryId} is listed after ${last}`
        last = deliveryId
        if (status === "SENT" && !accepted.has(deliveryId)) {
          return `delivery ${deliveryId} (${event}) is SENT but never arrived`
        }
      }
      if (nextBefore === null) return null
      before = nextBefore
    }
  })

interface Line {
  readonly currency: string
  readonly cash: string
  readonly reserved: string
  readonly value: string | null
  readonly stakedValue: string | null
}

interface Balances {
  readonly balances: ReadonlyArray<Line>
  readonly portfolioValue: string
  readonly portfolio: Readonly<
    Record<"cashTotal" | "reserved" | "holdingsValue" | "stakedValue" | "unrealizedPnl", string>
  >
}

/** The results and costs of trading, which the summary route and the overview route both return. */
interface Totals {
  readonly realized: Readonly<Record<string, string>>
  readonly commission: Readonly<Record<string, string>>
  readonly counts: Readonly<Record<string, number>>
}

const accountsOf = (firm: Firm): Effect.Effect<string | null, Broken> =>
  Effect.gen(function* () {
    const page = yield* read(firm, `/clients?limit=${pageSize}`)
    if (page === null) return null
    for (const { clientId } of (page as { readonly clients: ReadonlyArray<{ readonly clientId: number }> }).clients) {
      const found = (yield* read(firm, `/clients/${clientId}/balances`)) as Balances | null
      const inOne = found === null ? null : apart(found)
      if (inOne !== null) return `client ${clientId} ${inOne}`
      let between = yield* totalsOf(firm, clientId)
      // A booking between the two reads makes their figures differ, so both reads are repeated.
      for (let more = 2; more > 0 && between !== null; more--) between = yield* totalsOf(firm, clientId)
      if (between !== null) return `client ${clientId} ${between}`
    }
    return null
  })

const sum = (figures: ReadonlyArray<string | null>): string =>
  figures.reduce((total, figure) => total.plus(figure ?? 0), new MoneyDecimal(0)).toFixed(6)

/**
 * The fault in a balances answer as a sentence, or null. The portfolio's value must equal the exact sum of its parts, and the
 * parts of holdings and stakes the sums of their lines.
 */
const apart = ({ balances, portfolioValue, portfolio }: Balances): string | null => {
  const negative = balances.find(({ reserved }) => compareDecimals(reserved, 0) === -1)
  if (negative !== undefined) return `has ${shown(negative)}`
  const { cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl } = portfolio
  const whole =
    portfolioValue === sum([cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl]) &&
    holdingsValue === sum(balances.filter(({ currency }) => currency !== "USDC").map(({ value }) => value)) &&
    stakedValue === sum(balances.map((line) => line.stakedValue))
  return whole
    ? null
    : `has the value ${portfolioValue}, but the parts ${shown(portfolio)} and the balances ${shown(balances)}`
}

/** Checks that summary and overview agree, and that each total is the sum of its families. */
const totalsOf = (firm: Firm, clientId: number): Effect.Effect<string | null, Broken> =>
  Effect.gen(function* () {
    const summary = yield* read(firm, `/clients/${clientId}/account/summary`)
    // Without a market there is no overview.
    const overview = (yield* read(firm, `/clients/${clientId}/account/overview`, [503])) as Totals | null
    if (summary === null || overview === null) return null
    const { realizedByFamily, realizedTotal, commissionByFamily, commissionPaid, fundingPaid, counts } =
      summary as Summary
    const { fills, spot, barrier, staking, funding, total } = overview.realized
    const same =
      shown(realizedByFamily) === shown({ fills, spot, barrier, staking }) &&
      sum(Object.values(realizedByFamily)) === realizedTotal &&
      realizedTotal === total &&
      shown({ ...commissionByFamily, total: commissionPaid }) === shown(overview.commission) &&
      sum(Object.values(commissionByFamily)) === commissionPaid &&
      sum([fundingPaid, funding ?? null]) === sum([]) &&
      shown(counts) === shown(overview.counts)
    return same ? null : `has a summary ${shown(summary)} and an overview ${shown(overview)}`
  })

interface Summary {
  readonly realizedByFamily: Readonly<Record<string, string>>
  readonly realizedTotal: string
  readonly commissionByFamily: Readonly<Record<string, string>>
  readonly commissionPaid: string
  readonly fundingPaid: string
  readonly counts: Readonly<Record<string, number>>
}

interface Recorded {
  readonly clientId: number
  readonly riskState: string | null
}

interface Implied {
  readonly riskState: string
  readonly marksFresh: boolean
}

/** The service acts on a crossed mark within a second, and marks keep moving, so the check is repeated. */
const riskStatesOf = (firm: Firm): Effect.Effect<string | null, Broken> =>
  Effect.gen(function* () {
    const page = yield* read(firm, `/clients?limit=${pageSize}`)
    if (page === null) return null
    for (const { clientId } of (page as { readonly clients: ReadonlyArray<Recorded> }).clients) {
      const check = riskStateOf(firm, clientId)
      const again = Effect.andThen(Effect.sleep("500 millis"), check)
      let difference = yield* check
      for (let more = 6; more > 0 && difference !== null; more--) difference = yield* again
      if (difference !== null) return difference
    }
    return null
  })

const riskStateOf = (firm: Firm, clientId: number): Effect.Effect<string | null, Broken> =>
  Effect.gen(function* () {
    const row = (yield* read(firm, `/clients/${clientId}`)) as Recorded | null
    const margin = (yield* read(firm, `/clients/${clientId}/margin`, [503])) as Implied | null
    // Without a market no risk state is recorded, and a close-out does not begin on stale marks.
    if (row === null || margin === null || row.riskState === null || !margin.marksFresh) return null
    return row.riskState === margin.riskState
      ? null
      : `client ${clientId} is recorded as ${row.riskState}, but live marks give ${margin.riskState}`
  })

/** The data of a read, or the body of a bare route; null if the partner has lost its read access. */
const read = (firm: Firm, path: string, besides: ReadonlyArray<number> = []): Effect.Effect<unknown, Broken> =>
  firm.client.send({ method: "GET", path: `/partner/v1${path}` }).pipe(
    Effect.mapError(({ detail }) => broken(`The service sent no answer: ${detail}.`)),
    Effect.map(ofRoute),
    Effect.flatMap(({ succeeded, status, data, body }) => {
      if (succeeded) return Effect.succeed(data ?? body)
      return [401, 403, 429, ...besides].includes(status)
        ? Effect.succeed(null)
        : Effect.fail(broken(`GET ${path} answers ${status}: ${shown(body)}`))
    })
  )
