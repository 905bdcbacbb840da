/**
 * Four eyes: a guarded command is stored with its exact arguments and runs only when a second operator key grants it
 * (operator surface, Four eyes). The grant is recorded first and used up by it: whatever then becomes of the command,
 * the approval can't be granted again.
 */
import { PgClient } from "@effect/sql-pg"
import canonicalize from "canonicalize"
import { Context, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import type { Json, JsonObject } from "../../machines/Effects.ts"
import type { ApprovalContext, ApprovalEvent, ApprovalStatus } from "../../machines/operator/Approval.ts"
import { approvalMachine } from "../../machines/operator/approvalMachine.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../engine/ActorHost.ts"
import { begin, step, versionOf } from "../engine/decide.ts"
import { applyEffects } from "../engine/Interpreter.ts"
import { SealingService } from "../engine/SealingService.ts"
import { Settings } from "../Settings.ts"
import type { ApprovalRow } from "../store/Rows.ts"
import { type Adjustment, type AdjustmentRequest, Adjustments } from "./Adjustments.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "./OperatorKeys.ts"
import { pageOf } from "./paging.ts"
import type { IssuedKey } from "./partnerDecisions.ts"
import { type KeyRequest, Partners } from "./Partners.ts"
import { whenAway } from "./whenAway.ts"

/** How long a request waits for its second pair of eyes. */
export const approvalMillis = 7 * 86_400_000

export interface ApprovalView {
  readonly approvalId: number
  readonly command: string
  readonly args: Json
  readonly status: ApprovalStatus
  readonly requestedBy: number
  readonly requestedAt: number
  readonly expiresAt: number
  readonly decidedBy: number | null
  readonly decidedAt: number | null
}

export interface Pending {
  readonly approvalId: number
}

export interface Granted {
  readonly approvalId: number
  readonly command: string
  readonly result: Json
}

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>
type GuardedCommand = "ledger adjust" | "key issue"

export class Approvals extends Context.Service<
  Approvals,
  {
    /** Runs at once, or answers the approval it waits for when four eyes guard the command. */
    adjust(caller: OperatorCaller, client: string, request: AdjustmentRequest): Answer<Adjustment | Pending>
    issueKey(caller: OperatorCaller, partner: string, request: KeyRequest): Answer<IssuedKey | Pending>
    /** Newest first. */
    list(query: {
      readonly status?: ApprovalStatus
      readonly limit: number
    }): Effect.Effect<ReadonlyArray<ApprovalView>, Unavailable>
    /** The command an approval is bound to, for ever; null when there is no such approval. */
    commandOf(approvalId: number): Effect.Effect<string | null, Unavailable>
    /** The caller's role covers the command: the gate has asked `commandOf`. */
    grant(caller: OperatorCaller, approvalId: number): Answer<Granted>
    refuse(caller: OperatorCaller, approvalId: number): Answer<ApprovalView>
  }
>()("brokerage/runtime/services/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const settings = yield* Settings
      const partners = yield* Partners
      const adjustments = yield* Adjustments
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService

      /** What a stored command runs as, from its stored arguments. */
      const commands: { readonly [C in GuardedCommand]: (caller: OperatorCaller, args: JsonObject) => Answer<object> } =
        {
          "ledger adjust": (caller, args) => {
            const { client, ...request } = args as unknown as AdjustmentRequest & { readonly client: string }
            return adjustments.adjust(caller, client, request)
          },
          "key issue": (caller, args) => {
            const { partner, ...request } = args as unknown as KeyRequest & { readonly partner: string }
            return partners.issueKey(caller, partner, request)
          }
        }

      const request = (caller: OperatorCaller, command: GuardedCommand, args: JsonObject): Answer<Pending> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) => accept({ approvalId: requestApproval(turn, caller.keyId, command, args) })
        })

      const find = (
        condition: ReadonlyArray<{ readonly column: string; readonly value: string | bigint }>,
        limit: number
      ) => pageOf(sql, sealing, "approvals", condition, { limit }).pipe(Effect.catch(whenAway))

      const decide = (
        caller: OperatorCaller,
        approvalId: number,
        event: (row: ApprovalRow, at: number) => ApprovalEvent
      ): Answer<ApprovalRow> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) => decideApproval(turn, approvalId, caller.keyId, event)
        })

      return Approvals.of({
        adjust: (caller, client, body) =>
          !settings.fourEyes.has("ledger adjust")
            ? adjustments.adjust(caller, client, body)
            : Effect.flatMap(adjustments.check(client, body), (checked) =>
                checked.ok
                  ? // Bound to the client's id: a uid names the same client for ever, but nobody should have to rely on it.
                    request(caller, "ledger adjust", { ...body, client: String(checked.value.clientId) })
                  : Effect.succeed(checked)
              ),
        issueKey: (caller, partner, body) => {
          if (!settings.fourEyes.has("key issue")) return partners.issueKey(caller, partner, body)
          const checked = partners.mayIssueKey(partner)
          return checked.ok
            ? request(caller, "key issue", { ...body, partner: String(checked.value.partnerId) })
            : Effect.succeed(checked)
        },
        list: ({ status, limit }) =>
          Effect.map(find(status === undefined ? [] : [{ column: "state", value: status }], limit), (rows) =>
            rows.map(approvalView)
          ),
        commandOf: (approvalId) =>
          Effect.map(find([{ column: "id", value: BigInt(approvalId) }], 1), ([row]) => row?.command ?? null),
        grant: (caller, approvalId) =>
          Effect.gen(function* () {
            const granted = yield* decide(caller, approvalId, (row, at) => ({
              type: "GRANT",
              at,
              by: caller.keyId,
              argumentsHash: hashArguments(row.args)
            }))
            if (!granted.ok) return granted
            const { command, args } = granted.value
            const done = yield* Effect.catchIf(commands[command as GuardedCommand](caller, args), isKnownAway, () =>
              Effect.succeed(refuse(conflict("The service can't do this now.")))
            )
            return done.ok
              ? accept({ approvalId, command, result: done.value as unknown as Json })
              : refuse(usedUp(approvalId, command, done.refusal))
            // A caller who hangs up between the two commits must not use the approval up for nothing.
          }).pipe(Effect.uninterruptible),
        refuse: (caller, approvalId) =>
          Effect.map(
            decide(caller, approvalId, (_, at) => ({ type: "REFUSE", at, by: caller.keyId })),
            (verdict) => (verdict.ok ? accept(approvalView(verdict.value)) : verdict)
          )
      })
    })
  )
}

/** Nothing was done for certain: the approval is used up all the same, and the caller has to ask for the command again. */
const isKnownAway = (error: DispatchError): error is Unavailable => error._tag === "Unavailable" && !error.unknown

/** The command refused what four eyes let through: said as such, because the approval is gone. */
const usedUp = (approvalId: number, command: string, refusal: Refusal): Refusal => {
  const sentence = "sentence" in refusal ? refusal.sentence : "The command was refused."
  const errors = refusal._tag === "Invalid" ? refusal.errors : null
  return conflict(`The approval is granted and used, but ${command} was refused. ${sentence}`, {
    approvalId,
    command,
    refusal: sentence,
    ...(errors === null ? {} : { errors })
  })
}

/** SHA-256 of the canonical JSON: the same arguments have the same hash in any order. */
export const hashArguments = (args: JsonObject): string =>
  createHash("sha256")
    .update(canonicalize(args) ?? "")
    .digest("hex")

const requestApproval = (turn: Turn, keyId: number, command: string, args: JsonObject): number => {
  const id = turn.nextId("approval")
  const decided = begin(approvalMachine, {
    approvalId: id,
    command,
    argumentsHash: hashArguments(args),
    requestedBy: keyId,
    requestedAt: turn.now,
    expiresAt: turn.now + approvalMillis
  })
  turn.draft.put("approvals", {
    id,
    state: decided.state,
    version: versionOf("approval"),
    context: decided.context as unknown as JsonObject,
    command,
    args,
    requestedBy: keyId,
    requestedAt: turn.now
  })
  applyEffects(turn, { ...systemInstance, object: `approval:${id}` }, decided.effects)
  return id
}

/** Only PENDING approvals are in the mailbox: one that is not there was decided before. */
const decideApproval = (
  turn: Turn,
  approvalId: number,
  keyId: number,
  event: (row: ApprovalRow, at: number) => ApprovalEvent
): Verdict<ApprovalRow> => {
  const row = turn.state.get("approvals", String(approvalId))
  if (row === undefined) return refuse(conflict("This approval is decided already."))
  const context = row.context as unknown as ApprovalContext
  if (turn.now >= context.expiresAt) {
    moveApproval(turn, row, { type: "EXPIRE", at: turn.now })
    return refuse(conflict("This approval has expired: ask for the command again."))
  }
  const next = moveApproval(turn, row, event(row, turn.now))
  if (next !== null) return accept(next)
  return context.requestedBy === keyId
    ? refuse(conflict("The operator key that asked for the command can't grant it."))
    : refuse(conflict("The arguments of this approval have changed: it can't be granted."))
}

const moveApproval = (turn: Turn, row: ApprovalRow, event: ApprovalEvent): ApprovalRow | null => {
  const stored = { state: row.state, context: row.context as unknown as ApprovalContext }
  const decided = step(approvalMachine, stored, event)
  if (!decided.changed) return null
  const next = { ...row, state: decided.state, context: decided.context as unknown as JsonObject }
  turn.draft.put("approvals", next)
  applyEffects(turn, { ...systemInstance, object: `approval:${row.id}` }, decided.effects)
  return next
}

const approvalView = (row: ApprovalRow): ApprovalView => {
  const { expiresAt, decidedBy, decidedAt } = row.context as unknown as ApprovalContext
  return {
    approvalId: row.id,
    command: row.command,
    args: row.args,
    status: row.state as ApprovalStatus,
    requestedBy: row.requestedBy,
    requestedAt: row.requestedAt,
    expiresAt,
    decidedBy,
    decidedAt
  }
}
