/**
 * The operator in a simulation: creates keys and partners, decides money requests, corrects money and closes breaks
 * under four eyes, restricts clients, suspends partners and their reliance, and renews keys.
 */
import { Effect } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { Verdict } from "../../src/machines/shared/Refusal.ts"
import type { DispatchError } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import { Approvals } from "../../src/runtime/services/operations/operator/Approvals.ts"
import { OperatorKeys } from "../../src/runtime/services/operations/operator/OperatorKeys.ts"
import { type OperatorCaller, operatorCaller } from "../../src/runtime/services/shared/OperatorCaller.ts"
import { MarketHalts } from "../../src/runtime/services/market/MarketHalts.ts"
import { Breaks } from "../../src/runtime/services/money/breaks/Breaks.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { type FinanceRuling, Withdrawals } from "../../src/runtime/services/money/withdrawal/Withdrawals.ts"
import { VenueProbes } from "../../src/runtime/services/venue/VenueProbes.ts"
import type { Services } from "./SimProcess.ts"
import type { PartnerAccount, PartnerTerms, World } from "./World.ts"

/** Attempts of one command before the operator abandons it. */
const patience = 8

type Command<A> = Effect.Effect<Verdict<A>, DispatchError, Services>

export class OperatorDesk {
  private readonly world: World
  private readonly random: SeededRandom
  /** The number of commands. */
  private commands = 0

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
  }

  /** Creates the desk's own keys. Run it before everything else. */
  readonly setUpKeys = (done: () => void): void => {
    const created = Effect.flatMap(OperatorKeys, (keys) =>
      Effect.forEach(["one", "two", "three"], (label) => keys.create(firstStart("start"), { label, role: "ADMIN" }))
    )
    this.world.operate("set-up of the operator", this.random, created, (made) => {
      if (made === null) throw new Error("the operator could not be set up")
      done()
    })
  }

  /** Creates an approved partner with a key. Run it before any fault. */
  readonly setUp = (code: string, terms: PartnerTerms, done: () => void): void => {
    const { custody, sandbox } = terms
    const caller = this.caller()
    const created = Effect.gen(function* () {
      const partners = yield* Partners
      const profile = yield* partners.create(caller, {
        code,
        name: code,
        legalName: `${code} Ltd`,
        country: "DE",
        licence: "MICA_CASP",
        custody,
        ...(custody === "PARTNER" ? { collateralAsset: "EURX" } : {}),
        sandbox
      })
      yield* partners.reliance(caller, code, "APPROVED", "checked")
      const key = yield* partners.issueKey(caller, code, { label: "main", scope: "TRADE" })
      return profile.ok && key.ok
        ? { partnerId: profile.value.partnerId, secret: key.value.key, keyId: key.value.keyId }
        : null
    })
    this.world.operate(`set-up of ${code}`, this.random, created, (made) => {
      if (made === null) throw new Error("a partner could not be set up")
      this.world.partners.push({
        ...made,
        code,
        ...terms,
        url: `https://${code.toLowerCase()}.example/hook`,
        clients: []
      })
      done()
    })
  }

  step(done: () => void): void {
    const { random, world } = this
    const partner = random.pick(world.partners)
    if (random.chance(0.3)) return this.decide(done)
    if (random.chance(0.2)) return this.approve(done)
    if (random.chance(0.15)) return this.pause(done)
    if (random.chance(0.05)) return this.halt(done)
    if (partner.changesCustody) return this.custody(partner, done)
    const draw = random.next()
    if (draw < 0.12) return this.suspend(partner.code, done)
    if (draw < 0.18) return this.distrust(partner.code, done)
    if (draw < 0.25) return this.renew(partner, done)
    if (draw < 0.35 && partner.custody === "PARTNER") return this.payFirm(partner.code, done)
    if (partner.clients.length === 0) return done()
    const client = String(random.pick(partner.clients))
    const caller = this.caller()
    // In falling markets a probe's order, far below the market, would trade.
    if (random.chance(0.35) && !world.falls) {
      // Mostly for the same client, so that its account has many events.
      const [first] = world.partners.find(({ clients }) => clients.length > 0)?.clients ?? []
      const name = random.chance(0.7) ? String(first) : client
      const probes = Effect.flatMap(VenueProbes, (venue) => venue.run(caller, name, random.between(1, 4)))
      return this.settle(probes, done)
    }
    if (draw < 0.75) {
      const cents = random.between(1, 20_000) * (random.chance(0.5) ? 1 : -1)
      const taken = random.chance(0.6) ? this.shortfall() : null
      return this.adjust(taken ?? { client, amount: (cents / 100).toFixed(2) }, done)
    }
    const restriction = random.pick(["FROZEN", "NO_WITHDRAWALS"] as const)
    const lift = random.chance(0.5)
    this.settle(
      Effect.flatMap(Compliance, (compliance) =>
        lift
          ? compliance.lift(caller, client, restriction, "checked")
          : compliance.restrict(caller, client, restriction, "looking into it")
      ),
      done
    )
  }

  private adjust(what: { readonly client: string; readonly amount: string }, done: () => void): void {
    const { random } = this
    const caller = this.caller()
    const request = { ...what, currency: "USDC", reason: "correction", reference: `correction-${this.commands}` }
    this.settle(
      Effect.flatMap(Approvals, (approvals) => approvals.submit(caller, "ledger adjust", request)),
      () => (random.chance(0.7) ? this.approve(done) : done())
    )
  }

  /**
   * An amount that leaves a client with less cash than its contracts may lose, sometimes much less: for a margin call
   * or a close-out. Null without an open contract.
   */
  private shortfall(): { readonly client: string; readonly amount: string } | null {
    const { random, world } = this
    const open = [...world.contracts.contracts.values()].filter(({ state }) => state === "OPEN")
    if (open.length === 0) return null
    const { clientId, amount } = random.pick(open)
    const left = (amount * BigInt(random.between(0, 99))) / 100n
    const taken = world.contracts.cash(clientId) - left
    return taken <= 0n ? null : { client: String(clientId), amount: `-${formatAmount(taken, "USDC")}` }
  }

  /** Decides on a guarded command with a second key. Sometimes one of the two keys is revoked meanwhile. */
  private approve(done: () => void): void {
    const { random, world } = this
    const waiting = world.store
      .rows("approvals")
      .filter(({ state }) => state === "PENDING" || (state === "GRANTED" && random.chance(0.2)))
    if (waiting.length === 0) return done()
    const closings = waiting.filter(({ command }) => command === "break close")
    const { id, requestedBy } = random.pick(closings.length > 0 && random.chance(0.5) ? closings : waiting)
    const caller = this.caller(random.chance(0.9) ? requestedBy : 0)
    const grants = random.chance(0.85)
    if (random.chance(0.3)) this.replaceKey(random.pick([requestedBy, caller.keyId]))
    this.settle<unknown>(
      Effect.flatMap(Approvals, (approvals): Command<unknown> =>
        grants ? approvals.grant(caller, id) : approvals.refuse(caller, id)
      ),
      done
    )
  }

  /** Revokes an operator key while commands that it sent or granted may be in flight, and creates another. */
  private replaceKey(keyId: number): void {
    const caller = this.caller(keyId)
    const made = Effect.flatMap(OperatorKeys, (keys) => keys.create(caller, { label: "another", role: "ADMIN" }))
    const revoked = Effect.flatMap(OperatorKeys, (keys) => keys.revoke(caller, keyId, "replaced"))
    this.world.outside.after(this.random.between(0, 40), () =>
      this.settle(
        Effect.tap(revoked, () => made),
        () => {}
      )
    )
  }

  /** Opens a break for a partner or one of its clients, or requests the closing of an open break. */
  private pause(done: () => void): void {
    const { random, world } = this
    const partner = world.partners.find(({ custody, changesCustody }) => custody === "BROKER" && !changesCustody)
    if (partner === undefined) return done()
    const caller = this.caller()
    const open = world.store.rows("reconBreaks").filter(({ state }) => state === "OPEN")
    if (open.length > 0 && random.chance(0.6)) {
      const { id } = random.pick(open)
      const request = { breakId: id, reason: "explained" }
      return this.settle(
        Effect.flatMap(Approvals, (approvals) => approvals.submit(caller, "break close", request)),
        done
      )
    }
    const scope =
      partner.clients.length > 0 && random.chance(0.5) ? `client:${random.pick(partner.clients)}` : partner.code
    const request = {
      scope,
      currency: "USDC",
      amount: "1.00",
      reason: "bank statement",
      pausesMoneyOut: random.chance(0.8)
    }
    this.settle(
      Effect.flatMap(Breaks, (breaks) => breaks.open(caller, request)),
      done
    )
  }

  /** Halts a family, sometimes for a limited time, halts it again, or resumes it. */
  private halt(done: () => void): void {
    const { random, world } = this
    const caller = this.caller()
    const scope = random.pick(["ALL", "PERP", "SPOT", "BARRIER"])
    const until = random.chance(0.6) ? world.timeline.now + random.between(2_000, 60_000) : null
    const request = { scope, message: "Maintenance.", until }
    const resumes = random.chance(0.3)
    this.settle(
      Effect.flatMap(MarketHalts, (halts) => (resumes ? halts.resume(caller, scope) : halts.halt(caller, request))),
      done
    )
  }

  /** Suspends the reliance on a partner and restores it soon. */
  private distrust(code: string, done: () => void): void {
    this.settle(this.reliance(code, "SUSPENDED"), () =>
      this.world.outside.after(this.random.between(50, 1_500), () => this.settle(this.reliance(code, "APPROVED"), done))
    )
  }

  /** Records a payment between the firms. Without an answer the operator records it again under the same reference. */
  private payFirm(code: string, done: () => void): void {
    const { random, world } = this
    const caller = this.caller()
    const { now } = world.timeline
    const request = {
      amount: (random.between(1, 20_000) / (random.chance(0.5) ? 100 : -100)).toFixed(2),
      periodFrom: now - 1_000,
      periodTo: now,
      txRef: `between-${this.commands}`
    }
    const record = Effect.flatMap(Interfirm, (interfirm) => interfirm.record(caller, code, request))
    this.settle(record, () => (random.chance(0.4) ? this.settle(record, done, 2) : done()))
  }

  /** Issues a new key to a partner and revokes its previous one. */
  private renew(partner: PartnerAccount, done: () => void): void {
    const caller = this.caller()
    const request = { label: `key ${this.commands}`, scope: "TRADE" } as const
    const issued = Effect.flatMap(Partners, (partners) => partners.issueKey(caller, partner.code, request))
    this.settle(issued, (verdict) => {
      if (verdict?.ok !== true) return done()
      const { keyId } = partner
      Object.assign(partner, { keyId: verdict.value.keyId, secret: verdict.value.key })
      this.world.outside.after(this.random.between(0, 500), () =>
        this.settle(
          Effect.flatMap(Partners, (partners) => partners.revokeKey(caller, keyId, "replaced")),
          done
        )
      )
    })
  }

  /**
   * Changes the custody model, which is refused while anything is open. Corrections would leave money between the
   * firms.
   */
  private custody({ code }: PartnerAccount, done: () => void): void {
    const { world } = this
    const isBroker = world.store.rows("partners").some((row) => row.code === code && row.custodyModel === "BROKER")
    const caller = this.caller()
    const reason = "both agreed"
    const request = isBroker
      ? ({ custody: "PARTNER", collateralAsset: "EURX", reason } as const)
      : ({ custody: "BROKER", reason } as const)
    this.settle(
      Effect.flatMap(Partners, (partners) => partners.custody(caller, code, request)),
      done
    )
  }

  /** Finance decides an open request, which may have changed meanwhile. */
  private decide(done: () => void): void {
    const { random, world } = this
    const caller = this.caller()
    const isOpen = ({ state }: { readonly state: string }) => state === "PENDING" || state === "REQUESTED"
    const notices = world.store.rows("depositNotices").filter((row) => isOpen(row) || random.chance(0.1))
    const requests = world.store
      .rows("withdrawalRequests")
      .filter((row) => isOpen(row) || row.state === "APPROVED" || random.chance(0.1))
    if (notices.length > 0 && (requests.length === 0 || random.chance(0.5))) {
      const { id } = random.pick(notices)
      const confirms = random.chance(0.75)
      return this.settle(
        Effect.flatMap(Deposits, (deposits) =>
          confirms ? deposits.confirm(caller, id, null) : deposits.reject(caller, id, "nothing came in")
        ),
        done
      )
    }
    if (requests.length === 0) return done()
    const { id, state } = random.pick(requests)
    const good = random.chance(0.7)
    const ruling: FinanceRuling =
      state === "APPROVED"
        ? good
          ? { to: "PAID" }
          : { to: "FAILED", reason: "the bank refused it" }
        : good
          ? { to: "APPROVED" }
          : { to: "REJECTED", reason: "not now" }
    this.settle(
      Effect.flatMap(Withdrawals, (withdrawals) => withdrawals.rule(caller, id, ruling)),
      done
    )
  }

  /** Suspends a partner and activates it again soon. */
  private suspend(code: string, done: () => void): void {
    this.settle(this.status(code, "SUSPENDED"), () =>
      this.world.outside.after(this.random.between(50, 1_500), () => this.settle(this.status(code, "ACTIVE"), done))
    )
  }

  /** Activates or suspends a partner; refused if the partner already has that status. */
  status(code: string, to: "ACTIVE" | "SUSPENDED"): Command<unknown> {
    const caller = this.caller()
    return Effect.flatMap(Partners, (partners) => partners.status(caller, code, to, "review"))
  }

  /** Approves or suspends the reliance on a partner; refused if it already has that status. */
  reliance(code: string, to: "APPROVED" | "SUSPENDED"): Command<unknown> {
    const caller = this.caller()
    return Effect.flatMap(Partners, (partners) => partners.reliance(caller, code, to, "review"))
  }

  /** Repeats a command until it is accepted or refused, at most `left` times. `done` gets null without either. */
  settle<A>(command: Command<A>, done: (verdict: Verdict<A> | null) => void, left = patience): void {
    this.world.operate(`command ${this.commands}`, this.random, command, (verdict) => {
      if (verdict !== null || left <= 1) return done(verdict)
      this.world.outside.after(this.random.between(30, 900), () => this.settle(command, done, left - 1))
    })
  }

  /** One of the live keys; if possible, another one than `but`. */
  caller(but = 0): OperatorCaller {
    const live = this.world.store.rows("operatorKeys").filter(({ state }) => state === "ACTIVE")
    const others = live.filter(({ id }) => id !== but)
    const requestId = `command-${++this.commands}`
    const from = others.length > 0 ? others : live
    return from.length === 0 ? firstStart(requestId) : operatorCaller(this.random.pick(from), requestId)
  }
}

/** The caller before the first key exists. */
const firstStart = (requestId: string): OperatorCaller => ({
  keyId: 0,
  role: "ADMIN",
  by: { role: "ADMIN", keyLabel: "first start", requestId, actor: "ADMIN" }
})
