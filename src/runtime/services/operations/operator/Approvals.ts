/**
 * Four eyes: a guarded command is stored with its exact arguments, and runs only when a second operator key grants
 * it. The grant is committed first. The command's own commit claims the unique fact that the approval is used
 * (`usedFact`). If the command was refused or changed nothing, a further commit claims the fact. So the command takes
 * effect at most once, even after a crash. A granted command with an unknown outcome may be granted again.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Json, JsonObject } from "../../../../machines/shared/Json.ts"
import type { ApprovalEvent, ApprovalOutcome, ApprovalStatus } from "../../../../machines/operator/Approval.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import {
  ActorHost,
  type ClaimLost,
  type DispatchError,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import type { Claim } from "../../../engine/journal/Commit.ts"
import { currentDryRun, CurrentDryRun, DryRun, type DryRunSummary } from "../../../engine/mailbox/dryRun.ts"
import type { Change } from "../../../engine/mailbox/written.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { Settings } from "../../../Settings.ts"
import type { ApprovalRow } from "../../../tables/operator.ts"
import {
  decidedAlready,
  grantApproval,
  isLiveKey,
  requestApproval,
  resumeApproval,
  revokedGranter,
  revokedRequester,
  ruleOnApproval
} from "./approvalDecisions.ts"
import {
  type ArgsOf,
  type GuardedCommand,
  guardedCommands,
  type GuardedName,
  guardNothing,
  type ResultOf
} from "../registries/guardedCommands.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { runningApprovals, usedFact } from "./runningApprovals.ts"
import { pageOf } from "../../../store/paging.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { whenAway } from "../../../store/whenAway.ts"

export interface ApprovalView {
  readonly approvalId: number
  readonly command: string
  readonly args: Json
  readonly status: ApprovalStatus
  /** The outcome of a granted command; null for a request that is pending, refused or expired. */
  readonly outcome: ApprovalOutcome | null
  readonly requestedBy: number
  readonly requestedAt: number
  readonly expiresAt: number
  readonly decidedBy: number | null
  readonly decidedAt: number | null
}

export interface Pending {
  readonly approvalId: number
  /** The effect of the command if it were granted now; only a dry run has it. */
  readonly deed?: Deed
}

/** The effect of a command if it ran now: result and changes, or the sentence that would refuse it. */
export type Deed =
  | { readonly result: Json; readonly would: DryRunSummary; readonly changes: ReadonlyArray<Change> }
  | { readonly refusal: string }

export interface ApprovalDetails extends ApprovalView {
  /** The effect of the waiting command. Null for a decided approval, and for a caller who may not run the command. */
  readonly deed: Deed | null
}

export interface Granted {
  readonly approvalId: number
  readonly command: string
  readonly result: Json
}

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>

export class Approvals extends Context.Service<
  Approvals,
  {
    /** Runs the command at once, or returns the pending approval when four eyes guard it. */
    submit<C extends GuardedName>(caller: OperatorCaller, command: C, args: ArgsOf<C>): Answer<ResultOf<C> | Pending>
    /** Approvals in the given state, newest first. */
    list(query: {
      readonly status?: ApprovalStatus
      readonly limit: number
    }): Effect.Effect<ReadonlyArray<ApprovalView>, Unavailable>
    /** One approval. It includes the effect only if `mayRun` covers its command. Null: there is no such approval. */
    show(
      caller: OperatorCaller,
      approvalId: number,
      mayRun: (command: string) => boolean
    ): Effect.Effect<ApprovalDetails | null, DispatchError>
    /** The command of an approval, which never changes; null when there is no such approval. */
    commandOf(approvalId: number): Effect.Effect<string | null, Unavailable>
    /** Grants an approval and runs its command. The gate has checked the caller's role (`commandOf`). */
    grant(caller: OperatorCaller, approvalId: number): Answer<Granted>
    refuse(caller: OperatorCaller, approvalId: number): Answer<ApprovalView>
  }
>()("brokerage/runtime/services/operations/operator/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const settings = yield* Settings
      const commands = yield* guardedCommands
      // The start fails if four eyes are set for a class that has no command to guard.
      const empty = guardNothing(settings.fourEyes, commands)
      if (empty.length > 0) return yield* Effect.die(new Error(`four eyes guard nothing here: ${empty.join(", ")}`))
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const stored = yield* RowReads
      const running = runningApprovals(host)

      const request = (caller: OperatorCaller, command: GuardedName, args: JsonObject): Answer<Pending> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) => accept({ approvalId: requestApproval(turn, caller.keyId, command, args) })
        })

      const find = (
        condition: ReadonlyArray<{ readonly column: string; readonly value: string | bigint }>,
        limit: number
      ) => pageOf(sql, sealing, "approvals", condition, { limit }).pipe(Effect.catch(whenAway))

      const one = (approvalId: number) =>
        Effect.map(find([{ column: "id", value: BigInt(approvalId) }], 1), ([row]) => row ?? null)

      const rule = (
        caller: OperatorCaller,
        approvalId: number,
        event: (row: ApprovalRow, at: number) => ApprovalEvent
      ): Answer<ApprovalRow> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) => ruleOnApproval(turn, approvalId, caller.keyId, event)
        })

      /** The turn of a grant: once it is committed, the command depends on both keys. A dry run grants nothing. */
      const grantInTurn = (
        caller: OperatorCaller,
        approvalId: number,
        decide: (turn: Turn) => Verdict<ApprovalRow>
      ): Answer<ApprovalRow> => {
        const isDry = currentDryRun() !== null
        return host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) => {
            const granted = decide(turn)
            const rests = granted.ok && !isDry
            running.set(approvalId, rests ? { requestedBy: granted.value.requestedBy, grantedBy: caller.keyId } : null)
            return granted
          }
        })
      }

      /** The note that the audit recorded for the request; null if the audit has no such row. */
      const requestedAs = (approvalId: number) =>
        Effect.map(
          stored.page(
            "audit",
            [
              { column: "object", value: `approval:${approvalId}` },
              { column: "action", value: "approval.request" }
            ],
            { limit: 1 }
          ),
          ([row]) => row?.reason ?? null
        )

      /** Repeats a granted approval whose command has left no trace. The conditions of a grant are checked again. */
      const resume = (caller: OperatorCaller, row: ApprovalRow, recorded: string | null): Answer<ApprovalRow> =>
        Effect.flatMap(stored.holders([usedFact(row.id)]), (used) =>
          used.length > 0
            ? Effect.succeed(refuse(decidedAlready))
            : grantInTurn(caller, row.id, (turn) => resumeApproval(turn, row, caller.keyId, recorded))
        )

      const run = <C extends GuardedName>(caller: OperatorCaller, command: C, args: ArgsOf<C>): Answer<ResultOf<C>> => {
        const guarded: GuardedCommand<C> = commands[command]
        return guarded.run(caller, args)
      }

      /** Runs the command as a dry run, to show its effect before a second key grants it. */
      const deedOf = (
        caller: OperatorCaller,
        command: GuardedName,
        args: ArgsOf<GuardedName>
      ): Effect.Effect<Deed, DispatchError> => {
        const rehearsal = new DryRun(stored.holders)
        return run(caller, command, args).pipe(
          Effect.map((verdict): Deed =>
            verdict.ok
              ? { result: verdict.value as Json, would: rehearsal.summary(), changes: rehearsal.changes() }
              : { refusal: "sentence" in verdict.refusal ? verdict.refusal.sentence : "The command was refused." }
          ),
          Effect.provideService(CurrentDryRun, rehearsal)
        )
      }

      const runGranted = (caller: OperatorCaller, { id, command, args }: ApprovalRow): Answer<Granted> => {
        const once: Claim = { name: usedFact(id), owner: id }
        const by = { ...caller.by, once }
        return run({ ...caller, by }, command as GuardedName, args as ArgsOf<GuardedName>).pipe(
          Effect.flatMap((done): Answer<Granted> =>
            done.ok
              ? Effect.as(settle(caller, id, command), accept({ approvalId: id, command, result: done.value as Json }))
              : Effect.as(useUp(caller, id, command, "REFUSED"), refuse(usedUp(id, command, done.refusal)))
          ),
          Effect.catchIf(isKnownAway, () => Effect.succeed(refuse(notRun(id, command)))),
          // Another grant of the approval came first, or a key that it depends on is revoked. This handler stands after
          // `isKnownAway`, so that a failed read in it does not report the approval as unused.
          Effect.catchIf(isUsed(id), ({ claims }) =>
            claims.some(({ owner }) => owner === 0)
              ? host.read(systemSubject, (state) =>
                  refuse(isLiveKey(state, caller.keyId) ? revokedRequester : revokedGranter)
                )
              : Effect.succeed(refuse(decidedAlready))
          )
        )
      }

      /** Uses up the approval of a command that changed nothing: no commit of its own has claimed the fact. */
      const settle = (caller: OperatorCaller, approvalId: number, command: string): Effect.Effect<void> =>
        currentDryRun() === null
          ? stored.holders([usedFact(approvalId)]).pipe(
              Effect.flatMap((used) => (used.length > 0 ? Effect.void : useUp(caller, approvalId, command, "DONE"))),
              Effect.ignore
            )
          : Effect.void

      /**
       * Claims the fact that the approval is used, if no commit has claimed it. If this fails, the approval can be
       * granted again.
       */
      const useUp = (
        caller: OperatorCaller,
        approvalId: number,
        command: string,
        outcome: "DONE" | "REFUSED"
      ): Effect.Effect<void> =>
        host
          .dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => {
              turn.draft.claim(usedFact(approvalId), outcome === "REFUSED" ? 0 : approvalId)
              applyEffects(turn, { ...systemInstance, object: `approval:${approvalId}` }, [
                {
                  type: "audit",
                  action: "approval.used",
                  before: "GRANTED",
                  after: outcome === "REFUSED" ? "COMMAND_REFUSED" : "NOTHING_TO_DO",
                  reason: command
                }
              ])
            }
          })
          .pipe(Effect.ignore)

      /** A dry run shows the effect of the grant beside the request. */
      const pending = <C extends GuardedName>(caller: OperatorCaller, command: C, args: ArgsOf<C>): Answer<Pending> =>
        Effect.flatMap(request(caller, command, args), (pending): Answer<Pending> =>
          currentDryRun() === null || !pending.ok
            ? Effect.succeed(pending)
            : Effect.map(deedOf(caller, command, args), (deed) => accept({ ...pending.value, deed }))
        )

      return Approvals.of({
        submit: (caller, command, args) => {
          const guarded: GuardedCommand<typeof command> = commands[command]
          if (!settings.fourEyes.has(command)) return guarded.run(caller, args)
          return Effect.flatMap(guarded.check(args), (checked): Answer<ResultOf<typeof command> | Pending> => {
            if (!checked.ok) return Effect.succeed(checked)
            return "done" in checked.value
              ? Effect.succeed(accept(checked.value.done))
              : pending(caller, command, checked.value.bind)
          })
        },
        list: ({ status, limit }) =>
          Effect.gen(function* () {
            const rows = yield* find(status === undefined ? [] : [{ column: "state", value: status }], limit)
            const granted = rows.filter((row) => row.state === "GRANTED")
            const used = yield* stored.holders(granted.map((row) => usedFact(row.id)))
            return rows.map((row) => approvalView(row, used))
          }),
        show: (caller, approvalId, mayRun) =>
          Effect.gen(function* () {
            const row = yield* one(approvalId)
            if (row === null) return null
            const used = row.state === "GRANTED" ? yield* stored.holders([usedFact(row.id)]) : []
            const isOpen = row.state === "PENDING" && mayRun(row.command)
            const deed = isOpen
              ? yield* deedOf(caller, row.command as GuardedName, row.args as ArgsOf<GuardedName>)
              : null
            return { ...approvalView(row, used), deed }
          }),
        commandOf: (approvalId) => Effect.map(one(approvalId), (row) => row?.command ?? null),
        grant: (caller, approvalId) =>
          Effect.suspend((): Answer<Granted> => {
            if (running.has(approvalId)) return Effect.succeed(refuse(decidedAlready))
            running.set(approvalId, null)
            return Effect.gen(function* () {
              const row = yield* one(approvalId)
              const recorded = yield* requestedAs(approvalId)
              const granted =
                row?.state === "GRANTED"
                  ? yield* resume(caller, row, recorded)
                  : yield* grantInTurn(caller, approvalId, (turn) =>
                      grantApproval(turn, approvalId, caller.keyId, recorded)
                    )
              return granted.ok ? yield* runGranted(caller, granted.value) : granted
            }).pipe(
              Effect.ensuring(Effect.sync(() => running.delete(approvalId))),
              // A caller that disconnects between the commits must not leave the outcome unknown.
              Effect.uninterruptible
            )
          }),
        refuse: (caller, approvalId) =>
          Effect.map(
            rule(caller, approvalId, (_, at) => ({ type: "REFUSE", at, by: caller.keyId })),
            (verdict) => (verdict.ok ? accept(approvalView(verdict.value, [])) : verdict)
          )
      })
    })
  )
}

const isUsed =
  (approvalId: number) =>
  (error: DispatchError): error is ClaimLost =>
    error._tag === "ClaimLost" && error.claims.some(({ name }) => name === usedFact(approvalId))

/** True if the error proves that nothing was done, so that the approval is unused. */
const isKnownAway = (error: DispatchError): error is Unavailable => error._tag === "Unavailable" && !error.unknown

const notRun = (approvalId: number, command: string): Refusal =>
  conflict(
    "COMMAND_NOT_RUN",
    `The approval is granted, but ${command} can't run now. Nothing was done: grant it again.`,
    {
      approvalId,
      command,
      outcome: "NOT_RUN"
    }
  )

/** The refusal that the granter gets when the granted command was refused. It states that the approval is used up. */
const usedUp = (approvalId: number, command: string, refusal: Refusal): Refusal => {
  const sentence = "sentence" in refusal ? refusal.sentence : "The command was refused."
  const details =
    refusal._tag === "Invalid" ? { errors: refusal.errors } : refusal._tag === "Conflict" ? refusal.data : null
  const isDry = currentDryRun() !== null
  return conflict(
    "COMMAND_REFUSED",
    isDry
      ? `As things stand ${command} would be refused, and a grant would use the approval up. ${sentence}`
      : `The approval is granted and used, but ${command} was refused. ${sentence}`,
    { ...details, approvalId, command, refusal: sentence, outcome: isDry ? null : "REFUSED" }
  )
}

/** The outcome of a granted command, by the claim on the used approval; null if not granted. NOT_RUN: there is no claim. */
const outcomeOf = (row: ApprovalRow, used: ReadonlyArray<Claim>): ApprovalOutcome | null => {
  if (row.state !== "GRANTED") return null
  const fact = used.find(({ name }) => name === usedFact(row.id))
  return fact === undefined ? "NOT_RUN" : fact.owner === 0 ? "REFUSED" : "DONE"
}

const approvalView = (row: ApprovalRow, used: ReadonlyArray<Claim>): ApprovalView => {
  const { expiresAt, decidedBy, decidedAt } = row.context
  return {
    approvalId: row.id,
    command: row.command,
    args: row.args,
    status: row.state,
    outcome: outcomeOf(row, used),
    requestedBy: row.requestedBy,
    requestedAt: row.requestedAt,
    expiresAt,
    decidedBy,
    decidedAt
  }
}
