/**
 * Dry runs of money writes: every gate with its result, without writing. The gates are those of the write itself,
 * evaluated in the client's mailbox. A write that follows meets the same gates, on the state of its own moment (doc 3,
 * Money write gates and Collateral report rules; A3-02, A3-08, A3-14).
 */
import { Context, Effect, Layer } from "effect"
import { accept, conflict, type Refusal, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type Attribution, type DispatchError, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { balanceOf } from "../../../ledger/Ledger.ts"
import { Settings } from "../../../Settings.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { TableName, Tables } from "../../../tables/Catalogue.ts"
import { clientSubject, ownClient } from "../../account/clientState.ts"
import { type CollateralFacts, collateralGates } from "../../money/collateral/collateralGates.ts"
import {
  checkCollateral,
  collateralClaim,
  notUnderPartner,
  refusalOf,
  wireReport
} from "../../money/collateral/CollateralReports.ts"
import { depositClaim } from "../../money/deposit/depositDecisions.ts"
import { type DepositFacts, depositGates } from "../../money/deposit/depositGates.ts"
import { checkDeposit } from "../../money/deposit/Deposits.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import { type Gate, type GateResult, type Gates, notReached, walkGates } from "../../../../machines/shared/Gates.ts"
import { notUnderBroker } from "../../money/brokerCustody.ts"
import type { ExplainedWrite, Explanation } from "../../shared/Explanation.ts"
import { filedUnder, rowFiled } from "../../shared/fileOnce.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { withdrawalClaim } from "../../money/withdrawal/withdrawalDecisions.ts"
import { checkWithdrawal, type WithdrawalFacts, withdrawalGates } from "../../money/withdrawal/withdrawalGates.ts"

export interface Question {
  readonly partner: PartnerView
  readonly by: Attribution
  readonly clientId: number
  readonly body: unknown
  /** The JSON text of the body, for writes that store a part of it exactly as it was sent. */
  readonly text?: string | undefined
}

type Answer = Effect.Effect<Verdict<Explanation>, DispatchError>

export class Explain extends Context.Service<
  Explain,
  {
    /** Explains a write. Refused only if the client is unknown or the partner may not act. */
    explain(write: ExplainedWrite, question: Question): Answer
  }
>()("brokerage/runtime/services/operations/registries/Explain") {
  static readonly layer = Layer.effect(
    Explain,
    Effect.gen(function* () {
      const parts = {
        host: yield* ActorHost,
        directory: yield* Directory,
        stored: yield* RowReads,
        clock: yield* BusinessClock
      }
      const { sourceOfWealthThreshold: threshold } = yield* Settings
      const table: { readonly [W in ExplainedWrite]: (question: Question) => Answer } = {
        collateral: (question) => explainWrite(parts, collateralRules(threshold), question),
        deposit: (question) => explainWrite(parts, depositRules(threshold), question),
        withdrawal: (question) => explainWrite(parts, withdrawalRules(threshold), question)
      }
      return Explain.of({ explain: (write, question) => table[write](question) })
    })
  )
}

interface Parts {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
  readonly clock: BusinessClock["Service"]
}

interface GateInput<Request, Row> {
  readonly turn: Turn
  readonly client: ClientRow
  readonly request: Request
  readonly filed: Row | null
}

/** The gates of one kind of write, in the form in which `explain` evaluates them. */
interface Rules<Request extends { readonly partnerRef: string }, T extends TableName, Facts> {
  readonly write: ExplainedWrite
  readonly custody: "BROKER" | "PARTNER"
  readonly wrongCustody: Refusal
  readonly decode: (question: Pick<Question, "body" | "text">, now: number) => Verdict<Request>
  /** The table of the written objects, and the claim of a reference. */
  readonly table: T
  readonly claim: (partnerId: number, partnerRef: string) => string
  /**
   * The reply if the client already used the reference: the refusal of its original, or null if the original was
   * accepted. Undefined: the reference is new.
   */
  readonly replayed: (input: GateInput<Request, Tables[T]>) => Refusal | null | undefined
  readonly gates: Gates<Facts>
  readonly facts: (input: GateInput<Request, Tables[T]>) => Facts
}

const explainWrite = <Request extends { readonly partnerRef: string }, T extends TableName, Facts>(
  { host, directory, stored, clock }: Parts,
  rules: Rules<Request, T, Facts>,
  { partner, by, clientId, ...body }: Question
): Answer =>
  Effect.gen(function* () {
    const partnerId = partner.row.id
    const { write } = rules
    const rest = [ownReference, ...rules.gates.map(({ gate }) => gate)]
    const decoded = rules.decode(body, clock.now())
    const early = walkGates(earlyGates(rules), { custody: partner.row.custodyModel, decoded })
    const filed = decoded.ok
      ? yield* filedUnder(stored, rules.claim(partnerId, decoded.value.partnerRef), rowFiled(stored, rules.table))
      : null
    return yield* host.dispatch({
      subject: clientSubject(clientId),
      by,
      partner: () => directory.stamp(partnerId),
      // The draft stays empty, so nothing is written.
      decide: (turn): Verdict<Explanation> => {
        const client = ownClient(turn.state, partnerId)
        if (client === null) return refuse(unknown("Client"))
        const state = directory.partner(partnerId)?.row.state ?? "CLOSED"
        if (state !== "ACTIVE")
          return refuse(conflict("WRONG_STATE", `The partner is ${state}: its requests are refused before any gate.`))
        if (!decoded.ok || early.some(({ result }) => result === "failed")) {
          return accept(explanationOf(write, [...early, ...rest.map(notReached)]))
        }
        const input = { turn, client, request: decoded.value, filed }
        const replayed = rules.replayed(input)
        if (replayed === undefined) {
          const fresh: GateResult = { ...notReached(ownReference), result: "passed" }
          return accept(explanationOf(write, [...early, fresh, ...walkGates(rules.gates, rules.facts(input))]))
        }
        const original: GateResult = {
          gate: ownReference,
          result: replayed === null ? "passed" : "failed",
          compared: { figure: "filed already", limit: "a fresh reference" },
          refusal: replayed
        }
        const gates = [...early, original, ...rules.gates.map(({ gate }) => notReached(gate))]
        const explained = explanationOf(write, gates)
        return accept(replayed === null ? { ...explained, outcome: "REPLAYED" } : explained)
      }
    })
  })

const explanationOf = (write: ExplainedWrite, gates: ReadonlyArray<GateResult>): Explanation => {
  const refusal = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write, outcome: refusal === null ? "ACCEPTED" : "REFUSED", refusal, gates }
}

const ownReference = "ownReference"

interface Early {
  readonly custody: string
  readonly decoded: Verdict<unknown>
}

/** The gates that need no client. */
const earlyGates = ({
  custody,
  wrongCustody
}: Pick<Rules<never, never, never>, "custody" | "wrongCustody">): Gates<Early> => {
  const model: Gate<Early> = {
    gate: "custody",
    refusal: (facts) => (facts.custody === custody ? null : wrongCustody),
    compared: (facts) => ({ figure: facts.custody, limit: custody })
  }
  const fields: Gate<Early> = {
    gate: "fields",
    refusal: ({ decoded }) => (decoded.ok ? null : decoded.refusal),
    compared: () => null
  }
  return [model, fields]
}

type RequestOf<Check extends (...args: never) => Verdict<unknown>> = Extract<
  ReturnType<Check>,
  { readonly ok: true }
>["value"]

const collateralRules = (
  threshold: bigint
): Rules<RequestOf<typeof checkCollateral>, "collateralReports", CollateralFacts> => ({
  write: "collateral",
  custody: "PARTNER",
  wrongCustody: notUnderPartner,
  decode: ({ body }, now) => checkCollateral(body, now),
  table: "collateralReports",
  claim: collateralClaim,
  replayed: ({ filed, client }) => {
    if (filed?.clientId !== client.id) return undefined
    const report = wireReport(filed)
    return report.status === "REFUSED" ? refusalOf(report) : null
  },
  gates: collateralGates,
  facts: (input) => ({ ...input, threshold, balance: lineOf(input, "USDC") })
})

const depositRules = (threshold: bigint): Rules<RequestOf<typeof checkDeposit>, "depositNotices", DepositFacts> => ({
  write: "deposit",
  custody: "BROKER",
  wrongCustody: notUnderBroker,
  decode: ({ body }) => checkDeposit(body),
  table: "depositNotices",
  claim: depositClaim,
  replayed: ({ filed, client }) => (filed?.clientId === client.id ? null : undefined),
  gates: depositGates,
  facts: (input) => ({ ...input, threshold })
})

const withdrawalRules = (
  threshold: bigint
): Rules<RequestOf<typeof checkWithdrawal>, "withdrawalRequests", WithdrawalFacts> => ({
  write: "withdrawal",
  custody: "BROKER",
  wrongCustody: notUnderBroker,
  decode: ({ body, text }) => checkWithdrawal(body, text),
  table: "withdrawalRequests",
  claim: withdrawalClaim,
  replayed: ({ turn, filed, client, request }) => {
    const held = turn.state.all("withdrawalRequests").some((row) => row.context.partnerRef === request.partnerRef)
    return held || filed?.clientId === client.id ? null : undefined
  },
  gates: withdrawalGates,
  facts: (input) => ({
    ...input,
    threshold,
    balance: lineOf(input, input.request.currency)
  })
})

const lineOf = ({ turn, client }: GateInput<unknown, unknown>, currency: string) =>
  balanceOf(turn, client.id, client.partnerId, currency)
