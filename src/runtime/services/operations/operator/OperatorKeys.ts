/**
 * Operator keys (bok_): each gives access to the operator surface with one role. The readable key exists only in the
 * reply that issues it; the database holds its SHA-256 (D17).
 */
import { Context, Effect, Layer } from "effect"
import type { ApiKeyStatus } from "../../../../machines/partner/ApiKey.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type Attribution, type DispatchError, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { OperatorKeyRow } from "../../../tables/operator.ts"
import { Directory } from "../../partners/Directory.ts"
import { type OperatorCaller, type OperatorRole, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { hashKey, makeSecret, type Secret, secretOf } from "../../shared/Secret.ts"
import { advance, start } from "../../../effects/advance.ts"
import { type Running, runningApprovals, usedFact } from "./runningApprovals.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"

const keyShape = /^bok_[A-Za-z0-9_-]{43}$/

export interface OperatorView {
  readonly operatorId: number
  readonly label: string
  readonly prefix: string
  readonly role: OperatorRole
  readonly status: ApiKeyStatus
  readonly createdAt: number
  readonly revokedAt: number | null
}

export interface IssuedOperator {
  readonly operatorId: number
  readonly key: string
  readonly prefix: string
  readonly label: string
  readonly role: OperatorRole
}

/** The file that holds the first key. Only the service's owner can read it. */
export interface KeyFile {
  /** The text of the file; null: there is no file. */
  readonly read: () => string | null
  /** Atomic: writes the whole key or nothing. */
  readonly write: (key: string) => void
}

/**
 * `made`: the key is in the file and live. `kept`: nothing was to be done. `missing`: live ADMIN keys exist, but the
 * file holds no key.
 */
export type FirstKey = "made" | "kept" | "missing"

export class OperatorKeys extends Context.Service<
  OperatorKeys,
  {
    create(
      caller: OperatorCaller,
      request: { readonly label: string; readonly role: OperatorRole }
    ): Effect.Effect<IssuedOperator, DispatchError>
    readonly list: Effect.Effect<ReadonlyArray<OperatorView>>
    revoke(
      caller: OperatorCaller,
      operatorId: number,
      reason: string
    ): Effect.Effect<Verdict<OperatorView>, DispatchError>
    /**
     * At the first start, creates an ADMIN key if there is no live one. The file holds the readable key before its hash
     * is committed, so a crash in between does not lose the key: the next start uses the key in the file.
     */
    ensureFirst(file: KeyFile): Effect.Effect<FirstKey, DispatchError>
  }
>()("brokerage/runtime/services/operations/operator/OperatorKeys") {
  static readonly layer = Layer.effect(
    OperatorKeys,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory

      /**
       * Revokes a key, and with it the granted commands that depend on the key and are not committed. `done`: the claims of
       * commands that were committed before.
       */
      const revoke = (
        caller: OperatorCaller,
        operatorId: number,
        reason: string,
        done: ReadonlySet<string> = new Set()
      ): Effect.Effect<Verdict<OperatorView>, DispatchError> =>
        host
          .dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => {
              const onTheWay = [...runningApprovals(host)].flatMap(([id, running]) =>
                done.has(usedFact(id)) ? [] : restingOn(turn.state, id, running, operatorId)
              )
              return revokeOperatorKey(turn, operatorId, reason, onTheWay)
            }
          })
          .pipe(
            Effect.catchTag("ClaimLost", ({ claims }) =>
              revoke(caller, operatorId, reason, new Set([...done, ...claims.map(({ name }) => name)]))
            )
          )

      /**
       * A well-formed key in the file that the service never issued. An interrupted start has left it there; null without
       * one.
       */
      const leftKey = (file: KeyFile): string | null => {
        const text = file.read()?.trim() ?? ""
        const isTaken = () => directory.operatorKeys().some(({ hash }) => hash === hashKey(text))
        return keyShape.test(text) && !isTaken() ? text : null
      }

      const makeFirst = (file: KeyFile): Effect.Effect<FirstKey, DispatchError> =>
        Effect.suspend(() => {
          const left = leftKey(file)
          const secret = left === null ? makeSecret("bok_") : secretOf(left)
          if (left === null) file.write(secret.key)
          return host.dispatch({
            subject: systemSubject,
            by: firstStart,
            decide: (turn): FirstKey => {
              if (turn.state.all("operatorKeys").some(isLiveAdmin)) return "missing"
              issueOperatorKey(turn, secret, "first start", "ADMIN")
              return "made"
            }
          })
        })

      return OperatorKeys.of({
        create: (caller, { label, role }) =>
          host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => issueOperatorKey(turn, makeSecret("bok_"), cleanText(label), role)
          }),
        list: Effect.sync(() =>
          directory
            .operatorKeys()
            .toSorted((a, b) => a.id - b.id)
            .map(operatorView)
        ),
        revoke: (caller, operatorId, reason) => revoke(caller, operatorId, reason),
        ensureFirst: (file) =>
          Effect.suspend(() => {
            if (!directory.operatorKeys().some(isLiveAdmin)) return makeFirst(file)
            return Effect.succeed<FirstKey>(file.read() === null ? "missing" : "kept")
          })
      })
    })
  )
}

/** The attribution of the first key, which the service creates without a request. */
const firstStart: Attribution = {
  role: "SYSTEM",
  keyLabel: "first start",
  requestId: "start",
  actor: "system:start"
}

const isLiveAdmin = (row: OperatorKeyRow): boolean => row.role === "ADMIN" && row.state === "ACTIVE"

export const operatorView = (row: OperatorKeyRow): OperatorView => ({
  operatorId: row.id,
  label: row.label,
  prefix: row.prefix,
  role: row.role,
  status: row.state,
  createdAt: row.createdAt,
  revokedAt: row.context.revokedAt
})

const issueOperatorKey = (
  turn: Turn,
  { key, hash, prefix }: Secret,
  label: string,
  role: OperatorRole
): IssuedOperator => {
  const id = turn.nextId("operatorKey")
  start(turn, "operatorKeys", {
    input: { keyId: id, createdAt: turn.now },
    columns: { id, hash, prefix, label, role, createdAt: turn.now }
  })
  return { operatorId: id, key, prefix, label, role }
}

/** An approval that ends without a run, because a key that it depends on is revoked. */
interface EndedApproval {
  readonly approvalId: number
  readonly why: string
}

/**
 * The approval of a granted command, if the command depends on the key. An approval without a committed grant is still
 * PENDING and is not ended here: the revocation of the key prevents its grant.
 */
const restingOn = (
  state: SubjectState,
  approvalId: number,
  running: Running | null,
  operatorId: number
): ReadonlyArray<EndedApproval> => {
  // A grant that is not committed yet leaves its approval PENDING in the mailbox, and is stopped by the revoked key.
  if (running === null || state.get("approvals", String(approvalId)) !== undefined) return []
  if (running.requestedBy === operatorId) return [{ approvalId, why: "the key that requested it is revoked" }]
  return running.grantedBy === operatorId ? [{ approvalId, why: "the key that granted it is revoked" }] : []
}

/** Revokes a key. `onTheWay`: granted commands without a commit, which the revocation prevents. */
const revokeOperatorKey = (
  turn: Turn,
  operatorId: number,
  reason: string,
  onTheWay: ReadonlyArray<EndedApproval>
): Verdict<OperatorView> => {
  const row = turn.state.get("operatorKeys", String(operatorId))
  if (row === undefined) return refuse(unknown("Operator key"))
  const admins = turn.state.all("operatorKeys").filter(isLiveAdmin)
  if (admins.length === 1 && admins[0]?.id === operatorId) {
    return refuse(conflict("LAST_ADMIN", "This is the last live ADMIN key: create another one before you revoke it."))
  }
  const next = advance(turn, "operatorKeys", row, { type: "REVOKE", at: turn.now, reason })
  if (next === null) return refuse(conflict("REVOKED_ALREADY", "This operator key is revoked already."))
  for (const { approvalId, why } of onTheWay) {
    turn.draft.claim(usedFact(approvalId), 0)
    const used = { before: "GRANTED", after: "COMMAND_REFUSED", reason: why }
    applyEffects(turn, { ...systemInstance, object: `approval:${approvalId}` }, [
      { type: "audit", action: "approval.used", ...used }
    ])
  }
  return accept(operatorView(next))
}
