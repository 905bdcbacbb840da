/**
 * Reconciliation breaks, which staff open and close. Approvals in every mailbox check the open breaks, which are a
 * projection that only committed rows change (A3-11).
 */
import { Context, Effect, Layer } from "effect"
import {
  type BreakScope,
  type BreakStatus,
  pauses,
  type ReconBreakContext
} from "../../../../machines/reconciliation/ReconBreak.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { accept, conflict, invalidFields, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { ReconBreakRow } from "../../../tables/reconciliation.ts"
import { signedAmount } from "../ledger/Adjustments.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { type OperatorCaller, systemSubject } from "../../shared/OperatorCaller.ts"
import type { PageQuery } from "../../../store/paging.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { advance, start } from "../../../effects/advance.ts"
import { subscribe } from "../../../subscriptions.ts"

/** A break as the operator sees it. */
export interface BreakView extends Omit<ReconBreakContext, "closingReason"> {
  readonly status: BreakStatus
  readonly closingReason: string | null
}

export interface BreakBody {
  /** ALL, or a partner by id or code, or a client by any of its names (findClient). */
  readonly scope: string
  readonly currency: string
  /** Signed decimal string in the currency's scale; not zero. */
  readonly amount: string
  readonly reason: string
  /** Whether the break pauses money out; true by default. */
  readonly pausesMoneyOut?: boolean
}

export class Breaks extends Context.Service<
  Breaks,
  {
    /** True if an open break pauses this client's withdrawals now. */
    readonly pausing: (client: { readonly clientId: number; readonly partnerId: number }) => boolean
    /** Every open break, of all subjects. */
    readonly standing: () => ReadonlyArray<ReconBreakRow>
    /** Breaks, newest first. */
    list(query: PageQuery & { readonly status?: BreakStatus }): Effect.Effect<ReadonlyArray<BreakView>, Unavailable>
    /** `clientNamed` finds the client that a scope names. Without it a scope can name a client by id only. */
    open(
      caller: OperatorCaller,
      request: BreakBody,
      clientNamed?: ClientNamed
    ): Effect.Effect<Verdict<BreakView>, DispatchError>
    show(breakId: number): Effect.Effect<Verdict<BreakView>, Unavailable>
    /** Dry run of `close`, for the check before a second person's approval. */
    check(breakId: number): Effect.Effect<Verdict<BreakView>, Unavailable>
    close(caller: OperatorCaller, breakId: number, reason: string): Effect.Effect<Verdict<BreakView>, DispatchError>
  }
>()("brokerage/runtime/services/money/breaks/Breaks") {
  static readonly layer = Layer.effect(
    Breaks,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const stored = yield* RowReads
      const open = new Map<number, ReconBreakRow>()
      const follow = (row: ReconBreakRow): void =>
        row.state === "OPEN" ? void open.set(row.id, row) : void open.delete(row.id)
      for (const row of yield* Effect.orDie(stored.all("reconBreaks"))) follow(row)
      subscribe(host, "Breaks", { reconBreaks: follow })

      const byNumber: ClientNamed = (name) => {
        const id = parseId(name)
        return id === undefined
          ? Effect.succeed(refuse(unknown("Client")))
          : host.read(clientSubject(id), (state) => {
              const row = state.one("clients")
              return row === undefined ? refuse(unknown("Client")) : accept(row)
            })
      }

      /** A name that fits both a partner and a client is refused, because an ambiguous scope must not pause money. */
      const scopeOf = (text: string, clientNamed: ClientNamed): Effect.Effect<Verdict<Scope>, Unavailable> => {
        if (text === "ALL") return Effect.succeed(accept({ scope: "ALL", partnerId: null, clientId: null }))
        const [, kind = null, name = text] = /^(partner|client):(.+)$/.exec(text) ?? []
        const partner = kind === "client" ? null : directory.findPartner(name)
        const ofPartner: Scope | null =
          partner === null ? null : { scope: "PARTNER", partnerId: partner.row.id, clientId: null }
        if (kind === "partner") {
          return Effect.succeed(ofPartner === null ? refuse(unknown("Partner")) : accept(ofPartner))
        }
        return Effect.map(clientNamed(name), (client) => {
          const isUnknown = !client.ok && client.refusal._tag === "Unknown"
          if (ofPartner !== null)
            return isUnknown ? accept(ofPartner) : refuse(invalidFields({ scope: ambiguous(name) }))
          if (isUnknown) return refuse(unknown("Partner or client"))
          return client.ok
            ? accept({ scope: "CLIENT" as const, partnerId: client.value.partnerId, clientId: client.value.id })
            : client
        })
      }

      const find = (breakId: number): Effect.Effect<Verdict<ReconBreakRow>, Unavailable> =>
        Effect.map(stored.page("reconBreaks", [{ column: "id", value: breakId }], { limit: 1 }), ([row]) =>
          row === undefined ? refuse(unknown("Reconciliation break")) : accept(row)
        )

      return Breaks.of({
        pausing: (client) => {
          for (const row of open.values()) if (pauses(row.context, client)) return true
          return false
        },
        standing: () => [...open.values()],
        list: ({ status, limit, before }) =>
          Effect.map(
            stored.page("reconBreaks", status === undefined ? [] : [{ column: "state", value: status }], {
              limit,
              ...(before === undefined ? {} : { before })
            }),
            (rows) => rows.map(viewOf)
          ),
        show: (breakId) => Effect.map(find(breakId), (found) => (found.ok ? accept(viewOf(found.value)) : found)),
        open: (caller, request, clientNamed = byNumber) =>
          Effect.gen(function* () {
            const parsed = signedAmount(request)
            if (typeof parsed === "string") return refuse(invalidFields({ amount: parsed }))
            const scope = yield* scopeOf(request.scope, clientNamed)
            if (!scope.ok) return scope
            return yield* host.dispatch({
              subject: systemSubject,
              by: caller.by,
              decide: (turn) =>
                accept(
                  viewOf(
                    openBreak(turn, scope.value, {
                      currency: parsed.currency,
                      minor: parsed.amount,
                      amount: formatAmount(parsed.amount, parsed.currency),
                      reason: cleanText(request.reason),
                      pausesMoneyOut: request.pausesMoneyOut ?? true
                    })
                  )
                )
            })
          }),
        check: (breakId) =>
          Effect.map(find(breakId), (found) => {
            if (!found.ok) return found
            return found.value.state === "OPEN" ? accept(viewOf(found.value)) : refuse(closedAlready)
          }),
        close: (caller, breakId, reason) =>
          Effect.gen(function* () {
            const found = yield* find(breakId)
            if (!found.ok) return found
            const closed = host.dispatch({
              subject: systemSubject,
              by: caller.by,
              decide: (turn) => closeBreak(turn, found.value, cleanText(reason))
            })
            return yield* Effect.catchTag(closed, "ClaimLost", () => Effect.succeed(refuse(closedAlready)))
          })
      })
    })
  )
}

const ambiguous = (name: string): string =>
  `${name} names a partner and a client: write partner:${name} or client:${name}, a partner's code or a client's uid.`

/** Finds a client by name; refused when no client has it, or several have it. */
type ClientNamed = (
  name: string
) => Effect.Effect<Verdict<{ readonly id: number; readonly partnerId: number }>, Unavailable>

interface Scope {
  readonly scope: BreakScope
  readonly partnerId: number | null
  readonly clientId: number | null
}

interface Difference {
  readonly currency: string
  readonly minor: bigint
  readonly amount: string
  readonly reason: string
  readonly pausesMoneyOut: boolean
}

const viewOf = (row: ReconBreakRow): BreakView => ({ ...row.context, status: row.state })

const openBreak = (turn: Turn, scope: Scope, { minor, ...difference }: Difference): ReconBreakRow => {
  const id = turn.nextId("reconBreak")
  const { currency } = difference
  return start(turn, "reconBreaks", {
    input: { breakId: id, ...scope, ...difference, openedAt: turn.now },
    columns: { id, ...scope, currency, amount: minor, openedAt: turn.now }
  })
}

const closedAlready = conflict("CLOSED_ALREADY", "This reconciliation break is closed already.")

/**
 * Closes a break. `read` is its row as read outside the mailbox, which does not hold breaks opened in clients' turns.
 * The close claims a unique fact, so a break closes once.
 */
const closeBreak = (turn: Turn, read: ReconBreakRow, reason: string): Verdict<BreakView> => {
  const row = turn.state.get("reconBreaks", String(read.id)) ?? read
  turn.draft.claim(`breakClosed:${read.id}`, read.id)
  const next = advance(turn, "reconBreaks", row, { type: "CLOSE", at: turn.now, reason })
  return next === null ? refuse(closedAlready) : accept(viewOf(next))
}
