/** The operator in a simulation: sets partners up, decides money requests, corrects money, restricts clients, suspends. */
import { Effect } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { Verdict } from "../../src/machines/shared/Refusal.ts"
import type { DispatchError } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Adjustments } from "../../src/runtime/services/ledger/Adjustments.ts"
import { Compliance } from "../../src/runtime/services/compliance/Compliance.ts"
import { Deposits } from "../../src/runtime/services/deposit/Deposits.ts"
import type { OperatorCaller } from "../../src/runtime/services/operator/OperatorKeys.ts"
import { Partners } from "../../src/runtime/services/partner/Partners.ts"
import { type FinanceRuling, Withdrawals } from "../../src/runtime/services/withdrawal/Withdrawals.ts"
import type { Services } from "./SimProcess.ts"
import type { PartnerAccount, PartnerTerms, World } from "./World.ts"

/** Runs of one command before the operator gives up for now. */
const patience = 8

type Command<A> = Effect.Effect<Verdict<A>, DispatchError, Services>

export class OperatorDesk {
  private readonly world: World
  private readonly random: SeededRandom
  private commands = 0

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
  }

  /** Creates the partners, approved and with a key each; run before any fault. */
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
      return profile.ok && key.ok ? { partnerId: profile.value.partnerId, secret: key.value.key } : null
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
    if (random.chance(0.4)) return this.decide(done)
    if (partner.changesCustody) return this.custody(partner, done)
    const draw = random.next()
    if (draw < 0.2) return this.suspend(partner.code, done)
    if (partner.clients.length === 0) return done()
    const client = String(random.pick(partner.clients))
    const caller = this.caller()
    if (draw < 0.6) {
      const cents = random.between(1, 20_000) * (random.chance(0.5) ? 1 : -1)
      const request = {
        currency: "USDC",
        amount: (cents / 100).toFixed(2),
        reason: "correction",
        reference: `correction-${this.commands}`
      }
      return this.settle(
        Effect.flatMap(Adjustments, (adjustments) => adjustments.adjust(caller, client, request)),
        done
      )
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

  /** The other custody model; refused as long as something is open. Corrections would leave money between the firms. */
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

  /** Finance's word on an open request, whatever it is by now. */
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

  /** Takes a partner off and soon on again. */
  private suspend(code: string, done: () => void): void {
    this.settle(this.status(code, "SUSPENDED"), () =>
      this.world.outside.after(this.random.between(50, 1_500), () => this.settle(this.status(code, "ACTIVE"), done))
    )
  }

  /** Lets a partner act again; refused when it may already. */
  status(code: string, to: "ACTIVE" | "SUSPENDED"): Command<unknown> {
    const caller = this.caller()
    return Effect.flatMap(Partners, (partners) => partners.status(caller, code, to, "review"))
  }

  /** Runs a command until somebody says yes or no, or patience is over. */
  settle<A>(command: Command<A>, done: (verdict: Verdict<A> | null) => void, left = patience): void {
    this.world.operate(`command ${this.commands}`, this.random, command, (verdict) => {
      if (verdict !== null || left <= 1) return done(verdict)
      this.world.outside.after(this.random.between(30, 900), () => this.settle(command, done, left - 1))
    })
  }

  private caller(): OperatorCaller {
    const requestId = `command-${++this.commands}`
    return { keyId: 1, role: "ADMIN", by: { role: "ADMIN", keyLabel: "desk", requestId, actor: "ADMIN" } }
  }
}
