// What each write of the partner contract does: one service call, whose verdict is rendered once. Validation and every
// later rule are the service's (A1-02: gates 11 and 12).
import type { Effect } from "effect"
import type { OnboardingResult } from "../../machines/client/ClientWire.ts"
import type { Verdict } from "../../machines/shared/Refusal.ts"
import type { DispatchError, StoreAnswer } from "../../runtime/engine/ActorHost.ts"
import type { Caller } from "../../runtime/services/Caller.ts"
import type { CollateralAnswer, CollateralReports } from "../../runtime/services/CollateralReports.ts"
import type { Onboarding } from "../../runtime/services/Onboarding.ts"
import type { AnswerSlot, Rendered } from "../middleware/idempotency.ts"
import { refusalText, toWire, type WireRefusal } from "../toWire.ts"

export interface WriteServices {
  readonly onboarding: Onboarding["Service"]
  readonly collateral: Pick<CollateralReports["Service"], "report">
}

export interface WriteInput {
  readonly caller: Caller
  /** 0 when the route names no client. */
  readonly clientId: number
  /** Null when the route names no item, or the segment can't be the id of any. */
  readonly itemId: number | null
  readonly body: unknown
  /** The JSON that the body was parsed from; of a `verbatim` write alone. */
  readonly text?: string | undefined
  /** Null for a request without Idempotency-Key. */
  readonly slot: AnswerSlot | null
}

/** A write that runs the service; the verdict's answer is what `render` makes of it. */
export interface Write {
  readonly run: (input: WriteInput) => Effect.Effect<Verdict<unknown>, DispatchError>
  readonly render: (verdict: Verdict<never>) => Rendered
  /** Needs more than one commit: whether its key has an answer is looked up before the first. */
  readonly manyCommits?: true
  /** Keeps something exactly as it is written, so it is handed the body's text too. */
  readonly verbatim?: true
  /** Whether what the path names is there, for a request whose body can't be handed to the service. Null: it is. */
  readonly lookUp?: LookUp
}

export type LookUp = (input: Pick<WriteInput, "caller" | "itemId">) => Effect.Effect<WireRefusal | null, DispatchError>

/** A refusal as an answer. */
export const renderRefusal = (refusal: WireRefusal): Rendered => ({
  status: refusal.status,
  body: refusalText(refusal),
  ...(refusal.retryAt === undefined ? {} : { retryAt: refusal.retryAt }),
  ...(refusal.passing === true ? { passing: true } : {})
})

/** A write from the form of its success and the service call behind it. */
export const write = <A>(
  success: (value: A) => Rendered,
  run: (input: WriteInput, store: StoreAnswer<Verdict<A>>) => Effect.Effect<Verdict<A>, DispatchError>,
  lookUp?: LookUp
): Write => {
  const render = (verdict: Verdict<A>): Rendered =>
    verdict.ok ? success(verdict.value) : renderRefusal(toWire(verdict.refusal))
  return {
    run: (input) => run(input, input.slot === null ? storeNothing : input.slot.storing(render)),
    render,
    ...(lookUp === undefined ? {} : { lookUp })
  }
}

interface CollateralSuccess {
  readonly status: 200 | 201
  readonly data: CollateralAnswer
}

const storeNothing = (): null => null

export const enveloped = (status: number, data: unknown): Rendered => ({
  status,
  body: JSON.stringify({ code: 0, data })
})

/** The writes by operation id; the dispatcher checks at start that every write of the contract is here. */
export const writes = ({ onboarding, collateral }: WriteServices): Readonly<Record<string, Write>> => ({
  "clients.create": write(
    (result: OnboardingResult) => enveloped(201, result),
    ({ caller, body }, store) => onboarding.onboard(caller, body, store)
  ),
  "collateral.report": write(
    ({ status, data }: CollateralSuccess) => enveloped(status, data),
    ({ caller, clientId, body }, store) => collateral.report(caller, clientId, body, store)
  )
})
