/**
 * Concurrent writes of partners and finance, and concurrent reads, on a few clients. Every amount is a power of two
 * (balanceHistory.ts). Under PARTNER custody: collateral in and out. Under BROKER custody: notices confirmed and
 * rejected; withdrawals requested, cancelled, approved, paid, rejected, failed, and cancelled and approved at the same
 * time (doc 3, States and transitions).
 *
 * A request without an answer is repeated under its key, or its outcome is derived from the answer to finance's second
 * attempt. A small part is not repeated, so that only later reads can reveal its outcome.
 */
import { Clock, Effect, Schema } from "effect"
import type { PartnerAnswer, PartnerCall, PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { clientsPath, planOnboarding } from "../../simulator/partner/PartnerRequest.ts"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import type { Currency } from "../../src/machines/shared/Currency.ts"
import { formatAmount, parseAmount } from "../../src/machines/shared/Money.ts"
import type { Balance, Coin, History, Place, Read, Step } from "./balanceHistory.ts"
import type { CrashWorld } from "./CrashWorld.ts"

export interface BalanceWorkloadOptions {
  readonly world: CrashWorld
  readonly random: SeededRandom
  /** The number of acknowledged calls at which the workload ends. */
  readonly operations: number
  readonly clientsOfEach: number
  readonly writers: number
  readonly readers: number
}

interface Held {
  readonly index: number
  readonly amount: string
  place: Place
  /** The id of a notice or request on which finance or the partner can act. */
  noticeId: number | null
  requestId: number | null
  approved: boolean
  busy: boolean
  /** True: no further step uses this coin. */
  ended: boolean
  /**
   * The read number from which the next step may begin: all reads that were in flight at the end of the last step must
   * have ended.
   */
  freeFrom: number
}

interface Account {
  readonly custody: "PARTNER" | "BROKER"
  readonly client: PartnerClient
  readonly clientId: number
  readonly coins: ReadonlyArray<Coin>
  readonly held: ReadonlyArray<Held>
  readonly steps: Array<Step>
  readonly reads: Array<Read>
  /** The numbers of the reads in flight, oldest first. */
  readonly openReads: Set<number>
  readsBegun: number
}

/**
 * The bits of amounts. Sums stay below the source-of-wealth threshold in USDC, and far below 63 bits over all clients
 * in other currencies.
 */
const collateralBits = 33
const brokerBits = 50
const unvalued: ReadonlyArray<Currency> = ["BTC", "ETH", "SOL", "BNB", "XRP"]
/** The share of writes that are sent only once, so that their outcome stays unknown without an answer. */
const givenUpShare = 0.5
const collateralShare = 0.12
/** The share of reads: they are fast, and would otherwise be nearly all operations. */
const readShare = 0.6

const Data = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.NullOr(
      Schema.Struct({
        clientId: Schema.optionalKey(Schema.Int),
        noticeId: Schema.optionalKey(Schema.Int),
        requestId: Schema.optionalKey(Schema.Int),
        status: Schema.optionalKey(Schema.String),
        balances: Schema.optionalKey(Schema.Struct({ cash: Schema.String, reserved: Schema.String }))
      })
    )
  })
)
const Balances = Schema.fromJsonString(
  Schema.Struct({
    balances: Schema.Array(Schema.Struct({ currency: Schema.String, cash: Schema.String, reserved: Schema.String }))
  })
)
const dataOf = ({ body }: PartnerAnswer) => Schema.decodeUnknownSync(Data)(body.toString()).data
const minor = (text: string, currency: string): bigint => {
  const amount = parseAmount(text, currency as Currency)
  if (typeof amount === "string") throw new Error(`a balance is told as ${text}`)
  return amount
}
const succeeded = ({ status }: PartnerAnswer): boolean => status === 200 || status === 201

export class BalanceWorkload {
  /** The number of acknowledged calls. */
  operations = 0
  /** The number of writes that stayed without an answer. */
  givenUp = 0
  /** Answers that fit no possible state, as sentences. */
  readonly contradictions: Array<string> = []
  readonly tally = makeTally()
  private readonly options: BalanceWorkloadOptions
  private readonly accounts: Array<Account> = []
  private clock = 0
  private references = 0
  private reads = 0

  constructor(options: BalanceWorkloadOptions) {
    this.options = options
  }

  /** Onboards the clients. */
  readonly begin: Effect.Effect<void> = Effect.suspend(() => this.onboardAll())

  /**
   * Runs until enough calls are acknowledged. Then every write in flight gets its answer, and each client is read once
   * more.
   */
  readonly work: Effect.Effect<void> = Effect.suspend(() => {
    const { writers, readers } = this.options
    const many = (count: number, one: Effect.Effect<void>) => Array.from({ length: count }, () => one)
    const hands = [...many(writers, this.writer()), ...many(readers, this.reader())]
    return Effect.andThen(
      Effect.all(hands, { concurrency: hands.length, discard: true }),
      Effect.forEach(this.accounts, (account) => this.read(account, true), { discard: true })
    )
  })

  /** The histories, one for each client. */
  get histories(): ReadonlyArray<History> {
    return this.accounts
  }

  private readonly onboardAll = (): Effect.Effect<void> =>
    Effect.gen({ self: this }, function* () {
      const { world, clientsOfEach } = this.options
      const broker = yield* world.brokerPartner("BROKED")
      for (let n = 0; n < clientsOfEach * 2; n++) {
        const custody = n < clientsOfEach ? "PARTNER" : "BROKER"
        const client = custody === "PARTNER" ? world.client : broker
        const { path, body, idempotencyKey } = planOnboarding("coins", n, n, yield* Clock.currentTimeMillis)
        const answer = yield* this.send(client, { method: "POST", path, body, idempotencyKey })
        const clientId = dataOf(answer)?.clientId
        if (answer.status !== 201 || clientId === undefined)
          return yield* Effect.die(new Error(`client ${n} is answered ${answer.status}`))
        if (custody === "BROKER") {
          // Coins without a value require the source of wealth (F25).
          const wealth = {
            method: "PUT",
            path: `${clientsPath}/${clientId}/mifid`,
            body: JSON.stringify(sampleMifid())
          } as const
          const told = yield* this.send(client, { ...wealth, idempotencyKey: `wealth-${n}` })
          if (told.status !== 200) return yield* Effect.die(new Error(`client ${n} is answered ${told.status}`))
        }
        this.accounts.push(accountOf(custody, client, clientId))
      }
    })

  private writer(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.operations < this.options.operations) {
        const found = this.choose()
        if (found === null) {
          yield* Effect.sleep(2)
          continue
        }
        const [account, held] = found
        held.busy = true
        yield* account.custody === "PARTNER" ? this.reportCollateral(account, held) : this.stepBroker(account, held)
        held.busy = false
      }
    })
  }

  private reader(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.operations < this.options.operations) {
        if (this.reads > this.operations * readShare) yield* Effect.sleep(2)
        else yield* this.read(this.options.random.pick(this.accounts), false)
      }
    })
  }

  private choose(): readonly [Account, Held] | null {
    const { random } = this.options
    const custody = random.chance(collateralShare) ? "PARTNER" : "BROKER"
    const account = random.pick(this.accounts.filter((each) => each.custody === custody))
    const [oldest = account.readsBegun] = account.openReads
    for (let tries = 0; tries < 8; tries++) {
      const held = random.pick(account.held)
      if (!held.busy && !held.ended && held.freeFrom <= oldest) return [account, held]
    }
    return null
  }

  private stepBroker(account: Account, held: Held): Effect.Effect<void> {
    const { random } = this.options
    if (held.approved) {
      return random.chance(0.7)
        ? this.pay(account, held)
        : this.order(account, held, `/withdrawals/${held.requestId}/fail`, "REJECTED", "cash", "bank")
    }
    if (held.place === "cash") return this.requestWithdrawal(account, held)
    if (held.place === "away") {
      if (held.noticeId === null) return this.fileDeposit(account, held)
      return random.chance(0.03)
        ? this.order(account, held, `/deposits/${held.noticeId}/reject`, "REJECTED", null, "test")
        : this.order(account, held, `/deposits/${held.noticeId}/confirm`, "CONFIRMED", "cash")
    }
    const path = `/withdrawals/${held.requestId}`
    const choice = random.next()
    if (choice < 0.2) return this.order(account, held, `${path}/reject`, "REJECTED", "cash", "test")
    if (choice < 0.45) return this.move(account, held, "cash", this.cancelCall(account, held))
    return choice < 0.75 ? this.order(account, held, `${path}/approve`, "APPROVED", "away") : this.race(account, held)
  }

  private reportCollateral(account: Account, held: Held): Effect.Effect<void> {
    const direction = held.place === "away" ? "DEPOSIT" : "WITHDRAWAL"
    const call = this.keyed(`${clientsPath}/${account.clientId}/collateral`, { direction, amount: held.amount })
    const to = held.place === "away" ? "cash" : "away"
    return Effect.tap(this.move(account, held, to, call), () => Effect.sync(() => void (held.ended ||= to === "away")))
  }

  private fileDeposit(account: Account, held: Held): Effect.Effect<void> {
    const body = { currency: account.coins[held.index]?.currency, amount: held.amount }
    return Effect.map(
      this.send(account.client, this.keyed(`${clientsPath}/${account.clientId}/deposits`, body)),
      (answer) => {
        held.noticeId = dataOf(answer)?.noticeId ?? null
        if (answer.status !== 201) this.contradict(account, held, "a notice", answer)
      }
    )
  }

  private requestWithdrawal(account: Account, held: Held): Effect.Effect<void> {
    const body = { currency: account.coins[held.index]?.currency, amount: held.amount }
    return this.move(account, held, "reserved", this.keyed(`${clientsPath}/${account.clientId}/withdrawals`, body))
  }

  private cancelCall(account: Account, held: Held): PartnerCall {
    const path = `${clientsPath}/${account.clientId}/withdrawals/${held.requestId}/cancel`
    return { method: "POST", path, idempotencyKey: `coin-${++this.references}` }
  }

  /** A keyed write of the partner that moves the coin. Some writes are not repeated without an answer. */
  private move(account: Account, held: Held, to: Place, call: PartnerCall): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const read = account.readsBegun++
      const start = ++this.clock
      account.openReads.add(read)
      const patient = !this.options.random.chance(givenUpShare)
      const answer = patient ? yield* this.send(account.client, call) : yield* this.sendOnce(account.client, call)
      account.openReads.delete(read)
      if (answer === null) return this.giveUp(account, held, to, start)
      if (!succeeded(answer)) return this.contradict(account, held, `a step to ${to}`, answer)
      const data = dataOf(answer)
      const end = this.done(account, held, to, start)
      held.requestId = data?.requestId ?? held.requestId
      if (data?.balances !== undefined) {
        const { cash, reserved } = data.balances
        const balances = new Map([["USDC", { cash: minor(cash, "USDC"), reserved: minor(reserved, "USDC") }]])
        account.reads.push({ start, end, balances, ownStep: account.steps.length - 1 })
      }
    })
  }

  /**
   * A command of finance, which has no key. A refusal because the command was already carried out means that the first
   * answer was lost.
   */
  private order(
    account: Account,
    held: Held,
    path: string,
    status: string,
    to: Place | null,
    reason?: string
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const start = ++this.clock
      const done = yield* this.decide(path, status, reason)
      if (done !== true) return this.contradict(account, held, path, done)
      if (to === null) held.ended = true
      else this.done(account, held, to, start)
      held.approved = status === "APPROVED"
    })
  }

  private pay(account: Account, held: Held): Effect.Effect<void> {
    return Effect.map(this.decide(`/withdrawals/${held.requestId}/pay`, "PAID"), (done) => {
      held.ended = true
      if (done !== true) this.contradict(account, held, "a payment", done)
    })
  }

  /** Partner and finance decide at the same time: exactly one of them succeeds (SC-CUS-07). */
  private race(account: Account, held: Held): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const start = ++this.clock
      const [cancelled, approved] = yield* Effect.all(
        [
          this.send(account.client, this.cancelCall(account, held)),
          this.decide(`/withdrawals/${held.requestId}/approve`, "APPROVED")
        ],
        { concurrency: 2 }
      )
      if (succeeded(cancelled) === (approved === true))
        return this.contradict(account, held, "cancel and approve at once", cancelled)
      this.done(account, held, approved === true ? "away" : "cash", start)
      held.approved = approved === true
    })
  }

  /** True if the command was carried out, by this attempt or an earlier one; otherwise the refusal. */
  private decide(path: string, status: string, reason?: string): Effect.Effect<true | PartnerAnswer> {
    return Effect.suspend(() => {
      const body = reason === undefined ? (path.endsWith("/confirm") ? "{}" : undefined) : JSON.stringify({ reason })
      const call = { method: "POST", path: `/operator/v1${path}`, ...(body === undefined ? {} : { body }) } as const
      const tally = makeTally()
      return Effect.map(
        sendUntilAcknowledged(this.options.world.operator, call, this.options.random, tally),
        (answer) => {
          this.operations++
          this.tally.serverErrors += tally.serverErrors
          if (answer.status === 200) return true
          return tally.attempts > 1 && answer.status === 409 && dataOf(answer)?.status === status ? true : answer
        }
      )
    })
  }

  /** One read. A failed attempt gives no information. `surely`: repeats until an attempt succeeds. */
  private read(account: Account, surely: boolean): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const number = account.readsBegun++
      const start = ++this.clock
      account.openReads.add(number)
      const call: PartnerCall = { method: "GET", path: `${clientsPath}/${account.clientId}/balances` }
      const answer = surely ? yield* this.send(account.client, call) : yield* this.sendOnce(account.client, call)
      account.openReads.delete(number)
      const end = ++this.clock
      if (answer === null) return yield* Effect.sleep(10)
      this.reads++
      const { balances } = Schema.decodeUnknownSync(Balances)(answer.body.toString())
      account.reads.push({
        start,
        end,
        balances: new Map(
          balances.map(({ currency, cash, reserved }): [string, Balance] => [
            currency,
            { cash: minor(cash, currency), reserved: minor(reserved, currency) }
          ])
        )
      })
    })
  }

  private send(client: PartnerClient, call: PartnerCall): Effect.Effect<PartnerAnswer> {
    return Effect.tap(sendUntilAcknowledged(client, call, this.options.random, this.tally), () =>
      Effect.sync(() => void this.operations++)
    )
  }

  /** Null: no answer, or an answer that does not show the outcome. */
  private sendOnce(client: PartnerClient, call: PartnerCall): Effect.Effect<PartnerAnswer | null> {
    return Effect.match(client.send(call), {
      onSuccess: (answer) => {
        if (answer.status >= 500) return null
        this.operations++
        return answer
      },
      onFailure: () => null
    })
  }

  private done(account: Account, held: Held, to: Place, start: number): number {
    const end = ++this.clock
    account.steps.push({ coin: held.index, to, start, end })
    held.place = to
    held.freeFrom = account.readsBegun
    return end
  }

  private giveUp(account: Account, held: Held, to: Place, start: number): void {
    this.givenUp++
    account.steps.push({ coin: held.index, to, start, end: Infinity })
    held.ended = true
  }

  private keyed(path: string, body: object): PartnerCall {
    const partnerRef = `coin-${++this.references}`
    return { method: "POST", path, body: JSON.stringify({ partnerRef, ...body }), idempotencyKey: partnerRef }
  }

  private contradict(account: Account, held: Held, what: string, answer: PartnerAnswer): void {
    held.ended = true
    this.contradictions.push(`${what} of coin ${held.index} of client ${account.clientId}: ${answer.body.toString()}`)
  }
}

const accountOf = (custody: Account["custody"], client: PartnerClient, clientId: number): Account => {
  const currencies: ReadonlyArray<Currency> = custody === "PARTNER" ? ["USDC"] : unvalued
  const bits = custody === "PARTNER" ? collateralBits : brokerBits
  const coins = currencies.flatMap((currency) =>
    Array.from({ length: bits }, (_, bit): Coin => ({ currency, amount: 1n << BigInt(bit) }))
  )
  const held = coins.map(({ currency, amount }, index): Held => ({
    index,
    amount: formatAmount(amount, currency as Currency),
    place: "away",
    noticeId: null,
    requestId: null,
    approved: false,
    busy: false,
    ended: false,
    freeFrom: 0
  }))
  return { custody, client, clientId, coins, held, steps: [], reads: [], openReads: new Set(), readsBegun: 0 }
}
